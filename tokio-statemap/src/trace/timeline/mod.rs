//! The timeline: the states of every task and worker over time.
//!
//! It is the single source of every output (the statemap data, the report, the pictures), which
//! read a [`Timeline`] and nothing else.

mod build;
mod carried;
mod cause;
mod from;
mod machine;
#[cfg(all(
    feature = "dwarf",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod memory;
mod poll;
mod pool;
mod pool_queue;
mod sample;
mod shutdown;
mod span;
mod stack_end;
mod steal;
#[cfg(all(feature = "symbols", feature = "read"))]
pub(crate) mod symbolize;
mod task;
mod tasks;
mod wait;
mod worker;
mod workers;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::trace::profile::Profile;
use crate::trace::state::TaskState;
use crate::trace::summary::Summary;

pub use crate::symbols::{FrameOrigin, StackFrame};
pub use cause::PollCause;
pub use machine::{
    ClockChanges, CpuLimit, MachineTime, NoStack, NoStacks, Sampling, SamplingState,
};
pub use poll::Poll;
pub(crate) use poll::PollKey;
pub use pool::ExhaustedPool;
pub use sample::PollSample;
#[cfg(all(test, feature = "read"))]
pub(crate) use sample::limit_stacks;
#[cfg(feature = "read")]
pub(crate) use sample::{MOST_FRAMES, MOST_FRAMES_OF_SAMPLE};
pub(crate) use sample::{Stack, blamed};
pub(crate) use shutdown::{CutWait, Shutdown};
pub use span::Span;
pub use task::{CarriedWait, Task, TaskKey};
pub use tasks::LocalTask;
pub use tasks::Tasks;
pub(crate) use tasks::{Known, Quiet, WaitingTask};
pub use wait::{AwaitFrame, Wait, WaitLine, Waiting};
pub(crate) use wait::{CallAtEnd, NamedCall, UnnamedWaits, WaitId};
#[cfg(feature = "read")]
pub(crate) use wait::{MOST_DEEP, MOST_OF_WAIT, MOST_OF_WAITS, UnnamedChain};
pub use worker::{BlockingThread, Handover, Worker};

/// The index of `ready` among the states: the last.
const READY: usize = TaskState::Ready as usize;
const _: () = assert!(READY + 1 == TaskState::ALL.len(), "`ready` may be missing in data");

/// The states of every task and worker of one runtime over the time that was recorded.
///
/// Times are in nanoseconds since the first [`Collector::start`](crate::Collector::start). The
/// timeline reaches from [`begin_ns`](Self::begin_ns) to [`end_ns`](Self::end_ns).
///
/// # Examples
///
/// The total time that each task was running:
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
    /// The runtime's name, as set with `Builder::name`.
    pub runtime: Option<String>,
    /// The program's version, as set with [`Collector::set_version`](crate::Collector::set_version).
    pub version: Option<String>,
    /// UTC at time zero, since the Unix epoch.
    pub utc_at_zero: Duration,
    /// The left edge, in ns: 0, unless older events were dropped (`keep = "last"`).
    pub begin_ns: u64,
    /// The right edge, in ns: when recording was stopped, or when the snapshot was taken.
    pub end_ns: u64,
    /// From when on the last events are kept, in ns. If that is later than `begin_ns`, what is before it is around
    /// the longest polls of the run, with gaps in between.
    pub recent_ns: u64,
    /// The periods within the edges of which nothing is known: start and end, in ns. Recording was stopped, or the clock
    /// jumped, as it does while the machine sleeps, or, before `recent_ns`, older events were dropped.
    pub gaps: Vec<(u64, u64)>,
    /// The tasks: the root futures (`main` first), then spawned tasks by id.
    pub tasks: Tasks,
    /// The workers, by index.
    pub workers: Vec<Worker>,
    /// The threads of the blocking pool, in the order in which they were first seen.
    pub blocking_threads: Vec<BlockingThread>,
    /// Each `block_in_place` that moved its worker to another thread, by thread and time.
    pub handovers: Vec<Handover>,
    /// The number of events in the timeline.
    pub events: u64,
    /// The events that are missing, by cause.
    pub lost: Lost,
    /// What was recorded.
    pub trace_target: TraceTarget,
    /// Whether Tokio has task hooks, that is, was built with `tokio_unstable`. Without them the
    /// only task is `main`.
    pub task_hooks: bool,
    /// Whether the times at which tasks became ready were recorded.
    pub schedule_latency: bool,
    /// The length from which on a poll is called long.
    pub long_poll: Duration,
    /// What the machine took of its threads' time.
    pub machine: MachineTime,
    /// How tasks waited for a thread of the blocking pool, if it was exhausted.
    pub exhausted_pool: Option<ExhaustedPool>,
    /// When the queue of the blocking pool changed, in ns, and how many tasks waited in it from then on.
    pub(crate) pool_queue: Vec<(u64, u64)>,
    /// Whether the stacks of long polls were sampled.
    pub sampling: Sampling,
    /// Why long polls took long, by their keys.
    pub(crate) causes: Vec<(PollKey, PollCause)>,
    /// What threads were doing in long polls, by the polls' keys, and of each poll by time.
    pub(crate) samples: Vec<PollSample>,
    /// Where tasks wait, by the numbers that polls and tasks have. Those that no one has are empty.
    pub(crate) waits: Vec<Wait>,
    /// Those of them of which functions are addresses, as far as anyone may look these up.
    pub(crate) unnamed_waits: UnnamedWaits,
    /// Where tasks wait at the right edge of which that was read in their memory (the feature `dwarf`), by
    /// their ids. Those that wait at the same place share it.
    pub(crate) waits_in_memory: HashMap<u64, Arc<Wait>>,
    /// The instrumented calls that tasks wait in at the right edge, by the tasks' keys.
    pub(crate) calls_at_end: Vec<(TaskKey, Vec<CallAtEnd>)>,
    /// How many waits began at a place that isn't known, as there were too many.
    pub waits_not_kept: u64,
    /// The tasks of `LocalSet`s that were spawned through this crate and wait at the right edge.
    pub local_tasks: Vec<LocalTask>,
    /// What calls of instrumented async functions took.
    pub(crate) profile: Profile,
    /// The sums of the whole run; `None` if they aren't known.
    pub(crate) whole_run: Option<Arc<Summary>>,
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
    /// How long was recorded in all, in ns, if it is a shorter part of that.
    pub(crate) whole_ns: Option<u64>,
}

