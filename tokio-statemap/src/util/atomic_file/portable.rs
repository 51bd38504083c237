//! Writes files atomically by paths, for systems without directory descriptors.

use std::collections::hash_map::RandomState;
#[cfg(feature = "html")]
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Missing, Readers, no_file_name};

/// The path with symbolic links resolved. The last link may lead to a missing file.
#[derive(Debug)]
pub(super) struct ResolvedPath {
    path: PathBuf,
    is_stream: bool,
}

impl ResolvedPath {
    pub(super) fn find(path: &Path, missing: Missing) -> io::Result<Self> {
        const MAX_LINKS: usize = 40;
        path.file_name().ok_or_else(no_file_name)?;
        if let (Missing::Make, Some(folder)) = (missing, path.parent()) {
            fs::create_dir_all(folder)?;
        }
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let Ok(next) = fs::read_link(&path) else { break };
            path = path.parent().map_or_else(|| next.clone(), |folder| folder.join(&next));
        }
        let is_stream = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            found => found.is_ok_and(|found| !found.is_file()),
        };
        Ok(Self { path, is_stream })
    }

    pub(super) fn real_path(&self) -> PathBuf {
        let folder = self.path.parent().and_then(|folder| folder.canonicalize().ok());
        match (folder, self.path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => self.path.clone(),
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.is_stream
    }

    pub(super) fn open_stream(&self, _: Readers) -> io::Result<Option<File>> {
        OpenOptions::new().append(true).open(&self.path).map(Some)
    }
}

/// A file being written, in the folder of its place. Dropping it without publishing leaves nothing
/// behind.
#[derive(Debug)]
pub(crate) struct NewFile {
    place: ResolvedPath,
    /// `None` once it is closed.
    file: Option<File>,
    hidden: PathBuf,
}

impl NewFile {
    pub(super) fn create(place: ResolvedPath) -> io::Result<Self> {
        const TRIES: usize = 16;
        for _ in 0..TRIES {
            // The hasher's keys are random numbers from the system.
            let random = RandomState::new().build_hasher().finish();
            let hidden = place.path.with_file_name(format!(".{random:016x}.statemap-tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&hidden) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                opened => return Ok(Self { place, file: Some(opened?), hidden }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Moves it to another name in the folder of its place, unless that is taken. Returns whether it isn't.
    #[cfg(feature = "html")]
    pub(crate) fn publish_as(&mut self, name: &OsStr) -> io::Result<bool> {
        let path = self.place.path.with_file_name(name);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(false);
        }
        drop(self.file.take());
        fs::rename(&self.hidden, path)?;
        Ok(true)
    }

    pub(crate) fn publish(mut self) -> io::Result<()> {
        // Some systems can't rename an open file.
        drop(self.file.take());
        if let Ok(old) = fs::metadata(&self.place.path) {
            let _ = fs::set_permissions(&self.hidden, old.permissions());
        }
        fs::rename(&self.hidden, &self.place.path)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Ok(0),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        drop(self.file.take());
        // This fails if the file was renamed.
        let _ = fs::remove_file(&self.hidden);
    }
}
