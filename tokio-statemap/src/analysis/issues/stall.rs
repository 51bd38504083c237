//! Stalls: times in which nothing was polled on any worker, though tasks should have been.
//!
//! A stall is more than a long poll: nothing else is polled meanwhile. Either every worker is in a long poll; or one
//! worker is, and no other looks for timers and I/O, as that worker had the driver. An idle runtime has no stalls:
//! during each stall a long poll goes on by its own doing, and makes a task late.

use super::evidence::{Evidence, Explanation, Finding};
use super::long_polls::spawned;
use crate::analysis::culprits::Culprit;
use crate::analysis::delay::{self, Delay};
use crate::analysis::lengths::Lengths;
use crate::analysis::own_time::own_ns;
use crate::analysis::poll::PollAt;
use crate::analysis::spots::Spot;
use crate::analysis::statement::{
    Statement, beside_sentence, called_from, capitalized, delay_sentence, function_name, tasks_of,
    unknown_holder_sentence, waited_in_sentence,
};
use crate::analysis::usual::{for_each_wait, late_ns, usual_ns};
use crate::trace::timeline::Timeline;
use crate::util::map::Map;
use crate::util::quantity::{human, moment, scale};

/// Times in which nothing was polled on any worker, though tasks should have been.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stall {
    /// The function or location to blame for most of it.
    pub culprit: Culprit,
    /// The number of stalls.
    pub times: u64,
    /// The time that the stalls took in sum, in ns, without the time that the machine took.
    pub total_ns: u64,
    /// The length of the longest stall, in ns.
    pub longest_ns: u64,
    /// The time at which the longest stall began, in ns.
    pub longest_at_ns: u64,
    /// `true` if the last stall went on at the end.
    pub is_running: bool,
    /// The number of workers that were in long polls during the longest stall.
    pub blocked_workers: usize,
    /// The number of workers; `None` if that isn't known.
    pub workers: Option<usize>,
    /// The delay of other tasks.
    pub delay: Delay,
    /// The lengths of the stalls.
    pub lengths: Lengths,
    spots: Vec<Spot>,
}

impl Finding for Stall {
    fn explanation(&self) -> Explanation {
        Explanation {
            name: "stall",
            noun: "time",
            meaning: "Nothing was polled on any worker, though tasks should have been.",
            advice: self.culprit.advice.unwrap_or(
                "Move what blocks to spawn_blocking or a thread of its own; hold no std lock for long.",
            ),
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence {
            frame: self.culprit.frame.as_ref(),
            place: Some(self.culprit.place),
            number: self.times,
            total_ns: self.total_ns,
            lengths: Some(&self.lengths),
            delay: Some(self.delay),
            spots: &self.spots,
            ..Evidence::default()
        }
    }

    fn statement(&self) -> Statement {
        let Culprit { frame, blocking_cause: cause, place, .. } = &self.culprit;
        let begin = match frame {
            Some(frame) => format!("{} stopped the runtime: it {cause}, and", function_name(frame)),
            None => format!("{} stopped the runtime:", capitalized(&tasks_of(*place))),
        };
        let (longest, from) = (human(self.longest_ns), moment(self.longest_at_ns));
        let mut said =
            Statement::new(format!("{begin} nothing was polled for {longest}, from {from} on."));
        said.add(delay_sentence(self.delay, None, "Meanwhile"));
        if self.times > 1 {
            let sum = human(self.total_ns);
            said.add(format!("That happened {} times, for {sum} in all.", self.times));
        }
        if self.is_running {
            said.add("It still went on at the end.");
        }
        said.add(match (self.workers, self.blocked_workers) {
            (Some(1), _) => "The only worker was in that poll.".to_owned(),
            (Some(workers), blocked) if blocked >= workers => {
                format!("Each of the {workers} workers was in a long poll.")
            }
            (Some(workers), blocked) => {
                let were = if blocked == 1 { "was in a long poll" } else { "were in long polls" };
                format!(
                    "{blocked} of {workers} workers {were}, and no other looked for timers and I/O."
                )
            }
            (None, _) => String::new(),
        });
        said.add(self.culprit.beside.as_ref().map(beside_sentence).unwrap_or_default());
        said.add(unknown_holder_sentence(&self.culprit, self.is_running));
        if !self.culprit.callers.is_empty() {
            said.add(called_from(&self.culprit.callers, self.culprit.are_all_callers));
            said.add(waited_in_sentence(&self.culprit.waited_in));
            said.add(spawned(&self.culprit));
        } else if frame.is_some() {
            said.add(format!("It was called by {}.", tasks_of(*place)));
        }
        said
    }
}

/// The least length of a stall, in ns. A shorter time without polls is reported as a long poll.
pub(super) const LEAST_NS: u64 = 1_000_000_000;

/// The least delay of other tasks in a stall, as 1/n of its length.
const LATE_PART: u64 = 2;

/// The longest time from the end of a silence to the end of the recording, as 1/n of the silence's length. Beyond it,
/// tasks that haven't become ready since the silence don't count as late because of it.
const AT_END_PART: u64 = 20;

/// A long poll that may have stopped all others.
struct Blocker {
    at: PollAt,
    culprit: usize,
    from_ns: u64,
    to_ns: u64,
    own_ns: u64,
    is_running: bool,
}

/// A time in which no poll began or ended on a worker. It shows that all workers stood still. So, unlike a
/// [`Silence`](crate::trace::timeline::Silence) before a task that may be late, it needn't end with the long poll, polls on other
/// threads don't end it, and no gap is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Silence {
    from_ns: u64,
    to_ns: u64,
}

