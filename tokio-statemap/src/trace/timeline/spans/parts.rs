//! Splits the time of a span by what the timeline knows about its tasks.

use super::causes::{Places, Stretch, Sums};
use super::silences::silences;
use crate::trace::requests::{PartState, Parts};
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Silence, Silences, Task, TaskKey, Timeline};
use crate::trace::wait_id::WaitId;
use crate::trace::woken_by::WokenBy;

/// A span in ns.
#[derive(Clone, Debug)]
pub(super) struct SpanTimes {
    pub(super) opened_ns: u64,
    pub(super) closed_ns: u64,
    /// The times in which threads were in it, and the tasks that they polled, sorted by time.
    pub(super) stints: Vec<(u64, u64, Option<TaskKey>)>,
    /// `true` if these are all.
    pub(super) has_all: bool,
}

impl SpanTimes {
    /// Returns the task that was in it last, if that is known.
    pub(super) fn last_task(&self) -> Option<TaskKey> {
        let mut last = LastTask::default();
        for &stint in self.stints.iter().filter(|_| self.has_all) {
            last.add(stint);
        }
        last.task
    }
}

/// The task that was in a span last. A thread that polls no task, as that of a blocking task, doesn't count: the task may wait for it.
#[derive(Default)]
struct LastTask {
    task: Option<TaskKey>,
    until_ns: u64,
}

impl LastTask {
    /// Adds a stint, which may be within another one and end before it.
    fn add(&mut self, (_, exit_ns, task): (u64, u64, Option<TaskKey>)) {
        if task.is_some() && (self.task.is_none() || exit_ns > self.until_ns) {
            *self = Self { task, until_ns: exit_ns };
        }
    }
}

