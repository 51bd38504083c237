//! The signals that a thread blocks.

/// A set of signals to block.
#[derive(Clone, Copy)]
pub(crate) struct Mask(libc::sigset_t);

impl Mask {
    /// Returns the signals that the calling thread blocks.
    pub(crate) fn of_this_thread() -> Self {
        Self::change(std::ptr::null())
    }

    /// Calls `f` with these blocked, and no others.
    pub(crate) fn during<R>(&self, f: impl FnOnce() -> R) -> R {
        let _before = Before(Self::change(&raw const self.0));
        f()
    }

    /// Replaces the mask of the calling thread, unless `to` is null. Returns the previous mask.
    fn change(to: *const libc::sigset_t) -> Self {
        // SAFETY: all zeroes are a valid set, which the call overwrites; `to` is null or a set that lives
        // through the call. Test: `sys::signal::mask::tests::a_mask_is_put_back`.
        unsafe {
            let mut before = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, to, &raw mut before);
            Self(before)
        }
    }
}

/// Restores a mask when dropped.
struct Before(Mask);

impl Drop for Before {
    fn drop(&mut self) {
        Mask::change(&raw const self.0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::signal::block_all;

    fn blocks(signal: i32) -> bool {
        // SAFETY: the set was returned by the system.
        unsafe { libc::sigismember(&Mask::of_this_thread().0, signal) == 1 }
    }

    #[test]
    fn a_mask_is_put_back() {
        let outside = Mask::of_this_thread();
        std::thread::spawn(move || {
            block_all();
            assert!(blocks(libc::SIGTERM));
            assert!(!outside.during(|| blocks(libc::SIGTERM)));
            let panics = || outside.during(|| std::panic::resume_unwind(Box::new(())));
            std::panic::catch_unwind(panics).unwrap_err();
            assert!(blocks(libc::SIGTERM), "also after a panic");
        })
        .join()
        .unwrap();
    }
}
