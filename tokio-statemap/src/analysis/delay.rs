//! Measures how long polls delay other tasks.
//!
//! A poll delays others in three ways. Tasks that are ready wait for a worker. If no worker looks for timers and I/O
//! meanwhile, tasks don't even become ready: of two workers, one may be parked while the other is blocked. Then only
//! the silence shows the delay. And tasks wait for a lock that the poll holds: see [`behind_lock`](super::behind_lock).

use std::time::Duration;

use super::poll::ready_since;
use super::usual::{for_each_wait, late_ns, usual_ns};
use crate::trace::timeline::{Silence, Silences, Task, Timeline};
use crate::util::quantity::scale;

/// The time that other tasks were delayed by one poll, or by several in sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delay {
    /// The time that other tasks were ready during the poll, in ns, summed over tasks; `None` if ready times were not
    /// recorded.
    pub waited_ns: Option<u64>,
    /// The time by which other tasks became ready later than usual because no worker looked for timers and I/O, in ns,
    /// summed over tasks.
    pub late_ns: u64,
    /// The largest delay of the second kind for one task, in ns.
    pub latest_ns: u64,
    /// The time that other tasks waited for a mutex during the poll, until the poll gave it back, in ns, summed over tasks.
    pub locked_ns: u64,
}

impl Delay {
    /// Returns the sum of all kinds of delay, in ns.
    pub fn total_ns(&self) -> u64 {
        let waited_ns = self.waited_ns.unwrap_or_default();
        waited_ns.saturating_add(self.late_ns).saturating_add(self.locked_ns)
    }

    /// Returns the part of the delay that is due to `own_ns` of the poll's `length_ns`.
    pub(super) fn due_to(self, own_ns: u64, length_ns: u64) -> Self {
        let part = |ns| scale(ns, own_ns, length_ns);
        Self {
            waited_ns: self.waited_ns.map(part),
            late_ns: part(self.late_ns),
            latest_ns: part(self.latest_ns),
            locked_ns: part(self.locked_ns),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.waited_ns = match (self.waited_ns, other.waited_ns) {
            (Some(one), Some(more)) => Some(one.saturating_add(more)),
            (one, more) => one.or(more),
        };
        self.late_ns = self.late_ns.saturating_add(other.late_ns);
        self.locked_ns = self.locked_ns.saturating_add(other.locked_ns);
        self.latest_ns = self.latest_ns.max(other.latest_ns);
    }
}

/// Returns whether the delay of other tasks, in sum, is long enough to be harm, or the longest poll is.
pub(super) fn is_harm(delay_ns: u128, longest_ns: u64, long_poll: Duration) -> bool {
    let long_poll_ns = long_poll.as_nanos();
    delay_ns >= long_poll_ns.saturating_mul(10)
        || u128::from(longest_ns) >= long_poll_ns.saturating_mul(100)
}

/// Returns how long each of `polls` delayed others. A poll held a worker from its start to its end. Another `unpolled`
/// tasks were ready during all of the last events.
pub(super) fn delays(timeline: &Timeline, polls: &[(u64, u64)], unpolled: u64) -> Vec<Delay> {
    if polls.is_empty() {
        return Vec::new();
    }
    let mut stretches = Stretches::between(polls);
    let tasks = timeline.tasks.seen();
    for task in tasks {
        // The polls of a task are in order, so the next one is mostly in the same stretch.
        let mut place = 0;
        if timeline.settings.schedule_latency {
            for_each_ready_time(timeline, task, &mut |from, to| {
                stretches.add_ready(from, to, &mut place)
            });
        }
        place = 0;
        for poll in &task.polls {
            stretches.note_activity(poll.start_ns(), &mut place);
            stretches.note_activity(poll.end_ns().unwrap_or(timeline.end_ns), &mut place);
        }
    }
    let ready = stretches.ready_sums(unpolled, timeline.recent_ns);
    let last_active = stretches.last_active();
    let mut silences = Vec::new();
    let mut delays: Vec<Delay> = Vec::with_capacity(polls.len());
    for (index, &(from, to)) in polls.iter().enumerate() {
        let (first, last) = (stretches.starting_at(from), stretches.starting_at(to));
        let waited_ns = ready[last].saturating_sub(ready[first]);
        let waited_ns = timeline.settings.schedule_latency.then_some(waited_ns);
        delays.push(Delay { waited_ns, ..Delay::default() });
        let since = if last > 0 { last_active[last - 1].max(from) } else { from };
        silences.push(Silence { from_ns: since, to_ns: to, by: index });
    }
    let mut silences = Silences::new(silences);
    // Two silences that end at the same time are one.
    silences.0.dedup_by_key(|silence| silence.to_ns);
    if silences.0.is_empty() {
        return delays;
    }
    for task in tasks {
        add_late_waits(timeline, task, &silences, &mut delays);
    }
    delays
}

/// Adds to each poll's delay the time by which its silence prolonged this task's waits.
fn add_late_waits(timeline: &Timeline, task: &Task, silences: &Silences, delays: &mut [Delay]) {
    let (mut kept, mut others_ns) = (Vec::new(), Vec::new());
    for_each_wait(timeline, task, &mut |from, to| {
        let wait_ns = to.saturating_sub(from);
        match silences.before(to).filter(|silence| from <= silence.from_ns) {
            Some(silence) => kept.push((wait_ns, silence)),
            None => others_ns.push(wait_ns),
        }
    });
    if kept.is_empty() {
        return;
    }
    let Some(usual_ns) = usual_ns(others_ns) else { return };
    for (wait_ns, silence) in kept {
        if let Some(late_ns) = late_ns(wait_ns, usual_ns, silence.length_ns(), false) {
            delays[silence.by].add(Delay { late_ns, latest_ns: late_ns, ..Delay::default() });
        }
    }
}

/// Calls `found` with each period in which `task` was ready for a worker.
fn for_each_ready_time(timeline: &Timeline, task: &Task, found: &mut dyn FnMut(u64, u64)) {
    for (index, poll) in task.polls.iter().enumerate() {
        if let (Some(ready), Some(_)) = (ready_since(timeline, task, index), poll.worker()) {
            found(ready, poll.start_ns());
        }
    }
    if let Some(since) = ready_since(timeline, task, task.polls.len()) {
        found(since, task.terminated_ns.unwrap_or(timeline.end_ns));
    }
}

fn add(sum: &mut u64, ns: u64) {
    *sum = sum.saturating_add(ns);
}

/// The time, cut into stretches at all starts and ends of some polls. So one pass over all tasks tells what happens in
/// each of these polls, however many there are.
struct Stretches {
    bounds: Vec<u64>,
    /// For each stretch, the ready time of tasks that were ready for only a part of it, in ns, summed over tasks.
    partly: Vec<u64>,
    /// For each stretch, the number of tasks that were ready throughout it, less that of the stretch before.
    more: Vec<i64>,
    /// For each stretch, the time of its last start or end of a poll.
    active: Vec<u64>,
}

impl Stretches {
    fn between(polls: &[(u64, u64)]) -> Self {
        let mut bounds = Vec::with_capacity(polls.len() * 2);
        for &(from, to) in polls {
            bounds.push(from);
            bounds.push(to);
        }
        crate::util::sort::sort(&mut bounds);
        bounds.dedup();
        let n = bounds.len();
        Self { bounds, partly: vec![0; n], more: vec![0; n + 1], active: vec![0; n] }
    }

