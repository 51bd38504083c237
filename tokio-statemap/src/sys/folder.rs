//! An open folder: operations in it are not affected by later changes to its path.

use std::ffi::{CString, OsStr, OsString, c_int};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

// Without these the sizes and numbers of files have 32 bits on 32-bit systems.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
use libc::{fstatat, openat, stat};
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::{fstatat64 as fstatat, openat64 as openat, stat64 as stat};

/// The flags to open a folder for lookups only, which needs no permission to list it.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
const PASS: c_int = libc::O_PATH;
#[cfg(any(target_vendor = "apple", target_os = "netbsd", target_os = "illumos"))]
const PASS: c_int = libc::O_SEARCH;
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_vendor = "apple",
    target_os = "netbsd",
    target_os = "illumos"
)))]
const PASS: c_int = libc::O_RDONLY;

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

/// The metadata of a directory entry; of the link itself, if it is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileStatus {
    /// File type and permissions.
    pub(crate) mode: u32,
    /// The owner.
    pub(crate) user: u32,
    /// The group.
    pub(crate) group: u32,
}

impl FileStatus {
    pub(crate) fn is_file(&self) -> bool {
        self.is(libc::S_IFREG)
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.is(libc::S_IFDIR)
    }

    pub(crate) fn is_link(&self) -> bool {
        self.is(libc::S_IFLNK)
    }

    fn is(&self, kind: libc::mode_t) -> bool {
        // The types differ from system to system.
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
        let (mask, kind) = (u32::from(libc::S_IFMT), u32::from(kind));
        self.mode & mask == kind
    }
}

/// The treatment of a link as the last component of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Refuse,
}

impl Folder {
    /// Opens the root directory, or the working directory.
    pub(crate) fn start(is_root: bool) -> io::Result<Self> {
        let name = if is_root { c"/" } else { c"." };
        // SAFETY: the name ends with a zero and lives through the call; the descriptor is new and owned by
        // nothing else. Test: `atomic_file::tests`.
        let fd = unsafe {
            owned(openat(libc::AT_FDCWD, name.as_ptr(), PASS | libc::O_DIRECTORY | libc::O_CLOEXEC))
        };
        fd.map(Self)
    }

    /// Opens the folder `name` in this one.
    pub(crate) fn folder(&self, name: &OsStr, links: Links) -> io::Result<Self> {
        self.open(name, PASS | libc::O_DIRECTORY, 0, links).map(Self)
    }

    /// Creates the folder `name`.
    pub(crate) fn make(&self, name: &OsStr, mode: libc::mode_t) -> io::Result<()> {
        let name = terminated(name)?;
        // SAFETY: the name ends with a zero and lives through the call.
        // Test: `hostile::a_missing_folder_is_made`.
        done(unsafe { libc::mkdirat(self.0.as_raw_fd(), name.as_ptr(), mode) })
    }

    /// Opens or creates the file `name` with `flags`.
    pub(crate) fn file(
        &self,
        name: &OsStr,
        flags: c_int,
        mode: u32,
        links: Links,
    ) -> io::Result<File> {
        self.open(name, flags, mode, links).map(File::from)
    }

    fn open(&self, name: &OsStr, flags: c_int, mode: u32, links: Links) -> io::Result<OwnedFd> {
        let name = terminated(name)?;
        let links = if links == Links::Refuse { libc::O_NOFOLLOW } else { 0 };
        let flags = flags | links | libc::O_CLOEXEC | libc::O_NOCTTY;
        loop {
            // SAFETY: the name ends with a zero and lives through the call; the descriptor is new and owned
            // by nothing else. Test: `atomic_file::tests`.
            let fd = unsafe { owned(openat(self.0.as_raw_fd(), name.as_ptr(), flags, mode)) };
            match fd {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                opened => return opened,
            }
        }
    }

