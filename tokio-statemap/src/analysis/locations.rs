//! Measures how long the tasks of each spawn location held the runtime.

use std::cmp::Reverse;

use super::lengths::quantile;
use super::long_polls::LONGEST_POLLS;
use super::own_time::own_ns;
use super::place::{Place, Places};
use super::poll::{PollAt, length_ns, ready_since};
use crate::trace::state::TaskState;
use crate::trace::timeline::{Task, Timeline};

/// The figures of the tasks of one spawn location.
///
/// A poll holds its worker to its end, or until `block_in_place` moves the worker to another thread. Sums are of that
/// wall time. The lengths of single polls, and their quantiles, are own time: see
/// [`LongPoll::own_ns`](super::LongPoll). If only a part of the run is kept in detail they are wall time, too, as it
/// isn't known what the machine took of a dropped poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocationRow {
    /// The place where the tasks were spawned.
    pub place: Place,
    /// The number of tasks.
    pub tasks: u64,
    /// The number of polls.
    pub polls: u64,
    /// The number of polls on workers.
    pub worker_polls: u64,
    /// The time that its polls held workers, in ns.
    pub held_ns: u64,
    /// The greatest number of polls on workers that one of its tasks had, among the polls that are kept in detail.
    pub most_polls_of_a_task: u64,
    /// The time that its polls ran on threads that are no workers, in ns. Such polls hold no worker.
    pub off_worker_ns: u64,
    /// The length of the longest poll, in ns.
    pub longest_ns: u64,
    /// The median of the lengths of the polls, in ns.
    pub p50_ns: u64,
    /// The length that 99 % of the polls did not exceed, in ns. Both quantiles are exact to 1 % where not all polls are
    /// kept in detail.
    pub p99_ns: u64,
    /// The longest time that one of the tasks was ready before it was polled, in ns; `None` if no ready times are
    /// known.
    pub longest_ready_ns: Option<u64>,
    /// The number of its polls that held a worker longer than `long_poll`.
    pub long_polls: u64,
    /// The time that these long polls held workers, in ns.
    pub long_polls_ns: u64,
    /// The number of these long polls that are kept in detail: all of them, unless events were dropped.
    pub kept_long_polls: u64,
    /// The time that the kept long polls held workers, in ns.
    pub kept_long_polls_ns: u64,
}

/// The results of one pass over all polls.
#[derive(Default)]
pub(super) struct Found {
    /// All locations, the one that held the runtime longest first.
    pub(super) rows: Vec<LocationRow>,
    /// The longest polls, the longest first.
    pub(super) longest: Vec<PollAt>,
    /// The longest of the long polls that held no worker.
    pub(super) off_worker: Option<PollAt>,
    pub(super) polls: u64,
    pub(super) cut_polls: u64,
    pub(super) running_polls: u64,
    /// The time that tasks were ready, in ns, summed over tasks; 0 if ready times are not known.
    pub(super) ready_ns: u128,
    /// The part of `ready_ns` of tasks that were still ready when they ended, or at the end.
    pub(super) still_ready_ns: u128,
    /// The number of tasks that were only seen to be spawned: they were ready all the time.
    pub(super) unpolled: u64,
}

/// Looks at all polls.
pub(super) fn rank(timeline: &Timeline) -> Found {
    let mut scan = Scan {
        timeline,
        long_poll_ns: timeline.settings.long_poll.as_nanos(),
        lengths: Vec::new(),
        longest: Vec::with_capacity(LONGEST_POLLS + 1),
        off_worker: None,
        found: Found::default(),
    };
    for group in &groups(timeline) {
        let row = scan.row(group);
        scan.found.rows.push(row);
        scan.found.unpolled += group.unpolled;
    }
    let Scan { longest, off_worker, mut found, .. } = scan;
    sort(&mut found.rows);
    for (.., at) in longest {
        found.longest.push(at);
    }
    found.off_worker = off_worker.map(|(.., at)| at);
    found.ready_ns += found.still_ready_ns;
    found
}

/// Sorts the rows: the one that held the runtime longest first.
pub(super) fn sort(rows: &mut [LocationRow]) {
    // Equals are sorted by their place in the source, not by the order of a hash map.
    crate::util::sort::by_key(rows, |row| {
        Reverse((row.held_ns, row.off_worker_ns, Reverse(row.place)))
    });
}

