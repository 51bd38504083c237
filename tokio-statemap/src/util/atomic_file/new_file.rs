//! A file that does not exist until it is complete.

#[cfg(feature = "html")]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Write};
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use super::leftovers;
#[cfg(feature = "html")]
use super::no_file_name;
use super::place::ResolvedPath;
use crate::sys::folder::{FileStatus, Links, Lock, lock};

/// The number of names to try. The first one is free, unless another process removes it as a leftover just
/// before it is locked.
const TRIES: usize = 16;

/// A file being written. Dropping it without publishing leaves nothing behind.
#[derive(Debug)]
pub(crate) struct NewFile {
    place: ResolvedPath,
    pub(super) file: File,
    /// The hidden name that it has until it is published, if it has one. A killed process leaves nothing else.
    pub(super) hidden: Option<OsString>,
}

impl NewFile {
    /// Creates a file for `place`. Until it is published, only those who can read the existing file can read
    /// it.
    pub(super) fn create(place: ResolvedPath) -> io::Result<Self> {
        let mode = if place.entry.is_some() { 0o600 } else { 0o666 };
        match unnamed(&place, mode) {
            Some(file) => Ok(Self { place, file, hidden: None }),
            None => Self::named(place, mode),
        }
    }

    /// Creates a file with a hidden name.
    pub(super) fn named(place: ResolvedPath, mode: u32) -> io::Result<Self> {
        let (file, name) = create_hidden(&place, mode)?;
        Ok(Self { place, file, hidden: Some(name) })
    }

    /// Moves it to its place. An existing file is replaced; its permissions are kept.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        let old = self.place.current_entry()?;
        self.keep_access(old)?;
        if self.hidden.is_none() && self.name(old)? {
            return Ok(());
        }
        if let Some(hidden) = &self.hidden {
            self.place.folder.rename(hidden, &self.place.name)?;
            self.hidden = None;
        }
        Ok(())
    }

    /// Moves it to another name in the folder of its place, unless that is taken. Returns whether it isn't.
    #[cfg(feature = "html")]
    pub(crate) fn publish_as(&mut self, name: &OsStr) -> io::Result<bool> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if self.hidden.is_none() {
            match self.place.folder.link_as(&self.file, name) {
                Ok(()) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
                // A security module may forbid it.
                Err(_) => {
                    let permissions = self.file.metadata()?.permissions();
                    self.copy()?;
                    self.file.set_permissions(permissions)?;
                }
            }
        }
        let Some(hidden) = &self.hidden else { return Err(no_file_name()) };
        let folder = &self.place.folder;
        match folder.name_too(hidden, name) {
            Ok(()) => folder.remove(hidden)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            // Some file systems have no links.
            Err(_) if folder.entry(name)?.is_some() => return Ok(false),
            Err(_) => folder.rename(hidden, name)?,
        }
        self.hidden = None;
        Ok(true)
    }

    /// Gives the new file the access rights of the old one, and no more.
    fn keep_access(&self, old: Option<FileStatus>) -> io::Result<()> {
        let Some(old) = old.filter(FileStatus::is_file) else { return Ok(()) };
        let new = self.file.metadata()?;
        if new.uid() != old.user {
            // Requires privileges. Otherwise this user becomes the owner, as of any new file.
            let _ = fchown(&self.file, Some(old.user), None);
        }
        let keeps_group =
            new.gid() == old.group || fchown(&self.file, None, Some(old.group)).is_ok();
        let mut mode = old.mode & 0o777;
        if !keeps_group {
            // The new group gets the rights of all others, as it had before.
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        if new.mode() & 0o777 != mode {
            self.file.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Links an unnamed file. Returns whether it is in its place now.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn name(&mut self, old: Option<FileStatus>) -> io::Result<bool> {
        let folder = &self.place.folder;
        if old.is_none() && folder.link_as(&self.file, &self.place.name).is_ok() {
            return Ok(true);
        }
        // An unnamed file can only be linked to a free name. With that it can be renamed.
        for _ in 0..TRIES {
            let name = leftovers::name_beside(&self.place.name);
            match folder.link_as(&self.file, &name) {
                Ok(()) => {
                    self.hidden = Some(name);
                    return Ok(false);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // A security module may forbid it.
                Err(_) => break,
            }
        }
        let mode = self.file.metadata()?.mode() & 0o777;
        self.copy()?;
        match old {
            Some(_) => self.keep_access(old)?,
            None => self.file.set_permissions(Permissions::from_mode(mode))?,
        }
        Ok(false)
    }

    /// Does nothing: a file can be unnamed on Linux and Android only.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn name(&mut self, _: Option<FileStatus>) -> io::Result<bool> {
        Ok(false)
    }

    /// Replaces the file by a copy with a hidden name, readable by this user only.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn copy(&mut self) -> io::Result<()> {
        let (copy, name) = create_hidden(&self.place, 0o600)?;
        let mut original = std::mem::replace(&mut self.file, copy);
        // The copy is removed on drop from here on.
        self.hidden = Some(name);
        original.seek(SeekFrom::Start(0))?;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match original.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(n) => self.file.write_all(&bytes[..n])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            let _ = self.place.folder.remove(hidden);
        }
    }
}

/// Creates an unnamed file, if the system can create and later link one.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn unnamed(place: &ResolvedPath, mode: u32) -> Option<File> {
    use std::ffi::OsStr;

    use crate::sys::folder::descriptor_path;

    let flags = libc::O_TMPFILE | libc::O_RDWR;
    let file = place.folder.file(OsStr::new("."), flags, mode, Links::Refuse).ok()?;
    let (found, through) = (file.metadata().ok()?, std::fs::metadata(descriptor_path(&file)).ok()?);
    // Otherwise it could be taken for a leftover while it is linked.
    let _ = lock(&file, Lock::Exclusive);
    ((found.dev(), found.ino()) == (through.dev(), through.ino())).then_some(file)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unnamed(_: &ResolvedPath, _: u32) -> Option<File> {
    None
}

/// Creates a file with a hidden name; returns both.
fn create_hidden(place: &ResolvedPath, mode: u32) -> io::Result<(File, OsString)> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    for _ in 0..TRIES {
        let name = leftovers::name_beside(&place.name);
        let file = match place.folder.file(&name, flags, mode, Links::Refuse) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        match lock(&file, Lock::Exclusive) {
            // Another process takes the file for a leftover.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Without locks nothing is taken for a leftover. Whether it still has its name can only
            // be looked up in the folder: some file systems don't count links.
            _ if place.folder.entry(&name)?.is_some() => return Ok((file, name)),
            _ => {}
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