    /// Returns the metadata of `name`, if it exists.
    pub(crate) fn entry(&self, name: &OsStr) -> io::Result<Option<FileStatus>> {
        let name = terminated(name)?;
        match self.stat(&name, libc::AT_SYMLINK_NOFOLLOW) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the metadata of this folder.
    pub(crate) fn itself(&self) -> io::Result<FileStatus> {
        self.stat(c".", 0)
    }

    fn stat(&self, name: &std::ffi::CStr, flags: c_int) -> io::Result<FileStatus> {
        let mut found = MaybeUninit::<stat>::uninit();
        // SAFETY: the name and the memory that is written to live through the call, and the name ends with a
        // zero; the memory is read only if the call has filled it. Test: `atomic_file::tests`.
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
        unsafe {
            done(fstatat(self.0.as_raw_fd(), name.as_ptr(), found.as_mut_ptr(), flags))?;
            let found = found.assume_init();
            Ok(FileStatus {
                mode: u32::from(found.st_mode),
                user: found.st_uid,
                group: found.st_gid,
            })
        }
    }

    /// Returns the target of the link `name`.
    pub(crate) fn link(&self, name: &OsStr) -> io::Result<OsString> {
        let name = terminated(name)?;
        let mut text = vec![0_u8; libc::PATH_MAX as usize];
        // SAFETY: the name ends with a zero and lives through the call; pointer and length are those
        // of `text`. Test: `hostile::a_link_stays_one`.
        let length = unsafe {
            libc::readlinkat(
                self.0.as_raw_fd(),
                name.as_ptr(),
                text.as_mut_ptr().cast(),
                text.len(),
            )
        };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        text.truncate(length);
        Ok(OsString::from_vec(text))
    }

    /// Returns `true` for a folder of procfs, whose links (of descriptors and the like) refer to more than
    /// their text.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn is_procfs(&self) -> bool {
        let mut found = MaybeUninit::<libc::statfs>::uninit();
        // SAFETY: the memory that is written to lives through the call, and is read only if the call has
        // filled it. Test: `hostile::a_link_to_stdout`.
        #[allow(clippy::unnecessary_cast)]
        unsafe {
            libc::fstatfs(self.0.as_raw_fd(), found.as_mut_ptr()) == 0
                && found.assume_init().f_type as u64 == libc::PROC_SUPER_MAGIC as u64
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn is_procfs(&self) -> bool {
        false
    }

    /// Renames `from` to `to`, and replaces an existing `to`.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (terminated(from)?, terminated(to)?);
        let fd = self.0.as_raw_fd();
        // SAFETY: the names end with a zero and live through the call.
        // Test: `atomic_file::tests`.
        done(unsafe { libc::renameat(fd, from.as_ptr(), fd, to.as_ptr()) })
    }

    /// Gives a file a second name; fails if that exists.
    #[cfg(feature = "html")]
    pub(crate) fn name_too(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (terminated(from)?, terminated(to)?);
        let fd = self.0.as_raw_fd();
        // SAFETY: the names end with a zero and live through the call.
        // Test: `atomic_file::tests`.
        done(unsafe { libc::linkat(fd, from.as_ptr(), fd, to.as_ptr(), 0) })
    }

    /// Links an unnamed file as `name`; fails if the name exists.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn link_as(&self, file: &File, name: &OsStr) -> io::Result<()> {
        let name = terminated(name)?;
        let file = terminated(descriptor_path(file).as_os_str())?;
        // SAFETY: the names end with a zero and live through the call.
        // Test: `atomic_file::tests`.
        done(unsafe {
            libc::linkat(
                libc::AT_FDCWD,
                file.as_ptr(),
                self.0.as_raw_fd(),
                name.as_ptr(),
                libc::AT_SYMLINK_FOLLOW,
            )
        })
    }

    /// Unlinks a file.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        let name = terminated(name)?;
        // SAFETY: the name ends with a zero and lives through the call.
        // Test: `atomic_file::tests`.
        done(unsafe { libc::unlinkat(self.0.as_raw_fd(), name.as_ptr(), 0) })
    }
}

/// Returns a path to an open file, if `/proc` is mounted.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn descriptor_path(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// A kind of lock on a file, which lasts until its last descriptor is closed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lock {
    /// Excludes all other locks.
    Exclusive,
    /// Excludes [`Lock::Exclusive`].
    Shared,
}

/// Locks a file, or fails at once if it can't.
#[cfg(not(target_os = "solaris"))]
pub(crate) fn lock(file: &File, lock: Lock) -> io::Result<()> {
    let lock = match lock {
        Lock::Exclusive => libc::LOCK_EX,
        Lock::Shared => libc::LOCK_SH,
    };
    // SAFETY: the descriptor is open. Test: `atomic_file::tests`.
    done(unsafe { libc::flock(file.as_raw_fd(), lock | libc::LOCK_NB) })
}

#[cfg(target_os = "solaris")]
pub(crate) fn lock(_: &File, _: Lock) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn terminated(name: &OsStr) -> io::Result<CString> {
    Ok(CString::new(name.as_bytes())?)
}

fn done(result: c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// # Safety
///
/// `fd` is negative, or a descriptor that nothing else owns.
unsafe fn owned(fd: c_int) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's. Test: `atomic_file::tests`.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
