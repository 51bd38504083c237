//! A writer that counts its bytes.

use std::fmt;
use std::io::{self, Write};

/// Passes everything on to `W`, and calls `F` with the number of bytes of each write.
pub struct Counting<W, F> {
    w: W,
    add: F,
}

impl<W: Write, F: FnMut(usize)> Counting<W, F> {
    /// Wraps `w` to count the bytes that are written to it.
    pub fn new(w: W, add: F) -> Self {
        Self { w, add }
    }
}

impl<W: Write, F: FnMut(usize)> Write for Counting<W, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.w.write(bytes)?;
        (self.add)(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.w.flush()
    }
}

impl<W, F> fmt::Debug for Counting<W, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counting").finish_non_exhaustive()
    }
}
