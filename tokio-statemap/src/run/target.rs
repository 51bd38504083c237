//! One file of a run: all there, or untouched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::env;
use super::stream::{Stream, is_stream};
use crate::error::Error;

/// One file that is to be written.
#[derive(Debug)]
pub(super) struct Target {
    /// The key of the attribute that names it.
    pub(super) key: &'static str,
    /// As the user knows it.
    pub(super) shown: PathBuf,
    /// The same whatever the working folder becomes.
    pub(super) path: PathBuf,
}

impl Target {
    pub(super) fn new(key: &'static str, path: &Path) -> Self {
        let shown = match env::folder() {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        };
        let path = std::path::absolute(&shown).unwrap_or_else(|_| shown.clone());
        Self { key, shown, path }
    }

    /// Whether it can be written, as far as one can tell without writing it. Makes the folders.
    pub(super) fn check(&self) -> Result<(), Error> {
        let check = || {
            if self.path.file_name().is_none() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
            }
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder)?;
            }
            match fs::metadata(&self.path) {
                Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
                // Only writing tells.
                Ok(_) if is_stream(&self.path) => Ok(()),
                _ => {
                    let (beside, _) = self.create_beside()?;
                    fs::remove_file(beside)
                }
            }
        };
        check().map_err(|source| self.error(source))
    }

    /// Writes `content`, which buffers by itself, so that the file is all there or untouched: beside
    /// it first, then renamed.
    pub(super) fn write(
        &self,
        content: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        let write = || {
            // `/dev/stdout`, `/dev/full`, a pipe: replacing those by a file is not what is meant.
            if is_stream(&self.path) {
                return content(&mut Stream::open(&self.path)?);
            }
            let (beside, mut file) = self.create_beside()?;
            let renamed = content(&mut file).and_then(|()| fs::rename(&beside, self.real()));
            if renamed.is_err() {
                let _ = fs::remove_file(&beside);
            }
            renamed
        };
        write().map_err(|source| self.error(source))
    }

    /// A new file in the folder that the target is really in, and its path.
    fn create_beside(&self) -> io::Result<(PathBuf, File)> {
        // Runs side by side may write the same file, and somebody may have been there before.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        const TRIES: usize = 100;
        let real = self.real();
        let mut failed = None;
        for _ in 0..TRIES {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".statemap-{}-{count}.tmp", std::process::id());
            let beside = real.with_file_name(name);
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Ok(file) => {
                    // Whoever may read the old one may read the new one, and nobody else.
                    if let Ok(old) = fs::metadata(&real) {
                        let _ = file.set_permissions(old.permissions());
                    }
                    return Ok((beside, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => failed = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::AlreadyExists.into()))
    }

    /// The path behind symbolic links, of which the last may lead to a file that isn't there yet.
    fn real(&self) -> PathBuf {
        const MOST_LINKS: usize = 40;
        let mut path = self.path.clone();
        for _ in 0..MOST_LINKS {
            match fs::read_link(&path) {
                Ok(next) => path = path.parent().map_or(next.clone(), |folder| folder.join(next)),
                Err(_) => break,
            }
        }
        path
    }

    fn error(&self, source: io::Error) -> Error {
        Error::Io { path: self.shown.clone(), source }
    }
}
