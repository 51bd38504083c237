//! Names of system calls.

use std::borrow::Cow;

use crate::symbols::PAGE_FAULT;
use crate::sys::threads::proc;

type Calls = &'static [(libc::c_long, &'static str)];

/// Makes a list of system calls: their numbers, and the names of these in `libc`.
macro_rules! calls {
    ($($number:ident)*) => {
        &[$((libc::$number, stringify!($number))),*]
    };
}

/// The calls that a thread may block in.
const CALLS: Calls = calls! {
    SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64 SYS_preadv SYS_pwritev
    SYS_futex SYS_clock_nanosleep SYS_nanosleep SYS_epoll_pwait SYS_ppoll SYS_pselect6
    SYS_recvfrom SYS_recvmsg SYS_recvmmsg SYS_sendto SYS_sendmsg SYS_sendmmsg SYS_connect
    SYS_accept SYS_accept4 SYS_fsync SYS_fdatasync SYS_sync SYS_syncfs SYS_msync SYS_flock
    SYS_fcntl SYS_openat SYS_close SYS_ioctl SYS_wait4 SYS_waitid SYS_sendfile SYS_splice
    SYS_tee SYS_copy_file_range SYS_getdents64 SYS_unlinkat SYS_renameat2 SYS_newfstatat
    SYS_statx SYS_ftruncate SYS_fallocate SYS_mmap SYS_munmap SYS_madvise SYS_mprotect
    SYS_sched_yield SYS_membarrier SYS_getrandom SYS_semtimedop SYS_msgrcv SYS_rt_sigtimedwait
    SYS_rt_sigsuspend SYS_process_vm_readv SYS_io_uring_enter SYS_io_getevents SYS_mount
    SYS_umount2 SYS_restart_syscall
};

/// The calls that only some architectures have.
#[cfg(target_arch = "x86_64")]
const CALLS_OF_ARCHITECTURE: Calls = calls! {
    SYS_poll SYS_epoll_wait SYS_select SYS_open SYS_stat SYS_lstat SYS_access SYS_unlink
    SYS_rename SYS_mkdir SYS_rmdir SYS_readlink SYS_pause
};
#[cfg(not(target_arch = "x86_64"))]
const CALLS_OF_ARCHITECTURE: Calls = &[];

/// Returns the name of the system call `number`, or of what stands for one.
pub(crate) fn name(number: i64) -> Cow<'static, str> {
    match number {
        proc::PAGE_FAULT => return Cow::Borrowed(PAGE_FAULT),
        proc::UNKNOWN_CALL => return Cow::Borrowed("a system call"),
        _ => {}
    }
    for calls in [CALLS, CALLS_OF_ARCHITECTURE] {
        for &(known, name) in calls {
            if known == number {
                return Cow::Borrowed(&name["SYS_".len()..]);
            }
        }
    }
    Cow::Owned(format!("system call {number}"))
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
