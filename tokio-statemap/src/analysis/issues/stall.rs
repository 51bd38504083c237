//! Stalls: times in which nothing was polled on any worker, though tasks should have been.
//!
//! A poll that goes on for long is one thing; that nothing else is polled meanwhile is another. Every worker may be
//! in such a poll; or one is, and no other looks for timers and I/O, as that one left the driver to nobody. An idle
//! runtime has no stalls: in each of them a long poll goes on all the time, by its own doing, and a task is late by it.

use std::collections::BTreeMap;

use super::Spot;
use crate::analysis::culprits::Culprit;
use crate::analysis::harm::{self, Delay};
use crate::analysis::long_polls::PollAt;
use crate::analysis::own::own_ns;
use crate::trace::timeline::{Poll, Timeline};
use crate::util::quantity::scale;

/// Times in which nothing was polled on any worker, though tasks should have been.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stall {
    /// Who is to blame for most of it.
    pub culprit: Culprit,
    /// How often.
    pub times: u64,
    /// How long in sum, in ns, without what the machine took.
    pub total_ns: u64,
    /// The longest time, in ns, and when it began.
    pub longest_ns: u64,
    /// When that began, in ns.
    pub longest_at_ns: u64,
    /// Whether the last of them went on at the end.
    pub is_running: bool,
    /// How many workers were in long polls in the longest.
    pub blocked_workers: usize,
    /// How many workers there are; `None` if that isn't known.
    pub workers: Option<usize>,
    /// How others were delayed.
    pub delay: Delay,
}

/// For how long nothing must have been polled, in ns: what is shorter is said of the long poll.
pub(super) const LEAST_NS: u64 = 1_000_000_000;

/// Which part of a stall some task must have been late by.
const LATE_PART: u64 = 2;

/// How near the end of the recording a silence must end, as a part of it, for tasks to be overdue by it that have not
/// become ready since.
const AT_END_PART: u64 = 20;

/// How many waits of a task must be known to say what is usual for it.
const USUAL_WAITS: usize = 3;

/// A long poll that may have stopped all others.
struct Blocker {
    at: PollAt,
    culprit: usize,
    from_ns: u64,
    to_ns: u64,
    own_ns: u64,
    is_running: bool,
}

/// A time in which nothing began or ended on a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Silence {
    from_ns: u64,
    to_ns: u64,
}

/// The stalls, if there were any, and the polls that went on in them. `unpolled` tasks were ready all the time of the
/// last events.
pub(super) fn find(
    timeline: &Timeline,
    culprits: &[Culprit],
    unpolled: u64,
) -> Option<(Stall, Vec<Spot>, Vec<u64>)> {
    let blockers = blockers(timeline, culprits);
    if blockers.is_empty() {
        return None;
    }
    let silences = silences(timeline, &blockers);
    let times: Vec<_> = silences.iter().map(|silence| (silence.from_ns, silence.to_ns)).collect();
    let delays = harm::delays(timeline, &times, unpolled);
    let mut found = Found::default();
    for (silence, mut delay) in silences.into_iter().zip(delays) {
        delay.add(overdue(timeline, silence));
        found.consider(silence, delay, &blockers);
    }
    found.finish(timeline, culprits, &blockers)
}

/// The polls of culprits that are long enough, also without what the machine took.
fn blockers(timeline: &Timeline, culprits: &[Culprit]) -> Vec<Blocker> {
    let tasks = timeline.tasks.seen();
    let mut blockers = Vec::new();
    for (culprit, of) in culprits.iter().enumerate() {
        for &at in of.at.iter() {
            let poll = &tasks[at.0].polls[at.1];
            let length_ns = timeline.held_ns(poll);
            let own_ns = own_ns(timeline, poll);
            // What is cut may have ended meanwhile.
            let is_known = !poll.is_cut_left() && !poll.is_cut_right();
            if own_ns >= LEAST_NS && is_known {
                let from_ns = poll.start_ns();
                let is_running = poll.end_ns().is_none();
                let to_ns = from_ns.saturating_add(length_ns);
                blockers.push(Blocker { at, culprit, from_ns, to_ns, own_ns, is_running });
            }
        }
    }
    blockers.sort_unstable_by_key(|blocker| (blocker.from_ns, blocker.to_ns, blocker.at));
    blockers
}

