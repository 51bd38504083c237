//! Tasks that may be leaked: of a spawn location at which there were only ever more of them.
//!
//! A program that starts has more tasks with every moment, and so has a server that more and more clients use. So it
//! takes a while, a number of tasks, growth all the time, and that most of the older ones do nothing.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::awaited::Awaited;
use super::spots::{Spot, Spots};
use crate::analysis::place::Place;
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline};

/// Tasks of one spawn location of which there were only ever more.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MaybeLeaked {
    /// Where they were spawned.
    pub place: Place,
    /// How many lived when what is kept begins.
    pub alive_before: u64,
    /// How many lived at the end.
    pub alive: u64,
    /// How many had ended until then.
    pub ended: u64,
    /// How many of those that lived had not been polled for a quarter of that time.
    pub idle: u64,
    /// For how long they became more, in ns.
    pub over_ns: u64,
}

/// For how long there must have been only ever more, how many at least at the end, and in how many equal parts of the
/// time there must be more of them than in the one before.
const LEAST_NS: u64 = 10_000_000_000;
const LEAST_TASKS: u64 = 50;
const PARTS: usize = 8;

/// One is idle that was not polled for that part of the time; and which part of those that live must be.
const IDLE_PART: u64 = 4;
const MOST_IDLE_PART: u64 = 2;

/// The tasks of one spawn location.
#[derive(Default)]
struct Group {
    before: u64,
    /// How many were spawned, and ended, in each part of the time.
    spawned: [u64; PARTS],
    ended: [u64; PARTS],
    /// Those that live and do nothing, and for how long.
    idle: Spots,
}

/// The spawn locations, that with most tasks first.
pub(super) fn find(timeline: &Timeline) -> Vec<(MaybeLeaked, Vec<Spot>)> {
    let shutdown = Shutdown::of(timeline);
    // Tasks that are dropped with the runtime would have lived on.
    let right_ns = shutdown.begins_ns().unwrap_or(timeline.end_ns).min(timeline.end_ns);
    let left_ns = timeline.begin_ns.max(timeline.recent_ns);
    let over_ns = right_ns.saturating_sub(left_ns);
    if over_ns < LEAST_NS {
        return Vec::new();
    }
    let window = Window { timeline, left_ns, over_ns, right_ns };
    let mut groups: BTreeMap<Place, Group> = BTreeMap::new();
    for task in timeline.tasks.one_by_one() {
        if matches!(task.key, TaskKey::Spawned(_)) {
            window.add(groups.entry(Place::of(&task)).or_default(), shutdown, &task);
        }
    }
    let found = groups.into_iter().filter_map(|(place, group)| group.judge(place, over_ns));
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(leak, _)| (Reverse(leak.alive), leak.place));
    found
}

struct Window<'a> {
    timeline: &'a Timeline,
    left_ns: u64,
    over_ns: u64,
    right_ns: u64,
}

impl Window<'_> {
    /// Which part of the time something is in.
    fn part(&self, at_ns: u64) -> usize {
        let from_left = u128::from(at_ns.saturating_sub(self.left_ns));
        let part = from_left * PARTS as u128 / u128::from(self.over_ns);
        (part as usize).min(PARTS - 1)
    }

    fn add(&self, group: &mut Group, shutdown: Shutdown, task: &Task) {
        let ended_ns = task.terminated_ns.filter(|_| shutdown.cut_wait(task).is_none());
        if ended_ns.is_some_and(|at| at < self.left_ns) {
            return;
        }
        match task.spawned_ns.filter(|&at| at >= self.left_ns) {
            None => group.before += 1,
            Some(at) if at > self.right_ns => return,
            Some(at) => group.spawned[self.part(at)] += 1,
        }
        if let Some(at) = ended_ns {
            group.ended[self.part(at)] += 1;
            return;
        }
        let last = task.polls.last();
        let since_ns = match last {
            Some(poll) => poll.end_ns(),
            None => Some(task.first_ns),
        };
        let Some(since_ns) = since_ns else { return };
        let length_ns = self.right_ns.saturating_sub(since_ns);
        let waiting = match shutdown.cut_wait(task) {
            Some(cut) => self.timeline.waiting(cut.wait),
            None => self.timeline.waiting_at_end(task),
        };
        // One that waits for a timer does what it should.
        let is_idle = length_ns >= self.over_ns / IDLE_PART && !Awaited::of(waiting).is_outside();
        if is_idle {
            group.idle.add(Spot { task: task.key, start_ns: since_ns, length_ns });
        }
    }
}

impl Group {
    fn judge(self, place: Place, over_ns: u64) -> Option<(MaybeLeaked, Vec<Spot>)> {
        let mut alive = self.before;
        for (spawned, ended) in self.spawned.into_iter().zip(self.ended) {
            let after = alive.saturating_add(spawned).checked_sub(ended)?;
            if after <= alive {
                return None;
            }
            alive = after;
        }
        let is_leak = alive >= LEAST_TASKS && self.idle.n >= alive / MOST_IDLE_PART;
        let leak = MaybeLeaked {
            place,
            alive_before: self.before,
            alive,
            ended: self.ended.iter().sum(),
            idle: self.idle.n,
            over_ns,
        };
        is_leak.then_some((leak, self.idle.longest))
    }
}
