//! Measures how long tasks waited for a mutex during the poll that gave it back.

use super::poll::PollAt;
use super::waits::{MUTEX, awaited_module, line_of};
use crate::trace::timeline::{Timeline, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::map::Map;
use crate::util::sort;

/// The tasks that waited at a line for a mutex during a poll that gave it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BehindLock {
    /// A wait at that line.
    pub(super) wait: WaitId,
    /// The time that they waited there during the poll, until the mutex was given back, in ns, summed over tasks.
    pub(super) waited_ns: u64,
}

/// A wait for a mutex that another task ended.
#[derive(Clone, Copy)]
struct Turn {
    /// A wait at its line.
    line: WaitId,
    /// The index of the task that gave the mutex back.
    by: usize,
    to_ns: u64,
    from_ns: u64,
    /// The index of the task that got it.
    task: usize,
}

/// The most turns that are followed, of all polls together. Those of a poll that comes later aren't counted.
const MOST_TURNS: usize = 1 << 20;

/// Returns this for each of `polls`, in their order. Of several mutexes it is the one with the longest time.
///
/// Tokio's mutexes go to whoever has waited longest. So a task that waits when a poll gives a mutex back began to wait after that
/// poll's task had got it, or before, if this task had waited itself, and then it has had the mutex since the begin of the poll.
/// Tasks at the same line may wait for another mutex. Those that wait for this one get it from one another.
pub(super) fn find(timeline: &Timeline, polls: &[PollAt]) -> Vec<Option<BehindLock>> {
    let line_of_wait = lines_of_mutexes(timeline);
    if polls.is_empty() || line_of_wait.iter().all(Option::is_none) {
        return vec![None; polls.len()];
    }
    let mut found: Map<PollAt, Option<BehindLock>> = Map::default();
    for &at in polls {
        found.insert(at, None);
    }
    let tasks = timeline.tasks.seen();
    let (mut turns, mut given_back) = (Vec::new(), Vec::new());
    for (index, task) in tasks.iter().enumerate() {
        for pair in task.polls.windows(2) {
            let line = pair[0].wait().and_then(|wait| *line_of_wait.get(wait.index())?);
            let (Some(line), Some(from_ns), Some(to_ns), Some(WokenBy::Task(by))) =
                (line, pair[0].end_ns(), pair[1].ready_ns(), pair[1].woken_by())
            else {
                continue;
            };
            let Ok(by) = tasks.binary_search_by_key(&by, |task| task.key) else { continue };
            let turn = Turn { line, by, to_ns, from_ns, task: index };
            turns.push(turn);
            let at = pair[1].woken_in(&tasks[by].polls).map(|poll| (by, poll));
            if let Some(at) = at.filter(|at| found.get(at).is_some()) {
                given_back.push((at, turn));
            }
        }
    }
    sort::by_key(&mut turns, |turn| (turn.line, turn.by, turn.to_ns));
    let mut left = MOST_TURNS;
    for (at, first) in given_back {
        let since_ns = tasks[at.0].polls[at.1].start_ns();
        let waited_ns = waited_ns(&turns, first, since_ns, &mut left);
        let most = found.get_or_default(at);
        if most.is_none_or(|most| waited_ns > most.waited_ns) {
            *most = Some(BehindLock { wait: first.line, waited_ns });
        }
    }
    polls.iter().map(|at| found.get(at).copied().flatten()).collect()
}

/// Returns how long tasks had waited since `since_ns` for the mutex when `first` got it, in ns, in sum.
fn waited_ns(turns: &[Turn], first: Turn, since_ns: u64, left: &mut usize) -> u64 {
    let until_ns = first.to_ns;
    let mut waited_ns = 0_u64;
    let mut next = Some(first);
    while let Some(turn) = next.filter(|turn| turn.from_ns < until_ns && *left > 0) {
        *left -= 1;
        let from_ns = turn.from_ns.max(since_ns);
        waited_ns = waited_ns.saturating_add(until_ns.saturating_sub(from_ns));
        let is_before = |other: &Turn| {
            (other.line, other.by, other.to_ns) <= (turn.line, turn.task, turn.to_ns)
        };
        let following = turns.get(turns.partition_point(is_before)).copied();
        next = following.filter(|next| (next.line, next.by) == (turn.line, turn.task));
    }
    waited_ns
}

/// Returns for each wait one at the same line, if tasks wait for a mutex alone there.
fn lines_of_mutexes(timeline: &Timeline) -> Vec<Option<WaitId>> {
    let mut lines = Map::default();
    let mut line_of_wait = vec![None; timeline.places.waits.len()];
    for (id, wait) in timeline.all_waits() {
        let [line] = wait.lines()[..] else { continue };
        let at = line_of(line);
        if at.1.is_some_and(|awaits| awaited_module(awaits) == MUTEX) {
            line_of_wait[id.index()] = Some(*lines.get_or_insert_with(at, || id));
        }
    }
    line_of_wait
}

#[cfg(test)]
mod tests;
