//! Measures how long tasks waited for a lock during the poll that gave it back.

use super::delay::Stretches;
use super::poll::PollAt;
use super::waits::{is_lock, line_of};
use crate::trace::timeline::{Poll, Timeline, WaitId};
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
    /// The begin and end of each wait there, if a poll gave the lock back.
    waits: Vec<(u64, u64)>,
}

impl LockLine {
    /// Calls `each` with each poll that gave the lock back, and for how long tasks waited for that during the poll, in ns, in sum.
    ///
    /// Tokio's locks go to whoever has waited longest. So the tasks that wait when a poll gives the lock back began to wait after
    /// that poll's task had got it, or before, if this task had waited itself, and then it has had the lock since the begin of the
    /// poll. Another task had the lock during the waits that ended earlier.
    fn for_each_poll(mut self, each: &mut dyn FnMut(PollAt, u64)) {
        let spans: Vec<_> = self.held.iter().map(|&(_, span)| span).collect();
        let mut stretches = Stretches::between(&spans);
        let mut place = 0;
        for &(from_ns, to_ns) in &self.waits {
            stretches.add_ready(from_ns, to_ns, &mut place);
        }
        let sums = stretches.ready_sums(0, 0);
        self.waits.sort_unstable_by_key(|&(_, to_ns)| to_ns);
        for &(at, (since_ns, until_ns)) in &self.held {
            let sum_until = |at_ns| sums[stretches.starting_at(at_ns)];
            let mut waited_ns = sum_until(until_ns) - sum_until(since_ns);
            let ended_until = |at_ns| self.waits.partition_point(|&(_, to_ns)| to_ns < at_ns);
            for &(from_ns, to_ns) in &self.waits[ended_until(since_ns)..ended_until(until_ns)] {
                waited_ns = waited_ns.saturating_sub(to_ns - from_ns.max(since_ns));
            }
            each(at, waited_ns);
        }
    }
}

/// A wait for a lock between two polls of a task.
struct LockWait<'t> {
    /// The number of its line.
    line: usize,
    from_ns: u64,
    to_ns: u64,
    next: &'t Poll,
}

/// Returns this for each of `polls`, in their order. Of several lines it is the one with the longest time.
pub(super) fn find(timeline: &Timeline, polls: &[PollAt]) -> Vec<Option<BehindLock>> {
    let mut found: Map<PollAt, Option<BehindLock>> = Map::default();
    for &at in polls {
        found.insert(at, None);
    }
    let (mut lines, line_of_wait) = lock_lines(timeline);
    let tasks = timeline.tasks.seen();
    let for_each_wait = |each: &mut dyn FnMut(LockWait<'_>)| {
        for task in tasks {
            for pair in task.polls.windows(2) {
                let line = pair[0].wait().and_then(|wait| *line_of_wait.get(wait.index())?);
                if let (Some(line), Some(from_ns), Some(to_ns)) =
                    (line, pair[0].end_ns(), pair[1].ready_ns())
                {
                    each(LockWait { line, from_ns, to_ns, next: &pair[1] });
                }
            }
        }
    };
    for_each_wait(&mut |wait| {
        let Some(WokenBy::Task(by)) = wait.next.woken_by() else { return };
        let Ok(by) = tasks.binary_search_by_key(&by, |task| task.key) else { return };
        let Some(poll) = wait.next.woken_in(&tasks[by].polls) else { return };
        if found.get(&(by, poll)).is_some() {
            let since_ns = tasks[by].polls[poll].start_ns();
            let until_ns = wait.to_ns.max(since_ns);
            lines[wait.line].held.push(((by, poll), (since_ns, until_ns)));
        }
    });
    for_each_wait(&mut |wait| {
        let line = &mut lines[wait.line];
        if !line.held.is_empty() && wait.from_ns < wait.to_ns {
            line.waits.push((wait.from_ns, wait.to_ns));
        }
    });
    for line in lines {
        let id = line.wait;
        line.for_each_poll(&mut |at, waited_ns| {
            let most = found.get_or_default(at);
            if most.is_none_or(|most| waited_ns > most.waited_ns) {
                *most = Some(BehindLock { wait: id, waited_ns });
            }
        });
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
                lines.push(LockLine { wait: id, held: Vec::new(), waits: Vec::new() });
                lines.len() - 1
            });
            line_of_wait[id.index()] = Some(number);
        }
    }
    (lines, line_of_wait)
}

#[cfg(test)]
mod tests;