impl Timeline {
    /// The length of the timeline, including gaps, in ns.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    /// The recorded time: the length without the gaps, in ns.
    pub fn recorded_ns(&self) -> u64 {
        let gaps: u64 = self.gaps.iter().map(|(from, to)| to - from).sum();
        self.length_ns().saturating_sub(gaps)
    }

    /// The stretches of time before [`recent_ns`](Self::recent_ns) that are kept, around the longest polls of the
    /// run: from and to, in ns.
    pub fn stretches_before(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut from = self.begin_ns;
        let gaps = self.gaps.iter().filter(|(_, to)| *to <= self.recent_ns);
        let ends = gaps.copied().chain([(self.recent_ns, self.end_ns)]);
        ends.map(move |(gap, next)| (std::mem::replace(&mut from, next), gap))
            .filter(|(from, to)| from < to)
    }

    /// Whether events between these times were dropped, or recording was stopped before what is kept last.
    pub(crate) fn is_dropped_between(&self, from_ns: u64, to_ns: u64) -> bool {
        let after = self.gaps.partition_point(|&(_, to)| to <= from_ns);
        self.gaps.get(after).is_some_and(|&(from, to)| from < to_ns && to <= self.recent_ns)
    }

    /// How long `poll` held its worker, in ns.
    ///
    /// This is the length of the poll, unless the task called `block_in_place`, which moves the
    /// worker to another thread. A poll that is still running counts up to the right edge.
    pub fn held_ns(&self, poll: &Poll) -> u64 {
        let end = poll.end_ns().unwrap_or(self.end_ns);
        let end = self.handover_of(poll).map_or(end, |at| at.min(end));
        end.saturating_sub(poll.start_ns())
    }

    /// What all tasks and workers did in the whole run, also in the part of it of which no events are kept any more; `None`
    /// of drained events, of a part of what was recorded, and of files of a run of which everything is kept. Without the
    /// file of the tasks it has the workers and what is known of the whole, without that of the workers no workers.
    pub fn whole_run(&self) -> Option<&Summary> {
        self.whole_run.as_deref()
    }

    /// What the calls of instrumented async functions took. It is of the whole run, also where this
    /// timeline is of a part of it, and empty in one of drained events.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Why `poll` took long; `None` if that isn't known.
    ///
    /// It is known of whole polls of `long_poll` or longer, on Linux (x86-64, aarch64), in a build
    /// with the feature `stacks`.
    pub fn cause(&self, poll: &Poll) -> Option<PollCause> {
        // One that is cut may have the key of another that begins at the edge.
        if poll.is_cut_left() || poll.is_cut_right() {
            return None;
        }
        let place = self.causes.binary_search_by_key(&poll.key(), |(key, _)| *key).ok()?;
        Some(self.causes[place].1)
    }

