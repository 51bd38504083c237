//! Whom long polls delayed, and for how long.
//!
//! A poll delays others in two ways. Tasks that are ready wait for a worker. And where nobody looks for
//! timers and I/O meanwhile, tasks don't even become ready: of two workers one may be parked while the other
//! blocks, and then only the silence tells.

use super::long_polls::ready_since;
use crate::trace::timeline::{Task, Timeline};
use crate::util::quantity::scale;

/// How long others were delayed by a poll, or by several in sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delay {
    /// How long other tasks were ready meanwhile, in ns, all of them together; `None` if ready times
    /// were not recorded.
    pub waited_ns: Option<u64>,
    /// How much later than usual other tasks became ready, as nothing ran meanwhile that looks for timers
    /// and I/O: in ns, all of them together.
    pub late_ns: u64,
    /// The most of that for one task, in ns.
    pub latest_ns: u64,
}

impl Delay {
    /// All of it, in ns.
    pub fn total_ns(&self) -> u64 {
        self.waited_ns.unwrap_or_default().saturating_add(self.late_ns)
    }

    /// The part of it that is due to `of_ns` of the poll's `length_ns`.
    pub(super) fn part(self, of_ns: u64, length_ns: u64) -> Self {
        let part = |ns| scale(ns, of_ns, length_ns);
        Self {
            waited_ns: self.waited_ns.map(part),
            late_ns: part(self.late_ns),
            latest_ns: part(self.latest_ns),
        }
    }

    pub(super) fn add(&mut self, other: Self) {
        self.waited_ns = match (self.waited_ns, other.waited_ns) {
            (Some(one), Some(more)) => Some(one.saturating_add(more)),
            (one, more) => one.or(more),
        };
        self.late_ns = self.late_ns.saturating_add(other.late_ns);
        self.latest_ns = self.latest_ns.max(other.latest_ns);
    }
}

/// Silence that is shorter delays nobody who would notice.
const SILENCE_NS: u64 = 1_000_000;

/// How long behind a silence a task may become ready of which the silence kept it: at least this, and at
/// most a part of the silence.
const BEHIND_NS: u64 = 1_000_000;
const BEHIND_PART: u64 = 20;

/// How many waits of a task must be known to say what is usual for it.
const USUAL_WAITS: usize = 3;

/// The delays by polls, each of which held a worker from its start to its end, in the order of `polls`.
/// `unpolled` tasks were ready all the time of the last events.
pub(super) fn delays(timeline: &Timeline, polls: &[(u64, u64)], unpolled: u64) -> Vec<Delay> {
    if polls.is_empty() {
        return Vec::new();
    }
    let mut stretches = Stretches::between(polls);
    let tasks = timeline.tasks.seen();
    for task in tasks {
        // Its polls are in order, so that the next is mostly in the stretch of the last.
        let mut place = 0;
        if timeline.schedule_latency {
            ready_times(timeline, task, |from, to| stretches.ready(from, to, &mut place));
        }
        place = 0;
        for poll in &task.polls {
            stretches.active(poll.start_ns(), &mut place);
            stretches.active(poll.end_ns().unwrap_or(timeline.end_ns), &mut place);
        }
    }
    let ready = stretches.ready_sums(unpolled, timeline.recent_ns);
    let last_active = stretches.last_active();
    let mut silences = Vec::new();
    let mut delays: Vec<Delay> = Vec::with_capacity(polls.len());
    for (index, &(from, to)) in polls.iter().enumerate() {
        let (first, last) = (stretches.of(from), stretches.of(to));
        let waited_ns = ready[last].saturating_sub(ready[first]);
        let waited_ns = timeline.schedule_latency.then_some(waited_ns);
        delays.push(Delay { waited_ns, ..Delay::default() });
        let since = last.checked_sub(1).map_or(from, |last| last_active[last]).max(from);
        if to.saturating_sub(since) >= SILENCE_NS {
            silences.push(Silence { from: since, to, poll: index });
        }
    }
    silences.sort_unstable_by_key(|silence| (silence.to, silence.from));
    // Two that end at one time are one silence.
    silences.dedup_by_key(|silence| silence.to);
    for task in tasks.iter().filter(|_| !silences.is_empty()) {
        late(task, &silences, |poll, late_ns| {
            delays[poll].late_ns = delays[poll].late_ns.saturating_add(late_ns);
            delays[poll].latest_ns = delays[poll].latest_ns.max(late_ns);
        });
    }
    delays
}

