//! Facts about the recording, and how much of it is kept.

use std::time::Duration;

use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::symbols::file_of_address;
use crate::trace::summary::Summary;
use crate::trace::timeline::{Lacking, PollSample, Sampling, StackFrame, Timeline};

/// In a shorter time the workers do little but start, so nothing can be said about what holds them.
pub(super) const ENOUGH_RECORDED_NS: u64 = 10_000_000;

/// Facts about the recording, and how much of it is kept.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recording {
    /// The name that the runtime was given with `Builder::name`.
    pub runtime: Option<String>,
    /// The left edge of what is kept in detail, in ns.
    pub begin_ns: u64,
    /// The right edge of what was recorded, in ns.
    pub end_ns: u64,
    /// The time that was recorded, in ns: from edge to edge, without the gaps.
    pub recorded_ns: u64,
    /// The part of that time that is kept in detail, in ns; `None` if everything is, or if only the kept part is known.
    ///
    /// If it is `Some`, the recorded time, the numbers of tasks and polls, the workers, the locations and the longest
    /// polls are those of the whole run. Culprits and waits are those of the detail.
    pub detail_ns: Option<u64>,
    /// The time since which all events are kept, in ns. It is later than `begin_ns` if some events from before are
    /// kept, too.
    pub recent_ns: u64,
    /// The number of stretches of time before `recent_ns` that are kept, around the longest polls of the run.
    pub stretches_before: usize,
    /// The total length of these stretches, in ns.
    pub before_ns: u64,
    /// The number of times that the recording was stopped between the edges, since `recent_ns`.
    pub gaps: usize,
    /// The number of events that the report is made of.
    pub events: u64,
    /// The events that the report lacks, by cause.
    pub lost: Lost,
    /// The kinds of entities that were to be recorded.
    pub trace_target: TraceTarget,
    /// `true` if this build of Tokio can report tasks.
    pub task_hooks: bool,
    /// `true` if the times at which tasks became ready were recorded.
    pub schedule_latency: bool,
    /// The length from which on a poll is called long.
    pub long_poll: Duration,
    /// The state of stack sampling: whether it was on, and why stacks are missing.
    pub sampling: Sampling,
    /// `true` if the program was stripped, so that its functions are known only by their addresses.
    pub(crate) is_stripped: bool,
    /// The parts that the timeline lacks, if it was read from files.
    pub(crate) lacking: Lacking,
}

impl Recording {
    /// `sums` are those of the whole run, if only a part of it is kept in detail.
    pub(super) fn from_timeline(timeline: &Timeline, sums: Option<&Summary>) -> Self {
        let (mut stretches_before, mut before_ns, mut gaps) = (0, 0, 0);
        for (from_ns, to_ns) in timeline.stretches_before() {
            stretches_before += 1;
            before_ns += to_ns - from_ns;
        }
        for &(_, to_ns) in &timeline.gaps {
            gaps += usize::from(to_ns > timeline.recent_ns);
        }
        Self {
            runtime: timeline.runtime.clone(),
            begin_ns: timeline.begin_ns,
            end_ns: timeline.end_ns,
            recorded_ns: sums.map_or(timeline.recorded_ns(), |sums| sums.recorded_ns),
            detail_ns: sums.map(|_| timeline.recorded_ns()),
            recent_ns: timeline.recent_ns,
            stretches_before,
            before_ns,
            gaps,
            events: timeline.events,
            lost: timeline.lost,
            trace_target: timeline.settings.trace_target,
            task_hooks: timeline.settings.task_hooks,
            schedule_latency: timeline.settings.schedule_latency,
            long_poll: timeline.settings.long_poll,
            sampling: timeline.long_polls.sampling,
            is_stripped: is_stripped(timeline),
            lacking: timeline.lacking,
        }
    }

    /// Returns how much of the recording is kept in detail, in ns.
    pub(crate) fn kept_ns(&self) -> u64 {
        self.detail_ns.unwrap_or(self.recorded_ns)
    }

    /// Returns whether nothing was recorded, or nothing is kept in this part of a recording.
    pub(super) fn is_empty(&self) -> bool {
        self.events == 0 || self.lacking.time && self.recorded_ns == 0
    }

    /// Returns whether too little was recorded to tell more than that a poll was long.
    pub(super) fn is_too_short(&self) -> bool {
        self.recorded_ns < ENOUGH_RECORDED_NS && !self.lacking.time
    }

    /// Returns whether tasks are known: they were recorded, and their file was read.
    pub(crate) fn has_tasks(&self) -> bool {
        self.task_hooks && self.trace_target.tracks_tasks() && !self.lacking.tasks
    }
}

/// Returns whether functions of the program are known only by their addresses.
fn is_stripped(timeline: &Timeline) -> bool {
    let is_unnamed = |sample: &PollSample| {
        sample.blamed().is_none() && sample.frames.iter().any(is_address_of_program)
    };
    !timeline.places.unnamed.chains.is_empty() || timeline.long_polls.samples.iter().any(is_unnamed)
}

/// Returns whether a function is known only by its address in the program. Addresses in libraries don't count, as most
/// libraries name only the functions that others may call.
fn is_address_of_program(frame: &StackFrame) -> bool {
    file_of_address(&frame.function).is_some_and(|file| !file.contains(".so"))
}
