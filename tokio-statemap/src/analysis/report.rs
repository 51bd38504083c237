//! The report as data: all that the outputs say of a timeline.

use std::time::Duration;

use super::culprits::{self, Culprit, Excused, Held, Nobodys};
use super::harm::{self, Delay};
use super::issues::{self, Issue};
use super::locations::{self, LocationRow};
use super::long_polls::{self, LongPoll, PollAt, Unsaid};
use super::place::Place;
use super::spelling::{self, Spelling};
use super::trees::StillWaiting;
use super::verdict::{Facts, Verdict};
use super::waits::{self, Waits};
use super::whole_run::{self, Listed};
use super::workers::{self, WorkerShare};
use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::symbols::file_of_address;
use crate::trace::profile::Profile;
use crate::trace::summary::Summary;
use crate::trace::timeline::{
    ExhaustedPool, Lacking, MachineTime, PollSample, Sampling, StackFrame, Task, TaskKey, Timeline,
};

/// What a [`Timeline`] says about who held the runtime, and for how long.
///
/// Of a run of which only a part is kept in detail it is of the whole run: see [`detail_ns`](Self::detail_ns).
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
    /// Who held the runtime up, if anyone did, or what else is wrong: that of the first of the issues.
    pub verdict: Verdict,
    /// All that is worth a look, the worst first. None of a healthy program.
    pub issues: Vec<Issue>,
    /// The name that the runtime was given with `Builder::name`.
    pub runtime: Option<String>,
    /// The left edge of what is kept in detail, in ns.
    pub begin_ns: u64,
    /// The right edge of what was recorded, in ns.
    pub end_ns: u64,
    /// How long was recorded, in ns: between the edges, without the gaps.
    pub recorded_ns: u64,
    /// How long of that is kept in detail, in ns; `None` if that is all, or if only that is known.
    ///
    /// If it is `Some`, the recorded time, the numbers of tasks and polls, the workers, the locations and the longest
    /// polls are those of the whole run. What is said of culprits and of waits is what the detail says.
    pub detail_ns: Option<u64>,
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
    /// The locations that are to blame, too, though none of their long polls is kept in detail: those that held workers
    /// longest first.
    pub unexplained: Vec<LocationRow>,
    /// The polls that held a worker that long and of which nobody is accused.
    pub excused: Excused,
    /// Which of these polls the machine made long.
    pub(crate) excused_at: Unsaid<Vec<PollAt>>,
    /// In which of them no function was seen.
    pub(crate) unseen_at: Unsaid<Vec<PollAt>>,
    /// What the machine took of the threads' time.
    pub machine: MachineTime,
    /// How tasks waited for a thread of the blocking pool, if it was exhausted.
    pub exhausted_pool: Option<ExhaustedPool>,
    /// Whether the stacks of long polls were sampled.
    pub sampling: Sampling,
    /// Whether the program was stripped, so that its functions are known by their addresses alone.
    pub(crate) is_stripped: bool,
    /// What the calls of instrumented async functions took, in the whole run.
    pub profile: Profile,
    /// Where tasks waited.
    pub waits: Waits,
    /// The tasks that still waited at the end, as far as it is known where, those first that waited longest;
    /// none if they were root futures alone.
    pub still_waiting: Vec<StillWaiting>,
    /// What the timeline lacks, if it was read from files.
    pub(crate) lacking: Lacking,
    pub(super) spelling: Spelling,
}

impl Report {
    /// How long is kept in detail, in ns: all that was recorded, unless only a part is.
    #[cfg(feature = "read")]
    pub(crate) fn kept_ns(&self) -> u64 {
        self.detail_ns.unwrap_or(self.recorded_ns)
    }

    /// Where a task is from, as this report says it.
    pub(crate) fn place_of(&self, task: &Task) -> Place {
        self.spelling.spell(Place::of(task))
    }
}

impl Timeline {
    /// Whether functions of the program are known by their addresses alone.
    fn is_stripped(&self) -> bool {
        let is_unnamed = |sample: &PollSample| {
            sample.blamed().is_none() && sample.frames.iter().any(is_address_of_program)
        };
        !self.unnamed_waits.chains.is_empty() || self.samples.iter().any(is_unnamed)
    }

    /// The sums of the whole run, where this timeline isn't all of it, as older events were dropped. Sums since a reset
    /// are none of these.
    fn sums_of_more(&self) -> Option<&Summary> {
        let is_part = self.lost.dropped_events > 0 && !self.lacking.time;
        self.whole_run().filter(|sums| is_part && sums.begin_ns == 0)
    }

