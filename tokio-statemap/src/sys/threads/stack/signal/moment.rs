//! The share of time that a thread ran between two moments.

/// A moment of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) wall_ns: u64,
    /// Its CPU time, if the system reports it.
    pub(super) cpu_ns: Option<u64>,
}

impl Moment {
    /// Returns the thread's CPU time up to a later moment, in ns.
    pub(super) fn cpu_ns_until(self, later: Self) -> u64 {
        self.cpu_ns.zip(later.cpu_ns).map_or(0, |(from, to)| to.saturating_sub(from))
    }

    /// Returns `true` if the thread was on a processor for most of the time up to a later moment.
    pub(super) fn ran_until(self, later: Self) -> bool {
        let (Some(from_ns), Some(to_ns)) = (self.cpu_ns, later.cpu_ns) else { return false };
        to_ns.saturating_sub(from_ns) >= later.wall_ns.saturating_sub(self.wall_ns) / 2
    }
}

/// Returns the time from one tick of the kernel to the next, in ns.
pub(super) fn tick_ns() -> u64 {
    /// The longest tick of any system.
    const LONGEST: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    let mut step = LONGEST;
    // SAFETY: it fills `step` in, or fails. Test: `sys::threads::stack::signal::moment::tests::ticks_are_some_ms`.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut step) };
    step.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    #[test]
    fn ticks_are_some_ms() {
        assert!((900_000..=10_000_000).contains(&super::tick_ns()), "{}", super::tick_ns());
    }
}
