//! The timer that sends the signal.

use std::ffi::c_int;

use crate::sys::filter;
use crate::sys::threads;

/// A timer on a thread's CPU clock.
pub(super) struct Timer(c_int);

impl Timer {
    /// Starts one that sends SIGURG to the thread `id` at the next tick at which it is on a processor.
    pub(super) fn start(id: i32) -> Option<Self> {
        // SAFETY: all zeroes are valid for plain numbers. The calls read the structures, which outlive them,
        // and the first call writes the kernel's number of the timer (glibc's own function returns another
        // one). The handler of the signal does nothing on a thread that isn't asked. Test:
        // `sys::threads::stack::signal::tests::a_running_thread_copies_its_stack`.
        unsafe {
            if !filter::allows_all() {
                return None;
            }
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGURG;
            event.sigev_notify_thread_id = id;
            let (clock, mut timer) = (threads::cpu_clock_of(id), 0);
            if libc::syscall(libc::SYS_timer_create, clock, &raw mut event, &raw mut timer) != 0 {
                return None;
            }
            let timer = Self(timer);
            let mut once: libc::itimerspec = std::mem::zeroed();
            once.it_value.tv_nsec = 1;
            let nothing = std::ptr::null_mut::<libc::itimerspec>();
            let is_set =
                libc::syscall(libc::SYS_timer_settime, timer.0, 0, &raw const once, nothing) == 0;
            is_set.then_some(timer)
        }
    }
}

impl Drop for Timer {
    #[inline(never)]
    fn drop(&mut self) {
        if !filter::allows_all() {
            return; // it ends with the process
        }
        // SAFETY: it is the number of a timer of this process, which is deleted once. The child of a fork has
        // no such timer, but doesn't drop requests. Test: as above.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.0) };
    }
}
