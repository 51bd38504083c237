//! Measures how long tasks were ready by the program's own doing.
//!
//! A task that is ready waits for a worker. As long as any worker polls tasks, it waits for the program. While none
//! does, or the machine has taken the processor from one that does, it waits for the machine, which may be waking a
//! worker up.

use std::cmp::Reverse;
use std::time::Duration;

use super::{Exceeded, Unknown};
use crate::analysis::delay::Delay;
use crate::analysis::long_polls::{self, LongPoll};
use crate::analysis::place::Place;
use crate::analysis::poll::{PollAt, ready_since};
use crate::analysis::spelling::Spelling;
use crate::trace::summary::Summary;
use crate::trace::timeline::{TaskKey, Timeline};
use crate::util::map::Map;
use crate::util::quantity::scale;

/// A task that was ready for long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyWait {
    /// The task.
    pub task: TaskKey,
    /// The place where it was spawned.
    pub place: Place,
    /// The time at which the task became ready, in ns.
    pub since_ns: u64,
    /// The time that it was ready, in ns.
    pub length_ns: u64,
    /// The part of that time that is the program's doing, in ns.
    pub own_ns: u64,
    /// `true` if it was polled at the end of the wait.
    pub is_polled: bool,
    /// The poll that took most of that time, unless many polls did.
    pub meanwhile: Option<Box<LongPoll>>,
}

/// Finds the longest wait over the limit, and the number of others.
pub(super) fn judge(timeline: &Timeline, limit: Duration) -> Result<Option<Exceeded>, Unknown> {
    if !timeline.settings.schedule_latency {
        return Err(Unknown::ReadyTimes);
    }
    let is_over = |ns: u64| u128::from(ns) > limit.as_nanos();
    let mut waits = Vec::new();
    for task in timeline.tasks.seen() {
        for index in 0..=task.polls.len() {
            let poll = task.polls.get(index);
            // A future on a thread that is no worker doesn't wait for a worker.
            if poll.is_some_and(|poll| poll.worker().is_none()) {
                continue;
            }
            let Some(since_ns) = ready_since(timeline, task, index) else { continue };
            let until_ns = match poll {
                Some(poll) => poll.start_ns(),
                None => task.terminated_ns.unwrap_or(timeline.end_ns),
            };
            let length_ns = until_ns.saturating_sub(since_ns);
            if is_over(length_ns) {
                let (task, place) = (task.key, Place::of_task(task));
                let is_polled = poll.is_some();
                waits.push(ReadyWait {
                    task,
                    place,
                    since_ns,
                    length_ns,
                    own_ns: 0,
                    is_polled,
                    meanwhile: None,
                });
            }
        }
    }
    // The longest kept wait of each place.
    let mut kept: Map<Place, u64> = Map::default();
    for wait in &waits {
        let longest_ns = kept.get_or_default(wait.place);
        *longest_ns = (*longest_ns).max(wait.length_ns);
    }
    if !waits.is_empty() {
        let busy = Busy::from_timeline(timeline);
        for wait in &mut waits {
            wait.own_ns = busy.own_ns(wait.since_ns, wait.since_ns + wait.length_ns);
        }
    }
    let (mut over, mut longest): (u64, Option<ReadyWait>) = (0, None);
    for wait in waits {
        if !is_over(wait.own_ns) {
            continue;
        }
        over += 1;
        // If two are equal, the first stays.
        let rank = |wait: &ReadyWait| (Reverse(wait.own_ns), wait.since_ns);
        if longest.as_ref().is_none_or(|longest| rank(&wait) < rank(longest)) {
            longest = Some(wait);
        }
    }
    if let Some(mut wait) = longest {
        let spelling = Spelling::from_timeline(timeline);
        wait.meanwhile = meanwhile(timeline, &spelling, &wait).map(Box::new);
        wait.place = spelling.spell(wait.place);
        return Ok(Some(Exceeded::Ready { limit, wait: Box::new(wait), others: over - 1 }));
    }
    let not_kept = match timeline.whole_run() {
        Some(sums) if timeline.lost.dropped_events > 0 => not_kept(sums, &kept, &is_over),
        _ => None,
    };
    let Some((place, waited_ns)) = not_kept else { return Ok(None) };
    let place = Spelling::from_timeline(timeline).spell(place);
    Err(Unknown::ReadyNotKept { limit, place, waited_ns })
}