/// The times within these polls in which nothing began or ended on a worker for long.
fn silences(timeline: &Timeline, blockers: &[Blocker]) -> Vec<Silence> {
    let mut activity = Activity::default();
    for blocker in blockers {
        activity.add_range(blocker.from_ns, blocker.to_ns);
    }
    // Where nothing is recorded, nothing is known to be silent.
    let gaps = timeline.gaps.iter().flat_map(|&(from, to)| [from, to]);
    gaps.for_each(|at| activity.add(at, &mut None));
    for task in timeline.tasks.seen() {
        let mut last = None;
        for poll in task.polls.iter().filter(|poll| poll.worker().is_some()) {
            activity.add(poll.start_ns(), &mut last);
            let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            activity.add(timeline.handover_of(poll).map_or(end_ns, |at| at.min(end_ns)), &mut last);
        }
    }
    let in_gap = |silence: &Silence| {
        timeline.gaps.iter().any(|&(from, to)| from < silence.to_ns && silence.from_ns < to)
    };
    activity.silences().into_iter().filter(|silence| !in_gap(silence)).collect()
}

/// How late tasks are that have not become ready since a silence, up to the end of the recording: by how much longer than
/// usual they wait.
fn overdue(timeline: &Timeline, silence: Silence) -> Delay {
    let mut delay = Delay::default();
    let silence_ns = silence.to_ns - silence.from_ns;
    if timeline.end_ns.saturating_sub(silence.to_ns) > silence_ns / AT_END_PART {
        return delay;
    }
    for task in timeline.tasks.seen() {
        let last_ns = task.polls.last().and_then(Poll::end_ns);
        let Some(since_ns) = last_ns.filter(|&at| at <= silence.from_ns) else { continue };
        let waits = task.polls.windows(2).filter_map(|pair| {
            Some(pair[1].ready_ns().unwrap_or(pair[1].start_ns()).saturating_sub(pair[0].end_ns()?))
        });
        let mut waits: Vec<u64> = waits.collect();
        let is_waiting = task.terminated_ns.is_none() && task.ready_ns.is_none();
        if !is_waiting || waits.len() < USUAL_WAITS {
            continue;
        }
        let middle = waits.len() / 2;
        let usual_ns = *waits.select_nth_unstable(middle).1;
        let late_ns = (silence.to_ns - since_ns).saturating_sub(usual_ns).min(silence_ns);
        if late_ns > usual_ns {
            delay.add(Delay { late_ns, latest_ns: late_ns, ..Delay::default() });
        }
    }
    delay
}

/// When something happened within some ranges: the first and the last of each stretch of time, which is shorter than a
/// silence. So any number of events takes no more memory than the ranges are long.
#[derive(Default)]
struct Activity {
    /// By time, and none meets the next.
    ranges: Vec<(u64, u64)>,
    /// By the range and the number of the stretch.
    stretches: BTreeMap<(usize, u64), (u64, u64)>,
}

impl Activity {
    /// Ranges come by their starts.
    fn add_range(&mut self, from_ns: u64, to_ns: u64) {
        match self.ranges.last_mut() {
            Some((_, last_ns)) if from_ns <= *last_ns => *last_ns = to_ns.max(*last_ns),
            _ => self.ranges.push((from_ns, to_ns)),
        }
    }

    /// Something happened; `last` is the first and the last of the stretch that something was added to before.
    fn add(&mut self, at_ns: u64, last: &mut Option<(u64, u64)>) {
        // It changes nothing.
        if last.is_some_and(|(first_ns, last_ns)| (first_ns..=last_ns).contains(&at_ns)) {
            return;
        }
        let range = self.ranges.partition_point(|&(_, to)| to < at_ns);
        if self.ranges.get(range).is_none_or(|&(from, _)| at_ns < from) {
            return;
        }
        let stretch = at_ns / (LEAST_NS / 2);
        let edges = self.stretches.entry((range, stretch)).or_insert((at_ns, at_ns));
        *edges = (at_ns.min(edges.0), at_ns.max(edges.1));
        *last = Some(*edges);
    }

    fn silences(&self) -> Vec<Silence> {
        let mut silences = Vec::new();
        for (range, &(from_ns, to_ns)) in self.ranges.iter().enumerate() {
            let mut since_ns = from_ns;
            let mut add = |from_ns: u64, to_ns: u64| {
                if to_ns.saturating_sub(from_ns) >= LEAST_NS {
                    silences.push(Silence { from_ns, to_ns });
                }
            };
            let stretches = self.stretches.range((range, 0)..=(range, u64::MAX));
            for (_, &(first_ns, last_ns)) in stretches {
                add(since_ns, first_ns);
                since_ns = last_ns.max(since_ns);
            }
            add(since_ns, to_ns);
        }
        silences
    }
}

