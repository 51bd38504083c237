//! The files of test runs: where they go, and whether they are complete.

use std::fs;
use std::path::{Path, PathBuf};

use tokio_statemap::Timeline;
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings};

use crate::check::{self, Summary};
use crate::page::{self, Page};

/// A path for outputs that nobody reads.
pub const NULL_DEVICE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// Creates an empty folder `name` in `parent`.
///
/// # Panics
///
/// If it can't be made.
pub fn folder(parent: impl AsRef<Path>, name: &str) -> PathBuf {
    let folder = parent.as_ref().join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes the data of a run, and reads it again.
///
/// # Panics
///
/// If the data isn't that of one run.
pub fn read_again(timeline: &Timeline) -> Timeline {
    let data = timeline.clone().to_data();
    let files = [data.tasks_to_bytes().unwrap(), data.workers_to_bytes().unwrap()];
    let files = files.map(|bytes| read(&bytes[..]).unwrap());
    let mut all = recordings(&files);
    match (all.pop(), all.is_empty()) {
        (Some(Recording::Run { timeline, .. }), true) => *timeline,
        (other, _) => panic!("it is no run, or not the only one: {other:?}"),
    }
}

/// Returns the names of all entries of `folder`, sorted.
///
/// # Panics
///
/// If it can't be read.
pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

/// Reads a data file and returns its content.
///
/// # Panics
///
/// If it is missing, incomplete or invalid.
#[track_caller]
pub fn data(path: impl AsRef<Path>) -> Summary {
    checked(path.as_ref(), check::check)
}

/// Reads a page and returns its content.
///
/// # Panics
///
/// If it is missing, incomplete or invalid.
#[track_caller]
pub fn page(path: impl AsRef<Path>) -> Page {
    checked(path.as_ref(), page::check)
}

/// Reads an SVG.
///
/// # Panics
///
/// If it is missing, incomplete or invalid.
#[track_caller]
pub fn svg(path: impl AsRef<Path>) {
    checked(path.as_ref(), page::check_svg);
}

/// Reads `statemap.svg` and `statemap.html` in `folder`, and returns the content of the page.
///
/// # Panics
///
/// If one of them is missing, incomplete or invalid.
#[track_caller]
pub fn pictures(folder: &Path) -> Page {
    svg(folder.join("statemap.svg"));
    page(folder.join("statemap.html"))
}

#[track_caller]
fn checked<T>(path: &Path, check: impl FnOnce(&[u8]) -> Result<T, String>) -> T {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    check(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the number of the first line of `source` that ends with `end`.
///
/// # Panics
///
/// If there is no such line.
#[track_caller]
pub fn line_ending(source: &str, end: &str) -> usize {
    source.lines().position(|line| line.ends_with(end)).expect("the source has this line") + 1
}
