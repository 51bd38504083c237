//! Finds a task that may hold a lock across an await: a task that is polled each time that a poll which waited for the
//! lock goes on.

use super::place::Place;
use super::poll::PollAt;
use super::resumed::waited_in;
use crate::trace::timeline::{Poll, PollSample, StackFrame, Timeline, WaitId};
use crate::util::map::Map;

/// A line at which tasks may have awaited something while they held a lock for which polls waited.
///
/// A suspended task is on no thread, so no stack sample shows it. But it must be polled to let go of the lock, and then the
/// polls that wait for the lock go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LetGo {
    /// The program's functions in which these tasks waited, each at its line, the innermost first: one or two.
    pub waited_in: Vec<StackFrame>,
    /// The number of polls that went on when such a task was polled.
    pub polls: u64,
    /// The number of polls of the function that a sample shows waiting for the lock at last: 256 at most.
    pub of: u64,
}

/// The least number of polls that show anything, and the most that are looked at.
const LEAST: usize = 3;
const MOST: usize = 256;

/// The part of a poll before its end in which the lock was let go, and the longest such time, in ns. A thread that is woken must
/// get a processor first.
const PART: u64 = 4;
const LONGEST_NS: u64 = 5_000_000;

/// A time in which others are looked for.
struct Window {
    from_ns: u64,
    to_ns: u64,
    /// The poll that waited for the lock, as an index, and its start.
    nth: usize,
    since_ns: u64,
    /// `true` if it is in the middle of that poll, where nobody can have let go of the lock.
    is_middle: bool,
}

/// The numbers of windows in which tasks were polled that had waited at a place.
#[derive(Default)]
struct Seen {
    at_end: Counted,
    in_middle: Counted,
}

/// Counts each poll once: a bit for each.
#[derive(Default)]
struct Counted([u64; MOST / 64]);

impl Counted {
    fn add(&mut self, nth: usize) {
        self.0[nth / 64] |= 1 << (nth % 64);
    }

    fn n(&self) -> usize {
        self.0.iter().map(|bits| bits.count_ones() as usize).sum()
    }
}

impl LetGo {
    /// Finds it for these polls, which are blamed on one function that waited for a lock.
    pub(super) fn find(timeline: &Timeline, polls: &[PollAt]) -> Option<Self> {
        let mut windows = Vec::new();
        let mut waited = 0;
        for &(task, poll) in polls {
            let poll = &timeline.tasks.seen()[task].polls[poll];
            if waited == MOST || !waits_for_lock(timeline, poll) {
                continue;
            }
            let Some(end_ns) = poll.end_ns() else { continue };
            let since_ns = poll.start_ns();
            let length_ns = end_ns.saturating_sub(since_ns);
            let part_ns = (length_ns / PART).min(LONGEST_NS);
            for (to_ns, is_middle) in [(end_ns, false), (since_ns + length_ns / 2, true)] {
                let from_ns = to_ns - part_ns;
                windows.push(Window { from_ns, to_ns, nth: waited, since_ns, is_middle });
            }
            waited += 1;
        }
        // Most of the polls must have waited for a lock.
        if waited < LEAST || 2 * waited < polls.len().min(MOST) {
            return None;
        }
        crate::util::sort::by_key(&mut windows, |window| (window.from_ns, window.nth));
        let mut seen: Map<(Place, WaitId), Seen> = Map::default();
        for task in timeline.tasks.seen() {
            let place = Place::of_task(task);
            for pair in task.polls.windows(2) {
                let (before, poll) = (&pair[0], &pair[1]);
                let (Some(wait), Some(since_ns)) = (before.wait(), before.end_ns()) else {
                    continue;
                };
                let start_ns = poll.start_ns();
                let until = windows.partition_point(|window| window.from_ns <= start_ns);
                for window in windows[..until].iter().rev() {
                    if window.from_ns.saturating_add(LONGEST_NS) < start_ns {
                        break;
                    }
                    // Who holds the lock has it before another waits for it. Who was ready before waits for a worker, which the
                    // others hold: these are free when they have the lock.
                    let woken_ns = start_ns - poll.ready_for_ns().unwrap_or(0);
                    if window.to_ns < start_ns
                        || since_ns > window.since_ns
                        || woken_ns < window.from_ns
                    {
                        continue;
                    }
                    let seen = seen.get_or_default((place, wait));
                    let counted =
                        if window.is_middle { &mut seen.in_middle } else { &mut seen.at_end };
                    counted.add(window.nth);
                }
            }
        }
        let (mut best, mut best_score, mut is_tie) = (None, 0, false);
        for ((place, wait), Seen { at_end, in_middle }) in seen {
            let (at_end, in_middle) = (at_end.n(), in_middle.n());
            if 3 * at_end < 2 * waited || 3 * in_middle > at_end {
                continue;
            }
            let waited_in = waited_in(timeline, wait);
            if waited_in.is_empty() {
                continue;
            }
            // A root future often waits for the task that let go of the lock.
            let score = at_end + usize::from(!place.is_root) * waited;
            if score >= best_score {
                is_tie = score == best_score;
                best_score = score;
                best = Some(Self { waited_in, polls: at_end as u64, of: waited as u64 });
            }
        }
        // Who holds the lock may wake the other one when it lets go.
        best.filter(|_| !is_tie)
    }
}

/// Returns whether the last sample of a poll shows that it waits for a lock, or in another way for another thread.
fn waits_for_lock(timeline: &Timeline, poll: &Poll) -> bool {
    timeline.samples(poll).last().is_some_and(PollSample::waits_for_thread)
}