#[derive(Default)]
struct Found {
    /// How long each was without what the machine took, and by whom.
    stalls: Vec<(Silence, u64, usize, usize)>,
    delay: Delay,
}

impl Found {
    fn consider(&mut self, silence: Silence, delay: Delay, blockers: &[Blocker]) {
        let goes_on = |blocker: &Blocker| {
            blocker.from_ns <= silence.from_ns && silence.to_ns <= blocker.to_ns
        };
        let within: Vec<_> = blockers.iter().enumerate().filter(|(_, b)| goes_on(b)).collect();
        // That which was there first stopped the others.
        let Some(&(index, first)) = within.first() else { return };
        let silence_ns = silence.to_ns - silence.from_ns;
        let own_ns = scale(silence_ns, first.own_ns, first.to_ns - first.from_ns);
        let is_late = delay.total_ns() >= silence_ns / LATE_PART;
        if own_ns >= LEAST_NS && is_late {
            self.stalls.push((silence, own_ns, index, within.len()));
            self.delay.add(delay);
        }
    }

    fn finish(
        self,
        timeline: &Timeline,
        culprits: &[Culprit],
        blockers: &[Blocker],
    ) -> Option<(Stall, Vec<Spot>, Vec<u64>)> {
        let (longest, longest_ns, _, blocked_workers) =
            self.stalls.iter().copied().max_by_key(|stall| (stall.1, stall.0.to_ns))?;
        let mut by_culprit: BTreeMap<usize, u64> = BTreeMap::new();
        for &(_, own_ns, index, _) in &self.stalls {
            let sum = by_culprit.entry(blockers[index].culprit).or_default();
            *sum = sum.saturating_add(own_ns);
        }
        // Of equals the worst.
        let (&culprit, _) = by_culprit.iter().rev().max_by_key(|(_, ns)| **ns)?;
        let lengths: Vec<u64> = self.stalls.iter().map(|stall| stall.1).collect();
        let mut by_length = self.stalls.clone();
        by_length.sort_by_key(|stall| std::cmp::Reverse((stall.1, stall.0.from_ns)));
        let spot = |index: usize| {
            let Blocker { at, from_ns, own_ns, .. } = blockers[index];
            let task = timeline.tasks.seen()[at.0].key;
            Spot { task, start_ns: from_ns, length_ns: own_ns }
        };
        let mut spots: Vec<Spot> = by_length.iter().map(|stall| spot(stall.2)).collect();
        spots.dedup();
        let has_workers = timeline.trace_target.tracks_workers() && !timeline.lacking.workers;
        let stall = Stall {
            culprit: culprits[culprit].clone(),
            times: self.stalls.len() as u64,
            total_ns: lengths.iter().fold(0, |sum: u64, &ns| sum.saturating_add(ns)),
            longest_ns,
            longest_at_ns: longest.from_ns,
            is_running: self
                .stalls
                .iter()
                .any(|stall| blockers[stall.2].is_running && stall.0.to_ns >= timeline.end_ns),
            blocked_workers,
            workers: has_workers.then_some(timeline.workers.len()),
            delay: self.delay,
        };
        Some((stall, spots, lengths))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equal to what one finds who looks at every event.
    #[test]
    fn silences_are_those_between_neighbours() {
        let mut seed: u64 = 7;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % n
        };
        for _ in 0..200 {
            let mut activity = Activity::default();
            let (from, to) = (below(LEAST_NS * 3), LEAST_NS * (4 + below(8)));
            let second = to + 1 + below(LEAST_NS);
            let ranges = [(from, to), (second, second + LEAST_NS * below(5))];
            ranges.iter().for_each(|&(from, to)| activity.add_range(from, to));
            let times: Vec<u64> = (0..below(60)).map(|_| below(LEAST_NS * 20)).collect();
            let mut last = None;
            times.iter().for_each(|&at| activity.add(at, &mut last));
            let mut expected = Vec::new();
            for (from, to) in ranges {
                let mut within: Vec<u64> =
                    times.iter().copied().filter(|at| (from..=to).contains(at)).collect();
                within.extend([from, to]);
                within.sort_unstable();
                let pairs = within.windows(2).filter(|pair| pair[1] - pair[0] >= LEAST_NS);
                expected.extend(pairs.map(|pair| Silence { from_ns: pair[0], to_ns: pair[1] }));
            }
            assert_eq!(activity.silences(), expected, "{ranges:?} {times:?}");
        }
    }
}
