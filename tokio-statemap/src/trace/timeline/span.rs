//! A stretch of time in one state.

/// A stretch of time that an entity spent in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span<S> {
    /// The state.
    pub state: S,
    /// From when, in ns.
    pub start_ns: u64,
    /// Until when, in ns: the start of the next span, or the right edge of the timeline.
    pub end_ns: u64,
}

impl<S> Span<S> {
    /// How long it is, in ns.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }
}
