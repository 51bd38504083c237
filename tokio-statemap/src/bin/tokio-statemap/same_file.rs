//! Whether two names are of one file.

use std::fs::metadata;
use std::path::{Path, PathBuf};

/// What tells a file from all others; `None` of one that isn't there, and of a pipe or a device, which may be read
/// more than once.
#[cfg(unix)]
fn identity(file: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let file = if file.as_os_str() == "-" { Path::new("/dev/stdin") } else { file };
    let found = metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(file: &Path) -> Option<PathBuf> {
    metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    file.canonicalize().ok()
}

/// The first two of these names that are of one file.
pub(crate) fn same_files(files: &[PathBuf]) -> Option<(&Path, &Path)> {
    let mut before: Vec<(_, &Path)> = Vec::with_capacity(files.len());
    for file in files {
        let Some(identity) = identity(file) else { continue };
        if let Some((_, same)) = before.iter().find(|(other, _)| *other == identity) {
            return Some((same, file));
        }
        before.push((identity, file.as_path()));
    }
    None
}
