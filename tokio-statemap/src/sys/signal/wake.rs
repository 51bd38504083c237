//! Wakes a thread from a signal handler.

pub(super) use sys::Wake;

/// An unnamed semaphore: `sem_post` is async-signal-safe.
#[cfg(not(target_vendor = "apple"))]
mod sys {
    use std::io;
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// A semaphore that one thread waits for.
    pub(in crate::sys::signal) struct Wake(AtomicPtr<libc::sem_t>);

    impl Wake {
        pub(in crate::sys::signal) const fn new() -> Self {
            Self(AtomicPtr::new(std::ptr::null_mut()))
        }

        /// Creates the semaphore: a new one in a child of a fork, where the parent's may be in any
        /// state.
        pub(in crate::sys::signal) fn prepare(&self) -> io::Result<()> {
            // SAFETY: all zeroes are memory that `sem_init` may initialise, at an address that stays valid as
            // the box is leaked. Test: `exit_paths::sigint`.
            unsafe {
                let semaphore = Box::into_raw(Box::new(std::mem::zeroed::<libc::sem_t>()));
                if libc::sem_init(semaphore, 0, 0) != 0 {
                    return Err(io::Error::last_os_error());
                }
                self.0.store(semaphore, Ordering::Release);
            }
            Ok(())
        }

        /// Waits until woken, on the thread. May return early.
        pub(in crate::sys::signal) fn wait(&self) {
            // SAFETY: `prepare` came before the thread; a semaphore is never destroyed. Test:
            // `exit_paths::sigint`.
            unsafe { libc::sem_wait(self.0.load(Ordering::Acquire)) };
        }

        /// Wakes the thread, from a signal handler.
        pub(in crate::sys::signal) fn wake(&self) {
            let semaphore = self.0.load(Ordering::Acquire);
            if !semaphore.is_null() {
                // SAFETY: it is initialised, or it would be null. Test: `exit_paths::sigint`.
                unsafe { libc::sem_post(semaphore) };
            }
        }
    }
}

/// Apple's systems have no unnamed semaphores: the thread polls instead.
#[cfg(target_vendor = "apple")]
mod sys {
    use std::time::Duration;

    pub(in crate::sys::signal) struct Wake;

    impl Wake {
        pub(in crate::sys::signal) const fn new() -> Self {
            Self
        }

        pub(in crate::sys::signal) fn prepare(&self) -> std::io::Result<()> {
            Ok(())
        }

        pub(in crate::sys::signal) fn wait(&self) {
            std::thread::sleep(Duration::from_millis(50));
        }

        pub(in crate::sys::signal) fn wake(&self) {}
    }
}
