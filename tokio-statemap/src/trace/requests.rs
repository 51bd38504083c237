//! Requests: what spans of `tracing` took, and what they did in that time.
//!
//! The [layer](crate::layer) records them. Times that a span was open, entered, and entered without others in it are sums
//! of the whole run. The parts of a span's time come from the states of its task, so they are known for the newest
//! spans only.

use std::fmt;

use crate::trace::profile::PerCall;
use crate::trace::task_key::TaskKey;

/// The spans of `tracing` that a recording saw, by name and selected fields.
///
/// [`Timeline::requests`](crate::Timeline::requests) returns them. `Display` writes a table of all, without a trailing
/// newline.
///
/// # Examples
///
/// ```
/// use tokio_statemap::Timeline;
///
/// fn print_slowest(timeline: &Timeline) {
///     for request in &timeline.requests().rows {
///         println!("{request}: {} times, p99 {} ns", request.count, request.times.p99_ns);
///         for cause in &request.slowest.causes {
///             println!("  of the slowest, {} ns {}: {}", cause.length_ns, cause.state.name(), cause.place);
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Requests {
    /// The kinds of spans, the one with the longest total time first.
    pub rows: Vec<Request>,
    /// The number of spans that were open at the end.
    pub open: u64,
    /// The number of spans that aren't in the rows because recording began, was stopped, or ended while they were open, or because they were
    /// among more than 64 spans that their thread was in.
    pub cut: u64,
    /// The number of spans that aren't in the rows for other reasons.
    pub lost: u64,
}

/// The spans of one name, target, and combination of selected fields.
///
/// `Display` writes its name and the values of its fields, such as `request GET /orders`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The name of the spans; `(others)` for all beyond the first 1000 kinds.
    pub name: String,
    /// The target of the spans: the module that opens them, unless the program gave another one.
    pub target: String,
    /// The values of the [selected fields](crate::SpanLayer::fields), with a space between two of them.
    pub fields: String,
    /// The number of spans that closed.
    pub count: u64,
    /// The times from the opening of a span to its close.
    pub times: PerCall,
    /// The sum of these times, in ns.
    pub total_ns: u64,
    /// The time in which any thread was in a span, in ns, summed over spans. This is wall time: a thread may be blocked in it.
    pub running_ns: u64,
    /// The time in which threads were in a span and in no other span that they entered after it, in ns, summed over spans and threads.
    pub own_ns: u64,
    /// The parts of the time of those spans whose surroundings are kept.
    pub parts: Parts,
    /// The same of the slowest of these: those that took no less than the 99th percentile.
    pub slowest: Parts,
    /// The longest of these, the longest first; at most ten.
    pub longest: Vec<RequestSpan>,
}

/// One span.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestSpan {
    /// The task that was in it last; `None` if that task isn't known, or isn't in the timeline: it belongs to another
    /// runtime, or its events were dropped.
    pub task: Option<TaskKey>,
    /// The time at which it opened, in ns since recording began.
    pub opened_ns: u64,
    /// The parts of its time. There are at most two causes.
    pub parts: Parts,
}

impl RequestSpan {
    /// Returns when it closed, in ns since recording began.
    pub fn closed_ns(&self) -> u64 {
        self.opened_ns.saturating_add(self.parts.length_ns)
    }

    /// Returns the part of it between two times, in ns; `None` if it was closed before, or opened after that.
    #[cfg(any(feature = "html", feature = "read"))]
    pub(crate) fn within(&self, from_ns: u64, to_ns: u64) -> Option<(u64, u64)> {
        let part = (self.opened_ns.max(from_ns), self.closed_ns().min(to_ns));
        (part.0 <= part.1).then_some(part)
    }
}

/// The time of spans, split by what they did. The five parts add up to the length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parts {
    /// The number of spans.
    pub spans: u64,
    /// The time from their openings to their closes, in ns, summed over spans.
    pub length_ns: u64,
    /// The part in which a thread was in the span, in ns.
    pub running_ns: u64,
    /// The part in which the span's task was ready, in ns: it was due, and no worker had polled it yet.
    pub ready_ns: u64,
    /// The part in which the span's task waited, in ns. It has the time of ready tasks, too, if that wasn't recorded.
    pub waiting_ns: u64,
    /// The part in which the span's task was polled outside of the span, in ns.
    pub elsewhere_ns: u64,
    /// The part in which no task of the span is known, in ns, such as before a task first entered it.
    pub unknown_ns: u64,
    /// The places where most of the time went, as far as they are known, the longest first; at most eight.
    pub causes: Vec<Cause>,
}

/// A place at which spans spent time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The state of the spans there.
    pub state: PartState,
    /// For [`Running`](PartState::Running), the function in which long polls were sampled. For
    /// [`Ready`](PartState::Ready), the function that was sampled on the worker that later polled the task: it held the
    /// span up. For [`Waiting`](PartState::Waiting), the line at which the task waited. For [`Late`](PartState::Late),
    /// the function that was sampled on the worker that would have looked for timers and I/O otherwise.
    pub place: String,
    /// The time, in ns, summed over spans.
    pub length_ns: u64,
}

/// A part of a span's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartState {
    /// A thread was in the span.
    Running,
    /// The span's task was due, and no worker had polled it yet.
    Ready,
    /// The span's task waited.
    Waiting,
    /// The span's task waited, and no worker looked for timers and I/O, as one was in a long poll and the others were parked.
    /// The runtime woke the task as soon as that was over. It was due at some time before. This time is a part of
    /// that in which the task waited.
    Late,
}

impl PartState {
    /// All of them.
    #[cfg(feature = "read")]
    pub(crate) const ALL: [Self; 4] = [Self::Running, Self::Ready, Self::Waiting, Self::Late];

    /// Returns the name: `running`, `ready`, `waiting` or `late`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Late => "late",
        }
    }
}

/// The most spans that are kept one by one of a kind.
pub(crate) const LONGEST: usize = 10;

impl Requests {
    /// Returns the number of spans in the rows.
    pub fn count(&self) -> u64 {
        self.rows.iter().map(|row| row.count).fold(0, u64::saturating_add)
    }

    /// Returns `true` if no span was seen.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Request {
    /// Returns whether `name` is its name, the values of its fields, or both with a space in between.
    pub fn is_named(&self, name: &str) -> bool {
        name == self.name || name == self.fields || name == self.to_string()
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match self.fields.as_str() {
            "" => Ok(()),
            fields => write!(f, " {fields}"),
        }
    }
}
