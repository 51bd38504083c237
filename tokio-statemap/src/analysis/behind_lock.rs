//! Measures how long tasks waited for a lock during the poll that gave it back.

use super::delay::Stretches;
use super::poll::PollAt;
use super::waits::{is_lock, line_of};
use crate::trace::timeline::{Task, Timeline, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::map::Map;

/// The tasks that waited at a line for a lock during a poll that gave it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BehindLock {
    /// A wait at that line.
    pub(super) wait: WaitId,
    /// The time that they waited there during the poll, until the lock was given back, in ns, summed over tasks.
    pub(super) waited_ns: u64,
}

/// A line at which tasks wait for a lock.
struct LockLine {
    wait: WaitId,
    /// The polls that gave it back, and the time of each up to then, in ns.
    held: Vec<(PollAt, (u64, u64))>,
}

/// Returns this for each of `polls`, in their order. Of several lines it is the one with the longest time. It is not known when the poll
/// got the lock, so the time is an upper bound.
pub(super) fn find(timeline: &Timeline, polls: &[PollAt]) -> Vec<Option<BehindLock>> {
    let mut found: Map<PollAt, Option<BehindLock>> = Map::default();
    for &at in polls {
        found.insert(at, None);
    }
    let (mut lines, line_of_wait) = lock_lines(timeline);
    let tasks = timeline.tasks.seen();
    let for_each_lock_wait = |each: &mut dyn FnMut(usize, (u64, u64), &Task, usize)| {
        for task in tasks {
            for (before, pair) in task.polls.windows(2).enumerate() {
                let line = pair[0].wait().and_then(|wait| *line_of_wait.get(wait.index())?);
                if let (Some(line), Some(from_ns), Some(to_ns)) =
                    (line, pair[0].end_ns(), pair[1].ready_ns())
                {
                    each(line, (from_ns, to_ns), task, before + 1);
                }
            }
        }
    };
    for_each_lock_wait(&mut |line, (_, to_ns), task, next| {
        let Some(WokenBy::Task(by)) = task.polls[next].woken_by() else { return };
        let Ok(by) = tasks.binary_search_by_key(&by, |task| task.key) else { return };
        let Some(poll) = task.polls[next].woken_in(&tasks[by].polls) else { return };
        if found.get(&(by, poll)).is_some() {
            let since_ns = tasks[by].polls[poll].start_ns();
            lines[line].held.push(((by, poll), (since_ns, to_ns.max(since_ns))));
        }
    });
    for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.held.is_empty()) {
        let spans: Vec<_> = line.held.iter().map(|&(_, span)| span).collect();
        let mut stretches = Stretches::between(&spans);
        let mut place = 0;
        for_each_lock_wait(&mut |at, (from_ns, to_ns), _, _| {
            if at == number {
                stretches.add_ready(from_ns, to_ns, &mut place);
            }
        });
        let sums = stretches.ready_sums(0, 0);
        for &(at, (from_ns, to_ns)) in &line.held {
            let sum_until = |at_ns| sums[stretches.starting_at(at_ns)];
            let waited_ns = sum_until(to_ns) - sum_until(from_ns);
            let behind = BehindLock { wait: line.wait, waited_ns };
            let most = found.get_or_default(at);
            if most.is_none_or(|most| waited_ns > most.waited_ns) {
                *most = Some(behind);
            }
        }
    }
    polls.iter().map(|at| found.get(at).copied().flatten()).collect()
}

/// Returns the lines at which tasks wait for a lock alone, and for each wait the number of its line.
fn lock_lines(timeline: &Timeline) -> (Vec<LockLine>, Vec<Option<usize>>) {
    let (mut lines, mut numbers) = (Vec::new(), Map::default());
    let mut line_of_wait = vec![None; timeline.places.waits.len()];
    for (id, wait) in timeline.all_waits() {
        let [line] = wait.lines()[..] else { continue };
        let at = line_of(line);
        if is_lock(at.1) {
            let number = *numbers.get_or_insert_with(at, || {
                lines.push(LockLine { wait: id, held: Vec::new() });
                lines.len() - 1
            });
            line_of_wait[id.index()] = Some(number);
        }
    }
    (lines, line_of_wait)
}

#[cfg(test)]
mod tests;