/// Returns the longest wait over the limit in the whole run, if its place has no such wait in what is kept.
fn not_kept(
    sums: &Summary,
    kept: &Map<Place, u64>,
    is_over: &dyn Fn(u64) -> bool,
) -> Option<(Place, u64)> {
    let mut longest: Option<(Place, u64)> = None;
    for location in &sums.locations {
        let place = Place::new(location.location, location.is_root);
        let ns = location.ready.longest_ns;
        // Lengths in sums are known to 1 %.
        let is_kept =
            kept.get(&place).is_some_and(|&kept_ns| kept_ns.saturating_add(kept_ns / 99) >= ns);
        if is_over(ns) && !is_kept && longest.is_none_or(|(_, longest_ns)| ns >= longest_ns) {
            longest = Some((place, ns));
        }
    }
    longest
}

/// Returns the poll that overlaps longest with a wait, if it explains the wait.
fn meanwhile(timeline: &Timeline, spelling: &Spelling, wait: &ReadyWait) -> Option<LongPoll> {
    let until_ns = wait.since_ns + wait.length_ns;
    let mut longest: Option<(u64, PollAt)> = None;
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        let before = task
            .polls
            .partition_point(|poll| poll.end_ns().is_some_and(|end_ns| end_ns <= wait.since_ns));
        for (i, poll) in task.polls.iter().enumerate().skip(before) {
            if poll.start_ns() >= until_ns {
                break;
            }
            if poll.worker().is_none() {
                continue;
            }
            let end_ns = poll.start_ns().saturating_add(timeline.held_ns(poll));
            let overlap_ns =
                end_ns.min(until_ns).saturating_sub(poll.start_ns().max(wait.since_ns));
            if longest.is_none_or(|(most_ns, _)| overlap_ns > most_ns) {
                longest = Some((overlap_ns, (index, i)));
            }
        }
    }
    let (overlap_ns, at) = longest?;
    // One of many polls explains nothing.
    (overlap_ns >= wait.own_ns / 2)
        .then(|| long_polls::describe(timeline, spelling, at, Delay::default()))
}

/// The times at which any worker polled tasks, and how much of them the machine took.
struct Busy {
    /// Periods in which some worker polled tasks: from, to, and the total length of all earlier periods, in ns.
    times: Vec<(u64, u64, u64)>,
    /// Polls of which the machine took a part: from, to, and the length of that part, in ns.
    taken: Vec<(u64, u64, u64)>,
    /// The length of the longest of these polls, in ns.
    longest_ns: u64,
}

impl Busy {
    fn from_timeline(timeline: &Timeline) -> Self {
        let mut polls = Vec::new();
        let mut taken = Vec::new();
        let mut longest_ns = 0;
        for task in timeline.tasks.seen() {
            for poll in &task.polls {
                let (start_ns, held_ns) = (poll.start_ns(), timeline.held_ns(poll));
                if poll.worker().is_none() || held_ns == 0 {
                    continue;
                }
                let end_ns = start_ns.saturating_add(held_ns);
                polls.push((start_ns, end_ns));
                let taken_ns = timeline.cause(poll).map_or(0, |cause| cause.taken_ns());
                if taken_ns > 0 {
                    taken.push((start_ns, end_ns, taken_ns.min(held_ns)));
                    longest_ns = longest_ns.max(end_ns - start_ns);
                }
            }
        }
        crate::util::sort::sort(&mut polls);
        crate::util::sort::sort(&mut taken);
        let mut times: Vec<(u64, u64, u64)> = Vec::new();
        for (from, to) in polls {
            match times.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                last => {
                    let before_ns = last.map_or(0, |last| last.2 + (last.1 - last.0));
                    times.push((from, to, before_ns));
                }
            }
        }
        Self { times, taken, longest_ns }
    }

    /// Returns how long some worker polled tasks from `from` to `to` by the program's own doing, in ns.
    fn own_ns(&self, from: u64, to: u64) -> u64 {
        let busy_ns = self.before(to).saturating_sub(self.before(from));
        let since = from.saturating_sub(self.longest_ns);
        let first = self.taken.partition_point(|(start, ..)| *start < since);
        let mut all_taken_ns: u64 = 0;
        for &(start, end, taken_ns) in &self.taken[first..] {
            if start >= to {
                break;
            }
            let overlap_ns = end.min(to).saturating_sub(start.max(from));
            all_taken_ns = all_taken_ns.saturating_add(scale(taken_ns, overlap_ns, end - start));
        }
        busy_ns.saturating_sub(all_taken_ns)
    }

    /// Returns how long some worker polled tasks before `at`, in ns.
    fn before(&self, at: u64) -> u64 {
        let next = self.times.partition_point(|(from, ..)| *from < at);
        match self.times[..next].last() {
            Some(&(from, to, before_ns)) => before_ns + (at.min(to) - from),
            None => 0,
        }
    }
}
