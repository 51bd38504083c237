//! The processor's time stamp counter.

/// Returns the counter's value. It is a clock only where the kernel's clock source is the TSC; see
/// [`crate::recorder::clock`].
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every processor of this architecture has the instruction, which reads a register and
    // nothing else. Test: `clock::tests::real::both_sources_agree_with_instant`.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Not available; never used as a clock.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn ticks() -> u64 {
    0
}
