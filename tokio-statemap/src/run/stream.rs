//! What is no file that could be replaced: a pipe, a device, stdout.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How long the program's end is held up for somebody who doesn't read on.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(5);

/// Whether `path` is one. A file that stdout is redirected to counts: replacing it would lose what
/// the program printed there.
pub(super) fn is_stream(path: &Path) -> bool {
    const OPEN: [&str; 4] = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"];
    fs::metadata(path).is_ok_and(|found| {
        let is_open_already = OPEN.iter().any(|open| path.starts_with(open));
        !found.is_dir() && (!found.is_file() || is_open_already)
    })
}

/// Writes to a stream, and gives up rather than wait for ever.
#[derive(Debug)]
pub(super) struct Stream(File);

impl Stream {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        match options.open(path) {
            #[cfg(unix)]
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads from it"))
            }
            opened => opened.map(Self),
        }
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
