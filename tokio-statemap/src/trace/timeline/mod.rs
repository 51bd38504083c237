//! The timeline: the states of every task and worker over time.
//!
//! It is the single source of every output (the statemap data, the report, the pictures), which
//! read a [`Timeline`] and nothing else.

mod build;
mod cause;
mod cpu;
mod from;
mod gaps;
mod long_polls;
mod machine;
mod places;
mod poll;
mod pool;
mod pool_queue;
mod sample;
mod settings;
mod shutdown;
mod silence;
mod span;
#[cfg(all(feature = "tracing", feature = "record"))]
mod spans;
mod stack_end;
mod steal;
#[cfg(all(feature = "symbols", feature = "read"))]
pub(crate) mod symbolize;
mod task;
mod tasks;
mod wait;
mod worker;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use crate::recorder::lost::Lost;
use crate::trace::profile::Profile;
#[cfg(has_requests)]
use crate::trace::requests::Requests;
use crate::trace::state::TaskState;
use crate::trace::summary::Summary;

pub use crate::symbols::{FrameOrigin, StackFrame};
pub use crate::trace::task_key::TaskKey;
pub(crate) use crate::trace::wait_id::WaitId;
pub use cause::PollCause;
#[cfg(feature = "read")]
pub(crate) use cpu::MOST_FRAMES as MOST_FRAMES_OF_CPU_STACK;
pub use cpu::{CpuStack, CpuTime, Sampled};
pub use long_polls::LongPolls;
pub use machine::{
    ClockChanges, CpuLimit, MachineTime, NoStack, NoStacks, Sampling, SamplingState,
};
pub use places::WaitPlaces;
pub use poll::Poll;
pub(crate) use poll::PollKey;
pub use pool::{BlockingPool, ExhaustedPool};
pub use sample::PollSample;
#[cfg(all(test, feature = "read"))]
pub(crate) use sample::limit_stacks;
pub(crate) use sample::{FUTEX, Stack, blamed};
#[cfg(feature = "read")]
pub(crate) use sample::{MOST_FRAMES, MOST_FRAMES_OF_SAMPLE};
pub use settings::RecordSettings;
pub(crate) use shutdown::{CutWait, Shutdown};
pub(crate) use silence::{NOTICEABLE_NS, Silence, Silences};
pub use span::Span;
pub use task::{CarriedWait, Task};
pub(crate) use tasks::{Known, Quiet, WaitingTask};
pub use tasks::{LocalTask, Tasks};
pub(crate) use wait::CallAtEnd;
pub use wait::{AwaitFrame, Wait, WaitLine, Waiting};
pub(crate) use wait::{FILLED_CELL, SENDER};
#[cfg(feature = "read")]
pub(crate) use wait::{
    MOST_DEEP, MOST_OF_WAIT, MOST_OF_WAITS, NamedCall, UnnamedChain, UnnamedWaits,
};
pub use worker::{BlockingThread, Handover, Worker};

/// The index of `ready` among the states, which is the last.
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
    /// The UTC time at time zero, since the Unix epoch.
    pub utc_at_zero: Duration,
    /// The left edge, in ns: 0, unless older events were dropped (`keep = "last"`).
    pub begin_ns: u64,
    /// The right edge, in ns: the time at which recording stopped or the snapshot was taken.
    pub end_ns: u64,
    /// The start of the most recent events, in ns. If it is later than `begin_ns`, only the
    /// surroundings of the run's longest polls are kept before it, with gaps in between.
    pub recent_ns: u64,
    /// The periods between the edges without any data, as start and end in ns. Recording was
    /// stopped, the clock jumped (as it does while the machine sleeps), or, before `recent_ns`,
    /// older events were dropped.
    pub gaps: Vec<(u64, u64)>,
    /// The tasks: the root futures (`main` first), then spawned tasks by id.
    pub tasks: Tasks,
    /// The workers, by index.
    pub workers: Vec<Worker>,
    /// The `block_in_place` calls that moved a worker to another thread, by thread and time.
    pub handovers: Vec<Handover>,
    /// The number of events in the timeline.
    pub events: u64,
    /// The numbers of missing events, by cause.
    pub lost: Lost,
    /// The settings of the recording.
    pub settings: RecordSettings,
    /// The time that the machine took from the runtime's threads.
    pub machine: MachineTime,
    /// The blocking pool: its threads and its queue.
    pub pool: BlockingPool,
    /// The causes and stack samples of long polls.
    pub long_polls: LongPolls,
    /// The CPU time of polls, by stack. It covers the whole run, even if this timeline is a part of it.
    pub cpu: CpuTime,
    /// The places where tasks wait.
    pub places: WaitPlaces,
    /// The tasks of `LocalSet`s that are known to wait at the right edge.
    pub local_tasks: Vec<LocalTask>,
    /// The times of instrumented async functions.
    pub(crate) profile: Profile,
    /// The spans of `tracing`.
    #[cfg(has_requests)]
    pub(crate) requests: Requests,
    /// The sums of the whole run; `None` if they are unknown.
    pub(crate) whole_run: Option<Arc<Summary>>,
    /// The parts that are missing compared to the recorded timeline, if this one was read from
    /// files.
    pub(crate) lacking: Lacking,
}