/// The tasks of one location.
struct Group {
    place: Place,
    /// The indices of the tasks that were seen.
    seen: Vec<usize>,
    /// The number of other tasks, which did nothing.
    quiet: u64,
    /// The number of quiet tasks that had not been polled yet.
    unpolled: u64,
}

/// Groups the tasks by location.
fn groups(timeline: &Timeline) -> Vec<Group> {
    let (mut places, mut groups) = (Places::default(), Vec::new());
    let mut group_of = |task: &Task, groups: &mut Vec<Group>| {
        let place = Place::of_task(task);
        let number = places.number(place);
        if number == groups.len() {
            groups.push(Group { place, seen: Vec::new(), quiet: 0, unpolled: 0 });
        }
        number
    };
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        let number = group_of(task, &mut groups);
        groups[number].seen.push(index);
    }
    for task in timeline.tasks.quiet() {
        let number = group_of(&task, &mut groups);
        let group = &mut groups[number];
        group.quiet += 1;
        group.unpolled += u64::from(task.first_state == TaskState::Spawned);
    }
    groups
}

/// A poll with its own time and its start. The longest poll is the least. If two are equal, the earlier one comes first,
/// and then that of the first task. The page and the SVG rank polls in the same way.
type Ranked = (Reverse<u64>, u64, PollAt);

struct Scan<'a> {
    timeline: &'a Timeline,
    long_poll_ns: u128,
    /// The lengths of one location's polls. The memory is used again for the next location.
    lengths: Vec<u64>,
    /// The longest polls so far, the longest first.
    longest: Vec<Ranked>,
    /// The longest of the long polls that held no worker.
    off_worker: Option<Ranked>,
    found: Found,
}

impl Scan<'_> {
    /// Returns the row of a location.
    fn row(&mut self, group: &Group) -> LocationRow {
        let mut row = LocationRow {
            place: group.place,
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
                let length = length_ns(self.timeline, poll);
                let own_ns = own_ns(self.timeline, poll);
                let ranked = (Reverse(own_ns), poll.start_ns(), (index, i));
                self.lengths.push(own_ns);
                self.consider(ranked);
                self.found.cut_polls += u64::from(poll.is_cut_left() || poll.is_cut_right());
                self.found.running_polls += u64::from(poll.end_ns().is_none());
                if poll.worker().is_none() {
                    row.off_worker_ns = row.off_worker_ns.saturating_add(length);
                    if u128::from(own_ns) > self.long_poll_ns {
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
                if self.timeline.settings.schedule_latency {
                    let ready = ready_since(self.timeline, task, i)
                        .map(|since| poll.start_ns().saturating_sub(since));
                    self.found.ready_ns += u128::from(ready.unwrap_or_default());
                    row.longest_ready_ns = row.longest_ready_ns.max(ready);
                }
            }
            let polls = row.worker_polls - polls_before;
            row.most_polls_of_a_task = row.most_polls_of_a_task.max(polls);
            if self.timeline.settings.schedule_latency {
                let until = task.terminated_ns.unwrap_or(self.timeline.end_ns);
                let ready = ready_since(self.timeline, task, task.polls.len())
                    .map(|since| until.saturating_sub(since));
                self.found.still_ready_ns += u128::from(ready.unwrap_or_default());
                row.longest_ready_ns = row.longest_ready_ns.max(ready);
            }
        }
        if self.timeline.settings.schedule_latency && group.unpolled > 0 {
            // They are only known since the last events begin.
            let length_ns = self.timeline.end_ns.saturating_sub(self.timeline.recent_ns);
            row.longest_ready_ns = row.longest_ready_ns.max(Some(length_ns));
            self.found.still_ready_ns += u128::from(group.unpolled) * u128::from(length_ns);
        }
        (row.kept_long_polls, row.kept_long_polls_ns) = (row.long_polls, row.long_polls_ns);
        row.polls = self.lengths.len() as u64;
        self.found.polls += row.polls;
        row.longest_ns = quantile(&mut self.lengths, 100);
        row.p99_ns = quantile(&mut self.lengths, 99);
        row.p50_ns = quantile(&mut self.lengths, 50);
        row
    }

    /// Adds a poll to the longest if it is one of them.
    fn consider(&mut self, new: Ranked) {
        if self.longest.len() == LONGEST_POLLS && self.longest.last().is_some_and(|l| *l < new) {
            return;
        }
        let place = self.longest.partition_point(|other| *other < new);
        self.longest.insert(place, new);
        self.longest.truncate(LONGEST_POLLS);
    }
}
