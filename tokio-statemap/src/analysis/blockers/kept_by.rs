//! Finds the tasks that got a lock or a permit after a wait, and didn't give it back.
//!
//! A lock that is released while tasks wait for it wakes one of them. So a task that got it while others waited all the time, and
//! woke none of them since, still has it.

use std::fmt;

use super::awaited::Awaited;
use super::last_wait::waits_to_the_end;
use super::woken_by::WaitSet;
use crate::analysis::waits::{for_each_wait, line_of, module_of, place_label};
use crate::trace::timeline::{Shutdown, TaskKey, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::map::Map;
use crate::util::quantity::{count, human};

/// The tasks that got what others wait for, and didn't give it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct KeptBy {
    /// The one that got it last.
    task: TaskKey,
    tasks: u64,
    /// Where it had waited for it.
    got_at: String,
    /// Where it waits now.
    at: String,
    /// For how long it has waited there, in ns.
    waits_for_ns: u64,
}

impl KeptBy {
    /// Finds the tasks that keep what tasks in `queued` wait for, which are at one line, if they have waited elsewhere for `long_ns` or
    /// longer.
    pub(in crate::analysis) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        queued: &[(WaitId, &Wait)],
        long_ns: u64,
    ) -> Option<Self> {
        let &(_, first) = queued.first()?;
        let is_lock = Awaited::queue(first)? == Awaited::Lock;
        let queues = same_queue(timeline, queued);
        let since_ns = crowded_since(timeline, shutdown, &queues)?;
        let last_releases = last_releases(timeline, &queues);
        let mut found: Option<(u64, Self)> = None;
        let mut tasks = 0;
        for task in timeline.tasks.seen() {
            let last_got = task.polls.windows(2).rev().find(|pair| queues.has(pair[0].wait()));
            let Some([before, got]) = last_got else { continue };
            let Some(got_ns) = got.ready_ns().filter(|&got_ns| got_ns >= since_ns) else {
                continue;
            };
            // The clocks of two threads differ a little.
            if last_releases.get(&task.key).is_some_and(|&released_ns| released_ns >= got_ns) {
                continue;
            }
            let Some((spot, wait)) = waits_to_the_end(timeline, shutdown, task.key) else {
                continue;
            };
            let is_queued = queues.has(task.polls.last().and_then(|last| last.wait()));
            if is_queued || spot.length_ns < long_ns {
                continue;
            }
            tasks += 1;
            if found.as_ref().is_none_or(|&(last_ns, _)| got_ns > last_ns) {
                let got_at = place_label(timeline.wait(before.wait()?)?);
                let (at, waits_for_ns) = (place_label(wait), spot.length_ns);
                found = Some((got_ns, Self { task: task.key, tasks, got_at, at, waits_for_ns }));
            }
        }
        let (_, found) = found?;
        // Only one task can have a lock for itself.
        Some(Self { tasks: if is_lock { 1 } else { tasks }, ..found })
    }
}

/// Returns the waits for the same thing: at the lines of `queued`, and at other lines of which a task ended waits that also ended waits
/// at these.
fn same_queue(timeline: &Timeline, queued: &[(WaitId, &Wait)]) -> WaitSet {
    let awaits = |wait: &Wait| {
        let line = wait.lines().first().copied()?;
        line_of(line).1.map(module_of).map(str::to_owned)
    };
    let Some(&(_, first)) = queued.first() else { return WaitSet::new(timeline, [].into_iter()) };
    let of_first = awaits(first);
    let at_line = WaitSet::new(timeline, queued.iter().map(|&(id, _)| id));
    let others: Vec<WaitId> = timeline
        .all_waits()
        .filter(|(id, wait)| !at_line.has(Some(*id)) && awaits(wait) == of_first)
        .map(|(id, _)| id)
        .collect();
    if others.is_empty() {
        return at_line;
    }
    let mut releases: Map<TaskKey, bool> = Map::default();
    let mut by_others: Vec<(WaitId, TaskKey)> = Vec::new();
    for task in timeline.tasks.seen() {
        for pair in task.polls.windows(2) {
            let (Some(id), Some(WokenBy::Task(by))) = (pair[0].wait(), pair[1].woken_by()) else {
                continue;
            };
            if at_line.has(Some(id)) {
                *releases.get_or_default(by) = true;
            } else if others.contains(&id) {
                by_others.push((id, by));
            }
        }
    }
    let linked =
        by_others.into_iter().filter(|(_, by)| releases.get(by).is_some()).map(|(id, _)| id);
    WaitSet::new(timeline, queued.iter().map(|&(id, _)| id).chain(linked))
}

/// Returns the time since when a task was in one of these waits at any moment, up to the end. `None` if that isn't so at the end.
fn crowded_since(timeline: &Timeline, shutdown: Shutdown, waits: &WaitSet) -> Option<u64> {
    let mut all = Vec::new();
    for task in timeline.tasks.seen() {
        for_each_wait(timeline, task, shutdown, &mut |wait, from_ns, length_ns, is_now| {
            if waits.has(wait) {
                let to_ns = if is_now { u64::MAX } else { from_ns.saturating_add(length_ns) };
                all.push((to_ns, from_ns));
            }
        });
    }
    crate::util::sort::sort(&mut all);
    let (mut since_ns, mut is_now) = (u64::MAX, false);
    for &(to_ns, from_ns) in all.iter().rev() {
        is_now |= to_ns == u64::MAX;
        if to_ns < since_ns && since_ns != u64::MAX {
            break;
        }
        since_ns = since_ns.min(from_ns);
    }
    is_now.then_some(since_ns)
}

/// Returns the time at which each task last ended one of these waits.
fn last_releases(timeline: &Timeline, waits: &WaitSet) -> Map<TaskKey, u64> {
    let mut last: Map<TaskKey, u64> = Map::default();
    for task in timeline.tasks.seen() {
        for pair in task.polls.windows(2) {
            let (Some(WokenBy::Task(by)), Some(at_ns)) = (pair[1].woken_by(), pair[1].ready_ns())
            else {
                continue;
            };
            if waits.has(pair[0].wait()) {
                let last = last.get_or_default(by);
                *last = at_ns.max(*last);
            }
        }
    }
    last
}

impl fmt::Display for KeptBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { task, tasks, got_at, at, waits_for_ns } = self;
        let others = match tasks - 1 {
            0 => String::new(),
            others => format!(" and {}", count(others, "other")),
        };
        let (got_at, at, waits_for) = (clean(got_at), clean(at), human(*waits_for_ns));
        write!(
            f,
            "{task}{others} got it and didn't give it back: {task} waited for it at {got_at}, and now waits at {at}, for {waits_for}."
        )
    }
}
