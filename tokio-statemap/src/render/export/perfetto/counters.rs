//! Counters of ready tasks, living tasks and busy workers over time.

use std::io::{self, Write};

use super::context::{Context, rank};
use super::trace::Trace;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::{Task, TaskKey};

/// Writes the counters that are known.
pub(super) fn write(context: &Context<'_>, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = context.timeline();
    if !timeline.tasks.is_empty() {
        if timeline.settings.schedule_latency {
            let name = "tasks ready";
            changes(context, ready).write(context, name, rank::TASKS_READY, trace)?;
        }
        changes(context, alive).write(context, "tasks alive", rank::TASKS_ALIVE, trace)?;
    }
    if !timeline.workers.is_empty() {
        let mut busy = Changes::default();
        for worker in &timeline.workers {
            let spans = worker.spans(timeline.end_ns);
            spans
                .filter(|span| span.state == WorkerState::Running)
                .for_each(|span| busy.add(context, span.start_ns, span.end_ns));
        }
        busy.write(context, "workers busy", rank::WORKERS_BUSY, trace)?;
    }
    Ok(())
}

/// The times at which items come and go, in ns of the trace: twice the time, plus one where an item comes.
#[derive(Default)]
struct Changes(Vec<u64>);

/// Collects the changes of all tasks except root futures, which are in no queue.
fn changes(context: &Context<'_>, add: fn(&Context<'_>, &Task, &mut Changes)) -> Changes {
    let mut changes = Changes::default();
    let tasks = context.timeline().tasks.one_by_one();
    for task in tasks.filter(|task| matches!(task.key, TaskKey::Spawned(_))) {
        add(context, &task, &mut changes);
    }
    changes
}

/// A spawned task is ready for its first poll.
fn ready(context: &Context<'_>, task: &Task, changes: &mut Changes) {
    let timeline = context.timeline();
    let mut transitions = timeline.transitions(task).peekable();
    while let Some((from_ns, state)) = transitions.next() {
        if matches!(state, TaskState::Ready | TaskState::Spawned) {
            let to_ns = transitions.peek().map_or(timeline.end_ns, |&(next_ns, _)| next_ns);
            changes.add(context, from_ns, to_ns);
        }
    }
}

fn alive(context: &Context<'_>, task: &Task, changes: &mut Changes) {
    let timeline = context.timeline();
    let last = timeline.transitions(task).last();
    let ended = last.filter(|(_, state)| *state == TaskState::Completed);
    let to_ns = ended.map_or(timeline.end_ns, |(ended_ns, _)| ended_ns);
    changes.add(context, task.first_ns, to_ns);
}

impl Changes {
    fn add(&mut self, context: &Context<'_>, from_ns: u64, to_ns: u64) {
        let (from_ns, to_ns) = (context.at(from_ns), context.at(to_ns));
        if from_ns >= to_ns || to_ns > u64::MAX / 2 {
            return;
        }
        self.0.push(from_ns << 1 | 1);
        // A state that lasts to the end has no change there.
        if to_ns < context.at(u64::MAX) {
            self.0.push(to_ns << 1);
        }
    }

    fn write(
        mut self,
        context: &Context<'_>,
        name: &str,
        rank: u64,
        trace: &mut Trace<impl Write>,
    ) -> io::Result<()> {
        let counter = trace.counter(name, context.track, rank)?;
        self.0.sort_unstable();
        let mut written = None;
        let mut value: u64 = 0;
        if self.0.first().is_none_or(|first| first >> 1 > context.at(0)) {
            trace.count(counter, context.at(0), 0)?;
            written = Some(0);
        }
        for of_one_time in self.0.chunk_by(|a, b| a >> 1 == b >> 1) {
            let come = of_one_time.iter().filter(|change| **change & 1 == 1).count();
            let gone = of_one_time.len() - come;
            value = (value + come as u64).saturating_sub(gone as u64);
            if written.replace(value) != Some(value) {
                trace.count(counter, of_one_time[0] >> 1, value)?;
            }
        }
        Ok(())
    }
}