    /// Works out who held the runtime, and for how long.
    ///
    /// It takes one pass over the polls, and a few dozen looks at each task.
    pub fn report(&self) -> Report {
        let found = locations::rank(self);
        let sums = self.sums_of_more();
        let rows = match sums {
            Some(sums) => whole_run::rows(sums, &found.rows, self.schedule_latency),
            None => found.rows.clone(),
        };
        let listed = match sums {
            Some(sums) => whole_run::longest(self, sums),
            None => found.longest.iter().map(|&at| Listed::kept(at)).collect(),
        };
        let (held, mut nobodys) = culprits::held(self);
        // One pass over everything for all of them.
        let mut times: Vec<_> = held.iter().map(Held::time).collect();
        let kept = listed.iter().filter_map(|poll| poll.at);
        times.extend(kept.map(|at| long_polls::time(self, at)));
        let delays = harm::delays(self, &times, found.unpolled);
        let (of_held, of_longest) = delays.split_at(held.len());
        let mut of_longest = of_longest.iter().copied();
        let describe = |poll: Listed<'_>| {
            let delay = poll.at.and_then(|_| of_longest.next()).unwrap_or_default();
            let mut described = poll.describe(self, delay)?;
            // As of a culprit: what the machine took delayed others, too.
            let LongPoll { own_ns, length_ns, .. } = described;
            described.delay = described.delay.part(own_ns, length_ns);
            Some(described)
        };
        let longest_polls = listed.into_iter().filter_map(describe).collect();
        let culprits = culprits::culprits(self, held, of_held, &rows, &mut nobodys);
        let Nobodys { mut excused, at, unseen_at } = nobodys;
        let unexplained = match sums {
            Some(sums) => whole_run::unexplained(self, sums, &rows, &culprits, &mut excused),
            None => Vec::new(),
        };
        let mut report = Report {
            verdict: Verdict::NothingRecorded,
            issues: Vec::new(),
            runtime: self.runtime.clone(),
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            recorded_ns: sums.map_or(self.recorded_ns(), |sums| sums.recorded_ns),
            detail_ns: sums.map(|_| self.recorded_ns()),
            recent_ns: self.recent_ns,
            stretches_before: self.stretches_before().count(),
            before_ns: self.stretches_before().map(|(from, to)| to - from).sum(),
            gaps: self.gaps.iter().filter(|(_, to)| *to > self.recent_ns).count(),
            tasks: 0,
            live_tasks: 0,
            polls: sums.map_or(found.polls, |sums| sums.polls),
            cut_polls: sums.map_or(found.cut_polls, |sums| sums.cut_polls),
            running_polls: sums.map_or(found.running_polls, |sums| sums.running_polls),
            handovers: self.handovers.len(),
            blocking_threads: self.blocking_threads.len(),
            events: self.events,
            lost: self.lost,
            trace_target: self.trace_target,
            task_hooks: self.task_hooks,
            schedule_latency: self.schedule_latency,
            long_poll: self.long_poll,
            workers: sums.map_or_else(|| workers::shares(self), whole_run::workers),
            locations: rows,
            longest_polls,
            culprits,
            unexplained,
            excused,
            excused_at: Unsaid(at),
            unseen_at: Unsaid(unseen_at),
            machine: self.machine,
            exhausted_pool: self.exhausted_pool,
            sampling: self.sampling,
            is_stripped: self.is_stripped(),
            waits: waits::waits(self),
            still_waiting: self.still_waiting(),
            profile: self.profile.clone(),
            lacking: self.lacking,
            spelling: Spelling::default(),
        };
        for task in self.tasks.one_by_one() {
            if matches!(task.key, TaskKey::Spawned(_)) {
                report.tasks += 1;
                report.live_tasks += u64::from(task.terminated_ns.is_none());
            }
        }
        if let Some(sums) = sums {
            report.tasks = sums.tasks;
        }
        let off_worker = sums
            .and_then(|sums| whole_run::off_worker(self, sums))
            .or(found.off_worker.map(Listed::kept))
            .and_then(|poll| poll.describe(self, Delay::default()));
        let ready_ns = match sums {
            Some(sums) => whole_run::ready_ns(sums) + found.still_ready_ns,
            None => found.ready_ns,
        };
        let facts = Facts { off_worker, ready_ns, kept: found.rows };
        (report.issues, report.verdict) = issues::judge(self, &report, facts, found.unpolled);
        spelling::tell_apart(&mut report);
        report
    }
}

/// Whether a function is known by its address in the program alone. Addresses in libraries don't count: most libraries name
/// only the functions that others may call.
fn is_address_of_program(frame: &StackFrame) -> bool {
    file_of_address(&frame.function).is_some_and(|file| !file.contains(".so"))
}
