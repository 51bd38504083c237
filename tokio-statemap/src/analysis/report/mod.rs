//! The report as data: everything that the outputs say about a timeline.

mod limitations;
mod machine;

use super::behind_lock;
use super::computed::Computed;
use super::critical_path::CriticalPath;
use super::culprits::{self, LongPollBlame};
use super::delay::{self, Delay};
use super::issues::{Facts, Issue};
use super::locations::{self, LocationRow};
use super::long_polls::LongPoll;
use super::place::Place;
use super::poll;
use super::recording::Recording;
use super::runs::{self, LocationRuns};
use super::spelling::Spelling;
use super::trees::StillWaiting;
use super::verdict::{self, Verdict};
use super::waits::{self, Waits};
use super::whole_run::{self, Listed};
use super::workers::{self, WorkerShare};
use crate::trace::profile::Profile;
#[cfg(has_requests)]
use crate::trace::requests::Requests;
use crate::trace::summary::Summary;
#[cfg(any(feature = "read", test))]
use crate::trace::timeline::Task;
use crate::trace::timeline::{ExhaustedPool, MachineTime, TaskKey, Timeline};

/// The analysis of a [`Timeline`]: what held the runtime up, and for how long.
///
/// If only a part of the run is kept in detail, the report still covers the whole run: see [`Recording::detail_ns`].
///
/// Its `Display` is the text report, without a newline at its end: print it with `println!`.
///
/// # Examples
///
/// As a check in a program's own tests:
///
/// ```
/// use tokio_statemap::Timeline;
/// use tokio_statemap::report::Issue;
///
/// fn assert_no_long_polls(timeline: &Timeline) {
///     let report = timeline.report();
///     assert!(!matches!(report.issues().first(), Some(Issue::LongPolls(_))), "{report}");
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The verdict: what held the runtime up, or what is known instead.
    pub verdict: Verdict,
    /// The recording, and how much of it is kept.
    pub recording: Recording,
    /// The numbers of tasks, polls and threads.
    pub counts: Counts,
    /// Each worker's time, in the order of their indices. Empty if workers were not recorded.
    pub workers: Vec<WorkerShare>,
    /// All spawn locations, the one that held the runtime longest first.
    pub locations: Vec<LocationRow>,
    /// The program's functions that tasks run which a dependency spawned, or which one line of the program spawned for several
    /// functions, in the order of [`locations`](Self::locations). A location is left out if no such function of its tasks is known.
    pub runs: Vec<LocationRuns>,
    /// The ten longest polls, the longest first.
    pub longest_polls: Vec<LongPoll>,
    /// The functions and spawn locations to blame for the polls that held a worker over `long_poll`.
    pub blame: LongPollBlame,
    /// The functions in which polls computed.
    pub computed: Computed,
    /// The time that the machine took from threads.
    pub machine: MachineTime,
    /// The waits for a thread of the blocking pool, if it was exhausted.
    pub exhausted_pool: Option<ExhaustedPool>,
    /// The time that the calls of instrumented async functions took, in the whole run.
    pub profile: Profile,
    /// The times of spans of `tracing`, in the whole run.
    #[cfg(has_requests)]
    pub requests: Requests,
    /// The lines at which tasks waited.
    pub waits: Waits,
    /// The tasks that still waited at the end at a known place, those that waited longest first. Empty if only root
    /// futures did.
    pub still_waiting: Vec<StillWaiting>,
    /// The critical path of `main`. If there are several root futures, it is that of the one that lived longest. `None` if that one
    /// hasn't ended, if its length depended on no other task, or if the path isn't known.
    pub critical_path: Option<CriticalPath>,
    spelling: Spelling,
}

/// The numbers of tasks, polls and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// The number of tasks, without `main`.
    pub tasks: u64,
    /// The number of tasks that were alive at the end.
    pub live_tasks: u64,
    /// The number of polls, with those of `main`.
    pub polls: u64,
    /// The number of polls that began before or ended after what was recorded.
    pub cut_polls: u64,
    /// The number of polls that still ran at the right edge.
    pub running_polls: u64,
    /// The number of times that `block_in_place` moved a worker to another thread.
    pub handovers: usize,
    /// The number of threads that the blocking pool was seen to have.
    pub blocking_threads: usize,
}

impl Report {
    /// Returns everything that is worth a look, the worst first. Empty for a healthy program.
    pub fn issues(&self) -> &[Issue] {
        self.verdict.issues()
    }

    /// Returns where a task is from, as this report shows it.
    #[cfg(any(feature = "read", test))]
    pub(crate) fn place_of(&self, task: &Task) -> Place {
        self.spelling.place(task)
    }

    /// Returns the place as this report shows it.
    pub(crate) fn spell(&self, place: Place) -> Place {
        self.spelling.spell(place)
    }
}

impl Timeline {
    /// Returns the sums of the whole run, if this timeline lacks older events, which were dropped. Sums since a reset
    /// don't count.
    fn sums_of_more(&self) -> Option<&Summary> {
        let is_part = self.lost.dropped_events > 0 && !self.lacking.time;
        match self.whole_run() {
            Some(sums) if is_part && sums.begin_ns == 0 => Some(sums),
            _ => None,
        }
    }

