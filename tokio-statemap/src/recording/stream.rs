//! Outputs that can't be replaced: pipes, devices, stdout.

use std::fs::File;
use std::io::{self, Write};

#[cfg(unix)]
use crate::sys::patience;
#[cfg(unix)]
use crate::sys::stderr::wait_until_ready;

/// A stream that gives up rather than wait forever.
#[derive(Debug)]
pub(super) struct OutputStream(File);

impl OutputStream {
    /// Creates it from a `file` that was opened as non-blocking.
    pub(super) fn new(file: File) -> Self {
        Self(file)
    }
}

impl Write for OutputStream {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fd = std::os::fd::AsRawFd::as_raw_fd(&self.0);
        patience::until_ready(|| self.0.write(bytes), |at_most| wait_until_ready(fd, at_most))
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
