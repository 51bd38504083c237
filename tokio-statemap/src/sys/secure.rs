//! The privileges of this process.

/// Returns `true` if the process has privileges that its caller may lack: if it is set-uid or set-gid, has file
/// capabilities, or is marked so by a security module.
pub(crate) fn is_set_uid() -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: it has no precondition. Test: `hostile::set_uid`.
    return unsafe { libc::getauxval(libc::AT_SECURE) != 0 };
    #[cfg(any(
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "dragonfly",
        target_os = "netbsd",
        target_os = "openbsd"
    ))]
    // SAFETY: it has no precondition. Test: `hostile::set_uid`.
    return unsafe { libc::issetugid() != 0 };
    #[cfg(not(any(
        target_os = "linux",
        target_os = "android",
        target_vendor = "apple",
        target_os = "freebsd",
        target_os = "dragonfly",
        target_os = "netbsd",
        target_os = "openbsd"
    )))]
    // SAFETY: these have no precondition. Test: `hostile::set_uid`.
    unsafe {
        libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid()
    }
}

/// Returns the user id that files are created and opened with.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: it has no precondition. Test: `hostile::links`.
    unsafe { libc::geteuid() }
}
