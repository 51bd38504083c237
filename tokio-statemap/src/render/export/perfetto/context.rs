//! The data that all tracks of a run share.

use super::trace::{Text, Track};
use crate::analysis::polls::Polls;
use crate::render::export::Run;
use crate::trace::timeline::Timeline;

/// A run that is being written, and what its tracks refer to.
pub(super) struct Context<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) polls: Polls<'a>,
    /// The time from the start of the trace to that of the run, in ns.
    pub(super) later_ns: u64,
    /// The track of the run itself.
    pub(super) track: Track,
    pub(super) flows: Flows,
    /// The name of each task that was seen.
    pub(super) names: Vec<Text>,
}

/// The flows into polls, which begin when their tasks become ready.
#[derive(Default)]
pub(super) struct Flows {
    /// The number of the first flow.
    pub(super) first: u64,
    /// The number of polls of all tasks before each task, of those that were seen.
    pub(super) before: Vec<usize>,
    /// `true` if the flow into each poll has begun.
    pub(super) is_begun: Vec<bool>,
}

impl Flows {
    /// Begins the flow into a poll, and returns its number.
    pub(super) fn begin(&mut self, (task, poll): (usize, usize)) -> u64 {
        let at = self.before[task] + poll;
        self.is_begun[at] = true;
        self.first + at as u64
    }

    /// Returns the number of the flow into a poll, if it has begun.
    pub(super) fn ending(&self, (task, poll): (usize, usize)) -> Option<u64> {
        let at = self.before[task] + poll;
        self.is_begun[at].then_some(self.first + at as u64)
    }
}

impl<'a> Context<'a> {
    pub(super) fn timeline(&self) -> &'a Timeline {
        self.run.timeline
    }

    /// Converts a time of the timeline to one of the trace.
    pub(super) fn at(&self, time_ns: u64) -> u64 {
        let timeline = self.timeline();
        time_ns.clamp(timeline.begin_ns, timeline.end_ns).saturating_add(self.later_ns)
    }
}

/// The order of the tracks of a run.
pub(super) mod rank {
    pub(in super::super) const TASKS_READY: u64 = 1;
    pub(in super::super) const WORKERS_BUSY: u64 = 2;
    pub(in super::super) const TASKS_ALIVE: u64 = 3;
    pub(in super::super) const REQUESTS: u64 = 4;
    pub(in super::super) const WORKERS: u64 = 5;
    pub(in super::super) const BLOCKING_THREADS: u64 = 6;
    pub(in super::super) const TASKS: u64 = 7;
}
