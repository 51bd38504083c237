//! Times in which no worker looked for timers and I/O.

/// A time in which no other poll began or ended, up to the end of a long one. Its worker would have looked for timers and
/// I/O, while the others were parked. A task that becomes ready right after a silence was due earlier, or may have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Silence {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// The number of the long poll, or of its place.
    pub(crate) by: usize,
}

/// Silences, sorted by their ends.
#[derive(Debug, Default)]
pub(crate) struct Silences(pub(crate) Vec<Silence>);

/// A shorter silence delays no task noticeably.
pub(crate) const NOTICEABLE_NS: u64 = 1_000_000;

/// A task that becomes ready this soon after a silence was kept waiting by it: within this time, or within one part in
/// [`BEHIND_PART`] of the silence if that is longer.
const BEHIND_NS: u64 = 1_000_000;
const BEHIND_PART: u64 = 20;

impl Silences {
    /// Sorts silences, and leaves out those that delay no task noticeably.
    pub(crate) fn new(mut all: Vec<Silence>) -> Self {
        all.retain(|silence| silence.length_ns() >= NOTICEABLE_NS);
        crate::util::sort::by_key(&mut all, |silence| (silence.to_ns, silence.from_ns));
        Self(all)
    }

    /// Returns the silence that may have kept a task waiting, which became ready at `ready_ns`.
    pub(crate) fn before(&self, ready_ns: u64) -> Option<Silence> {
        let after = self.0.partition_point(|silence| silence.to_ns <= ready_ns);
        let silence = self.0[after.checked_sub(1)?];
        let behind_ns = BEHIND_NS.max(silence.length_ns() / BEHIND_PART);
        (ready_ns - silence.to_ns <= behind_ns).then_some(silence)
    }
}

impl Silence {
    pub(crate) fn length_ns(self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}
