//! Data that is compressed with gzip.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use crate::progress::Progress;

/// What it begins with.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Counts what is read.
pub(crate) struct Counted<'a, R> {
    source: R,
    progress: &'a mut Progress,
}

impl<'a, R> Counted<'a, R> {
    pub(crate) fn new(source: R, progress: &'a mut Progress) -> Self {
        Self { source, progress }
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// What is in the members of a gzip file, one after the other.
pub(crate) struct Unpacked<R> {
    members: MultiGzDecoder<BufReader<Packed<R>>>,
    /// How many bytes of the file were read.
    packed: Rc<Cell<u64>>,
}

struct Packed<R> {
    source: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Unpacked<R> {
    pub(crate) fn new(source: R) -> Self {
        let packed = Rc::<Cell<u64>>::default();
        let source = Packed { source, count: Rc::clone(&packed) };
        Self { members: MultiGzDecoder::new(BufReader::new(source)), packed }
    }
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let problem = |error: io::Error| {
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    format!(
                        "the gzip file is cut off at its byte {}; copy it again",
                        self.packed.get()
                    )
                }
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                    format!("the gzip file is damaged ({error}); copy it again")
                }
                _ => return error,
            };
            io::Error::other(what)
        };
        self.members.read(buffer).map_err(problem)
    }
}