/// The parts that a timeline read from files lacks compared to the recorded one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// The file of the tasks is missing.
    pub(crate) tasks: bool,
    /// The file of the workers is missing.
    pub(crate) workers: bool,
    /// Only a window of the recorded time is present.
    pub(crate) time: bool,
    /// The total recorded time in ns, if this timeline is a shorter part of it.
    pub(crate) whole_ns: Option<u64>,
}

impl Timeline {
    /// Creates a timeline in which nothing happened, from 0 to 0.
    pub(crate) fn empty() -> Self {
        Self {
            runtime: None,
            version: None,
            utc_at_zero: Duration::ZERO,
            begin_ns: 0,
            end_ns: 0,
            recent_ns: 0,
            gaps: Vec::new(),
            tasks: Tasks::default(),
            workers: Vec::new(),
            handovers: Vec::new(),
            events: 0,
            lost: Lost::default(),
            settings: RecordSettings::default(),
            machine: MachineTime::default(),
            pool: BlockingPool::default(),
            long_polls: LongPolls::default(),
            cpu: CpuTime::default(),
            places: WaitPlaces::default(),
            local_tasks: Vec::new(),
            profile: Profile::default(),
            #[cfg(has_requests)]
            requests: Requests::default(),
            whole_run: None,
            lacking: Lacking::default(),
        }
    }

    /// Returns the length of the timeline in ns, including gaps.
    pub fn length_ns(&self) -> u64 {
        self.end_ns - self.begin_ns
    }

    /// Returns the recorded time in ns: the length without the gaps.
    pub fn recorded_ns(&self) -> u64 {
        let gaps: u64 = self.gaps.iter().map(|(from, to)| to - from).sum();
        self.length_ns().saturating_sub(gaps)
    }

    /// Iterates over the stretches of time before [`recent_ns`](Self::recent_ns) that are kept
    /// around the run's longest polls, as start and end in ns.
    pub fn stretches_before(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut stretches = Vec::new();
        let mut from_ns = self.begin_ns;
        let mut add = |from_ns: u64, to_ns: u64| {
            if from_ns < to_ns {
                stretches.push((from_ns, to_ns));
            }
        };
        for &(gap_ns, next_ns) in &self.gaps {
            if next_ns <= self.recent_ns {
                add(from_ns, gap_ns);
                from_ns = next_ns;
            }
        }
        add(from_ns, self.recent_ns);
        stretches.into_iter()
    }

    /// Returns `true` if events between these times were dropped, or if recording was stopped there
    /// before `recent_ns`.
    #[inline(never)]
    pub(crate) fn is_dropped_between(&self, from_ns: u64, to_ns: u64) -> bool {
        self.gap_between(from_ns, to_ns).is_some_and(|(_, to)| to <= self.recent_ns)
    }

    /// Returns the first gap that has some time between these, in ns: records were dropped, or recording was stopped.
    pub(crate) fn gap_between(&self, from_ns: u64, to_ns: u64) -> Option<(u64, u64)> {
        gaps::first_between(&self.gaps, from_ns, to_ns)
    }

