//! Pseudo-random numbers for tests, which depend only on a seed.

/// A generator with its state.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % n
    }

    pub(crate) fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
