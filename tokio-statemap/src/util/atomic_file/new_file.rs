//! A file that isn't there before it is complete.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{self, Write};
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

use super::leftovers;
use super::place::Place;
use crate::sys::folder::{Entry, Links, Lock, lock};
use crate::sys::secure::is_secure;

/// How often another name is tried. The first is free, unless somebody removes it as a leftover in the
/// moment before it is locked.
const TRIES: usize = 16;

/// A file that is written. Dropping it, unless it was published, leaves nothing.
#[derive(Debug)]
pub(crate) struct NewFile {
    place: Place,
    pub(super) file: File,
    /// The hidden name that it has meanwhile, if any. A process that is killed leaves nothing else.
    pub(super) hidden: Option<OsString>,
}

impl NewFile {
    /// One that is to be at `place`. Until it is published, nobody may read it who may not read what
    /// is there now.
    pub(super) fn create(place: Place) -> io::Result<Self> {
        let mode = if place.entry.is_some() || is_secure() { 0o600 } else { 0o666 };
        match unnamed(&place, mode) {
            Some(file) => Ok(Self { place, file, hidden: None }),
            None => Self::named(place, mode),
        }
    }

    /// One with a hidden name.
    pub(super) fn named(place: Place, mode: u32) -> io::Result<Self> {
        let (file, name) = create_hidden(&place, mode)?;
        Ok(Self { place, file, hidden: Some(name) })
    }

    /// Puts it into its place. What was there is gone, but for its permissions.
    pub(crate) fn publish(mut self) -> io::Result<()> {
        let old = self.place.look_again()?;
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

    /// Whoever may read and write the old one may do so with the new one, and nobody else.
    fn keep_access(&self, old: Option<Entry>) -> io::Result<()> {
        let Some(old) = old.filter(Entry::is_file) else { return Ok(()) };
        let new = self.file.metadata()?;
        if new.uid() != old.user {
            // Only the superuser may. Others become the owner, as with any new file.
            let _ = fchown(&self.file, Some(old.user), None);
        }
        let keeps_group =
            new.gid() == old.group || fchown(&self.file, None, Some(old.group)).is_ok();
        let mut mode = old.mode & 0o777;
        if !keeps_group {
            // Another group, who were among all others before.
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        if new.mode() & 0o777 != mode {
            self.file.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Gives a name to a file without one: `true` if it is in its place now.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn name(&mut self, old: Option<Entry>) -> io::Result<bool> {
        let folder = &self.place.folder;
        if old.is_none() && folder.give_name(&self.file, &self.place.name).is_ok() {
            return Ok(true);
        }
        // A file can get its first name only where there is none. With this one it can be renamed.
        for _ in 0..TRIES {
            let name = leftovers::name_beside(&self.place.name);
            match folder.give_name(&self.file, &name) {
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

    /// A file without a name is only where it can be given one.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn name(&mut self, _: Option<Entry>) -> io::Result<bool> {
        Ok(false)
    }

    /// Becomes a copy with a hidden name, which nobody else may read.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(super) fn copy(&mut self) -> io::Result<()> {
        let (copy, name) = create_hidden(&self.place, 0o600)?;
        let mut original = std::mem::replace(&mut self.file, copy);
        // Whatever happens now, it is removed when this is dropped.
        self.hidden = Some(name);
        original.seek(SeekFrom::Start(0))?;
        io::copy(&mut original, &mut self.file).map(drop)
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

/// A file without a name, where the system can make one and give it a name later.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn unnamed(place: &Place, mode: u32) -> Option<File> {
    use std::ffi::OsStr;

    use crate::sys::folder::descriptor;
    let flags = libc::O_TMPFILE | libc::O_RDWR;
    let file = place.folder.file(OsStr::new("."), flags, mode, Links::Refuse).ok()?;
    let (found, through) = (file.metadata().ok()?, std::fs::metadata(descriptor(&file)).ok()?);
    // While it gets its name it must not be taken for a leftover.
    let _ = lock(&file, Lock::Exclusive);
    ((found.dev(), found.ino()) == (through.dev(), through.ino())).then_some(file)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unnamed(_: &Place, _: u32) -> Option<File> {
    None
}

/// A file with a hidden name, and that.
fn create_hidden(place: &Place, mode: u32) -> io::Result<(File, OsString)> {
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_RDWR;
    for _ in 0..TRIES {
        let name = leftovers::name_beside(&place.name);
        let file = match place.folder.file(&name, flags, mode, Links::Refuse) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        match lock(&file, Lock::Exclusive) {
            // Somebody takes it for a leftover.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Where there are no locks, nothing is taken for a leftover. Whether it still has its name
            // only the folder tells: there are file systems that don't count names.
            _ if place.folder.entry(&name)?.is_some() => return Ok((file, name)),
            _ => {}
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
