//! Writing a file so that it is all there or as it was, wherever it is.
//!
//! The file that is written has no name until it is complete, where the system can do that; else a
//! hidden one beside its place, which nobody can foresee. Links are followed as Linux does it with
//! `fs.protected_symlinks`: not if anybody may have planted them.

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
use self::{new_file::NewFile, place::Place};
#[cfg(not(unix))]
use self::{portable::NewFile, portable::Place};

/// Where an output goes, as of now.
#[derive(Debug)]
pub(crate) struct Destination(Place);

/// What an output is written to.
#[derive(Debug)]
pub(crate) enum Output {
    /// A file that isn't there before it is published.
    File(NewFile),
    /// What is there already and can't be replaced: a pipe, a device, a descriptor. A file that
    /// stdout is redirected to counts: replacing it would lose what the program printed there.
    Stream(File),
}

/// What is done about folders that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Make,
    Refuse,
}

/// Whether one waits until somebody opens a pipe to read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    Await,
    Expect,
}

impl Destination {
    /// Where `path` leads.
    ///
    /// # Errors
    ///
    /// If that can't be told, if it names no file or a folder, or if somebody may have planted
    /// what is there.
    pub(crate) fn find(path: &Path, missing: Missing) -> io::Result<Self> {
        Place::find(path, missing).map(Self)
    }

    /// The path without links, by which one sees that two paths lead to one file.
    pub(crate) fn real_path(&self) -> PathBuf {
        self.0.real_path()
    }

    /// Whether it isn't replaced but written to.
    pub(crate) fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    /// Whether it can be written, as far as one can tell without writing it.
    pub(crate) fn check(self) -> io::Result<()> {
        // Of a stream, only writing tells.
        if self.is_stream() { Ok(()) } else { NewFile::create(self.0).map(drop) }
    }
}

/// Opens what `path` leads to.
pub(crate) fn open(path: &Path, readers: Readers) -> io::Result<Output> {
    // What is there may become another thing in the moment between looking and opening.
    const TRIES: usize = 8;
    for _ in 0..TRIES {
        let place = Place::find(path, Missing::Refuse)?;
        if !place.is_stream() {
            place.remove_leftovers();
            return NewFile::create(place).map(Output::File);
        }
        if let Some(stream) = place.open_stream(readers)? {
            return Ok(Output::Stream(stream));
        }
    }
    Err(io::Error::other("it changes all the time"))
}

/// Writes `content`, which buffers by itself, to `path`. After an error nothing is left, and what was
/// there before still is.
///
/// # Errors
///
/// What `content` or the system says, and where somebody may have planted what is there.
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
