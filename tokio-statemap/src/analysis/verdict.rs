//! The verdict: who held the runtime up.

use std::time::Duration;

use super::culprits::{Culprit, Excused};
use super::issues::{MaybeLeaked, NeverFinished, Stall, Starved, Stuck};
use super::locations::LocationRow;
use super::long_polls::LongPoll;
use super::report::Report;
use super::workers;
use crate::trace::timeline::ExhaustedPool;
use crate::util::quantity::share;

/// From which share of running time on the workers are called busy.
const BUSY: f64 = 0.9;

/// From which share of the workers' time on a location is named for keeping them busy. In a program
/// of a millisecond the workers are busy with their own start, for which no task is to blame.
const NAMED: f64 = 0.01;

/// For how long must have been recorded for anyone to be named for keeping the workers busy, or for
/// nobody to be. In less they hardly do anything but start.
const ENOUGH_RECORDED_NS: u64 = 10_000_000;

/// For how long a location must have held workers to be named so: for `long_poll`, or this if that
/// is longer.
const ENOUGH_HELD: Duration = Duration::from_millis(10);

/// Up to which share of the polls of its location those of each task are even: none of them stands out, as
/// none of the polls is long.
const EVEN: f64 = 0.05;

/// What a worker does between two polls takes at most about as long; beyond that it looks for tasks, or
/// starts.
const BETWEEN_POLLS_NS: u64 = 20_000;

/// After which time without a single spawned task it is likely that the program has runtimes that
/// are not recorded.
const NO_TASKS_NS: u64 = 1_000_000_000;

/// Who held the runtime up, if anyone did, or what else is the worst of the [issues](Report::issues): that of the first.
/// `Display` says it in a few sentences.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing was polled for a second or more, though tasks should have been.
    Stall(Box<Stall>),
    /// Polls held workers over `long_poll` by their own doing. This is who is to blame for those by which
    /// others were delayed most in sum.
    LongPolls {
        /// Who is to blame.
        culprit: Box<Culprit>,
        /// The spawn location of most of its tasks.
        row: LocationRow,
        /// Whether it held the runtime up: see [`Culprit::did_harm`]. If not, little was delayed.
        did_harm: bool,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// How many others are to blame for long polls.
        others: usize,
    },
    /// The same of polls of which none is kept in detail, or not the longest: only where their tasks were spawned is known.
    LongPollsNotKept {
        /// The spawn location.
        row: LocationRow,
        /// Whether it held the runtime up.
        did_harm: bool,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// How many others are to blame for long polls.
        others: usize,
    },
    /// No poll on a worker was long, but the workers were busy for all of 10 ms or more. This is the
    /// location that took most of their time.
    Busy {
        /// The location.
        row: LocationRow,
        /// The share of the workers' time that it took, from 0 to 1: its polls, and its part by number of
        /// the work between polls.
        taken_share: f64,
        /// The share of that which is work between polls, from 0 to 1.
        between_share: f64,
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: f64,
        /// The polls that were long, but of which nobody is accused.
        excused: Excused,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// The longest of the long polls on threads that are no workers, if there were any.
        off_worker: Option<LongPoll>,
    },
    /// The workers were busy, with tasks of which none stands out, and more were ready than there are
    /// workers.
    TooFewWorkers {
        /// How many workers.
        workers: usize,
        /// How many tasks were ready on average.
        ready_tasks: f64,
        /// The location that held them most.
        row: LocationRow,
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: f64,
        /// The polls that were long, but of which nobody is accused.
        excused: Excused,
        /// From when on a poll is called long.
        long_poll: Duration,
    },
    /// Nothing held the workers up, but tasks waited for a thread of the blocking pool.
    ExhaustedPool {
        /// How they waited, and for whom.
        pool: ExhaustedPool,
        /// The share of the workers' time that they were running, from 0 to 1; `None` if workers
        /// were not recorded.
        busy_share: Option<f64>,
        /// Whether there were long polls, by which little was delayed.
        has_long_polls: bool,
        /// The polls that were long, but of which nobody is accused.
        excused: Excused,
        /// From when on a poll is called long.
        long_poll: Duration,
    },
    /// Tasks still waited at the end that should have finished.
    NeverFinished(Box<NeverFinished>),
    /// There were only ever more tasks of a spawn location.
    MaybeLeaked(Box<MaybeLeaked>),
    /// Tasks were ready for long, though no poll was long.
    Starved(Box<Starved>),
    /// Nothing held the runtime up.
    Healthy {
        /// The share of the workers' time that they were running, from 0 to 1; `None` if workers
        /// were not recorded.
        busy_share: Option<f64>,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// The longest of the long polls on threads that are no workers, if there were any.
        off_worker: Option<LongPoll>,
        /// Whether events are missing (other than old ones that were dropped by design).
        is_partial: bool,
        /// The polls that were long only because the machine took the processor.
        excused: Excused,
        /// Tasks that waited for most of the time, up to the end. They may wait for someone who never came.
        stuck: Option<Stuck>,
        /// Whether no task was spawned in a second or more.
        has_no_tasks: bool,
    },
    /// Less than 10 ms were recorded, in which nobody held a worker: too little to tell.
    TooShort {
        /// How long was recorded, in ns.
        recorded_ns: u64,
        /// From when on a poll is called long.
        long_poll: Duration,
    },
    /// Tasks were not recorded, so that nobody can be named.
    TasksUnknown {
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: Option<f64>,
        /// Whether Tokio could tell about tasks, that is, whether it was asked not to.
        task_hooks: bool,
    },
    /// Tasks were recorded, but the file of them was not read.
    TasksNotRead {
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: Option<f64>,
    },
    /// Nothing was recorded at all.
    NothingRecorded,
}

