//! Finds the tasks that got a lock or a permit after a wait, and are not known to have given it back.
//!
//! A mutex or a permit that is given back while tasks wait for it wakes one of them. So a task that got it while others waited all the
//! time, and woke none of them since, still has it, unless it passed it on. Guards of a `RwLock` may be dropped without a wake.
//!
//! One mutex may be locked at several lines. So of a mutex, a task counts only if it gave none back since then. Several mutexes may be
//! locked at one line. But those who wait for one get it in turn: a task that began to wait after one that still waits got another.

use std::fmt;

use super::awaited::Awaited;
use super::given_back::{first_module, last_releases, waits_for};
use super::last_wait::{LastWaits, waits_to_the_end};
use super::wait_set::WaitSet;
use crate::analysis::waits::{MUTEX, for_each_wait, place_label};
use crate::trace::timeline::{Poll, Shutdown, Task, TaskKey, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human};

/// The tasks that got what others wait for, and are not known to have given it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct KeptBy {
    /// The one that got it last.
    task: TaskKey,
    tasks: u64,
    /// `true` if it is a mutex, which only one task can have.
    is_mutex: bool,
    /// Where it had waited for it.
    got_at: String,
    /// Where it waits now.
    at: String,
    /// For how long it has waited there, in ns.
    waits_for_ns: u64,
}

/// The difference that the clocks of two threads may have, in ns.
const SLACK_NS: u64 = 10_000;

impl KeptBy {
    /// Finds the tasks that keep what tasks in `queued` wait for, which are at one line, if they have waited elsewhere for `long_ns` or
    /// longer. `None` also if it isn't known who ended some of the waits.
    pub(in crate::analysis) fn find(
        last: &LastWaits<'_>,
        shutdown: Shutdown,
        queued: &[(WaitId, &Wait)],
        long_ns: u64,
    ) -> Option<Self> {
        let timeline = last.timeline();
        let &(_, first) = queued.first()?;
        let module = first_module(first)?;
        let is_mutex = module == MUTEX;
        if !is_mutex && Awaited::queue(first)? != Awaited::Permit {
            return None;
        }
        let at_line = WaitSet::new(timeline, queued.iter().map(|&(id, _)| id));
        let queues = match is_mutex {
            true => at_line,
            false => same_queue(timeline, at_line, &waits_for(timeline, module)),
        };
        let last_gap_ns = timeline.gaps.iter().map(|&(_, to_ns)| to_ns).max().unwrap_or_default();
        let (crowded_ns, first_ns) = crowded_since(timeline, shutdown, &queues)?;
        let since_ns = crowded_ns.max(last_gap_ns);
        let released = last_releases(timeline, &queues, since_ns)?;
        let spawns = last_spawns(timeline);
        let tasks_seen = timeline.tasks.seen();
        let got: Vec<_> = tasks_seen.iter().map(|task| last_got(task, &queues, since_ns)).collect();
        let last_ns = got.iter().flatten().map(|got| got.at_ns).max()?;
        let mut found: Option<(u64, Self)> = None;
        let mut tasks = 0;
        for (index, (task, got)) in tasks_seen.iter().zip(got).enumerate() {
            let Some(Got { wait: got_at, since_ns, at_ns: got_ns }) = got else { continue };
            let given_back_ns = if is_mutex { last.given_back().last_ns(index) } else { 0 };
            let is_another = is_mutex && (got_ns < last_ns || since_ns > first_ns);
            if is_another || released[index].max(given_back_ns).saturating_add(SLACK_NS) >= got_ns {
                continue;
            }
            let Some((spot, wait)) = waits_to_the_end(timeline, shutdown, task.key) else {
                continue;
            };
            let is_queued = queues.has(task.polls.last().and_then(|last| last.wait()));
            let has_spawned = spawns.get(&task.key).is_some_and(|&at_ns| at_ns >= got_ns);
            if is_queued || spot.length_ns < long_ns || has_spawned {
                continue;
            }
            tasks += 1;
            if found.as_ref().is_none_or(|&(last_ns, _)| got_ns > last_ns) {
                let got = timeline.wait(got_at)?;
                let one = Self {
                    task: task.key,
                    tasks,
                    is_mutex,
                    got_at: place_label(got),
                    at: place_label(wait),
                    waits_for_ns: spot.length_ns,
                };
                found = Some((got_ns, one));
            }
        }
        let (_, found) = found?;
        Some(Self { tasks, ..found })
    }

