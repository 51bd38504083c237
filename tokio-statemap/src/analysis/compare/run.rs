//! A run, and its polls by spawn location.

use std::collections::HashMap;

use crate::analysis::lengths::quantile;
use crate::analysis::locations::LocationRow;
use crate::analysis::own_time::own_ns;
use crate::analysis::place::Place;
use crate::analysis::poll::{PollAt, length_ns};
use crate::analysis::report::Report;
use crate::trace::timeline::{Poll, Task, Timeline};

/// A run.
pub(super) struct Run<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) report: Report,
    /// The tasks of each place, among those that were seen.
    pub(super) tasks: HashMap<Place, Vec<usize>>,
}

pub(super) fn runs<'a>(timelines: &[&'a Timeline]) -> Vec<Run<'a>> {
    timelines.iter().map(|&timeline| Run::new(timeline)).collect()
}

impl<'a> Run<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        let report = timeline.report();
        let mut tasks: HashMap<Place, Vec<usize>> = HashMap::new();
        for (index, task) in timeline.tasks.seen().iter().enumerate() {
            if !task.polls.is_empty() {
                tasks.entry(report.place_of(task)).or_default().push(index);
            }
        }
        Self { timeline, report, tasks }
    }

    pub(super) fn polls_of(&self, place: Place) -> impl Iterator<Item = PollAt> {
        let tasks = self.tasks.get(&place).into_iter().flatten();
        tasks.flat_map(|&task| (0..self.task(task).polls.len()).map(move |poll| (task, poll)))
    }

    pub(super) fn task(&self, index: usize) -> &Task {
        &self.timeline.tasks.seen()[index]
    }

    pub(super) fn poll(&self, at: PollAt) -> &Poll {
        &self.task(at.0).polls[at.1]
    }

    /// Returns the own time of a poll, in ns.
    pub(super) fn own_ns(&self, at: PollAt) -> u64 {
        own_ns(self.timeline, self.poll(at))
    }

    /// Returns the row of a place with wall times. Own times of a whole run aren't known if only a part of it is kept,
    /// so all runs are compared by wall time.
    pub(super) fn wall_row(&self, place: Place) -> Option<LocationRow> {
        let mut row = *self.report.locations.iter().find(|row| row.place == place)?;
        if self.report.recording.detail_ns.is_none() {
            let polls = self.polls_of(place).map(|at| length_ns(self.timeline, self.poll(at)));
            let mut lengths: Vec<u64> = polls.collect();
            row.longest_ns = lengths.iter().copied().max().unwrap_or_default();
            row.p99_ns = quantile(&mut lengths, 99);
            row.p50_ns = quantile(&mut lengths, 50);
        }
        Some(row)
    }

    /// Returns whether a poll and those around it are kept completely: from before the last events, only the longest
    /// polls are.
    pub(super) fn is_comparable(&self, poll: &Poll) -> bool {
        let is_whole = !poll.is_cut_left() && !poll.is_cut_right() && poll.end_ns().is_some();
        is_whole && poll.start_ns() >= self.timeline.recent_ns
    }
}
