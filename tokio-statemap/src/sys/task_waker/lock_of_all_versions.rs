//! A lock that all versions of this crate in a program share: each writes to the table of Tokio.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

// The linker makes one word of all that have this name, and sets it to zero. Its size and alignment never change.
#[cfg(not(miri))]
std::arch::global_asm!(".comm tokio_statemap_table_lock,8,8");

#[cfg(not(miri))]
unsafe extern "C" {
    #[link_name = "tokio_statemap_table_lock"]
    static HOLDER: AtomicUsize;
}
#[cfg(miri)]
#[allow(non_upper_case_globals, reason = "as above")]
static HOLDER: AtomicUsize = AtomicUsize::new(0);

/// Longer than the lock is held.
const SHORT: Duration = Duration::from_micros(50);

/// The lock, which is released when this is dropped.
pub(super) struct Held;

/// Waits for the lock.
pub(super) fn lock() -> Held {
    let process = std::process::id() as usize;
    loop {
        match holder().compare_exchange(0, process, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Held,
            Err(other) if other != process => {
                // A thread of another process held it as this one was forked, and is not here.
                _ = holder().compare_exchange(other, 0, Ordering::Relaxed, Ordering::Relaxed);
            }
            // Whoever has it may have no processor.
            Err(_) => std::thread::sleep(SHORT),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        holder().store(0, Ordering::Release);
    }
}

fn holder() -> &'static AtomicUsize {
    // SAFETY: it is a word of zeros, aligned, and used as this type alone. Test:
    // `sys::task_waker::lock_of_all_versions::tests::one_thread_at_a_time_has_it`.
    #[cfg_attr(miri, allow(unused_unsafe, reason = "it is declared here"))]
    unsafe {
        &HOLDER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_it() {
        static INSIDE: AtomicUsize = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _held = lock();
                        assert_eq!(INSIDE.fetch_add(1, Ordering::Relaxed), 0);
                        std::thread::yield_now();
                        INSIDE.fetch_sub(1, Ordering::Relaxed);
                    }
                });
            }
        });
    }

    #[test]
    fn the_child_of_a_fork_gets_it() {
        let held = lock();
        // SAFETY: the child only takes the lock, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: it has no preconditions.
            unsafe { libc::alarm(20) };
            drop(lock());
            // SAFETY: it has no preconditions.
            unsafe { libc::_exit(7) };
        }
        let mut status = 0;
        // SAFETY: it writes to `status` alone.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "{status:#x}");
        drop(held);
    }
}