/// Finds the stalls, if there were any. `unpolled` tasks were ready during all of the last events.
pub(super) fn find(timeline: &Timeline, culprits: &[Culprit], unpolled: u64) -> Option<Stall> {
    let blockers = blockers(timeline, culprits);
    if blockers.is_empty() {
        return None;
    }
    let silences = silences(timeline, &blockers);
    let delays = delay::delays(timeline, &silences, unpolled);
    let mut found = Found::default();
    for (nth, mut delay) in delays.into_iter().enumerate() {
        let (from_ns, to_ns) = silences[nth];
        let silence = Silence { from_ns, to_ns };
        delay.add(overdue(timeline, silence));
        found.consider(silence, delay, &blockers);
    }
    found.finish(timeline, culprits, &blockers)
}

/// Returns the polls of culprits that are long enough even without the time that the machine took.
fn blockers(timeline: &Timeline, culprits: &[Culprit]) -> Vec<Blocker> {
    let tasks = timeline.tasks.seen();
    let mut blockers = Vec::new();
    for (index, culprit) in culprits.iter().enumerate() {
        for &at in culprit.at.iter() {
            let poll = &tasks[at.0].polls[at.1];
            let own_ns = own_ns(timeline, poll);
            // A poll that is cut may have ended in the meantime.
            if own_ns < LEAST_NS || poll.is_cut_left() || poll.is_cut_right() {
                continue;
            }
            let from_ns = poll.start_ns();
            let to_ns = from_ns.saturating_add(timeline.held_ns(poll));
            let is_running = poll.end_ns().is_none();
            blockers.push(Blocker { at, culprit: index, from_ns, to_ns, own_ns, is_running });
        }
    }
    crate::util::sort::by_key(&mut blockers, |blocker| {
        (blocker.from_ns, blocker.to_ns, blocker.at)
    });
    blockers
}

/// Returns the long times within these polls in which no poll began or ended on a worker.
fn silences(timeline: &Timeline, blockers: &[Blocker]) -> Vec<(u64, u64)> {
    let mut activity = Activity::default();
    for blocker in blockers {
        activity.add_range(blocker.from_ns, blocker.to_ns);
    }
    // Nothing is known of the time in gaps.
    for &(from, to) in &timeline.gaps {
        activity.add(from, &mut None);
        activity.add(to, &mut None);
    }
    for task in timeline.tasks.seen() {
        let mut last = None;
        for poll in &task.polls {
            if poll.worker().is_some() {
                activity.add(poll.start_ns(), &mut last);
                let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
                let end_ns = timeline.handover_of(poll).unwrap_or(end_ns).min(end_ns);
                activity.add(end_ns, &mut last);
            }
        }
    }
    let mut silences = Vec::new();
    for (from_ns, to_ns) in activity.silences() {
        if timeline.gap_between(from_ns, to_ns).is_none() {
            silences.push((from_ns, to_ns));
        }
    }
    silences
}