    /// What the thread was doing in `poll`, in the order of time: at most 16 samples.
    ///
    /// A poll of 10 ms or more has one in most cases, and shorter ones sometimes: the first one is taken
    /// from 1 ms on. There is none if the
    /// processor was taken away all the time, if the program handles SIGURG itself (then only blocked
    /// threads have samples), and of the shortest polls if there are over 4096 samples.
    pub fn samples(&self, poll: &Poll) -> &[PollSample] {
        let from = self.samples.partition_point(|sample| sample.poll_key() < poll.key());
        let to = self.samples.partition_point(|sample| sample.poll_key() <= poll.key());
        &self.samples[from..to]
    }

    /// Where the task waits from the end of `poll` on; `None` if it doesn't, or that isn't known.
    ///
    /// It is known of root futures, and of tasks that are spawned through this crate.
    pub fn wait_after(&self, poll: &Poll) -> Option<&Wait> {
        self.wait(poll.wait()?)
    }

    /// Where `task` waits at the right edge; `None` if it doesn't, or that isn't known.
    pub fn wait_at_end(&self, task: &Task) -> Option<&Wait> {
        match self.waiting_at_end(task) {
            Waiting::At(wait) => Some(wait),
            _ => None,
        }
    }

    /// What is known of where `task` waits at the right edge.
    pub fn waiting_at_end(&self, task: &Task) -> Waiting<'_> {
        if task.terminated_ns.is_some() || task.ready_ns.is_some() {
            return Waiting::Unknown;
        }
        let id = match task.polls.last() {
            Some(last) => last.wait(),
            None => task.carried_wait.and_then(|carried| carried.wait),
        };
        match (self.waiting(id), task.key) {
            (Waiting::Unknown, TaskKey::Spawned(id)) => {
                self.waits_in_memory.get(&id).map_or(Waiting::Unknown, |wait| Waiting::At(wait))
            }
            (known, _) => known,
        }
    }

    /// Whether it was read in the memory of `task` where it waits.
    pub(crate) fn is_in_memory(&self, task: &Task) -> bool {
        match (self.waiting_at_end(task), task.key) {
            (Waiting::At(wait), TaskKey::Spawned(id)) => self
                .waits_in_memory
                .get(&id)
                .is_some_and(|read| std::ptr::eq(&raw const **read, wait)),
            _ => false,
        }
    }

    pub(crate) fn waiting(&self, id: Option<WaitId>) -> Waiting<'_> {
        match id {
            Some(WaitId::NOTHING) => Waiting::Nothing,
            Some(id) => self.wait(id).map_or(Waiting::Unknown, Waiting::At),
            None => Waiting::Unknown,
        }
    }

    /// What is known of where a task of a `LocalSet` waits.
    pub fn waiting_of_local(&self, task: &LocalTask) -> Waiting<'_> {
        self.waiting(task.wait)
    }

    /// The instrumented calls that a task waits in at the right edge, in the order of their indices.
    pub(crate) fn calls_at_end(&self, key: TaskKey) -> &[CallAtEnd] {
        let found = self.calls_at_end.binary_search_by_key(&key, |(key, _)| *key);
        found.map_or(&[], |place| &self.calls_at_end[place].1)
    }

    pub(crate) fn wait(&self, id: WaitId) -> Option<&Wait> {
        self.waits.get(id.index()).filter(|wait| !wait.frames.is_empty())
    }

    /// When the worker that `poll` started on was moved to another thread during the poll, in ns.
    pub fn handover_of(&self, poll: &Poll) -> Option<u64> {
        let end = poll.end_ns().unwrap_or(self.end_ns);
        let key = (poll.thread(), poll.start_ns());
        let next = self.handovers.partition_point(|h| (h.thread, h.time_ns) < key);
        let handover = self.handovers.get(next)?;
        (handover.thread == poll.thread() && handover.time_ns <= end).then_some(handover.time_ns)
    }

    /// The states that its tasks can be in, by value: `ready` only if it was recorded.
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

    /// The name of a task: `main`, `task-7`, or `api/task-7` if the runtime has a name.
    pub fn task_name(&self, key: TaskKey) -> String {
        match &self.runtime {
            Some(runtime) => format!("{runtime}/{key}"),
            None => key.to_string(),
        }
    }

    /// The name of a worker: `worker-0`, or `api/worker-0` if the runtime has a name.
    pub fn worker_name(&self, index: u32) -> String {
        match &self.runtime {
            Some(runtime) => format!("{runtime}/worker-{index}"),
            None => format!("worker-{index}"),
        }
    }
}