    /// Returns whether only one task can have it.
    pub(in crate::analysis) fn is_of_mutex(&self) -> bool {
        self.is_mutex
    }

    /// Returns the task that got it last.
    pub(in crate::analysis) fn task(&self) -> TaskKey {
        self.task
    }
}

/// A wait in which a task got something.
struct Got {
    wait: WaitId,
    /// The time at which it began, in ns.
    since_ns: u64,
    /// The time at which it ended, in ns.
    at_ns: u64,
}

/// Returns the last of these waits in which a task got something, if that was after `since_ns`. Of a wait with a timeout, the runtime ends
/// the task's wait, and it got nothing.
fn last_got(task: &Task, waits: &WaitSet, since_ns: u64) -> Option<Got> {
    let is_in = |pair: &&[Poll]| waits.has(pair[0].wait());
    let last = task.polls.windows(2).rev().find(is_in)?;
    let at_ns = last[1].ready_ns().filter(|&got_ns| got_ns >= since_ns)?;
    let is_given = matches!(last[1].woken_by(), Some(WokenBy::Task(_)));
    let got = Got { wait: last[0].wait()?, since_ns: last[0].end_ns()?, at_ns };
    is_given.then_some(got)
}

/// Returns when each task last spawned another one, to which it may have passed something on. A task that spawned none isn't in it.
fn last_spawns(timeline: &Timeline) -> Map<TaskKey, u64> {
    let mut last = Map::default();
    for task in timeline.tasks.seen() {
        if let (Some(parent), Some(at_ns)) = (task.parent, task.spawned_ns) {
            let last_ns: &mut u64 = last.get_or_default(parent);
            *last_ns = at_ns.max(*last_ns);
        }
    }
    last
}

/// Returns the waits for the same thing. These are the waits of `at_line`, and of those `of_kind` the ones that a task ended which also
/// ended waits at that line.
fn same_queue(timeline: &Timeline, mut at_line: WaitSet, of_kind: &WaitSet) -> WaitSet {
    let tasks = timeline.tasks.seen();
    let mut has_released = vec![false; tasks.len()];
    let mut by_others: Vec<(WaitId, usize)> = Vec::new();
    for pair in tasks.iter().flat_map(|task| task.polls.windows(2)) {
        let (Some(id), Some(WokenBy::Task(by))) = (pair[0].wait(), pair[1].woken_by()) else {
            continue;
        };
        let Ok(by) = tasks.binary_search_by_key(&by, |task| task.key) else { continue };
        if at_line.has(Some(id)) {
            has_released[by] = true;
        } else if of_kind.has(Some(id)) {
            by_others.push((id, by));
        }
    }
    at_line.add(by_others.into_iter().filter(|&(_, by)| has_released[by]).map(|(id, _)| id));
    at_line
}

/// Returns the time since when a task was in one of these waits at any moment, up to the end, and the time at which the first of those
/// that are in one at the end began to wait. `None` if there are none of these.
fn crowded_since(timeline: &Timeline, shutdown: Shutdown, waits: &WaitSet) -> Option<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for task in timeline.tasks.seen() {
        for_each_wait(timeline, task, shutdown, &mut |wait, from_ns, length_ns, is_now| {
            if waits.has(wait) {
                let to_ns = if is_now { u64::MAX } else { from_ns.saturating_add(length_ns) };
                all.push((to_ns, from_ns));
            }
        });
    }
    crate::util::sort::sort(&mut all);
    let at_end = all.partition_point(|&(to_ns, _)| to_ns < u64::MAX);
    let first_ns = all.get(at_end)?.1;
    let mut since_ns = first_ns;
    for &(to_ns, from_ns) in all.iter().rev() {
        if to_ns < since_ns {
            break;
        }
        since_ns = since_ns.min(from_ns);
    }
    Some((since_ns, first_ns))
}

impl fmt::Display for KeptBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, tasks, is_mutex, got_at, at, waits_for_ns } = self;
        let (got_at, at, waits_for) = (clean(got_at), clean(at), human(*waits_for_ns));
        if *is_mutex {
            return write!(
                f,
                "As far as is known, {task} got it last, after a wait at {got_at}, and woke none of these since: it waits at {at}, for \
                 {waits_for} now."
            );
        }
        let (others, have) = match tasks - 1 {
            0 => (String::new(), "has"),
            others => (format!(" and {}", count(others, "other")), "have"),
        };
        write!(
            f,
            "{task}{others} got one, and {have} woken none of these since: {task} waited for it at {got_at}, and now waits at {at}, for \
             {waits_for}."
        )
    }
}
