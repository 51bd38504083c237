//! Names of system calls.

use std::borrow::Cow;

use crate::symbols::PAGE_FAULT;
use crate::sys::threads::proc;

/// Those that a thread may block in.
const NAMES: &[(libc::c_long, &str)] = &[
    (libc::SYS_read, "read"),
    (libc::SYS_write, "write"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_preadv, "preadv"),
    (libc::SYS_pwritev, "pwritev"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_pselect6, "pselect6"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_recvmmsg, "recvmmsg"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_sendmmsg, "sendmmsg"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept4"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_sync, "sync"),
    (libc::SYS_syncfs, "syncfs"),
    (libc::SYS_msync, "msync"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_close, "close"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_sendfile, "sendfile"),
    (libc::SYS_splice, "splice"),
    (libc::SYS_tee, "tee"),
    (libc::SYS_copy_file_range, "copy_file_range"),
    (libc::SYS_getdents64, "getdents64"),
    (libc::SYS_unlinkat, "unlinkat"),
    (libc::SYS_renameat2, "renameat2"),
    (libc::SYS_newfstatat, "newfstatat"),
    (libc::SYS_statx, "statx"),
    (libc::SYS_ftruncate, "ftruncate"),
    (libc::SYS_fallocate, "fallocate"),
    (libc::SYS_mmap, "mmap"),
    (libc::SYS_munmap, "munmap"),
    (libc::SYS_madvise, "madvise"),
    (libc::SYS_mprotect, "mprotect"),
    (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_membarrier, "membarrier"),
    (libc::SYS_getrandom, "getrandom"),
    (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
    (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_getevents, "io_getevents"),
    (libc::SYS_mount, "mount"),
    (libc::SYS_umount2, "umount2"),
    (libc::SYS_restart_syscall, "restart_syscall"),
];

/// Those that only this architecture has.
#[cfg(target_arch = "x86_64")]
const OF_ARCHITECTURE: &[(libc::c_long, &str)] = &[
    (libc::SYS_poll, "poll"),
    (libc::SYS_epoll_wait, "epoll_wait"),
    (libc::SYS_select, "select"),
    (libc::SYS_open, "open"),
    (libc::SYS_stat, "stat"),
    (libc::SYS_lstat, "lstat"),
    (libc::SYS_access, "access"),
    (libc::SYS_unlink, "unlink"),
    (libc::SYS_rename, "rename"),
    (libc::SYS_mkdir, "mkdir"),
    (libc::SYS_rmdir, "rmdir"),
    (libc::SYS_readlink, "readlink"),
    (libc::SYS_pause, "pause"),
];
#[cfg(not(target_arch = "x86_64"))]
const OF_ARCHITECTURE: &[(libc::c_long, &str)] = &[];

/// The name of the system call `number`, or of what stands for one.
pub(crate) fn name(number: i64) -> Cow<'static, str> {
    match number {
        proc::PAGE_FAULT => return Cow::Borrowed(PAGE_FAULT),
        proc::UNKNOWN_CALL => return Cow::Borrowed("a system call"),
        _ => {}
    }
    let mut known = NAMES.iter().chain(OF_ARCHITECTURE);
    match known.find(|(of, _)| *of == number) {
        Some((_, name)) => Cow::Borrowed(name),
        None => Cow::Owned(format!("system call {number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_names() {
        assert_eq!(name(libc::SYS_futex), "futex");
        assert_eq!(
            (name(proc::PAGE_FAULT), name(proc::UNKNOWN_CALL)),
            ("a page fault".into(), "a system call".into())
        );
        assert_eq!(name(99_999), "system call 99999");
    }
}
