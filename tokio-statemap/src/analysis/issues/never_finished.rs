//! Tasks that never finish, as it seems: those that still wait, and have done so for most of the recording.
//!
//! A connection that nobody uses waits like a task in a deadlock. So it takes more than a long wait to say that tasks
//! should have finished: what they wait for, others of their spawn location, or that everything waits.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::awaited::Awaited;
use super::spots::{Spot, Spots};
use crate::analysis::place::Place;
use crate::analysis::waits::place_label;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Shutdown, Task, TaskKey, Timeline, Waiting};

/// Tasks of a spawn location that had waited for most of the recording when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// Where they were spawned.
    pub place: Place,
    /// How many.
    pub tasks: u64,
    /// How long the one that waited longest did, in ns.
    pub waited_ns: u64,
}

/// Tasks of one spawn location that waited for most of the recording, up to its end, and should have finished.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NeverFinished {
    /// Where they were spawned.
    pub place: Place,
    /// How many.
    pub tasks: u64,
    /// How many others of the same spawn location finished.
    pub finished: u64,
    /// How long the one that waited longest did, in ns.
    pub waited_ns: u64,
    /// Why they should have finished.
    pub why: WhyNever,
    /// Where the one waits that waited longest, `src/shop.rs:17, Mutex::lock`; `None` if that isn't known.
    pub at: Option<String>,
}

/// Why tasks should have finished.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyNever {
    /// They wait for what another task has to give back: a lock, a permit, room in a channel.
    Lock,
    /// Nothing took their wakers: nothing will wake them.
    NothingWakes,
    /// The root future waits for other tasks, and nothing was polled for as long.
    MainWaits {
        /// Where it waits.
        at: String,
        /// Whether it is known of all of them that they wait for other tasks, too. If not, it may be for I/O or a timer.
        is_known: bool,
    },
    /// Many others of the same spawn location finished long ago.
    OthersFinished {
        /// The longest that one of these lived, in ns.
        longest_life_ns: u64,
    },
}

impl NeverFinished {
    /// Whether what they wait for shows it: others of a spawn location may be of another kind, and who waits for I/O or a
    /// timer may do so for ever.
    pub(crate) fn is_sure(&self) -> bool {
        !matches!(
            self.why,
            WhyNever::OthersFinished { .. } | WhyNever::MainWaits { is_known: false, .. }
        )
    }
}

/// From when on a wait is worth a word, if it is also half of what was recorded; and from when on in any case.
const LONG_WAIT_NS: u64 = 1_000_000_000;
const LONG_IN_ANY_CASE_NS: u64 = 60_000_000_000;

/// How many others must have finished, how many times as many as those that didn't, and how many times as fast.
const OTHERS: u64 = 9;
const OTHERS_TIMES: u64 = 4;
const TIMES_AS_FAST: u64 = 10;

/// What was found.
#[derive(Default)]
pub(super) struct Found {
    /// The tasks that should have finished, those that waited longest first.
    pub(super) never: Vec<(NeverFinished, Vec<Spot>)>,
    /// Those that waited longest of the others, if for long: they may wait for someone who never came.
    pub(super) stuck: Option<Stuck>,
}

/// The tasks of one spawn location.
#[derive(Default)]
struct Group {
    finished: u64,
    longest_life_ns: u64,
    /// Those that waited for long and not for anything outside: for a lock, for a permit, for nothing, for whatever else.
    for_locks: Spots,
    for_permits: Spots,
    for_nothing: Spots,
    for_others: Spots,
    /// How many of the last wait for what isn't known.
    unknown: u64,
}

pub(super) fn find(timeline: &Timeline) -> Found {
    let whole_ns = match timeline.whole_run() {
        Some(sums) => timeline.end_ns.saturating_sub(sums.begin_ns),
        None => timeline.length_ns(),
    };
    let long_ns = LONG_WAIT_NS.max((whole_ns / 2).min(LONG_IN_ANY_CASE_NS));
    let shutdown = Shutdown::of(timeline);
    let mut groups: BTreeMap<Place, Group> = BTreeMap::new();
    let (mut last_polled_ns, mut is_any_polled) = (0, false);
    // Who has what they wait for may be among these.
    let mut may_be_outside = false;
    for task in timeline.tasks.one_by_one() {
        if matches!(task.key, TaskKey::Root(_)) {
            continue;
        }
        if let Some(last) = task.polls.last() {
            is_any_polled |= last.end_ns().is_none();
            last_polled_ns = last.end_ns().unwrap_or(timeline.end_ns).max(last_polled_ns);
        }
        let group = groups.entry(Place::of(&task)).or_default();
        match wait_to_the_end(timeline, shutdown, &task) {
            Some((spot, waiting)) if spot.length_ns >= long_ns => {
                let awaited = Awaited::of(waiting);
                may_be_outside |= matches!(awaited, Awaited::Outside | Awaited::Unknown);
                group.add_waiting(spot, awaited);
            }
            Some(_) => {}
            None => group.add_other(shutdown, &task),
        }
    }
    let is_silent = !is_any_polled && timeline.end_ns.saturating_sub(last_polled_ns) >= long_ns;
    let main = is_silent.then(|| main_waits(timeline, long_ns)).flatten();
    let mut found = Found::default();
    for (place, mut group) in groups {
        let permits = std::mem::take(&mut group.for_permits);
        match may_be_outside {
            true => {
                group.unknown += permits.n;
                group.for_others.append(permits);
            }
            false => group.for_locks.append(permits),
        }
        found.judge(place, group, main.as_deref());
    }
    found.never.sort_by_key(|(never, _)| (!never.is_sure(), Reverse(never.waited_ns), never.place));
    for (never, spots) in &mut found.never {
        let task = spots.first().and_then(|spot| timeline.tasks.position(spot.task));
        let task = task.map(|index| timeline.tasks.at(index));
        let waiting = task.and_then(|task| wait_to_the_end(timeline, shutdown, &task));
        never.at = match waiting {
            Some((_, Waiting::At(wait))) => Some(place_label(wait)).filter(|at| !at.is_empty()),
            _ => None,
        };
    }
    found
}

