//! Samples of what threads that poll tasks compute, however short the polls are.

/// The most stacks that are told apart.
pub(crate) const MOST_STACKS: usize = 512;

/// The stacks of threads that poll tasks, in polls and between them, since recording was first started.
#[derive(Clone, Debug, Default)]
pub(crate) struct CpuSamples {
    /// An address within each function, the innermost first.
    pub(crate) stacks: Vec<(Box<[u64]>, Sampled)>,
    /// The samples of stacks that are no longer told apart, and of stacks that could not be followed.
    pub(crate) others: Sampled,
}

/// The number of samples, and the CPU time for which they stand: that since the previous sample of the same thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sampled {
    /// The number of samples.
    pub samples: u64,
    /// The CPU time, in ns.
    pub cpu_ns: u64,
}

impl Sampled {
    pub(crate) fn add(&mut self, other: Self) {
        self.samples = self.samples.saturating_add(other.samples);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
    }
}