    /// Returns the time for which `poll` held its worker, in ns.
    ///
    /// This is the length of the poll, unless the task called `block_in_place`, which moves the
    /// worker to another thread. A poll that is still running counts up to the right edge.
    pub fn held_ns(&self, poll: &Poll) -> u64 {
        let end = poll.end_ns().unwrap_or(self.end_ns);
        let end = self.handover_of(poll).map_or(end, |at| at.min(end));
        end.saturating_sub(poll.start_ns())
    }

    /// Returns the sums of the whole run, including the part whose events are no longer kept.
    ///
    /// Returns `None` for drained events, for a part of a recording, and for files of a run of
    /// which every event is kept. Without the file of the tasks the sums hold only the workers and
    /// the totals; without the file of the workers they hold no workers.
    pub fn whole_run(&self) -> Option<&Summary> {
        self.whole_run.as_deref()
    }

    /// Returns the times of instrumented async functions. They always cover the whole run, even if
    /// this timeline is a part of it, and are empty for drained events.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Returns what spans of `tracing` took, which the [layer](crate::layer) recorded. They always cover the whole run,
    /// even if this timeline is a part of it, and are empty for drained events and black boxes.
    #[cfg(has_requests)]
    pub fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Returns the time at which the worker of `poll` moved to another thread during the poll, in
    /// ns.
    #[inline(never)]
    pub fn handover_of(&self, poll: &Poll) -> Option<u64> {
        let end = poll.end_ns().unwrap_or(self.end_ns);
        let key = (poll.thread(), poll.start_ns());
        let next = self.handovers.partition_point(|h| (h.thread, h.time_ns) < key);
        let handover = self.handovers.get(next)?;
        (handover.thread == poll.thread() && handover.time_ns <= end).then_some(handover.time_ns)
    }

    /// Returns the states that tasks of this timeline can be in, by value. `ready` is
    /// included only if it was recorded.
    pub(crate) fn task_states(&self) -> &'static [TaskState] {
        // The renderer wants values without gaps; `ready` is the highest for this reason.
        match self.settings.schedule_latency {
            true => &TaskState::ALL,
            false => &TaskState::ALL[..READY],
        }
    }

    /// Returns the state of a live task, the time since which it is known to be in it, and whether it may have been in
    /// it before.
    pub(crate) fn state_at_end(&self, task: &Task) -> (TaskState, u64, bool) {
        let (mut since_ns, mut state) = (task.first_ns, task.first_state);
        for transition in self.transitions(task) {
            (since_ns, state) = transition;
        }
        match task.carried_since_ns() {
            Some(since_ns) if state == TaskState::Waiting => (state, since_ns, false),
            _ => (state, since_ns, task.spawned_ns.is_none() && since_ns <= self.begin_ns),
        }
    }

    /// Iterates over the transitions of a task between these states. If ready times were not
    /// recorded, a ready task counts as waiting.
    pub(crate) fn transitions<'a>(
        &self,
        task: &'a Task,
    ) -> impl Iterator<Item = (u64, TaskState)> + use<'a> {
        let (is_ready_known, mut waits) = (self.settings.schedule_latency, false);
        let mut transitions = task.transitions();
        std::iter::from_fn(move || {
            loop {
                let (time_ns, mut state) = transitions.next()?;
                if state == TaskState::Ready && !is_ready_known {
                    state = TaskState::Waiting;
                }
                let repeats = waits && state == TaskState::Waiting;
                waits = state == TaskState::Waiting;
                if !repeats {
                    return Some((time_ns, state));
                }
            }
        })
    }

    /// Returns the name of a task: `main`, `task-7`, or `api/task-7` if the runtime has a name.
    pub fn task_name(&self, key: TaskKey) -> String {
        match &self.runtime {
            Some(runtime) => format!("{runtime}/{key}"),
            None => key.to_string(),
        }
    }

    /// Returns the name of a worker: `worker-0`, or `api/worker-0` if the runtime has a name.
    pub fn worker_name(&self, index: u32) -> String {
        match &self.runtime {
            Some(runtime) => format!("{runtime}/worker-{index}"),
            None => format!("worker-{index}"),
        }
    }
}
