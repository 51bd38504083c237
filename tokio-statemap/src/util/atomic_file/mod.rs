//! Writes files atomically: a file is complete, or unchanged.
//!
//! If the system supports it, the file has no name until it is complete. Otherwise it has an unpredictable hidden name
//! in the same folder. Links are followed under the rule of Linux's `fs.protected_symlinks`: not if another user may
//! have planted them.

#[cfg(unix)]
mod leftovers;
#[cfg(unix)]
mod new_file;
#[cfg(unix)]
mod place;
#[cfg(any(not(unix), test))]
mod portable;
#[cfg(all(unix, test))]
mod tests;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[cfg(unix)]
use self::{new_file::NewFile, place::ResolvedPath};
#[cfg(not(unix))]
use self::{portable::NewFile, portable::ResolvedPath};

/// The resolved destination of an output.
#[derive(Debug)]
pub(crate) struct Destination(ResolvedPath);

/// An open output.
#[derive(Debug)]
pub(crate) enum Output {
    /// A file that does not exist until it is published.
    File(NewFile),
    /// An existing stream that can't be replaced: a pipe, a device, a descriptor. A file that
    /// stdout is redirected to counts as one: replacing it would lose what the program printed
    /// there.
    Stream(File),
}

/// The treatment of missing folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

/// The treatment of a pipe that isn't open for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    Await,
    Expect,
}

impl Destination {
    /// Resolves `path`.
    ///
    /// # Errors
    ///
    /// If `path` can't be resolved, names no file or a folder, or if another user may have planted
    /// what it leads to.
    pub(crate) fn find(path: &Path, missing: Missing) -> io::Result<Self> {
        ResolvedPath::find(path, missing).map(Self)
    }

    /// Returns the path without links, which identifies the file.
    pub(crate) fn real_path(&self) -> PathBuf {
        self.0.real_path()
    }

    /// Returns `true` if the destination is written to instead of replaced.
    pub(crate) fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    /// Checks that the destination can be written, as far as possible without writing.
    pub(crate) fn check(self) -> io::Result<()> {
        // Only a write can tell for a stream.
        if self.is_stream() { Ok(()) } else { NewFile::create(self.0).map(drop) }
    }
}

/// Opens the destination of `path`.
pub(crate) fn open(path: &Path, readers: Readers) -> io::Result<Output> {
    // The file type may change between the lookup and the open.
    const TRIES: usize = 8;
    for _ in 0..TRIES {
        let place = ResolvedPath::find(path, Missing::Refuse)?;
        if !place.is_stream() {
            #[cfg(unix)]
            leftovers::remove(&place);
            return NewFile::create(place).map(Output::File);
        }
        if let Some(stream) = place.open_stream(readers)? {
            return Ok(Output::Stream(stream));
        }
    }
    Err(io::Error::other("it changes all the time"))
}

/// Writes `content`, which does its own buffering, to `path`. After an error nothing is left
/// behind, and an existing file is unchanged.
///
/// # Errors
///
/// Returns the errors of `content` and of the system, and an error if another user may have planted
/// what `path` leads to.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match open(path, Readers::Await)? {
        Output::Stream(mut stream) => content(&mut stream),
        Output::File(mut file) => {
            content(&mut file)?;
            file.publish()
        }
    }
}

fn no_file_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it names no file")
}
