//! Finds where the tasks that held a contended lock waited while they held it, and where those that took something out of a full channel
//! waited before they did.
//!
//! The task that releases a lock wakes a task that waits for it, in a poll. If it isn't known who woke a task, the
//! releasing task is the one that was polled when the waiting task became ready, if only one was. If the releasing task
//! waited during that wait, it held the lock across an `.await`.
//!
//! Holders count by the time that they held the lock: most may release it at once, while one in ten holds it for nearly
//! all the time.
//!
//! Whoever makes room in a channel is taken for its holder, unless it sends there itself: a sender that was given room and doesn't use it
//! passes it on.

use super::path::{frame_in, frame_past, path_below, path_of_several};
use super::{WaitRow, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::{FILLED_CELL, Poll, SENDER, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::map::Map;

/// The line at which the holders of a lock, or those that took something out of a channel, waited while other tasks waited for it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// `true` if others waited for room in a channel, rather than for a lock.
    pub is_for_room: bool,
    /// The function and the line.
    pub at: StackFrame,
    /// The lines from the function that got the lock down to that line, `src/shop.rs:22 > src/shop.rs:15`; `None` if
    /// that function isn't among those in which the holder waited. For a channel, these are all lines of the task, if there are
    /// several.
    pub path: Option<String>,
    /// The future that the holder awaited there.
    pub awaits: Option<String>,
    /// The time that holders waited there while other tasks waited for the lock, in ns, in sum.
    pub waited_ns: u128,
    /// The time that all known holders held the lock while other tasks waited for it, or that others waited for those that then took
    /// something out, in ns, in sum.
    pub held_ns: u128,
}

/// Upper bound on the waits that are examined; beyond it, waits are sampled.
const MOST_WAITS: usize = 1 << 14;

/// The least number of releases by which a holder is named.
const LEAST_TIMES: u64 = 3;

/// The most polls of a holder that are searched backwards.
const MOST_POLLS: usize = 16;

/// A wait that ended.
struct Ended {
    /// The time at which the task became ready, in ns.
    at_ns: u64,
    /// The time at which the wait began, in ns.
    since_ns: u64,
    /// The index of its line.
    row: usize,
    /// The index of its task.
    task: usize,
    by: EndedBy,
    /// `true` if it is known who woke the task.
    is_known: bool,
}

/// The cause of the end of a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndedBy {
    /// No task was polled at that time.
    NoTask,
    /// A task, in this poll: the indices of both.
    Release(usize, usize),
    /// Several tasks may have been the cause.
    Unclear,
}

/// Finds the holders of what the lines of `rows` await. `lines` has the row of each wait for a lock, or for room in a channel, that is
/// only at one line.
pub(super) fn find(timeline: &Timeline, rows: &mut [WaitRow], lines: &[Option<usize>]) {
    if lines.is_empty() || !timeline.settings.schedule_latency {
        return;
    }
    let mut ended = ended_waits(timeline, lines);
    crate::util::sort::by_key(&mut ended, |wait| wait.at_ns);
    let tasks = timeline.tasks.seen();
    for (index, task) in tasks.iter().enumerate() {
        for (nth, poll) in task.polls.iter().enumerate() {
            let from = ended.partition_point(|wait| wait.at_ns < poll.start_ns());
            let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            for wait in &mut ended[from..] {
                if wait.at_ns > end_ns {
                    break;
                }
                if wait.task != index && !wait.is_known {
                    wait.by = match wait.by {
                        EndedBy::NoTask => EndedBy::Release(index, nth),
                        _ => EndedBy::Unclear,
                    };
                }
            }
        }
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    for row in &*rows {
        found.push(Found::new(row));
    }
    let is_lock: Vec<bool> = rows.iter().map(WaitRow::is_for_a_lock).collect();
    let kind_of = |id: WaitId| row_of(lines, id).map(|row| (row, is_lock[row]));
    for wait in &ended {
        let found = &mut found[wait.row];
        match wait.by {
            EndedBy::NoTask => found.by_no_task += 1,
            EndedBy::Unclear => {}
            // One release may end many waits.
            EndedBy::Release(task, nth) if found.last != Some((task, nth)) => {
                found.last = Some((task, nth));
                found.by_task += 1;
                found.add(timeline, &kind_of, wait, &tasks[task].polls[..=nth]);
            }
            EndedBy::Release(..) => {}
        }
    }
    let holders: Vec<_> = found.iter().map(Found::holder).collect();
    for (row, holder) in rows.iter_mut().zip(holders) {
        row.holder = holder;
    }
}

/// Returns the row of a wait, if the wait is for a lock, or for room, and only at one line.
fn row_of(lines: &[Option<usize>], id: WaitId) -> Option<usize> {
    *lines.get(id.index())?
}

/// The causes of the ends of the waits at a line.
struct Found<'a> {
    /// The line.
    lock: StackFrame,
    /// `true` if it is for a lock, and `false` if it is for room in a channel.
    is_lock: bool,
    /// The number of releases by a known task.
    by_task: u64,
    /// The number of waits that ended while no task was polled, such as by a thread of the blocking pool.
    by_no_task: u64,
    /// The last release.
    last: Option<(usize, usize)>,
    /// The same as in [`Holder`].
    held_ns: u128,
    /// The lines at which holders waited.
    at_lines: Map<(&'a StackFrame, Option<&'a str>), AtLine<'a>>,
}

