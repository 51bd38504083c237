//! Finds where the tasks that held a contended lock waited meanwhile.
//!
//! A task that waits for a lock is woken by the task that releases it, in a poll of the latter. So if only one task was
//! polled at the moment at which the waiting one became ready, that task was the holder. If it had waited itself
//! meanwhile, it held the lock across that `.await`.
//!
//! Holders weigh by the time that they held it: most may release it at once, and one in ten hold it for nearly all the time.

use super::path::{frame_in, path_below};
use super::{WaitRow, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::{Poll, Timeline, Wait, WaitId};
use crate::util::map::Map;

/// Where the holder of what a line awaits waited itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The function and the line.
    pub at: StackFrame,
    /// The lines from that in the function that got the lock down to that line, `src/shop.rs:22 > src/shop.rs:15`; `None` if
    /// that function isn't among those in which it waited.
    pub path: Option<String>,
    /// The future that is awaited there.
    pub awaits: Option<String>,
    /// The time that holders waited there, in ns, in sum over the waits that they ended so.
    pub waited_ns: u128,
    /// The time that all holders that are known held it, in ns: waiting anywhere, or in the poll that released it.
    pub held_ns: u128,
}

/// Upper bound on the waits that are examined; beyond it, waits are sampled.
const MOST_WAITS: usize = 1 << 14;

/// The least number of waits from which a holder is named.
const LEAST_TIMES: u64 = 3;

/// What a task did before it ended the wait of another.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Before {
    /// Where it had waited last and for how long, if that began and ended during the wait of the other.
    waited: Option<(Option<WaitId>, u64)>,
    /// For how long it had been polled since.
    polled_ns: u64,
}

/// A wait that ended.
struct Ended {
    /// When the task became ready.
    at_ns: u64,
    /// Since when it had waited.
    since_ns: u64,
    /// The index of its line.
    row: usize,
    /// The index of its task.
    task: usize,
    by: EndedBy,
}

/// The cause of the end of a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndedBy {
    /// No task was polled then.
    NoTask,
    /// A task.
    Holder(Before),
    /// One of several tasks.
    Unclear,
}

/// Finds the holders of the locks that the lines of `rows` await. `lines` has the row of each wait for a lock that is at
/// one line alone.
pub(super) fn find(timeline: &Timeline, rows: &mut [WaitRow], lines: &[Option<usize>]) {
    if lines.is_empty() || !timeline.settings.schedule_latency {
        return;
    }
    let mut ended = ended_waits(timeline, lines);
    crate::util::sort::by_key(&mut ended, |wait| wait.at_ns);
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        let mut before: Option<&Poll> = None;
        for poll in &task.polls {
            let from = ended.partition_point(|wait| wait.at_ns < poll.start_ns());
            let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            for wait in &mut ended[from..] {
                if wait.at_ns > end_ns {
                    break;
                }
                if wait.task != index {
                    wait.ended_in(poll, before);
                }
            }
            before = Some(poll);
        }
    }
    let mut found: Vec<Found<'_>> = Vec::new();
    for _ in &*rows {
        found.push(Found::default());
    }
    for wait in &ended {
        let found = &mut found[wait.row];
        match wait.by {
            EndedBy::NoTask => found.by_no_task += 1,
            EndedBy::Unclear => {}
            EndedBy::Holder(Before { waited, polled_ns }) => {
                found.by_task += 1;
                // A task that had waited for the lock itself released it in the poll in which it got it.
                let is_for_it = |id| row_of(lines, id) == Some(wait.row);
                let waited = waited.filter(|(at, _)| !at.is_some_and(is_for_it));
                let (at, for_ns) = waited.unwrap_or((None, polled_ns));
                found.held_ns += u128::from(for_ns);
                let Some(place) = at.and_then(|id| timeline.wait(id)) else { continue };
                if let [line] = place.lines()[..] {
                    let at_line = found.at_lines.get_or_default(line_of(line));
                    at_line.wait = at_line.wait.or(Some(place));
                    at_line.times += 1;
                    at_line.waited_ns += u128::from(for_ns);
                }
            }
        }
    }
    for (row, found) in found.iter().enumerate() {
        rows[row].holder = found.holder(&rows[row].at);
    }
}

/// Returns the row of a wait, if it is one for a lock, and at one line alone.
fn row_of(lines: &[Option<usize>], id: WaitId) -> Option<usize> {
    *lines.get(id.index())?
}

/// The causes of the ends of the waits at a line.
#[derive(Default)]
struct Found<'a> {
    /// The number of waits that one known task ended.
    by_task: u64,
    /// The number of waits that ended while no task was polled: by a thread of the blocking pool, for example.
    by_no_task: u64,
    /// As in [`Holder`].
    held_ns: u128,
    /// The lines at which holders waited.
    at_lines: Map<(&'a StackFrame, Option<&'a str>), AtLine<'a>>,
}

/// The waits of holders at one line.
#[derive(Clone, Copy, Default)]
struct AtLine<'a> {
    /// One of them.
    wait: Option<&'a Wait>,
    times: u64,
    waited_ns: u128,
}

impl Ended {
    /// Notes that another task was polled when the waiting one became ready; `before` is the other's last poll before.
    fn ended_in(&mut self, poll: &Poll, before: Option<&Poll>) {
        let mut did =
            Before { waited: None, polled_ns: self.at_ns.saturating_sub(poll.start_ns()) };
        if let Some((before, end_ns)) = before.and_then(|before| Some((before, before.end_ns()?))) {
            if end_ns < self.at_ns && poll.start_ns() > self.since_ns {
                did.waited = Some((before.wait(), poll.start_ns().saturating_sub(end_ns)));
            }
        }
        self.by = match self.by {
            EndedBy::NoTask => EndedBy::Holder(did),
            _ => EndedBy::Unclear,
        };
    }
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
            ended.push(Ended { at_ns, since_ns, row, task: index, by: EndedBy::NoTask });
            if ended.len() == MOST_WAITS {
                // Every other one is kept.
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
    /// Returns the line at which holders of what is awaited at `lock` waited longest in sum, if that was most of the time. Where threads other than
    /// workers release the lock, a task that was polled at that moment had nothing to do with it.
    fn holder(&self, lock: &StackFrame) -> Option<Holder> {
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
        let ((at, awaits), AtLine { wait, times, waited_ns }) = most?;
        let is_most = 2 * waited_ns > self.held_ns && self.by_task > self.by_no_task;
        (times >= LEAST_TIMES && is_most).then(|| Holder {
            at: at.clone(),
            path: wait.and_then(|wait| frame_in(wait, lock)).map(path_below),
            awaits: awaits.map(str::to_owned),
            waited_ns,
            held_ns: self.held_ns,
        })
    }
}

impl WaitRow {
    /// Returns whether another task must release what is awaited.
    pub(in crate::analysis) fn is_for_a_lock(&self) -> bool {
        const LOCKS: [&str; 3] =
            ["tokio::sync::mutex", "tokio::sync::rwlock", "tokio::sync::semaphore"];
        let awaits = self.awaits.as_deref().map(|name| name.trim_start_matches("an async fn of "));
        awaits.is_some_and(|awaits| LOCKS.iter().any(|lock| awaits.starts_with(lock)))
    }
}
