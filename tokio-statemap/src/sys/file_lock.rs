//! Locks of files that end with the process that has them, and are not its children's (`fcntl(2)`, record locks).

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;

/// Locks the file for this process until it closes any of its descriptors of the file. Returns whether it could.
pub(crate) fn lock(file: &File) -> bool {
    let lock = whole(libc::F_WRLCK);
    // SAFETY: the descriptor is open, and the description lives through the call. Test: `black_box`.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &raw const lock) == 0 }
}

/// Returns the other process that has locked the file, if one has; `None` if the system doesn't say.
pub(crate) fn owner(file: &File) -> Option<Option<u32>> {
    let mut lock = whole(libc::F_RDLCK);
    // SAFETY: as above; the system writes to the description. Test: `black_box`.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) == 0 };
    let is_locked = lock.l_type != libc::F_UNLCK as libc::c_short;
    // It is 0 for a process that isn't in this namespace.
    done.then(|| is_locked.then(|| u32::try_from(lock.l_pid).unwrap_or(0)))
}

fn whole(kind: libc::c_int) -> libc::flock {
    // SAFETY: it has only numbers. Test: as above.
    let mut lock: libc::flock = unsafe { MaybeUninit::zeroed().assume_init() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock
}