/// A time in which nothing else began or ended, up to the end of a poll.
struct Silence {
    from: u64,
    to: u64,
    poll: usize,
}

/// Calls `found` for each silence that a task was kept waiting by, with how long.
fn late(task: &Task, silences: &[Silence], mut found: impl FnMut(usize, u64)) {
    let waits = task.polls.windows(2).filter_map(|pair| {
        let from = pair[0].end_ns()?;
        Some((from, pair[1].ready_ns().unwrap_or(pair[1].start_ns())))
    });
    let of = |(from, to): (u64, u64)| {
        let before = silences.partition_point(|silence| silence.to <= to).checked_sub(1)?;
        let silence = &silences[before];
        let behind = BEHIND_NS.max((silence.to - silence.from) / BEHIND_PART);
        (from <= silence.from && to - silence.to <= behind).then_some(silence)
    };
    let mut kept = waits.clone().filter_map(|wait| Some((wait, of(wait)?))).peekable();
    if kept.peek().is_none() {
        return;
    }
    let mut usual: Vec<u64> = waits
        .filter(|&wait| of(wait).is_none())
        .map(|(from, to)| to.saturating_sub(from))
        .collect();
    if usual.len() < USUAL_WAITS {
        return; // nothing is usual for it
    }
    let middle = usual.len() / 2;
    let usual_ns = *usual.select_nth_unstable(middle).1;
    for ((from, to), silence) in kept {
        let late_ns =
            to.saturating_sub(from).saturating_sub(usual_ns).min(silence.to - silence.from);
        // A timer is never quite as regular.
        if late_ns > usual_ns / 2 && late_ns > BEHIND_NS {
            found(silence.poll, late_ns);
        }
    }
}

/// Calls `found` with each time in which `task` was ready for a worker.
fn ready_times(timeline: &Timeline, task: &Task, mut found: impl FnMut(u64, u64)) {
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

/// The time, in stretches between all starts and ends of some polls: so that what happens in each
/// poll is known from one pass over everything, however many there are.
struct Stretches {
    bounds: Vec<u64>,
    /// How long tasks were ready in each, where not all of it; in ns.
    partly: Vec<u64>,
    /// By how many more tasks were ready in all of it than in the one before.
    more: Vec<i64>,
    /// When something began or ended in each, last.
    active: Vec<u64>,
}

impl Stretches {
    fn between(polls: &[(u64, u64)]) -> Self {
        let mut bounds: Vec<u64> = polls.iter().flat_map(|&(from, to)| [from, to]).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let n = bounds.len();
        Self { bounds, partly: vec![0; n], more: vec![0; n + 1], active: vec![0; n] }
    }

    /// The one that begins at `bound`.
    fn of(&self, bound: u64) -> usize {
        self.bounds.partition_point(|&other| other < bound)
    }

    /// The one that `time` is in, looked for from `place` on, where it is left; `None` before the first.
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

    /// A task was ready from `from` to `to`.
    fn ready(&mut self, from: u64, to: u64, place: &mut usize) {
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

    /// Something began or ended.
    #[inline]
    fn active(&mut self, at: u64, place: &mut usize) {
        // What ends a poll is in the stretch behind it.
        if let Some(of) = self.at(at, place) {
            self.active[of] = self.active[of].max(at);
        }
    }

    /// How long tasks were ready before each bound, in sum; `unpolled` of them since `since`.
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

    /// When something began or ended last, up to the end of each stretch.
    fn last_active(&self) -> Vec<u64> {
        let mut last = 0;
        let active = self.active.iter().map(|&at| {
            last = last.max(at);
            last
        });
        active.collect()
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
        times.iter().for_each(|&(from, to)| stretches.ready(from, to, &mut 0));
        let sums = stretches.ready_sums(2, 0);
        for (from, to) in polls {
            let overlap = |&(a, b): &(u64, u64)| b.min(to).saturating_sub(a.max(from));
            let expected: u64 = times.iter().map(overlap).sum::<u64>() + 2 * (to - from);
            let found = sums[stretches.of(to)] - sums[stretches.of(from)];
            assert_eq!(found, expected, "{from} to {to}");
        }
    }
}
