//! The report as data: all that the outputs say of a timeline.

use std::time::Duration;

use super::culprits::{self, Culprit, Excused, Held};
use super::harm::{self, Delay};
use super::locations::{self, LocationRow};
use super::long_polls::{self, LongPoll, PollAt, Unsaid};
use super::stuck;
use super::trees::StillWaiting;
use super::verdict::{self, Facts, Verdict};
use super::waits::{self, Waits};
use super::workers::{self, WorkerShare};
use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::trace::profile::Profile;
use crate::trace::timeline::{ExhaustedPool, Lacking, MachineTime, Sampling, TaskKey, Timeline};

/// What a [`Timeline`] says about who held the runtime, and for how long.
///
/// Its `Display` is the text report, without a newline at its end: print it with `println!`.
///
/// # Examples
///
/// As a check in a program's own tests:
///
/// ```
/// use tokio_statemap::Timeline;
/// use tokio_statemap::report::Verdict;
///
/// fn assert_nobody_blocks(timeline: &Timeline) {
///     let report = timeline.report();
///     assert!(!matches!(report.verdict, Verdict::LongPolls { .. }), "{report}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// Who held the runtime up, if anyone did.
    pub verdict: Verdict,
    /// The name that the runtime was given with `Builder::name`.
    pub runtime: Option<String>,
    /// The left edge of what was recorded, in ns.
    pub begin_ns: u64,
    /// The right edge of what was recorded, in ns.
    pub end_ns: u64,
    /// How long was recorded, in ns: between the edges, without the gaps.
    pub recorded_ns: u64,
    /// From when on the last events are kept, in ns: later than `begin_ns` if there is anything before.
    pub recent_ns: u64,
    /// How many stretches of time are kept from before that, around the longest polls of the run.
    pub stretches_before: usize,
    /// How long these are in all, in ns.
    pub before_ns: u64,
    /// How often the recording was stopped between the edges, since `recent_ns`.
    pub gaps: usize,
    /// How many tasks there were, `main` not among them.
    pub tasks: u64,
    /// How many of these tasks still lived at the end.
    pub live_tasks: u64,
    /// How many polls there were, those of `main` among them.
    pub polls: u64,
    /// How many of the polls began before, or went on after what was recorded.
    pub cut_polls: u64,
    /// How many of the polls still ran at the right edge.
    pub running_polls: u64,
    /// How often `block_in_place` gave a worker to another thread.
    pub handovers: usize,
    /// How many threads the blocking pool was seen to have.
    pub blocking_threads: usize,
    /// How many events the report is made of.
    pub events: u64,
    /// The events that it lacks, by cause.
    pub lost: Lost,
    /// What was to be recorded.
    pub trace_target: TraceTarget,
    /// Whether Tokio could tell about tasks at all.
    pub task_hooks: bool,
    /// Whether the times at which tasks became ready were recorded.
    pub schedule_latency: bool,
    /// From when on a poll is called long.
    pub long_poll: Duration,
    /// Each worker's time, by rising index. Empty if workers were not recorded.
    pub workers: Vec<WorkerShare>,
    /// All spawn locations, that which held the runtime longest first.
    pub locations: Vec<LocationRow>,
    /// The ten longest polls, the longest first.
    pub longest_polls: Vec<LongPoll>,
    /// Who is to blame for polls that held a worker over `long_poll`, the worst first: that by which
    /// others were delayed most in sum.
    pub culprits: Vec<Culprit>,
    /// The polls that held a worker that long and of which nobody is accused.
    pub excused: Excused,
    /// Which polls these are.
    pub(crate) excused_at: Unsaid<Vec<PollAt>>,
    /// What the machine took of the threads' time.
    pub machine: MachineTime,
    /// How tasks waited for a thread of the blocking pool, if it was exhausted.
    pub exhausted_pool: Option<ExhaustedPool>,
    /// Whether the stacks of long polls were sampled.
    pub sampling: Sampling,
    /// What the calls of instrumented async functions took, in the whole run.
    pub profile: Profile,
    /// Where tasks waited.
    pub waits: Waits,
    /// The tasks that still waited at the end, as far as it is known where, those first that waited longest;
    /// none if they were root futures alone.
    pub still_waiting: Vec<StillWaiting>,
    /// What the timeline lacks, if it was read from files.
    pub(crate) lacking: Lacking,
}

impl Timeline {
    /// Works out who held the runtime, and for how long.
    ///
    /// It takes one pass over the polls, and a few dozen looks at each task.
    pub fn report(&self) -> Report {
        let workers = workers::shares(self);
        let found = locations::rank(self);
        let (held, excused, excused_at) = culprits::held(self);
        // One pass over everything for all of them.
        let mut times: Vec<_> = held.iter().map(Held::time).collect();
        times.extend(found.longest.iter().map(|&at| long_polls::time(self, at)));
        let delays = harm::delays(self, &times, found.unpolled);
        let (of_held, of_longest) = delays.split_at(held.len());
        let describe = |(&at, &delay)| long_polls::describe(self, at, delay);
        let longest_polls = found.longest.iter().zip(of_longest).map(describe).collect();
        let culprits = culprits::culprits(self, held, of_held);
        let mut report = Report {
            verdict: Verdict::NothingRecorded,
            runtime: self.runtime.clone(),
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            recorded_ns: self.recorded_ns(),
            recent_ns: self.recent_ns,
            stretches_before: self.stretches_before().count(),
            before_ns: self.stretches_before().map(|(from, to)| to - from).sum(),
            gaps: self.gaps.iter().filter(|(_, to)| *to > self.recent_ns).count(),
            tasks: 0,
            live_tasks: 0,
            polls: found.polls,
            cut_polls: found.cut_polls,
            running_polls: found.running_polls,
            handovers: self.handovers.len(),
            blocking_threads: self.blocking_threads.len(),
            events: self.events,
            lost: self.lost,
            trace_target: self.trace_target,
            task_hooks: self.task_hooks,
            schedule_latency: self.schedule_latency,
            long_poll: self.long_poll,
            workers,
            locations: found.rows,
            longest_polls,
            culprits,
            excused,
            excused_at,
            machine: self.machine,
            exhausted_pool: self.exhausted_pool,
            sampling: self.sampling,
            waits: waits::waits(self),
            still_waiting: self.still_waiting(),
            profile: self.profile.clone(),
            lacking: self.lacking,
        };
        for task in self.tasks.one_by_one() {
            if matches!(task.key, TaskKey::Spawned(_)) {
                report.tasks += 1;
                report.live_tasks += u64::from(task.terminated_ns.is_none());
            }
        }
        let off_worker =
            found.off_worker.map(|at| long_polls::describe(self, at, Delay::default()));
        let facts = Facts { off_worker, stuck: stuck::stuck(self), ready_ns: found.ready_ns };
        report.verdict = verdict::decide(&report, facts);
        report
    }
}