/// Returns how late the tasks are that have not become ready since a silence: how much longer than usual they have
/// waited by the end of the silence.
fn overdue(timeline: &Timeline, silence: Silence) -> Delay {
    let mut delay = Delay::default();
    let silence_ns = silence.to_ns - silence.from_ns;
    if timeline.end_ns.saturating_sub(silence.to_ns) > silence_ns / AT_END_PART {
        return delay;
    }
    for task in timeline.tasks.seen() {
        let Some(since_ns) = task.last_wait_since_ns().filter(|_| !task.polls.is_empty()) else {
            continue;
        };
        let is_waiting = task.terminated_ns.is_none() && task.ready_ns.is_none();
        if since_ns > silence.from_ns || !is_waiting {
            continue;
        }
        let mut waits_ns = Vec::new();
        let mut add = |from_ns: u64, to_ns: u64| waits_ns.push(to_ns.saturating_sub(from_ns));
        for_each_wait(timeline, task, &mut add);
        let Some(usual_ns) = usual_ns(waits_ns) else { continue };
        if let Some(late_ns) = late_ns(silence.to_ns - since_ns, usual_ns, silence_ns, true) {
            delay.add(Delay { late_ns, latest_ns: late_ns, ..Delay::default() });
        }
    }
    delay
}

/// The times of events within some ranges. Only the first and the last event are kept of each stretch of time, which is
/// shorter than a silence: so the memory depends on the length of the ranges, not on the number of events.
#[derive(Default)]
struct Activity {
    /// The ranges in the order of time. They don't touch each other.
    ranges: Vec<(u64, u64)>,
    /// The first and the last event, by the range and the number of the stretch.
    stretches: Map<(usize, u64), (u64, u64)>,
}

impl Activity {
    /// Adds a range. Ranges must be added in the order of their starts.
    fn add_range(&mut self, from_ns: u64, to_ns: u64) {
        match self.ranges.last_mut() {
            Some((_, last_ns)) if from_ns <= *last_ns => *last_ns = to_ns.max(*last_ns),
            _ => self.ranges.push((from_ns, to_ns)),
        }
    }

    /// Adds an event. `last` is the first and the last event of the stretch of the event added before.
    fn add(&mut self, at_ns: u64, last: &mut Option<(u64, u64)>) {
        // The event changes nothing.
        if last.is_some_and(|(first_ns, last_ns)| (first_ns..=last_ns).contains(&at_ns)) {
            return;
        }
        let range = self.ranges.partition_point(|&(_, to)| to < at_ns);
        if self.ranges.get(range).is_none_or(|&(from, _)| at_ns < from) {
            return;
        }
        let stretch = at_ns / (LEAST_NS / 2);
        let edges = self.stretches.get_or_insert_with((range, stretch), || (at_ns, at_ns));
        *edges = (at_ns.min(edges.0), at_ns.max(edges.1));
        *last = Some(*edges);
    }