    /// Works out what held the runtime up, and for how long.
    ///
    /// This takes one pass over the polls, and looks at each task a few dozen times.
    pub fn report(&self) -> Report {
        let sums = self.sums_of_more();
        let recording = Recording::from_timeline(self, sums);
        let found = locations::rank(self);
        let counts = counts(self, sums, &found);
        let workers = match sums {
            Some(sums) => whole_run::workers(sums),
            None => workers::shares(self),
        };
        let mut rows = match sums {
            Some(sums) => whole_run::rows(sums, &found.rows, self.settings.schedule_latency),
            None => found.rows.clone(),
        };
        let spelling = Spelling::from_places(&mut rows.iter().map(|row| row.place));
        for row in &mut rows {
            row.place = spelling.spell(row.place);
        }

        let mut listed = Vec::new();
        match sums {
            Some(sums) => listed = whole_run::longest(self, sums),
            None => {
                for &at in &found.longest {
                    listed.push(Listed::kept(at));
                }
            }
        }
        let long = culprits::find_long_polls(self);
        // One pass over all tasks finds the delays by all polls.
        let mut spans = long.spans_ns();
        let n_long = spans.len();
        for poll in &listed {
            spans.extend(poll.at.map(|at| poll::span_ns(self, at)));
        }
        let mut delays = delay::delays(self, &spans, found.unpolled);
        let mut at: Vec<_> = long.at().collect();
        at.extend(listed.iter().filter_map(|poll| poll.at));
        let behind = behind_lock::find(self, &at);
        for (delay, behind) in delays.iter_mut().zip(&behind) {
            delay.locked_ns = behind.map_or(0, |behind| behind.waited_ns);
        }
        let (of_long, of_listed) = delays.split_at(n_long);
        let longest_polls = self.describe_all(listed, &spelling, of_listed);
        let mut blame = culprits::blame(self, &spelling, long, (of_long, &behind), &rows);
        if let Some(sums) = sums {
            let LongPollBlame { culprits, unattributed, .. } = &mut blame;
            blame.unexplained = whole_run::unexplained(self, sums, &rows, culprits, unattributed);
        }

        let off_worker = match sums.and_then(|sums| whole_run::off_worker(self, sums)) {
            None => found.off_worker.map(Listed::kept),
            of_run => of_run,
        };
        let off_worker =
            off_worker.and_then(|poll| poll.describe(self, &spelling, Delay::default()));
        let waits = waits::find(self);
        let computed = Computed::from_timeline(self);
        let critical_path = CriticalPath::find(self, &spelling);
        let facts = Facts {
            recording: &recording,
            spelling: &spelling,
            workers: &workers,
            rows: &rows,
            kept_rows: &found.rows,
            blame: &blame,
            computed: &computed,
            critical_path: critical_path.as_ref(),
            ready_ns: match sums {
                Some(sums) => whole_run::ready_ns(sums) + found.still_ready_ns,
                None => found.ready_ns,
            },
            unpolled: found.unpolled,
            tasks: counts.tasks,
            off_worker,
        };
        Report {
            verdict: verdict::judge(self, &facts, &waits),
            counts,
            longest_polls,
            machine: self.machine,
            exhausted_pool: self.pool.exhausted,
            profile: self.profile.clone(),
            #[cfg(has_requests)]
            requests: self.requests.clone(),
            waits,
            still_waiting: self.still_waiting(),
            critical_path,
            recording,
            workers,
            runs: runs::find(self, rows.iter().map(|row| row.place)),
            locations: rows,
            blame,
            computed,
            spelling,
        }
    }

    /// Describes polls. `delays` has the delays by those that are kept, in order.
    fn describe_all(
        &self,
        listed: Vec<Listed<'_>>,
        spelling: &Spelling,
        delays: &[Delay],
    ) -> Vec<LongPoll> {
        let mut delays = delays.iter().copied();
        let mut polls = Vec::with_capacity(listed.len());
        for poll in listed {
            let delay = poll.at.and_then(|_| delays.next()).unwrap_or_default();
            let Some(mut poll) = poll.describe(self, spelling, delay) else { continue };
            // The machine is to blame for a part of the delay.
            poll.delay = poll.delay.due_to(poll.own_ns, poll.length_ns);
            polls.push(poll);
        }
        polls
    }
}

fn counts(timeline: &Timeline, sums: Option<&Summary>, found: &locations::Found) -> Counts {
    let mut counts = Counts {
        tasks: 0,
        live_tasks: 0,
        polls: found.polls,
        cut_polls: found.cut_polls,
        running_polls: found.running_polls,
        handovers: timeline.handovers.len(),
        blocking_threads: timeline.pool.threads.len(),
    };
    for task in timeline.tasks.one_by_one() {
        if matches!(task.key, TaskKey::Spawned(_)) {
            counts.tasks += 1;
            counts.live_tasks += u64::from(task.terminated_ns.is_none());
        }
    }
    if let Some(sums) = sums {
        counts.tasks = sums.tasks;
        counts.polls = sums.polls;
        counts.cut_polls = sums.cut_polls;
        counts.running_polls = sums.running_polls;
    }
    counts
}