/// The waits of holders at one line.
#[derive(Clone, Copy, Default)]
struct AtLine<'a> {
    /// One of these waits.
    wait: Option<&'a Wait>,
    /// The number of releases before which holders waited there, and the last of these releases.
    times: u64,
    last: Option<(usize, usize)>,
    waited_ns: u128,
}

impl<'a> Found<'a> {
    fn new(row: &WaitRow) -> Self {
        let (by_task, by_no_task, held_ns) = (0, 0, 0);
        let (lock, last, at_lines) = (row.at.clone(), None, Map::default());
        Self { lock, is_lock: row.is_for_a_lock(), by_task, by_no_task, last, held_ns, at_lines }
    }

    /// Adds what a holder did during the wait `wait`. It released the lock in the last of `polls`. `kind_of` returns the
    /// row of a wait, and whether it is for a lock.
    fn add(
        &mut self,
        timeline: &'a Timeline,
        kind_of: &dyn Fn(WaitId) -> Option<(usize, bool)>,
        wait: &Ended,
        polls: &[Poll],
    ) {
        let Some((mut after, before)) = polls.split_last() else { return };
        let is_sender = |poll: &Poll| {
            let kind = poll.wait().and_then(kind_of);
            !self.is_lock && kind.is_some_and(|(row, _)| row == wait.row)
        };
        if before.iter().rev().take(MOST_POLLS).any(is_sender) {
            return;
        }
        let during = |from: u64, to: u64| u128::from(to.saturating_sub(from.max(wait.since_ns)));
        self.held_ns += during(after.start_ns(), wait.at_ns);
        for poll in before.iter().rev().take(MOST_POLLS) {
            let Some(end_ns) = poll.end_ns() else { return };
            if after.start_ns() <= wait.since_ns {
                return;
            }
            let place = poll.wait().and_then(|id| Some((id, timeline.wait(id)?)));
            // The holder may wait for another lock while it has this one, and whoever receives may wait for any lock.
            let is_for_it = place.is_some_and(|(id, place)| {
                self.is_lock
                    && kind_of(id).is_some_and(|(_, is_lock)| is_lock)
                    && frame_past(place, &self.lock).is_none()
            });
            if is_for_it {
                return;
            }
            self.held_ns += during(poll.start_ns(), after.start_ns());
            let at = place.map(|(_, place)| (place, place.lines()));
            if let Some((place, &[line])) = at.as_ref().map(|(place, lines)| (*place, &lines[..])) {
                let at_line = self.at_lines.get_or_default(line_of(line));
                at_line.wait = at_line.wait.or(Some(place));
                at_line.times += u64::from(at_line.last != self.last);
                at_line.last = self.last;
                at_line.waited_ns += during(end_ns, after.ready_ns().unwrap_or(after.start_ns()));
            }
            after = poll;
        }
    }
}

/// Returns the cause for the end of the wait before `poll`, for which `by` woke the task.
fn ended_by(timeline: &Timeline, poll: &Poll, by: WokenBy) -> EndedBy {
    let WokenBy::Task(by) = by else { return EndedBy::NoTask };
    let tasks = timeline.tasks.seen();
    let Ok(index) = tasks.binary_search_by_key(&by, |task| task.key) else {
        return EndedBy::Unclear;
    };
    // The task may have been in a poll that isn't kept.
    let release = poll.woken_in(&tasks[index].polls);
    release.map_or(EndedBy::Unclear, |nth| EndedBy::Release(index, nth))
}

