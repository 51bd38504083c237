//! A child that makes the calls in question, and survives them or doesn't.

use std::ffi::c_int;

/// Returns `true` if a child of this process survives all calls that the program wouldn't make without this
/// crate.
///
/// The program can't see the child: it sends no signal when it ends, and no `wait` returns it.
pub(super) fn is_survived() -> bool {
    // SAFETY: the child is a copy of this process with this thread alone. It makes system calls and nothing else, as
    // any lock may be held. It has this thread's stack, of its own. Test:
    // `sampled::a_filter_that_ends_the_program_for_a_call_ends_it_for_none_of_ours`.
    let child = unsafe { libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0) };
    match c_int::try_from(child) {
        Ok(0) => try_all(),
        Ok(child) if child > 0 => is_alive_at_the_end(child),
        // The filter refuses this call.
        _ => false,
    }
}

/// Makes the calls and ends, in the child.
fn try_all() -> ! {
    // SAFETY: these calls change nothing but the child, and write to no memory but this function's own. A call that
    // fails here would fail later, too. Test: as above.
    unsafe {
        // A handler of the program must not run here, and a core file isn't wanted.
        libc::signal(libc::SIGSYS, libc::SIG_DFL);
        libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0);
        let mut numbers = [0_u64; 32];
        let into = numbers.as_mut_ptr().cast();
        libc::getrusage(libc::RUSAGE_THREAD, into);
        libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_THREAD_CPUTIME_ID, into);
        libc::madvise(std::ptr::null_mut(), 0, libc::MADV_DONTNEED);
        libc::syscall(libc::SYS_process_vm_readv, libc::getpid(), 0, 0, 0, 0, 0);
        libc::syscall(libc::SYS_timer_create, c_int::MAX, 0, 0);
        libc::syscall(libc::SYS_timer_settime, c_int::MAX, 0, 0, 0);
        libc::syscall(libc::SYS_timer_delete, c_int::MAX);
        libc::syscall(libc::SYS_sched_getattr, 0, 0, 0, 0);
        libc::syscall(libc::SYS_sched_setattr, 0, 0, 0);
        libc::syscall(libc::SYS_gettid);
        libc::syscall(libc::SYS_sched_getaffinity, 0, 0, 0);
        libc::syscall(libc::SYS_mprotect, 0, 0, 0);
        libc::syscall(libc::SYS_exit_group, 0);
    }
    unreachable!("it has ended")
}

/// Waits for the child.
fn is_alive_at_the_end(child: c_int) -> bool {
    let mut status = 0;
    loop {
        // SAFETY: it waits for the process that was started, and writes its status. Test: as above.
        let waited = unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) };
        if waited == child {
            return libc::WIFEXITED(status);
        }
        if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
            return false;
        }
    }
}
