//! Writes a file: all of it, or nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `content`, which buffers by itself, to `path`: beside it first, then renamed. After an
/// error nothing is left, and what was there before still is.
pub(crate) fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // A pipe or a device is there to be written to, not to be replaced; and so is a file that
        // a descriptor is open for.
        Ok(found) if !found.is_file() || is_descriptor(path) => {
            return content(&mut OpenOptions::new().append(true).open(path)?);
        }
        _ => {}
    }
    // What a link leads to is meant, not the link.
    let path = real(path);
    let (beside, mut file) = create_beside(&path)?;
    let remove = RemoveOnDrop(&beside);
    content(&mut file)?;
    fs::rename(&beside, &path)?;
    std::mem::forget(remove);
    Ok(())
}

fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd"]
        .iter()
        .any(|open| path.starts_with(open))
}

/// A new file in the folder of `path`.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    const TRIES: u32 = 100;
    if path.file_name().is_none() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
    }
    let mut tries = 0..TRIES;
    loop {
        let beside = path.with_file_name(format!(
            ".tokio-statemap-{}-{}.tmp",
            std::process::id(),
            tries.start
        ));
        match OpenOptions::new().write(true).create_new(true).open(&beside) {
            Ok(file) => {
                // Whoever may read the old one may read the new one, and nobody else.
                if let Ok(old) = fs::metadata(path) {
                    let _ = file.set_permissions(old.permissions());
                }
                return Ok((beside, file));
            }
            // Somebody was there before, with the same process id.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && tries.next().is_some() => {}
            Err(error) => return Err(error),
        }
    }
}

struct RemoveOnDrop<'a>(&'a Path);

impl Drop for RemoveOnDrop<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
    }
}

/// The path behind symbolic links, of which the last may lead to a file that isn't there yet.
fn real(path: &Path) -> PathBuf {
    const MOST_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
    }
    path
}
