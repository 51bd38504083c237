//! Finds where the tasks that held a contended lock waited meanwhile.
//!
//! A task that waits for a lock is woken by the task that releases it, in a poll of the latter. So if only one task was
//! polled at the moment at which the waiting one became ready, that task was the holder. If it had waited itself
//! meanwhile, it held the lock across that `.await`.

use super::{WaitRow, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::{Poll, Timeline, WaitId};
use crate::util::map::Map;

/// Where the holder of what a line awaits waited itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The function and the line.
    pub at: StackFrame,
    /// The future that is awaited there.
    pub awaits: Option<String>,
    /// The number of waits in which it did.
    pub times: u64,
    /// The number of waits of which it is known which task ended them.
    pub of: u64,
}

/// Upper bound on the waits that are examined; beyond it, waits are sampled.
const MOST_WAITS: usize = 1 << 14;

/// The least number of waits from which a holder is named.
const LEAST_TIMES: u64 = 3;

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
    /// A task, and where it had waited meanwhile, if it had.
    Holder(Option<WaitId>),
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
            EndedBy::Holder(waited) => {
                found.of += 1;
                // A task that released the lock in the poll in which it got it did not wait with it.
                let Some(id) = waited else { continue };
                let Some(place) = timeline.wait(id) else { continue };
                match place.lines()[..] {
                    [line] if row_of(lines, id) != Some(wait.row) => {
                        *found.times.get_or_default(line_of(line)) += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    for (row, found) in found.iter().enumerate() {
        rows[row].holder = found.holder();
    }
}

/// Returns the row of a wait, if it is one for a lock, and at one line alone.
fn row_of(lines: &[Option<usize>], id: WaitId) -> Option<usize> {
    *lines.get(id.index())?
}

/// The causes of the ends of the waits at a line.
#[derive(Default)]
struct Found<'a> {
    /// The number of waits whose holder is known.
    of: u64,
    /// The number of waits that ended while no task was polled: by a thread of the blocking pool, for example.
    by_no_task: u64,
    /// The number of times that the holder waited at each line.
    times: Map<(&'a StackFrame, Option<&'a str>), u64>,
}

impl Ended {
    /// Notes that another task was polled when the waiting one became ready; `before` is the other's last poll before.
    fn ended_in(&mut self, poll: &Poll, before: Option<&Poll>) {
        let mut waited = None;
        if let Some(before) = before {
            let has_ended = before.end_ns().is_some_and(|end_ns| end_ns < self.at_ns);
            if has_ended && poll.start_ns() > self.since_ns {
                waited = before.wait();
            }
        }
        self.by = match self.by {
            EndedBy::NoTask => EndedBy::Holder(waited),
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
    /// Returns the line at which holders waited most often, if they did so in most waits. Where threads other than workers
    /// release the lock, a task that was polled at that moment had nothing to do with it.
    fn holder(&self) -> Option<Holder> {
        let &Self { of, by_no_task, ref times } = self;
        let place = |(frame, awaits): (&'_ StackFrame, Option<&'_ str>)| {
            (frame.file.clone(), frame.line, awaits.map(str::to_owned))
        };
        let mut most: Option<((&StackFrame, Option<&str>), u64)> = None;
        for (&line, &times) in times.iter() {
            let is_more = most.is_none_or(|(other, most)| {
                times > most || times == most && place(line) <= place(other)
            });
            if is_more {
                most = Some((line, times));
            }
        }
        let ((at, awaits), times) = most?;
        (times >= LEAST_TIMES && 2 * times > of + by_no_task).then(|| Holder {
            at: at.clone(),
            awaits: awaits.map(str::to_owned),
            times,
            of,
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
