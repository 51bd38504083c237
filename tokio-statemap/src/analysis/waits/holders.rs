//! Where those waited that others waited for.
//!
//! A task that waits for a lock is woken by the one that lets go of it, in a poll of that one. So if only one
//! task was polled at the moment at which the waiting one became ready, that was the holder; and if it had
//! waited itself while the other one did, it held the lock over that `.await`.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{WaitRow, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::{Poll, Timeline, WaitId};

/// Where the holder of what a line awaits waited itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The function and the line.
    pub at: StackFrame,
    /// What is awaited there.
    pub awaits: Option<String>,
    /// In how many waits it did.
    pub times: u64,
    /// Of how many waits it is known who ended them.
    pub of: u64,
}

/// Of so many waits at most it is found out who ended them; of more, of every second, fourth, ….
const MOST_WAITS: usize = 1 << 14;

/// No rule is made of fewer.
const LEAST_TIMES: u64 = 3;

/// A wait that was ended by someone.
struct Ended {
    /// When the task became ready.
    at_ns: u64,
    /// Since when it had waited.
    since_ns: u64,
    /// The index of its line.
    row: usize,
    /// Which task it is of, as an index.
    task: usize,
    by: EndedBy,
}

/// Who ended a wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndedBy {
    Nobody,
    /// A task that had waited there meanwhile, if it had.
    Holder(Option<WaitId>),
    /// Several may have.
    Unclear,
}

/// Finds the holders of what the lines of `rows` await. Lines are by the ids of the waits that are at one
/// line alone.
pub(super) fn find(timeline: &Timeline, rows: &mut [WaitRow], lines: &HashMap<WaitId, usize>) {
    let lines: HashMap<WaitId, usize> = lines
        .iter()
        .filter(|&(_, &row)| rows[row].is_for_a_lock())
        .map(|(&id, &row)| (id, row))
        .collect();
    if lines.is_empty() || !timeline.schedule_latency {
        return;
    }
    let mut ended = ended_waits(timeline, &lines);
    ended.sort_unstable_by_key(|wait| wait.at_ns);
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        let mut before: Option<&Poll> = None;
        for poll in &task.polls {
            let from = ended.partition_point(|wait| wait.at_ns < poll.start_ns());
            let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            for wait in ended[from..].iter_mut().take_while(|wait| wait.at_ns <= end_ns) {
                if wait.task != index {
                    wait.ended_in(poll, before);
                }
            }
            before = Some(poll);
        }
    }
    let mut found: HashMap<usize, Found> = HashMap::new();
    for wait in &ended {
        let found = found.entry(wait.row).or_default();
        match wait.by {
            EndedBy::Nobody => found.by_nobody += 1,
            EndedBy::Unclear => {}
            EndedBy::Holder(waited) => {
                found.of += 1;
                // Who was given it in the poll in which it let go of it did not wait with it.
                if let Some(id) = waited.filter(|id| lines.get(id) != Some(&wait.row)) {
                    *found.times.entry(id).or_default() += 1;
                }
            }
        }
    }
    for (row, found) in found {
        rows[row].holder = found.holder(timeline);
    }
}

/// Who ended the waits at a line.
#[derive(Default)]
struct Found {
    /// Of how many that is known.
    of: u64,
    /// How many were ended where no task was polled: by a thread of the blocking pool, say.
    by_nobody: u64,
    /// How often the holder waited at each place.
    times: HashMap<WaitId, u64>,
}

impl Ended {
    /// Someone was polled when the task became ready; `before` is that one's last poll before.
    fn ended_in(&mut self, poll: &Poll, before: Option<&Poll>) {
        let waited = before.filter(|before| {
            let overlaps = |end_ns: u64| end_ns < self.at_ns && poll.start_ns() > self.since_ns;
            before.end_ns().is_some_and(overlaps)
        });
        self.by = match self.by {
            EndedBy::Nobody => EndedBy::Holder(waited.and_then(Poll::wait)),
            _ => EndedBy::Unclear,
        };
    }
}

fn ended_waits(timeline: &Timeline, lines: &HashMap<WaitId, usize>) -> Vec<Ended> {
    let (mut ended, mut step, mut seen) = (Vec::new(), 1, 0_usize);
    for (index, task) in timeline.tasks.seen().iter().enumerate() {
        for (poll, next) in task.polls.iter().zip(task.polls.iter().skip(1)) {
            let row = poll.wait().and_then(|id| lines.get(&id));
            let (Some(&row), Some(since_ns), Some(at_ns)) = (row, poll.end_ns(), next.ready_ns())
            else {
                continue;
            };
            seen += 1;
            if seen % step != 0 {
                continue;
            }
            ended.push(Ended { at_ns, since_ns, row, task: index, by: EndedBy::Nobody });
            if ended.len() == MOST_WAITS {
                let mut is_kept = false;
                ended.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
                step *= 2;
            }
        }
    }
    ended
}

impl Found {
    /// The line at which holders waited most often, if that is the rule. Where others than tasks let go of it,
    /// a task that was polled at that moment had nothing to do with it.
    fn holder(self, timeline: &Timeline) -> Option<Holder> {
        let Self { of, by_nobody, times } = self;
        let mut by_line: HashMap<(&StackFrame, Option<&str>), u64> = HashMap::new();
        for (id, times) in times {
            let Some(wait) = timeline.wait(id) else { continue };
            if let [line] = wait.lines()[..] {
                *by_line.entry(line_of(line)).or_default() += times;
            }
        }
        let place = |(frame, awaits): (&StackFrame, Option<&str>)| {
            (frame.file.clone(), frame.line, awaits.map(str::to_owned))
        };
        let most = by_line.into_iter().max_by_key(|&(line, times)| (times, Reverse(place(line))));
        let ((at, awaits), times) = most?;
        (times >= LEAST_TIMES && 2 * times > of + by_nobody).then(|| Holder {
            at: at.clone(),
            awaits: awaits.map(str::to_owned),
            times,
            of,
        })
    }
}

impl WaitRow {
    /// Whether it is for what another task has to let go of.
    fn is_for_a_lock(&self) -> bool {
        const OF: [&str; 3] =
            ["tokio::sync::mutex", "tokio::sync::rwlock", "tokio::sync::semaphore"];
        let awaits = self.awaits.as_deref().map(|of| of.trim_start_matches("an async fn of "));
        awaits.is_some_and(|awaits| OF.iter().any(|of| awaits.starts_with(of)))
    }
}
