//! Finds the task that used to end the waits at a line at which none ends any more, and where that task waits itself.

use std::fmt;

use super::awaited::Awaited;
use super::last_wait::{wait_to_the_end, waits_to_the_end};
use super::wait_set::WaitSet;
use crate::analysis::waits::{is_room, line_of, path_label};
use crate::trace::timeline::{Poll, Shutdown, TaskKey, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;
use crate::util::clean::clean;
use crate::util::quantity::human;

/// The task that ended most waits at a line, the task that ended most waits at the line where the first one waits, and
/// so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::analysis) struct Chain {
    links: Vec<Link>,
    /// The task that ended most waits at the line of the last link, if it is itself a link.
    ends_in: Option<TaskKey>,
    /// The way in which the last task is known, which may be that of `ends_in`.
    last: KnownBy,
    /// `true` if the last link waits for a lock, a permit, an answer, or another link: nothing outside of the program ends such
    /// a wait.
    is_inside: bool,
    /// `true` if the last link waits for something outside of the program.
    is_outside: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    task: TaskKey,
    known_by: KnownBy,
    /// The time that it has waited, in ns.
    waits_for_ns: u64,
    /// The lines at which it waits.
    at: String,
    /// `true` if it waits for a message.
    is_for_a_message: bool,
}

/// The way in which a task is known to end the waits at a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KnownBy {
    /// It ended most that ended.
    Ended,
    /// The tasks that wait for room in a channel woke it when it waited for a message.
    Receives,
}

/// The most tasks that are named.
const MOST: usize = 4;

/// The least number of waits that one task must have ended, or in which senders must have woken it.
const LEAST: u64 = 3;

impl Chain {
    /// Finds the task that ended most of these waits, which are at one line. `None` unless that task has itself waited
    /// for `long_ns` or longer. If they are for a lock, those who used to release it may queue for it like the others.
    pub(in crate::analysis) fn find(
        timeline: &Timeline,
        shutdown: Shutdown,
        (waits, is_lock): (&[(WaitId, &Wait)], bool),
        long_ns: u64,
    ) -> Option<Self> {
        let last = KnownBy::Ended;
        let mut chain =
            Self { links: Vec::new(), ends_in: None, last, is_inside: false, is_outside: false };
        let set = WaitSet::new(timeline, waits.iter().map(|&(id, _)| id));
        let is_room = waits.iter().any(|(_, wait)| is_for_room(wait));
        let senders = || waiting_in(timeline, shutdown, &set);
        let mut next = next_link(usual_waker(timeline, &set, None), || {
            is_room.then(|| receiver_of(timeline, shutdown, &set, &senders())).flatten()
        });
        while let Some((task, known_by)) = next {
            chain.last = known_by;
            if chain.links.iter().any(|link| link.task == task) {
                (chain.ends_in, chain.is_inside) = (Some(task), true);
                break;
            }
            if chain.links.len() == MOST {
                break;
            }
            let at_end = waits_to_the_end(timeline, shutdown, task);
            let Some((spot, wait)) = at_end.filter(|(spot, _)| spot.length_ns >= long_ns) else {
                // The task may be about to end one of these waits.
                chain.is_inside = false;
                break;
            };
            if is_lock && chain.links.is_empty() && set.has_wait(timeline, wait) {
                break;
            }
            let at = path_label(wait);
            let (waits_for_ns, is_for_a_message) = (spot.length_ns, Awaited::is_message(wait));
            chain.links.push(Link { task, known_by, waits_for_ns, at, is_for_a_message });
            let awaited = Awaited::at(wait);
            chain.is_outside = awaited.is_outside();
            let set = WaitSet::like(timeline, wait);
            // Nobody is known who might be waiting for something outside before it answers.
            let is_unanswered = || Awaited::is_answer(wait) && !has_any_ended(timeline, &set);
            chain.is_inside = matches!(awaited, Awaited::Lock | Awaited::Permit) || is_unanswered();
            if !chain.is_inside && awaited != Awaited::Task {
                break;
            }
            // Its own waits there count, if it had any: other tasks may be woken by others.
            let waker = usual_waker(timeline, &set, Some(task))
                .or_else(|| usual_waker(timeline, &set, None));
            next = next_link(waker, || {
                is_for_room(wait).then(|| receiver_of(timeline, shutdown, &set, &[task])).flatten()
            });
        }
        (!chain.links.is_empty()).then_some(chain)
    }
}

