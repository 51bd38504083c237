//! What is no file that could be replaced: a pipe, a device, stdout.

use std::fs::File;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// How long the program's end is held up for somebody who doesn't read on.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(5);

/// Writes to a stream, and gives up rather than wait for ever.
#[derive(Debug)]
pub(super) struct Stream(File);

impl Stream {
    /// To `file`, which is opened so that a write doesn't wait.
    pub(super) fn new(file: File) -> Self {
        Self(file)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for _ in 0..PATIENCE.as_millis() / STEP.as_millis() {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(STEP),
                written => return written,
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads on"))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
