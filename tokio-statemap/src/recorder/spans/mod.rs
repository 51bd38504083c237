//! The spans of `tracing`, as the layer reports them.
//!
//! [`entered`] has the spans that a thread is in right now. [`open`] is one span from its opening to its close: the
//! stints in which threads were in it. [`labels`] numbers the names under which spans are summed up, and [`closed`] has
//! the sums of the whole run by label, and the newest closed spans one by one.
//!
//! Nothing here waits for a lock on a thread that runs tasks, but when a thread sees a label first.

pub(crate) mod closed;
pub(crate) mod entered;
mod labels;
pub(crate) mod open;

pub(crate) use closed::{ClosedSpan, Spans, SpansSeen};
pub(crate) use labels::Label;
pub(crate) use open::OpenSpan;

/// A time in which a thread was in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stint {
    pub(crate) enter_ticks: u64,
    pub(crate) exit_ticks: u64,
    /// The part of it in which no span was entered within this one, in ticks.
    pub(crate) own_ticks: u64,
    /// The task that the thread polled, as in a record; [`NO_TASK`] if it is unknown.
    pub(crate) task: u64,
}

/// Stands for the task of a thread of which it isn't known whether it polls one.
pub(crate) const NO_TASK: u64 = u64::MAX;
