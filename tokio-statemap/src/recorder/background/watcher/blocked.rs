//! Reads the system call that a blocked thread waits in, and copies its stack.

use crate::recorder::watch::BlockedIn;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::stack::{self, StackCopy};

/// Returns what a thread is blocked in, and its stack; `None` if it runs again.
pub(super) fn copy_of_blocked(thread: i32) -> Option<(BlockedIn, Option<StackCopy>)> {
    let wait = || (proc::system_call(thread), proc::turns(thread));
    let now = wait();
    let copy = now.0.map(|call| (BlockedIn::from_call(&call), stack::copy_blocked(&call)));
    // The thread must still be in the same wait, so that its registers match its stack.
    let is_over = now.0.is_none() && proc::tells_calls();
    if is_over || wait() != now || proc::state(thread) != ThreadState::Blocked {
        return None;
    }
    // Without the right to see more, it is only known that the thread is blocked.
    Some(copy.unwrap_or((BlockedIn::UNKNOWN, None)))
}

impl BlockedIn {
    /// The call of a thread in a program that may not look at itself, for example because it has more rights than its
    /// user.
    const UNKNOWN: Self = Self { number: proc::UNKNOWN_CALL, descriptor: None };

    /// Returns whether it is the call in which a thread waits for a lock, or for another thread in another way.
    pub(super) fn is_lock(&self) -> bool {
        self.number == libc::SYS_futex
    }

    fn from_call(call: &proc::SystemCall) -> Self {
        let takes_descriptor = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_readv,
            libc::SYS_writev,
            libc::SYS_pread64,
            libc::SYS_pwrite64,
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_connect,
            libc::SYS_accept4,
            libc::SYS_fsync,
            libc::SYS_fdatasync,
            libc::SYS_flock,
        ];
        let has_descriptor = takes_descriptor.contains(&call.number);
        Self {
            number: call.number,
            descriptor: has_descriptor.then(|| proc::descriptor(call.first)).flatten(),
        }
    }
}