/// The wait that a spawned task was in at the end, or in which it was dropped with its runtime.
fn wait_to_the_end<'a>(
    timeline: &'a Timeline,
    shutdown: Shutdown,
    task: &Task,
) -> Option<(Spot, Waiting<'a>)> {
    if let Some(cut) = shutdown.cut_wait(task) {
        let spot = Spot { task: task.key, start_ns: cut.since_ns, length_ns: cut.for_ns() };
        return Some((spot, timeline.waiting(cut.wait)));
    }
    // One that is ready waits for a worker: that is another matter.
    if task.terminated_ns.is_some() || task.ready_ns.is_some() {
        return None;
    }
    let since_ns = match (task.polls.last(), task.carried_wait) {
        (Some(poll), _) => poll.end_ns()?,
        (None, Some(carried)) => carried.since_ns,
        (None, None) => (task.first_state == TaskState::Waiting).then_some(task.first_ns)?,
    };
    let length_ns = timeline.end_ns.saturating_sub(since_ns);
    let spot = Spot { task: task.key, start_ns: since_ns, length_ns };
    Some((spot, timeline.waiting_at_end(task)))
}

/// Where the root future waits for other tasks, if it does so for long.
fn main_waits(timeline: &Timeline, long_ns: u64) -> Option<String> {
    let mut roots =
        timeline.tasks.seen().iter().filter(|task| matches!(task.key, TaskKey::Root(_)));
    let main = roots.next()?;
    let since_ns = main.polls.last()?.end_ns()?;
    let is_long = main.terminated_ns.is_none()
        && timeline.end_ns.saturating_sub(since_ns) >= long_ns
        && roots.all(|root| root.terminated_ns.is_some());
    let Waiting::At(wait) = timeline.waiting_at_end(main) else { return None };
    let is_for_others =
        matches!(Awaited::of(Waiting::At(wait)), Awaited::Task | Awaited::Lock | Awaited::Permit);
    Some(place_label(wait)).filter(|_| is_long && is_for_others)
}

impl Group {
    fn add_waiting(&mut self, spot: Spot, awaited: Awaited) {
        match awaited {
            Awaited::Outside => {}
            Awaited::Lock => self.for_locks.add(spot),
            Awaited::Permit => self.for_permits.add(spot),
            Awaited::Nothing => self.for_nothing.add(spot),
            Awaited::Task => self.for_others.add(spot),
            Awaited::Unknown => {
                self.unknown += 1;
                self.for_others.add(spot);
            }
        }
    }

    fn add_other(&mut self, shutdown: Shutdown, task: &Task) {
        let (Some(ended_ns), None) = (task.terminated_ns, shutdown.cut_wait(task)) else { return };
        self.finished += 1;
        let began_ns = task.spawned_ns.unwrap_or(task.first_ns);
        self.longest_life_ns = ended_ns.saturating_sub(began_ns).max(self.longest_life_ns);
    }

    /// Why its tasks should have finished, and which of them.
    fn why(&self, place: Place, main: Option<&str>) -> Option<(WhyNever, &Spots)> {
        if self.for_locks.n > 0 {
            return Some((WhyNever::Lock, &self.for_locks));
        }
        if self.for_nothing.n > 0 {
            return Some((WhyNever::NothingWakes, &self.for_nothing));
        }
        let others = &self.for_others;
        if others.n == 0 {
            return None;
        }
        if let Some(at) = main {
            let (at, is_known) = (at.to_owned(), self.unknown == 0);
            return Some((WhyNever::MainWaits { at, is_known }, others));
        }
        let longest_life_ns = self.longest_life_ns;
        let is_odd = self.finished >= OTHERS.max(others.n.saturating_mul(OTHERS_TIMES))
            && others.least_ns / TIMES_AS_FAST >= longest_life_ns
            // What a library spawns are connections, mostly, of which some are used and others aren't.
            && !place.is_of_dependency();
        is_odd.then_some((WhyNever::OthersFinished { longest_life_ns }, others))
    }
}

impl Found {
    fn judge(&mut self, place: Place, group: Group, main: Option<&str>) {
        let Some((why, spots)) = group.why(place, main) else {
            let Spots { n, longest_ns, .. } = group.for_others;
            if n > 0 && self.stuck.is_none_or(|stuck| stuck.waited_ns < longest_ns) {
                self.stuck = Some(Stuck { place, tasks: n, waited_ns: longest_ns });
            }
            return;
        };
        let never = NeverFinished {
            place,
            tasks: spots.n,
            finished: group.finished,
            waited_ns: spots.longest_ns,
            why,
            at: None,
        };
        self.never.push((never, spots.longest.clone()));
    }
}
