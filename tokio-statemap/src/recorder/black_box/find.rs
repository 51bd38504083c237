//! Finds boxes, for the command.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::choices::BlackBox;
use crate::recorder::black_box::place::{self, stem};

/// A box in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The process, as its name says.
    pub pid: Option<u32>,
    /// The path of its first file.
    pub path: PathBuf,
}

/// Returns the boxes in a folder, by process and path.
///
/// # Errors
///
/// Returns an error if the folder can't be read.
pub fn find(folder: &Path) -> io::Result<Vec<Found>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if let Some(stem) = stem(&entry) {
            let pid = stem.rsplit('.').nth(1).and_then(|pid| pid.parse().ok());
            all.push(Found { pid, path: entry.path() });
        }
    }
    all.sort();
    Ok(all)
}

/// Returns the folders in which boxes are, if none was named.
pub fn folders() -> Vec<PathBuf> {
    place::folders(&BlackBox::On)
}

/// Returns whether the process that writes the box of which `path` is a file lives; `None` if that can't be known.
pub fn is_live(path: &Path) -> Option<bool> {
    place::lives(path)
}

/// Returns the process that writes the box of which `path` is a file, as this process sees its id; `None` if none does,
/// or that can't be known.
pub fn owner(path: &Path) -> Option<u32> {
    place::owner(path).flatten()
}
