//! Finds the tasks that may hold what others wait for in vain, and what these tasks may hold.
//!
//! In a deadlock nobody is woken, so there is no proof of who holds a lock. But a task that got it went on past the
//! line at which others wait, in the same function; and if it never releases it, the task waits further on itself.

use std::fmt;

use super::awaited::Awaited;
use super::given_back::{GivenBack, first_module};
use super::last_wait::LastWaits;
use super::wait_set::WaitSet;
use crate::analysis::place::{Place, source_line};
use crate::analysis::spots::Spot;
use crate::analysis::waits::path::{frame_past, frame_within, may_be_one_function, path_below};
use crate::analysis::waits::{MUTEX, is_lock, is_room, line_of};
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::timeline::{AwaitFrame, TaskKey, Timeline, Wait};
use crate::util::clean::clean;
use crate::util::quantity::count;

/// Tasks that may hold what others wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldBy {
    /// The task among them with the smallest id.
    task: TaskKey,
    tasks: u64,
    /// The line that they went on past, and at which others wait.
    past: String,
    /// The lines at which they wait, from the function in which the others wait down.
    at: String,
    /// `true` if the callee at the line `past` waits, and not a later statement.
    is_within: bool,
    /// The lock or the permit that they wait for themselves, if they do.
    awaits: Option<Awaited>,
    /// `true` if they may have held it during an earlier wait, and not at the end.
    is_over: bool,
}

impl HeldBy {
    /// Finds the tasks that may hold what `queued` waits for: they went on past its line, or are in what was called
    /// there, and have waited for `long_ns` or longer. `None` unless there is only one, or all wait at one line. Most
    /// tasks that went on past a lock have released it, so several must each wait for a lock or a permit; for a permit,
    /// which several may hold, they may wait for anything. Who is known to have given a mutex back isn't one of them.
    pub(in crate::analysis) fn find(
        last: &LastWaits<'_>,
        queued: &Wait,
        long_ns: u64,
    ) -> Option<Self> {
        let [line] = queued.lines()[..] else { return None };
        let (line, awaited) = line_of(line);
        let may_be_past = may_be_held(queued, awaited);
        let are_several = Awaited::queue(queued) == Some(Awaited::Permit);
        let past_line = source_line(line)?;
        let mutex = (first_module(queued) == Some(MUTEX))
            .then(|| (last.given_back(), WaitSet::like(last.timeline(), queued)));
        let may_have_it = |task: &TaskKey| {
            let given_back =
                |(by, at_line): &(&GivenBack, WaitSet)| by.is_by(last.timeline(), at_line, *task);
            !mutex.as_ref().is_some_and(given_back)
        };
        let mut found: Option<Self> = None;
        let mut all_queue = true;
        for (wait, spots) in last.long(long_ns) {
            let past = past_line_of(last, (queued, line), wait).filter(|_| may_be_past);
            let within = || waits_within(wait, line, awaited);
            let Some(frame) = past.or_else(within) else { continue };
            let at = path_below(frame);
            let (mut task, mut tasks) = (None, 0);
            for key in spots.iter().map(|spot| spot.task).filter(may_have_it) {
                task = Some(task.map_or(key, |task: TaskKey| task.min(key)));
                tasks += 1;
            }
            let Some(task) = task else { continue };
            let awaits = Awaited::queue(wait);
            all_queue &= are_several || awaits.is_some();
            let is_only = found.is_none() && tasks == 1;
            let is_same = found.as_ref().is_none_or(|found| found.at == at);
            if !(is_only || is_same && all_queue) {
                return None;
            }
            match &mut found {
                None => {
                    let (past, is_within) = (past_line.clone(), past.is_none());
                    let is_over = false;
                    found = Some(Self { task, tasks, past, at, is_within, awaits, is_over });
                }
                Some(found) => {
                    found.tasks += tasks;
                    found.task = found.task.min(task);
                }
            }
        }
        found
    }

    /// Finds the likely holders for a wait in `queued` that has ended, though no task ended it: the tasks that waited
    /// elsewhere for at least nine tenths of that time, up to its end.
    pub(in crate::analysis) fn during(
        timeline: &Timeline,
        queued: &Wait,
        spot: &Spot,
    ) -> Option<Self> {
        let before_end_ns = spot.start_ns.saturating_add(spot.length_ns).checked_sub(1)?;
        let then = LastWaits::at(timeline, before_end_ns);
        let found = Self::find(&then, queued, spot.length_ns - spot.length_ns / 10)?;
        Some(Self { is_over: true, ..found })
    }

    /// Returns whether they may hold it at the end.
    pub(in crate::analysis) fn is_at_end(&self) -> bool {
        !self.is_over
    }

    /// Returns whether a task in what was called at this line waits for the same.
    pub(in crate::analysis) fn is_within(
        last: &LastWaits<'_>,
        (line, awaits): (&StackFrame, Option<&str>),
    ) -> bool {
        last.long(0).any(|(wait, ..)| waits_within(wait, line, awaits).is_some())
    }
}

/// Returns the frame in which `wait` is further on in the function of `line`, at which the tasks in `queued` wait;
/// `None` if it isn't.
fn past_line_of<'a>(
    last: &LastWaits<'_>,
    (queued, line): (&Wait, &StackFrame),
    wait: &'a Wait,
) -> Option<&'a AwaitFrame> {
    let past = frame_past(wait, line)
        .filter(|past| may_be_one_function((queued, line), (wait, &past.function)))?;
    let are_outermost = is_outermost(queued, line) && is_outermost(wait, &past.function);
    (!are_outermost || may_be_one(last.place(queued)?, last.place(wait)?, (line, past)))
        .then_some(past)
}