fn ended_waits(timeline: &Timeline, lines: &[Option<usize>]) -> Vec<Ended> {
    let (mut ended, mut step, mut seen) = (Vec::new(), 1, 0_usize);
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        for pair in task.polls.windows(2) {
            let (wait, since_ns, at_ns) = (pair[0].wait(), pair[0].end_ns(), pair[1].ready_ns());
            let (Some(id), Some(since_ns), Some(at_ns)) = (wait, since_ns, at_ns) else {
                continue;
            };
            let Some(row) = row_of(lines, id) else { continue };
            seen += 1;
            if seen % step != 0 {
                continue;
            }
            let by = pair[1].woken_by().map(|by| ended_by(timeline, &pair[1], by));
            let is_known = by.is_some();
            let by = by.unwrap_or(EndedBy::NoTask);
            ended.push(Ended { at_ns, since_ns, row, task: index, by, is_known });
            if ended.len() == MOST_WAITS {
                // Every other wait is kept.
                for place in 1..MOST_WAITS / 2 {
                    ended.swap(place, 2 * place);
                }
                ended.truncate(MOST_WAITS / 2);
                step *= 2;
            }
        }
    }
    ended
}

impl Found<'_> {
    /// Returns the line at which holders waited longest in sum, if that was most of the time. If threads other than
    /// workers release the lock, a task that was polled at that moment had nothing to do with it.
    fn holder(&self) -> Option<Holder> {
        let place = |(frame, awaits): (&'_ StackFrame, Option<&'_ str>)| {
            (frame.file.clone(), frame.line, awaits.map(str::to_owned))
        };
        let mut most: Option<((&StackFrame, Option<&str>), AtLine<'_>)> = None;
        for (&line, &at_line) in self.at_lines.iter() {
            let is_more = most.is_none_or(|(other, most)| {
                at_line.waited_ns > most.waited_ns
                    || at_line.waited_ns == most.waited_ns && place(line) <= place(other)
            });
            if is_more {
                most = Some((line, at_line));
            }
        }
        let ((at, awaits), AtLine { wait, times, waited_ns, .. }) = most?;
        let is_most = 2 * waited_ns > self.held_ns && self.by_task >= 4 * self.by_no_task;
        (times >= LEAST_TIMES && is_most).then(|| Holder {
            is_for_room: !self.is_lock,
            at: at.clone(),
            path: wait.and_then(|wait| match self.is_lock {
                true => frame_in(wait, &self.lock).map(path_below),
                false => wait.frames.first().and_then(path_of_several),
            }),
            awaits: awaits.map(str::to_owned),
            waited_ns,
            held_ns: self.held_ns,
        })
    }
}

impl WaitRow {
    /// Returns whether the tasks wait for something that another task must release.
    pub(in crate::analysis) fn is_for_a_lock(&self) -> bool {
        is_lock(self.awaits.as_deref())
    }

    /// Returns whether the tasks wait until another task takes something out of a channel.
    pub(in crate::analysis) fn is_for_room(&self) -> bool {
        is_room(self.awaits.as_deref())
    }

    /// Returns whether the tasks wait for a single value that another task must send.
    pub(in crate::analysis) fn is_for_an_answer(&self) -> bool {
        self.awaits.as_deref().is_some_and(|awaits| awaits.contains("tokio::sync::oneshot::"))
    }
}

/// Returns whether another task must take something out of a channel to end the wait.
pub(in crate::analysis) fn is_room(awaits: Option<&str>) -> bool {
    const SENDS: [&str; 2] =
        ["mpsc::bounded::Sender<T>::send", "mpsc::bounded::Sender<T>::reserve"];
    awaits.is_some_and(|awaits| {
        SENDS.iter().any(|name| awaits.contains(name)) || awaits.ends_with(SENDER)
    })
}

/// Returns whether another task must release something to end the wait.
pub(in crate::analysis) fn is_lock(awaits: Option<&str>) -> bool {
    const LOCKS: [&str; 3] =
        ["tokio::sync::mutex", "tokio::sync::rwlock", "tokio::sync::semaphore"];
    let awaits = awaits.map(|name| name.trim_start_matches("an async fn of "));
    awaits.is_some_and(|awaits| {
        awaits == FILLED_CELL || LOCKS.iter().any(|lock| awaits.starts_with(lock))
    })
}