    /// Returns the silences between the events.
    fn silences(self) -> Vec<(u64, u64)> {
        let stretches = self.stretches.into_sorted();
        let mut next = 0;
        let mut silences = Vec::new();
        let mut add = |from_ns: u64, to_ns: u64| {
            if to_ns.saturating_sub(from_ns) >= LEAST_NS {
                silences.push((from_ns, to_ns));
            }
        };
        for (range, &(from_ns, to_ns)) in self.ranges.iter().enumerate() {
            let mut since_ns = from_ns;
            while let Some(&((of, _), (first_ns, last_ns))) = stretches.get(next) {
                if of != range {
                    break;
                }
                next += 1;
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
    stalls: Vec<OneStall>,
    delay: Delay,
}

#[derive(Clone, Copy)]
struct OneStall {
    silence: Silence,
    /// The time that it took, in ns, without the time that the machine took.
    own_ns: u64,
    /// The poll that stopped the others, as an index.
    blocker: usize,
    /// The number of long polls that went on in it.
    blocked_workers: usize,
}

impl Found {
    fn consider(&mut self, silence: Silence, delay: Delay, blockers: &[Blocker]) {
        let (mut first, mut blocked_workers) = (None, 0);
        for (index, blocker) in blockers.iter().enumerate() {
            if blocker.from_ns <= silence.from_ns && silence.to_ns <= blocker.to_ns {
                // The poll that began first stopped the others.
                first = first.or(Some(index));
                blocked_workers += 1;
            }
        }
        let Some(index) = first else { return };
        let first = &blockers[index];
        let silence_ns = silence.to_ns - silence.from_ns;
        let own_ns = scale(silence_ns, first.own_ns, first.to_ns - first.from_ns);
        let is_late = delay.total_ns() >= silence_ns / LATE_PART;
        if own_ns >= LEAST_NS && is_late {
            self.stalls.push(OneStall { silence, own_ns, blocker: index, blocked_workers });
            self.delay.add(delay);
        }
    }

    fn finish(
        self,
        timeline: &Timeline,
        culprits: &[Culprit],
        blockers: &[Blocker],
    ) -> Option<Stall> {
        let mut stalls = self.stalls;
        let mut longest = *stalls.first()?;
        let mut by_culprit = vec![0_u64; culprits.len()];
        let (mut total_ns, mut is_running) = (0_u64, false);
        let mut lengths_ns = Vec::with_capacity(stalls.len());
        for stall in &stalls {
            lengths_ns.push(stall.own_ns);
            let rank = |stall: &OneStall| (stall.own_ns, stall.silence.to_ns);
            if rank(stall) >= rank(&longest) {
                longest = *stall;
            }
            let blocker = &blockers[stall.blocker];
            let sum_ns = &mut by_culprit[blocker.culprit];
            *sum_ns = sum_ns.saturating_add(stall.own_ns);
            total_ns = total_ns.saturating_add(stall.own_ns);
            is_running |= blocker.is_running && stall.silence.to_ns >= timeline.end_ns;
        }
        // If several have the most, this is the first of them, which is the worst culprit.
        let mut culprit = 0;
        for (index, &sum_ns) in by_culprit.iter().enumerate() {
            if sum_ns > by_culprit[culprit] {
                culprit = index;
            }
        }
        let lengths = Lengths::from_ns(lengths_ns);
        let rank = |stall: &OneStall| std::cmp::Reverse((stall.own_ns, stall.silence.from_ns));
        crate::util::sort::by_key(&mut stalls, rank);
        let mut spots: Vec<Spot> = Vec::new();
        for stall in &stalls {
            let Blocker { at, from_ns, own_ns, .. } = blockers[stall.blocker];
            let task = timeline.tasks.seen()[at.0].key;
            let spot = Spot { task, start_ns: from_ns, length_ns: own_ns };
            if spots.last() != Some(&spot) {
                spots.push(spot);
            }
        }
        let has_workers =
            timeline.settings.trace_target.tracks_workers() && !timeline.lacking.workers;
        Some(Stall {
            culprit: culprits[culprit].clone(),
            times: stalls.len() as u64,
            total_ns,
            longest_ns: longest.own_ns,
            longest_at_ns: longest.silence.from_ns,
            is_running,
            blocked_workers: longest.blocked_workers,
            workers: has_workers.then_some(timeline.workers.len()),
            delay: self.delay,
            lengths,
            spots,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The silences are those that a look at every event finds.
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
                expected.extend(pairs.map(|pair| (pair[0], pair[1])));
            }
            assert_eq!(activity.silences(), expected, "{ranges:?} {times:?}");
        }
    }
}
