//! The clocks of the system.

/// Returns the time of a clock, in ns, or `None` if there is no such clock. Async-signal-safe.
pub(crate) fn ns_of(clock: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it fills `time` in, or fails. Test: `sys::clocks::tests::time_goes_on`.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(time.tv_nsec).ok()?)
}

/// Returns the time since the machine started, in ns. Every system has that clock. Async-signal-safe.
pub(crate) fn monotonic_ns() -> u64 {
    ns_of(libc::CLOCK_MONOTONIC).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on() {
        let before = monotonic_ns();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let after = monotonic_ns();
        assert!(before > 0 && before < after && after < u64::MAX);
        assert_eq!(ns_of(libc::clockid_t::MAX), None);
    }
}
