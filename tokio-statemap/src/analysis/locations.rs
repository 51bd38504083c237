//! Which spawn location held the runtime, and for how long.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::long_polls::{self, LONGEST_POLLS, PollAt};
use super::own::own_ns;
use super::place::Place;
use crate::trace::state::TaskState;
use crate::trace::timeline::Timeline;

/// What the tasks of one spawn location did.
///
/// A poll holds its worker up to where the worker goes on elsewhere, if the task calls `block_in_place`. Sums are of that
/// wall time. The lengths of single polls, and so their quantiles, are own time: see [`LongPoll::own_ns`](super::LongPoll).
/// Only where not all of the run is kept in detail they are wall time, too, as what the machine took of each poll is
/// known of none that is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocationRow {
    /// Where the tasks were spawned.
    pub place: Place,
    /// How many tasks.
    pub tasks: u64,
    /// How many polls.
    pub polls: u64,
    /// How many of them were on workers.
    pub worker_polls: u64,
    /// How long its polls held workers, in ns.
    pub held_ns: u64,
    /// How many polls one of its tasks had on workers at most, of those that are kept in detail.
    pub most_polls_of_a_task: u64,
    /// How long its polls ran on threads that are no workers, in ns. They hold no worker.
    pub off_worker_ns: u64,
    /// The length of the longest poll, in ns.
    pub longest_ns: u64,
    /// The median of the lengths of the polls, in ns.
    pub p50_ns: u64,
    /// What 99 % of the polls did not exceed, in ns. Both are good to 1 % where not all polls are kept in detail.
    pub p99_ns: u64,
    /// The longest that one of the tasks was ready before it was polled, in ns; `None` if no
    /// ready times are known.
    pub longest_ready_ns: Option<u64>,
    /// How many of its polls held a worker longer than `long_poll`.
    pub long_polls: u64,
    /// How long those held workers, in ns.
    pub long_polls_ns: u64,
    /// How many of these are kept in detail: all, unless events were dropped.
    pub kept_long_polls: u64,
    /// How long those held workers, in ns.
    pub kept_long_polls_ns: u64,
}

/// What one pass over all polls finds.
pub(super) struct Found {
    /// All locations, that which held the runtime longest first.
    pub(super) rows: Vec<LocationRow>,
    /// The longest polls, the longest first.
    pub(super) longest: Vec<PollAt>,
    /// The longest of the long polls that held no worker.
    pub(super) off_worker: Option<PollAt>,
    pub(super) polls: u64,
    pub(super) cut_polls: u64,
    pub(super) running_polls: u64,
    /// How long tasks were ready, in ns, all of them together; 0 if ready times are not known.
    pub(super) ready_ns: u128,
    /// How much of that is of tasks that still were when they ended, or at the end.
    pub(super) still_ready_ns: u128,
    /// How many tasks were never polled, and nothing else was seen of them: they were ready all the
    /// time.
    pub(super) unpolled: u64,
}

pub(super) fn rank(timeline: &Timeline) -> Found {
    let mut scan = Scan::new(timeline);
    let groups = groups(timeline);
    let unpolled = groups.values().map(|group| group.unpolled).sum();
    let mut rows: Vec<_> =
        groups.into_iter().map(|(place, group)| scan.group(place, &group)).collect();
    sort(&mut rows);
    Found {
        rows,
        longest: scan.longest.into_iter().map(|(.., at)| at).collect(),
        off_worker: scan.off_worker.map(|(.., at)| at),
        polls: scan.polls,
        cut_polls: scan.cut_polls,
        running_polls: scan.running_polls,
        ready_ns: scan.ready_ns + scan.still_ready_ns,
        still_ready_ns: scan.still_ready_ns,
        unpolled,
    }
}

/// Puts the rows in order: that which held the runtime longest first.
pub(super) fn sort(rows: &mut [LocationRow]) {
    // Of equals the first in the source, not the first that happened to be hashed.
    rows.sort_unstable_by_key(|row| Reverse((row.held_ns, row.off_worker_ns, Reverse(row.place))));
}

/// The tasks of one location.
#[derive(Default)]
struct Group {
    /// The indices of those that were seen.
    seen: Vec<usize>,
    /// How many others there are: they did nothing.
    quiet: u64,
    /// How many of these had not been polled yet.
    unpolled: u64,
}

/// The tasks of each location.
fn groups(timeline: &Timeline) -> HashMap<Place, Group> {
    let mut groups: HashMap<Place, Group> = HashMap::new();
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        groups.entry(Place::of(task)).or_default().seen.push(index);
    }
    for task in timeline.tasks.quiet() {
        let group = groups.entry(Place::of(&task)).or_default();
        group.quiet += 1;
        group.unpolled += u64::from(task.first_state == TaskState::Spawned);
    }
    groups
}

/// A poll by its own time and its start: the longest is the least, of equals the earliest, of these that
/// of the first task. The page and the SVG go by the same.
type Ranked = (Reverse<u64>, u64, PollAt);

