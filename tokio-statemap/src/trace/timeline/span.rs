//! A period of time in one state.

/// A period of time that a task or worker spent in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<S> {
    /// The state.
    pub state: S,
    /// The start, in ns.
    pub start_ns: u64,
    /// The end, in ns: the start of the next span, or the right edge of the timeline.
    pub end_ns: u64,
}

impl<S> Span<S> {
    /// Returns the length, in ns.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}
