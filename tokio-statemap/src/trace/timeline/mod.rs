//! The timeline: what every task and worker was doing, and when.
//!
//! It is the one truth of this crate: each output (the statemap data, the report) is a view of a
//! [`Timeline`] and looks at nothing else.

mod build;
mod from;
mod poll;
mod span;
mod task;
mod tasks;
mod worker;
mod workers;

use std::time::Duration;

use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::trace::state::TaskState;

pub use poll::Poll;
pub use span::Span;
pub use task::{Task, TaskKey};
pub use tasks::Tasks;
pub(crate) use tasks::{Known, Quiet};
pub use worker::{BlockingThread, Handover, Worker};

/// The place of `ready` among the states, which is the last.
const READY: usize = TaskState::Ready as usize;
const _: () = assert!(READY + 1 == TaskState::ALL.len(), "`ready` may be missing in data");

/// What every task and worker of one runtime was doing over the time that was recorded.
///
/// Times are nanoseconds since the first [`Collector::start`](crate::Collector::start); the
/// timeline reaches from [`begin_ns`](Self::begin_ns) to [`end_ns`](Self::end_ns).
///
/// # Examples
///
/// How long each task was running in all:
///
/// ```
/// use tokio_statemap::{TaskState, Timeline};
///
/// fn print_running(timeline: &Timeline) {
///     for task in &timeline.tasks {
///         let spans = task.spans(timeline.end_ns);
///         let running = spans.filter(|span| span.state == TaskState::Running);
///         let running_ns: u64 = running.map(|span| span.length_ns()).sum();
///         println!("{}: {running_ns} ns", timeline.task_name(task.key));
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Timeline {
    /// The name that the runtime was given with `Builder::name`.
    pub runtime: Option<String>,
    /// UTC at time zero, since the Unix epoch.
    pub utc_at_zero: Duration,
    /// The left edge in ns: 0, unless older events were dropped (`keep = "last"`).
    pub begin_ns: u64,
    /// The right edge in ns: when the recording stopped, or when the snapshot was taken.
    pub end_ns: u64,
    /// The stretches within the edges in which recording was stopped: from, to, in ns.
    pub gaps: Vec<(u64, u64)>,
    /// The tasks: the root futures (`main` first), then Tokio's by rising id.
    pub tasks: Tasks,
    /// The workers, by rising index.
    pub workers: Vec<Worker>,
    /// The threads of the blocking pool, in the order in which they were first seen.
    pub blocking_threads: Vec<BlockingThread>,
    /// Each `block_in_place` that gave its worker to another thread, by thread and time.
    pub handovers: Vec<Handover>,
    /// How many events the timeline is made of.
    pub events: u64,
    /// The events that it lacks, by cause.
    pub lost: Lost,
    /// What was to be recorded.
    pub trace_target: TraceTarget,
    /// Whether Tokio could tell about tasks at all, that is, was built with `tokio_unstable`. If
    /// not, the only task is `main`.
    pub task_hooks: bool,
    /// Whether the times at which tasks became ready were recorded.
    pub schedule_latency: bool,
    /// From when on a poll is called long.
    pub long_poll: Duration,
    /// What it lacks of the one that was recorded, if it was read from files.
    pub(crate) lacking: Lacking,
}

/// What a timeline that was read from files lacks of the one that was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// There was no file of the tasks.
    pub(crate) tasks: bool,
    /// There was no file of the workers.
    pub(crate) workers: bool,
    /// It is a part: a window of the time.
    pub(crate) time: bool,
}

impl Timeline {
    /// How long the timeline is, gaps and all, in ns.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    /// How long was recorded within the edges: the length less the gaps, in ns.
    pub fn recorded_ns(&self) -> u64 {
        let gaps: u64 = self.gaps.iter().map(|(from, to)| to - from).sum();
        self.length_ns().saturating_sub(gaps)
    }

    /// How long `poll` held its worker, in ns.
    ///
    /// This is the length of the poll, except where the task called `block_in_place`, which lets
    /// the worker go on on another thread. A poll that still runs counts up to the right edge.
    pub fn held_ns(&self, poll: &Poll) -> u64 {
        let end = poll.end_ns().unwrap_or(self.end_ns);
        let end = self.handover_of(poll).map_or(end, |at| at.min(end));
        end.saturating_sub(poll.start_ns())
    }

    /// When the worker that `poll` began on was handed to another thread while it ran, in ns.
    pub fn handover_of(&self, poll: &Poll) -> Option<u64> {
        let end = poll.end_ns().unwrap_or(self.end_ns);
        let key = (poll.thread(), poll.start_ns());
        let next = self.handovers.partition_point(|h| (h.thread, h.time_ns) < key);
        let handover = self.handovers.get(next)?;
        (handover.thread == poll.thread() && handover.time_ns <= end).then_some(handover.time_ns)
    }

    /// The states that its tasks can be in, by value: `ready` only where that is known.
    pub(crate) fn task_states(&self) -> impl Iterator<Item = TaskState> + use<> {
        // The renderer wants values without gaps; `ready` is the highest for this reason.
        let states = if self.schedule_latency { TaskState::ALL.len() } else { READY };
        TaskState::ALL.into_iter().take(states)
    }

    /// The transitions of a task among these states: where it isn't known when tasks became ready, one
    /// that is ready waits.
    pub(crate) fn transitions<'a>(
        &self,
        task: &'a Task,
    ) -> impl Iterator<Item = (u64, TaskState)> + use<'a> {
        let (is_ready_known, mut waits) = (self.schedule_latency, false);
        task.transitions().filter_map(move |(time_ns, state)| {
            let state = match state {
                TaskState::Ready if !is_ready_known => TaskState::Waiting,
                state => state,
            };
            let repeats = waits && state == TaskState::Waiting;
            waits = state == TaskState::Waiting;
            (!repeats).then_some((time_ns, state))
        })
    }

    /// The name of a task's row: `main`, `task-7`, or with a named runtime `api/task-7`.
    pub fn task_name(&self, key: TaskKey) -> String {
        match &self.runtime {
            Some(runtime) => format!("{runtime}/{key}"),
            None => key.to_string(),
        }
    }

    /// The name of a worker's row: `worker-0`, or with a named runtime `api/worker-0`.
    pub fn worker_name(&self, index: u32) -> String {
        match &self.runtime {
            Some(runtime) => format!("{runtime}/worker-{index}"),
            None => format!("worker-{index}"),
        }
    }
}