struct Scan<'a> {
    timeline: &'a Timeline,
    long_poll_ns: u128,
    /// The lengths of one location's polls, kept for the next to use its memory again.
    lengths: Vec<u64>,
    /// The longest polls so far, the longest first.
    longest: Vec<Ranked>,
    /// The longest of the long polls that held no worker.
    off_worker: Option<Ranked>,
    polls: u64,
    cut_polls: u64,
    running_polls: u64,
    ready_ns: u128,
    still_ready_ns: u128,
}

impl<'a> Scan<'a> {
    fn new(timeline: &'a Timeline) -> Self {
        Self {
            timeline,
            long_poll_ns: timeline.long_poll.as_nanos(),
            lengths: Vec::new(),
            longest: Vec::with_capacity(LONGEST_POLLS + 1),
            off_worker: None,
            polls: 0,
            cut_polls: 0,
            running_polls: 0,
            ready_ns: 0,
            still_ready_ns: 0,
        }
    }

    /// The row of a location.
    fn group(&mut self, place: Place, group: &Group) -> LocationRow {
        let mut row = LocationRow {
            place,
            tasks: group.seen.len() as u64 + group.quiet,
            polls: 0,
            worker_polls: 0,
            held_ns: 0,
            most_polls_of_a_task: 0,
            off_worker_ns: 0,
            longest_ns: 0,
            p50_ns: 0,
            p99_ns: 0,
            longest_ready_ns: None,
            long_polls: 0,
            long_polls_ns: 0,
            kept_long_polls: 0,
            kept_long_polls_ns: 0,
        };
        self.lengths.clear();
        for &index in &group.seen {
            let task = &self.timeline.tasks.seen()[index];
            let polls_before = row.worker_polls;
            for (i, poll) in task.polls.iter().enumerate() {
                let length = long_polls::length_ns(self.timeline, poll);
                let own_ns = own_ns(self.timeline, poll);
                let ranked = (Reverse(own_ns), poll.start_ns(), (index, i));
                self.lengths.push(own_ns);
                self.consider(ranked);
                self.cut_polls += u64::from(poll.is_cut_left() || poll.is_cut_right());
                self.running_polls += u64::from(poll.end_ns().is_none());
                if poll.worker().is_none() {
                    row.off_worker_ns = row.off_worker_ns.saturating_add(length);
                    if u128::from(length) > self.long_poll_ns {
                        let longest = self.off_worker.get_or_insert(ranked);
                        *longest = ranked.min(*longest);
                    }
                    continue;
                }
                row.worker_polls += 1;
                row.held_ns = row.held_ns.saturating_add(length);
                if u128::from(length) > self.long_poll_ns {
                    row.long_polls += 1;
                    row.long_polls_ns = row.long_polls_ns.saturating_add(length);
                }
                if self.timeline.schedule_latency {
                    let ready = long_polls::ready_since(self.timeline, task, i)
                        .map(|since| poll.start_ns().saturating_sub(since));
                    self.ready_ns += u128::from(ready.unwrap_or_default());
                    row.longest_ready_ns = row.longest_ready_ns.max(ready);
                }
            }
            let polls = row.worker_polls - polls_before;
            row.most_polls_of_a_task = row.most_polls_of_a_task.max(polls);
            if self.timeline.schedule_latency {
                let until = task.terminated_ns.unwrap_or(self.timeline.end_ns);
                let ready = long_polls::ready_since(self.timeline, task, task.polls.len())
                    .map(|since| until.saturating_sub(since));
                self.still_ready_ns += u128::from(ready.unwrap_or_default());
                row.longest_ready_ns = row.longest_ready_ns.max(ready);
            }
        }
        if self.timeline.schedule_latency && group.unpolled > 0 {
            // Nothing is known of them before the last events.
            let length_ns = self.timeline.end_ns.saturating_sub(self.timeline.recent_ns);
            row.longest_ready_ns = row.longest_ready_ns.max(Some(length_ns));
            self.still_ready_ns += u128::from(group.unpolled) * u128::from(length_ns);
        }
        (row.kept_long_polls, row.kept_long_polls_ns) = (row.long_polls, row.long_polls_ns);
        row.polls = self.lengths.len() as u64;
        self.polls += row.polls;
        row.longest_ns = self.lengths.iter().copied().max().unwrap_or_default();
        row.p99_ns = quantile(&mut self.lengths, 99);
        row.p50_ns = quantile(&mut self.lengths, 50);
        row
    }

    /// Puts a poll among the longest if it is one of them.
    fn consider(&mut self, new: Ranked) {
        if self.longest.len() == LONGEST_POLLS && self.longest.last().is_some_and(|l| *l < new) {
            return;
        }
        let place = self.longest.partition_point(|other| *other < new);
        self.longest.insert(place, new);
        self.longest.truncate(LONGEST_POLLS);
    }
}

/// The smallest value that at least `percent` of the values do not exceed; 0 of no values.
pub(super) fn quantile(values: &mut [u64], percent: usize) -> u64 {
    let rank = (values.len() * percent).div_ceil(100);
    match rank.checked_sub(1) {
        Some(index) => *values.select_nth_unstable(index).1,
        None => 0,
    }
}