/// Splits spans of one timeline.
pub(super) struct Splitter<'a> {
    timeline: &'a Timeline,
    pub(super) places: Places,
    /// The stretches of long polls, by worker and time.
    workers: Vec<Vec<Stretch>>,
    silences: Silences,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(timeline: &'a Timeline) -> Self {
        let mut splitter = Self {
            timeline,
            places: Places::default(),
            workers: Vec::new(),
            silences: Silences::default(),
        };
        for task in timeline.tasks.seen() {
            for poll in &task.polls {
                let Some(worker) = poll.worker().filter(|_| splitter.is_long(poll)) else {
                    continue;
                };
                let worker = worker as usize;
                if splitter.workers.len() <= worker {
                    splitter.workers.resize_with(worker + 1, Vec::new);
                }
                let stretches = &mut splitter.workers[worker];
                splitter.places.stretches(timeline, task, poll, true, stretches);
            }
        }
        for stretches in &mut splitter.workers {
            crate::util::sort::by_key(stretches, |stretch| stretch.from_ns);
        }
        splitter.silences = silences(timeline, &splitter.workers);
        splitter
    }

    fn is_long(&self, poll: &Poll) -> bool {
        u128::from(self.timeline.held_ns(poll)) >= self.timeline.settings.long_poll.as_nanos()
    }

    /// Splits the time of a span.
    pub(super) fn split(&mut self, span: &SpanTimes) -> (Parts, Sums) {
        let length_ns = span.closed_ns.saturating_sub(span.opened_ns);
        let mut parts = Parts { spans: 1, length_ns, ..Parts::default() };
        let mut sums = Sums::default();
        let mut at_ns = span.opened_ns;
        let mut last = LastTask::default();
        // The state of the first task is also that of the time before.
        span.stints.first().into_iter().for_each(|&stint| last.add(stint));
        for &stint in &span.stints {
            let (enter_ns, exit_ns, by) = stint;
            let enter_ns = enter_ns.clamp(at_ns, span.closed_ns.max(at_ns));
            let exit_ns = exit_ns.clamp(enter_ns, span.closed_ns.max(enter_ns));
            self.idle(last.task, (at_ns, enter_ns), &mut parts, &mut sums);
            parts.running_ns += exit_ns - enter_ns;
            self.running(by, (enter_ns, exit_ns), &mut sums);
            last.add(stint);
            at_ns = exit_ns.max(at_ns);
        }
        let rest = (at_ns, span.closed_ns);
        match span.has_all {
            true => self.idle(last.task, rest, &mut parts, &mut sums),
            false => parts.unknown_ns += rest.1.saturating_sub(rest.0),
        }
        (parts, sums)
    }

    fn task(&self, key: Option<TaskKey>) -> Option<&'a Task> {
        let seen = self.timeline.tasks.seen();
        let place = seen.binary_search_by_key(&key?, |task| task.key).ok()?;
        Some(&seen[place])
    }

    fn end_ns(&self, poll: &Poll) -> u64 {
        poll.end_ns().unwrap_or(self.timeline.end_ns)
    }

    /// Finds the places of long polls in which a thread was in the span.
    fn running(&mut self, key: Option<TaskKey>, (from_ns, to_ns): (u64, u64), sums: &mut Sums) {
        let long_ns = self.timeline.settings.long_poll.as_nanos();
        let Some(task) = self.task(key) else { return };
        let first = task.polls.partition_point(|poll| self.end_ns(poll) <= from_ns);
        for poll in &task.polls[first..] {
            if poll.start_ns() >= to_ns {
                return;
            }
            if u128::from(self.timeline.held_ns(poll)) >= long_ns {
                let mut stretches = Vec::new();
                self.places.stretches(self.timeline, task, poll, false, &mut stretches);
                add(&stretches, (from_ns, to_ns), PartState::Running, sums);
            }
        }
    }

    /// Adds a time in which no thread was in the span. `key` is the task that was in it last.
    fn idle(
        &mut self,
        key: Option<TaskKey>,
        (mut at_ns, to_ns): (u64, u64),
        parts: &mut Parts,
        sums: &mut Sums,
    ) {
        if at_ns >= to_ns {
            return;
        }
        let Some(task) = self.task(key) else { return parts.unknown_ns += to_ns - at_ns };
        let mut nth = task.polls.partition_point(|poll| self.end_ns(poll) <= at_ns);
        while at_ns < to_ns {
            let poll = task.polls.get(nth);
            let until_ns = poll.map_or(to_ns, |poll| poll.start_ns().clamp(at_ns, to_ns));
            self.unpolled((task, nth), (at_ns, until_ns), parts, sums);
            let Some(poll) = poll else { return };
            at_ns = self.end_ns(poll).clamp(until_ns, to_ns);
            parts.elsewhere_ns += at_ns - until_ns;
            nth += 1;
        }
    }

    /// Adds a time before the task's poll number `nth`, and after the one before.
    fn unpolled(
        &mut self,
        (task, nth): (&Task, usize),
        (from_ns, to_ns): (u64, u64),
        parts: &mut Parts,
        sums: &mut Sums,
    ) {
        let poll = task.polls.get(nth);
        let before = nth.checked_sub(1).map(|last| &task.polls[last]);
        // Before its row begins, and after its end, nothing is known of it.
        let begin_ns = if before.is_none() { task.first_ns } else { 0 };
        let end_ns = match poll {
            Some(_) => u64::MAX,
            None => task.completed_ns().unwrap_or(self.timeline.end_ns),
        };
        let (known_from, known_to) =
            (from_ns.max(begin_ns).min(to_ns), to_ns.min(end_ns).max(from_ns));
        let (known_from, known_to) = (known_from.min(known_to), known_to);
        parts.unknown_ns += (to_ns - from_ns) - (known_to - known_from);
        let is_of_spawn = before.is_none() && task.first_state == TaskState::Spawned;
        let ready_ns = match (poll, is_of_spawn) {
            // A task is ready from its spawn on.
            (_, true) => task.first_ns,
            _ if !self.timeline.settings.schedule_latency => u64::MAX,
            (Some(poll), false) => poll.ready_ns().unwrap_or(u64::MAX),
            (None, false) => task.ready_ns.map_or(u64::MAX, |at| at.get()),
        };
        let ready_ns = ready_ns.clamp(known_from, known_to);
        let waits_ns = ready_ns - known_from;
        parts.waiting_ns += waits_ns;
        let wait = match before {
            Some(before) => before.wait(),
            None => task.carried_wait.and_then(|carried| carried.wait),
        };
        if let Some(place) = wait.and_then(|wait: WaitId| self.places.of_wait(self.timeline, wait))
        {
            if waits_ns > 0 {
                sums.add(PartState::Waiting, place, waits_ns);
            }
        }
        let is_by_runtime = poll.is_some_and(|poll| poll.woken_by() == Some(WokenBy::Runtime));
        let silence = self.silences.before(ready_ns).filter(|_| is_by_runtime);
        if let Some(Silence { from_ns, to_ns, by: place }) = silence {
            add(
                &[Stretch { from_ns, to_ns, place }],
                (known_from, ready_ns),
                PartState::Late,
                sums,
            );
        }
        parts.ready_ns += known_to - ready_ns;
        let worker = poll.and_then(Poll::worker).and_then(|n| self.workers.get(n as usize));
        if let Some(stretches) = worker {
            add(stretches, (ready_ns, known_to), PartState::Ready, sums);
        }
    }
}

/// Adds the part of each stretch between these times. The stretches are sorted by time, and don't overlap.
fn add(stretches: &[Stretch], (from_ns, to_ns): (u64, u64), state: PartState, sums: &mut Sums) {
    let first = stretches.partition_point(|stretch| stretch.to_ns <= from_ns);
    for stretch in &stretches[first..] {
        if stretch.from_ns >= to_ns {
            return;
        }
        let ns = stretch.to_ns.min(to_ns).saturating_sub(stretch.from_ns.max(from_ns));
        if ns > 0 {
            sums.add(state, stretch.place, ns);
        }
    }
}