impl Chain {
    /// Returns whether the last link waits for something outside of the program.
    pub(in crate::analysis) fn is_outside(&self) -> bool {
        self.is_outside
    }

    /// Returns whether the first task waits for a message.
    pub(in crate::analysis) fn is_first_for_a_message(&self) -> bool {
        self.links.first().is_some_and(|link| link.is_for_a_message)
    }

    /// Returns whether this is the first task.
    pub(in crate::analysis) fn begins_with(&self, task: TaskKey) -> bool {
        self.links.first().is_some_and(|link| link.task == task)
    }

    /// Returns whether nothing outside of the program can end the wait of the last link.
    pub(in crate::analysis) fn is_inside(&self) -> bool {
        self.is_inside
    }
}

/// Returns the task that ended most of these waits: those of all tasks, or only those of the task `of`. `None` if it
/// isn't known who ended at least half of them.
fn usual_waker(timeline: &Timeline, waits: &WaitSet, of: Option<TaskKey>) -> Option<TaskKey> {
    let tasks = timeline.tasks.seen();
    let mut by_task = vec![0_u64; tasks.len()];
    let (mut ended, mut known) = (0_u64, 0_u64);
    for task in tasks {
        if of.is_some_and(|only| only != task.key) {
            continue;
        }
        for pair in task.polls.windows(2) {
            if !waits.has(pair[0].wait()) {
                continue;
            }
            ended += 1;
            let Some(by) = pair[1].woken_by() else { continue };
            known += 1;
            if let WokenBy::Task(by) = by {
                if let Ok(index) = tasks.binary_search_by_key(&by, |task| task.key) {
                    by_task[index] += 1;
                }
            }
        }
    }
    // If several have the most, this is the first of them.
    let (index, &times) = by_task.iter().enumerate().rev().max_by_key(|&(_, times)| times)?;
    let task = tasks[index].key;
    (times >= LEAST && 2 * times > known && 2 * known >= ended).then_some(task)
}

fn has_any_ended(timeline: &Timeline, waits: &WaitSet) -> bool {
    let pairs = timeline.tasks.seen().iter().flat_map(|task| task.polls.windows(2));
    let ended = pairs.filter(|pair| waits.has(pair[0].wait()));
    let goes_on =
        |pair: &[Poll]| waits.has(pair[1].wait()) && was_woken_before([&pair[0], &pair[1]]);
    // One such wake may be for an earlier wait. If there are several, some of them may be answers that came at once.
    ended.enumerate().any(|(nth, pair)| nth > 0 || !goes_on(pair))
}

/// The error of the times that a wake and the end of a poll are compared by, in ns.
const SLACK_NS: u64 = 1_000;

/// Returns whether the wake between two polls came before the wait began: it was meant for what the task had waited for before.
fn was_woken_before([poll, next]: [&Poll; 2]) -> bool {
    let end_ns = poll.end_ns().map(|ns| ns.saturating_add(SLACK_NS));
    next.ready_ns().zip(end_ns).is_some_and(|(ready_ns, end_ns)| ready_ns <= end_ns)
}

fn next_link(
    waker: Option<TaskKey>,
    receiver: impl FnOnce() -> Option<TaskKey>,
) -> Option<(TaskKey, KnownBy)> {
    match waker {
        Some(waker) => Some((waker, KnownBy::Ended)),
        None => Some((receiver()?, KnownBy::Receives)),
    }
}

fn is_for_room(wait: &Wait) -> bool {
    wait.lines().into_iter().any(|line| is_room(line_of(line).1))
}