/// What the verdict needs besides the report.
pub(super) struct Facts {
    pub(super) off_worker: Option<LongPoll>,
    /// How long tasks were ready, in ns, all of them together.
    pub(super) ready_ns: u128,
    /// The locations, in what is kept in detail.
    pub(super) kept: Vec<LocationRow>,
}

/// Why there is nothing to say but of long polls, if so.
pub(super) fn unknown(report: &Report) -> Option<Verdict> {
    let busy_share = workers::busy_share(&report.workers);
    // Of a part nothing may be kept.
    if report.events == 0 || report.lacking.time && report.recorded_ns == 0 {
        return Some(Verdict::NothingRecorded);
    }
    if !report.task_hooks || !report.trace_target.tracks_tasks() {
        return Some(Verdict::TasksUnknown { busy_share, task_hooks: report.task_hooks });
    }
    if report.lacking.tasks {
        return Some(Verdict::TasksNotRead { busy_share });
    }
    let is_short = report.recorded_ns < ENOUGH_RECORDED_NS && !report.lacking.time;
    let (recorded_ns, long_poll) = (report.recorded_ns, report.long_poll);
    is_short.then_some(Verdict::TooShort { recorded_ns, long_poll })
}

/// How the blocking pool was exhausted, if it was.
pub(super) fn pool(report: &Report) -> Option<ExhaustedPool> {
    // That of a part of a recording isn't known.
    report.exhausted_pool.filter(|_| !report.lacking.time)
}

pub(super) fn of_pool(report: &Report, pool: ExhaustedPool, has_long_polls: bool) -> Verdict {
    Verdict::ExhaustedPool {
        pool,
        busy_share: workers::busy_share(&report.workers),
        has_long_polls,
        excused: report.excused,
        long_poll: report.long_poll,
    }
}

/// What there is to say where there are no issues.
pub(super) fn healthy(report: &Report, facts: Facts, stuck: Option<Stuck>) -> Verdict {
    Verdict::Healthy {
        busy_share: workers::busy_share(&report.workers),
        long_poll: report.long_poll,
        off_worker: facts.off_worker,
        is_partial: report.lost.total() > report.lost.dropped_events,
        excused: report.excused,
        stuck,
        has_no_tasks: report.tasks == 0
            && report.recorded_ns >= NO_TASKS_NS
            && report.lost.total() == 0
            && !report.lacking.time,
    }
}

/// Who keeps the workers busy, if they are, and that row.
pub(super) fn busy(report: &Report, facts: &Facts) -> Option<(Verdict, LocationRow)> {
    let long_poll = report.long_poll;
    let busy_share = workers::busy_share(&report.workers).filter(|&share| share > BUSY)?;
    let time_ns = workers::time_ns(&report.workers);
    let running_ns: u128 = report.workers.iter().map(|w| u128::from(w.running_ns)).sum();
    let held_ns: u128 = report.locations.iter().map(|row| u128::from(row.held_ns)).sum();
    let polls: u128 = report.locations.iter().map(|row| u128::from(row.worker_polls)).sum();
    // What the workers did between polls, shared by the number of these.
    let most_ns = polls * u128::from(BETWEEN_POLLS_NS);
    let between_ns = running_ns.saturating_sub(held_ns).min(most_ns);
    let between = |row: &LocationRow| between_ns * u128::from(row.worker_polls) / polls.max(1);
    let taken = |row: &LocationRow| u128::from(row.held_ns) + between(row);
    let row = report.locations.iter().rev().max_by_key(|row| taken(row))?;
    let taken_share = share(taken(row), time_ns)?;
    let is_enough = taken_share >= NAMED
        && report.recorded_ns >= ENOUGH_RECORDED_NS
        && taken(row) >= long_poll.min(ENOUGH_HELD).as_nanos();
    if !is_enough {
        return None;
    }
    let workers = report.workers.len();
    let ready_tasks = facts.ready_ns as f64 / report.recorded_ns.max(1) as f64;
    // Of how many polls a task has most is known of what is kept alone.
    let kept = facts.kept.iter().find(|kept| kept.place == row.place);
    let is_even = kept
        .and_then(|kept| share(kept.most_polls_of_a_task, kept.worker_polls))
        .is_some_and(|share| share < EVEN);
    if is_even && ready_tasks >= workers as f64 && between(row) < u128::from(row.held_ns) {
        let excused = report.excused;
        let verdict = Verdict::TooFewWorkers {
            workers,
            ready_tasks,
            row: *row,
            busy_share,
            excused,
            long_poll,
        };
        return Some((verdict, *row));
    }
    let verdict = Verdict::Busy {
        row: *row,
        taken_share,
        between_share: share(between(row), taken(row))?,
        busy_share,
        excused: report.excused,
        long_poll,
        off_worker: facts.off_worker.clone(),
    };
    Some((verdict, *row))
}
