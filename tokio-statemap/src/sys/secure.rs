//! Whether the process has privileges that its caller lacks.

/// Whether the process is set-uid or set-gid, has file capabilities, or is marked so by a security
/// module. Whoever starts such a program chooses its environment, working directory, umask and
/// descriptors.
pub(crate) fn is_secure() -> bool {
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

/// The user id that files are created and opened with.
pub(crate) fn effective_user() -> u32 {
    // SAFETY: it has no precondition. Test: `hostile::links`.
    unsafe { libc::geteuid() }
}

/// Whether the descriptor `fd` is open for writing.
pub(crate) fn is_writable(fd: std::ffi::c_int) -> bool {
    // SAFETY: it reads flags, or fails if there is no such descriptor. Test: `hostile::set_uid`.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_ACCMODE != libc::O_RDONLY
}