/// Returns the tasks that are in one of these waits at the end, in order.
fn waiting_in(timeline: &Timeline, shutdown: Shutdown, waits: &WaitSet) -> Vec<TaskKey> {
    let mut all = Vec::new();
    for task in timeline.tasks.seen() {
        let is_in = task.polls.last().is_some_and(|last| waits.has(last.wait()));
        if is_in && wait_to_the_end(timeline, shutdown, task).is_some() {
            all.push(task.key);
        }
    }
    all
}

/// Returns the task that receives what `senders`, which are in order, send: the only one that waited for a message when they woke it. `None`
/// if there are several, as they may send to several channels; if another task ended one of their waits for room; or if that task waits
/// for a message now, as then its channel is empty.
fn receiver_of(
    timeline: &Timeline,
    shutdown: Shutdown,
    room: &WaitSet,
    senders: &[TaskKey],
) -> Option<TaskKey> {
    let is_message = |wait: Option<WaitId>| {
        wait.and_then(|id| timeline.wait(id)).is_some_and(Awaited::is_message)
    };
    // A task that used up its budget wakes itself.
    let is_by_sender = |task: TaskKey, pair: &[Poll]| match pair[1].woken_by() {
        Some(WokenBy::Task(by)) => {
            by != task && senders.binary_search(&by).is_ok() && is_message(pair[0].wait())
        }
        _ => false,
    };
    let mut receiver = None;
    for task in timeline.tasks.seen() {
        let times = task.polls.windows(2).filter(|pair| is_by_sender(task.key, pair)).count();
        if times > 0 && receiver.replace((task.key, times)).is_some() {
            return None;
        }
    }
    let (task, times) = receiver?;
    let is_by_another = |pair: &[Poll]| {
        let by = pair[1].woken_by();
        room.has(pair[0].wait()) && matches!(by, Some(WokenBy::Task(by)) if by != task)
    };
    if timeline.tasks.seen().iter().any(|of| of.polls.windows(2).any(is_by_another)) {
        return None;
    }
    // The channels of a circle may be full before many messages were sent.
    let is_it =
        |wait: &Wait| is_for_room(wait) || times as u64 >= LEAST && !Awaited::is_message(wait);
    let at_end = waits_to_the_end(timeline, shutdown, task);
    at_end.filter(|(_, wait)| is_it(wait)).map(|_| task)
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, Link { task, known_by, waits_for_ns, at, is_for_a_message: _ }) in
            self.links.iter().enumerate()
        {
            let (waits_for, at) = (human(*waits_for_ns), clean(at));
            match (nth, known_by) {
                (0, KnownBy::Ended) => write!(
                    f,
                    "{task} ended most waits there, and waits itself, for {waits_for} now, at {at}."
                )?,
                (0, KnownBy::Receives) => write!(
                    f,
                    "{task} receives what is sent there, as far as is known, and waits itself, for {waits_for} now, at {at}."
                )?,
                (_, KnownBy::Ended) => {
                    write!(f, " {task} ended most of those, and waits at {at}.")?;
                }
                (_, KnownBy::Receives) => {
                    write!(
                        f,
                        " {task} receives what is sent there, as far as is known, and waits at {at}."
                    )?;
                }
            }
        }
        let does = match self.last {
            KnownBy::Ended => "ended most of those",
            KnownBy::Receives => "receives what is sent there",
        };
        match self.ends_in {
            Some(task) if self.links.len() == 1 => write!(f, " {task} waits for itself."),
            Some(task) => write!(f, " {task} {does}: they wait for one another."),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_that_comes_late_ends_no_wait() {
        let poll = Poll::open(10, 1, None).ended(50_000);
        let next = |ready_ns| Poll::open(70_000, 1, None).ready(ready_ns);
        assert!(was_woken_before([&poll, &next(Some(50_100))]));
        assert!(!was_woken_before([&poll, &next(Some(60_000))]));
        assert!(!was_woken_before([&poll, &next(None)]), "it isn't known");
    }
}