    /// Returns the stretch that begins at `bound`.
    fn starting_at(&self, bound: u64) -> usize {
        self.bounds.partition_point(|&other| other < bound)
    }

    /// Returns the stretch that `time` is in, and stores it in `place`, where the search begins; `None` before the
    /// first one.
    #[inline]
    fn at(&self, time: u64, place: &mut usize) -> Option<usize> {
        let is_in = |place: usize| {
            self.bounds[place] <= time && self.bounds.get(place + 1).is_none_or(|&next| time < next)
        };
        if !is_in(*place) {
            *place = self.bounds.partition_point(|&bound| bound <= time).checked_sub(1)?;
        }
        Some(*place)
    }

    /// Adds a task that was ready from `from` to `to`.
    fn add_ready(&mut self, from: u64, to: u64, place: &mut usize) {
        let (Some(&first), Some(&last)) = (self.bounds.first(), self.bounds.last()) else { return };
        let (from, to) = (from.max(first), to.min(last));
        if from >= to {
            return;
        }
        let (Some(in_first), Some(in_last)) = (self.at(from, place), self.at(to - 1, place)) else {
            return;
        };
        if in_first == in_last {
            add(&mut self.partly[in_first], to - from);
            return;
        }
        add(&mut self.partly[in_first], self.bounds[in_first + 1] - from);
        add(&mut self.partly[in_last], to - self.bounds[in_last]);
        self.more[in_first + 1] += 1;
        self.more[in_last] -= 1;
    }

    /// Notes that a poll began or ended.
    #[inline]
    fn note_activity(&mut self, at: u64, place: &mut usize) {
        // The end of a poll is in the stretch after it.
        if let Some(stretch) = self.at(at, place) {
            self.active[stretch] = self.active[stretch].max(at);
        }
    }

    /// Returns the total time that tasks were ready before each bound, including `unpolled` tasks since `since`.
    fn ready_sums(&self, unpolled: u64, since: u64) -> Vec<u64> {
        let (mut sum, mut count) = (0_u64, 0_i64);
        let mut sums = Vec::with_capacity(self.bounds.len());
        for (k, bound) in self.bounds.iter().enumerate() {
            sums.push(sum);
            count += self.more[k];
            let length = self.bounds.get(k + 1).map_or(0, |next| next - bound);
            let unpolled = if *bound >= since { unpolled } else { 0 };
            let ready = count.unsigned_abs().saturating_add(unpolled).saturating_mul(length);
            sum = sum.saturating_add(self.partly[k]).saturating_add(ready);
        }
        sums
    }

    /// Returns when a poll last began or ended before the end of each stretch.
    fn last_active(&self) -> Vec<u64> {
        let mut active = self.active.clone();
        let mut last = 0;
        for at in &mut active {
            last = last.max(*at);
            *at = last;
        }
        active
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_times_add_up_within_each_poll() {
        let polls = [(10, 20), (15, 40), (100, 110)];
        let mut stretches = Stretches::between(&polls);
        let times = [(0, 12), (11, 13), (5, 200), (18, 18), (39, 105), (300, 400), (0, 5)];
        times.iter().for_each(|&(from, to)| stretches.add_ready(from, to, &mut 0));
        let sums = stretches.ready_sums(2, 0);
        for (from, to) in polls {
            let overlap = |&(a, b): &(u64, u64)| b.min(to).saturating_sub(a.max(from));
            let expected: u64 = times.iter().map(overlap).sum::<u64>() + 2 * (to - from);
            let found = sums[stretches.starting_at(to)] - sums[stretches.starting_at(from)];
            assert_eq!(found, expected, "{from} to {to}");
        }
    }
}