/// Returns whether a task that waits at `line` and one that waits at `past`, each in its outermost function, may be in
/// the same function. An async block is named like the function around it. So the root future, which is no block, must
/// not be mixed with others, and no block may begin between the two lines.
fn may_be_one(queued: Place, other: Place, (line, past): (&StackFrame, &AwaitFrame)) -> bool {
    let begins_between = other.location.is_some_and(|begins| {
        line.file.as_deref() == Some(begins.file)
            && Some(begins.line) > line.line
            && Some(begins.line) <= past.function.line
    });
    queued.is_root == other.is_root && !begins_between
}

/// Returns whether a function is the outermost one of the program in a wait.
fn is_outermost(wait: &Wait, function: &StackFrame) -> bool {
    let mut at = wait.frames.first();
    while let Some(frame) = at {
        if frame.function.origin == FrameOrigin::Program {
            return frame.function.function == function.function;
        }
        at = frame.awaits.first();
    }
    false
}

/// Returns the frame at `line` if something that was called there waits, for the same future of a library. A function
/// that takes a future as an argument has one line for all of them.
fn waits_within<'a>(
    wait: &'a Wait,
    line: &StackFrame,
    awaits: Option<&str>,
) -> Option<&'a AwaitFrame> {
    let frame = frame_within(wait, line)?;
    let [own] = wait.lines()[..] else { return None };
    (awaits.is_some() && line_of(own).1 == awaits).then_some(frame)
}

/// Returns whether a task that went on past a wait may still hold what it waited for. Room in a channel is used up at
/// once.
fn may_be_held(wait: &Wait, awaits: Option<&str>) -> bool {
    is_lock(awaits) || !is_room(awaits) && Awaited::queue(wait).is_some()
}

/// A lock that others wait for, and that tasks may hold which wait for a lock themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holds {
    /// The line at which these tasks wait.
    at: String,
    /// The line that they went on past, and at which the others wait.
    past: String,
    /// The number of the others.
    waiting: u64,
}

/// The most lines at which waiting tasks are counted.
const MOST_LINES: usize = 64;

impl Holds {
    /// Finds the lock that a task in `wait` may hold: of the lines that the task went on past, the one at which most
    /// tasks have waited for `long_ns` or longer. `None` if [`HeldBy::find`] names no holder for that line.
    pub(in crate::analysis) fn find(
        last: &LastWaits<'_>,
        wait: &Wait,
        long_ns: u64,
    ) -> Option<Self> {
        let [its_line] = wait.lines()[..] else { return None };
        let at = source_line(line_of(its_line).0)?;
        // The lines, the number of tasks that wait at each, and the wait of one of them.
        let mut passed: Vec<(&StackFrame, u64, &Wait)> = Vec::new();
        for (other, spots) in last.long(long_ns) {
            let tasks = spots.len() as u64;
            if std::ptr::eq(other, wait) {
                continue;
            }
            let [line] = other.lines()[..] else { continue };
            let (line, awaits) = line_of(line);
            if !is_lock(awaits) || past_line_of(last, (other, line), wait).is_none() {
                continue;
            }
            match passed.iter().position(|(passed, ..)| *passed == line) {
                Some(place) => passed[place].1 += tasks,
                None if passed.len() < MOST_LINES => passed.push((line, tasks, other)),
                None => {}
            }
        }
        // If several have the most, this is the first of them.
        let (line, waiting, other) =
            passed.into_iter().rev().max_by_key(|&(_, waiting, _)| waiting)?;
        HeldBy::find(last, other, long_ns)?;
        Some(Self { at, past: source_line(line)?, waiting })
    }
}

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (task, past, at) = (self.task, clean(&self.past), clean(&self.at));
        let where_to = if self.is_within {
            "in what was called there"
        } else {
            "further on in the same function"
        };
        let is_one = self.tasks == 1;
        let awaits = match self.awaits {
            _ if is_one => "",
            Some(Awaited::Lock) => " for a lock themselves,",
            Some(_) => " for a permit themselves,",
            None => "",
        };
        let others = match self.tasks - 1 {
            0 => String::new(),
            others => format!(" and {}", count(others, "other")),
        };
        let (then, hold, is_awaited) = match self.is_over {
            true => ("During the longest wait that no task ended, ", "have held", "was"),
            false => ("", "hold", "is"),
        };
        let (are, wait) = match (self.is_over, is_one) {
            (true, true) => ("it was", "waited"),
            (true, false) => ("they were", "waited"),
            (false, true) => ("it is", "waits"),
            (false, false) => ("they are", "wait"),
        };
        write!(
            f,
            "{then}{task}{others} may {hold} what {is_awaited} awaited at {past}: {are} {where_to}, and {wait}{awaits} at {at}."
        )
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, past, tasks) = (clean(&self.at), clean(&self.past), count(self.waiting, "task"));
        let wait = if self.waiting == 1 { "waits" } else { "wait" };
        write!(
            f,
            "Tasks that wait at {at} have passed {past}, where {tasks} {wait}, and may hold what these wait for. If the \
             former wait for each other, this is a deadlock."
        )
    }
}
