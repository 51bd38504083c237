//! Makes the times of an entity's changes distinct.

/// The time that was written last, and its real time.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::statemap) struct Spaced(Option<(u64, u64)>);

impl Spaced {
    /// Returns the time to write for the next change, at `real_ns`. If that is 1 ns after the change before
    /// it, also returns the real distance; else 0.
    #[inline]
    pub(in crate::statemap) fn next(&mut self, real_ns: u64) -> (u64, u64) {
        let (mut time_ns, mut apart_ns) = (real_ns, 0);
        if let Some((last_ns, last_real_ns)) = self.0 {
            let next_ns = last_ns.saturating_add(1);
            if real_ns <= next_ns {
                time_ns = next_ns;
                apart_ns = real_ns.saturating_sub(last_real_ns);
            }
        }
        self.0 = Some((time_ns, real_ns));
        (time_ns, apart_ns)
    }
}
