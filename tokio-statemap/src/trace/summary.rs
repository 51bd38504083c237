//! The sums of the whole run per spawn location, per worker, and per stretch of time, in bounded
//! memory.
//!
//! A [`Collector`](crate::Collector) with [`Keep::Last`](crate::Keep::Last) keeps the last
//! `max_events` events and adds up older ones. [`Collector::summary`](crate::Collector::summary)
//! returns the sums of everything recorded so far.
//! [`Timeline::whole_run`](crate::Timeline::whole_run) returns them as of a snapshot, also for a
//! run read from files. The report takes its tables from it if events were dropped.

use crate::recorder::lost::Lost;
use crate::recorder::memory::sums::{Histogram, Key, LocationSums, LongestPoll, Stretches, Sums};
use crate::recorder::window::stops::{Stop, Stops};
use crate::trace::event::SpawnLocation;
use crate::trace::snapshot::Snapshot;
use crate::trace::task_key::TaskKey;
use crate::util::map::Map;

/// The sums of all tasks and workers over the whole run.
///
/// The length of a poll is the time that it held its worker. If the task calls `block_in_place`,
/// it ends when the worker continues on another thread. All numbers are exact, except for those of a
/// [`Distribution`], which are accurate to 1 %.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(not(tokio_unstable))]
/// # return Ok(());
/// use tokio_statemap::{CollectorConfig, register_hooks};
///
/// let mut builder = tokio::runtime::Builder::new_current_thread();
/// let collector = register_hooks(&mut builder, CollectorConfig::default())?;
/// collector.start();
/// let runtime = builder.build()?;
/// runtime.block_on(async {
///     for _ in 0..10 {
///         tokio::spawn(async {}).await.unwrap();
///     }
/// });
/// let summary = collector.summary();
/// for location in &summary.locations {
///     let p99 = location.polls.quantile(0.99);
///     println!("{:?}: {} polls, p99 {p99:?} ns", location.location, location.polls.count());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The start of the sums, in ns since recording was first started: 0, or the last reset.
    pub begin_ns: u64,
    /// The end of the sums, in ns since recording was first started.
    pub end_ns: u64,
    /// The recorded time in between, in ns, without the time in which recording was stopped.
    pub recorded_ns: u64,
    /// The periods in which recording was stopped, by time, at most 1000. If there were more,
    /// neighbouring short ones are merged.
    pub stopped: Vec<Stopped>,
    /// The number of tasks; root futures are not counted.
    pub tasks: u64,
    /// The number of polls, including those still running.
    pub polls: u64,
    /// The number of polls that began before or continued after the recorded time.
    pub cut_polls: u64,
    /// The number of spawned tasks that are alive at the end, or that may be: some may have ended while recording was
    /// stopped. `None` in a run that was read from files.
    pub live_tasks: Option<u64>,
    /// The number of polls still running, which count with their lengths so far.
    pub running_polls: u64,
    /// The polls still running, longest first. Empty in a run that was read from files.
    pub running: Vec<SummedPoll>,
    /// The number of events that are missing in these sums: those refused because `max_events` were
    /// kept ([`Keep::First`](crate::Keep::First)), and those of hooks that ran within a hook.
    pub missed_events: u64,
    /// The spawn locations, the one that held workers longest first.
    pub locations: Vec<LocationSummary>,
    /// The workers, by index. Empty if workers were not recorded.
    pub workers: Vec<WorkerSummary>,
    /// The longest polls, longest first, at most 1000.
    pub longest_polls: Vec<SummedPoll>,
    /// The length of a stretch of time, in ns. It doubles when there are too many stretches.
    pub stretch_ns: u64,
    /// Equal stretches of time from `begin_ns` on, at most 2000.
    pub stretches: Vec<Stretch>,
}

/// A period in which recording was stopped, or several merged ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// The start, in ns.
    pub from_ns: u64,
    /// The end, in ns.
    pub to_ns: u64,
    /// The recorded time between merged periods, in ns: 0 for a single period.
    pub recorded_ns: u64,
    /// The number of merged periods.
    pub periods: u64,
}

impl Stopped {
    /// Creates a single period.
    pub(crate) const fn new(from_ns: u64, to_ns: u64) -> Self {
        Self { from_ns, to_ns, recorded_ns: 0, periods: 1 }
    }
}

/// The sums of the tasks of one spawn location.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocationSummary {
    /// The spawn location; `None` if it is unknown.
    pub location: Option<SpawnLocation>,
    /// `true` for the root future of `block_on`, `false` for spawned tasks.
    pub is_root: bool,
    /// The number of tasks. One that did nothing for a whole period between a start and a stop of
    /// recording may count twice.
    pub tasks: u64,
    /// The number of polls on workers.
    pub worker_polls: u64,
    /// The time that polls held workers, in ns.
    pub held_ns: u64,
    /// The time that polls ran on threads that are no workers, in ns.
    pub off_worker_ns: u64,
    /// The number of polls that held a worker for longer than
    /// [`long_poll`](crate::CollectorConfig::long_poll).
    pub long_polls: u64,
    /// The time that those polls held workers, in ns.
    pub long_polls_ns: u64,
    /// The distribution of the polls' lengths.
    pub polls: Distribution,
    /// The distribution of the times that tasks were ready before polls on workers, by their
    /// wakes, or by Tokio where these aren't seen. Empty without `schedule_latency`.
    pub ready: Distribution,
    /// The sum of these times, in ns.
    pub ready_sum_ns: u64,
}

/// A histogram of times in ns, with a resolution of 1 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distribution {
    /// The largest value, exactly; 0 if there are no values.
    pub longest_ns: u64,
    /// The steps that have values, as upper bound in ns and number of values, sorted by bound. The last bound may
    /// exceed the largest value.
    pub steps: Vec<(u64, u64)>,
}

impl Summary {
    /// Returns it with distributions that end at their longest value, as outputs have them.
    pub(crate) fn limited(mut self) -> Self {
        for location in &mut self.locations {
            for of in [&mut location.polls, &mut location.ready] {
                if let Some((bound, _)) = of.steps.last_mut() {
                    *bound = (*bound).min(of.longest_ns);
                }
            }
        }
        self
    }
}

impl Distribution {
    fn new(histogram: &Histogram, longest_ns: u64, ns: &dyn Fn(u64) -> u64) -> Self {
        let mut steps = Vec::new();
        for (_, greatest, n) in histogram.steps() {
            // Not limited to the longest, or the bound would change with it.
            steps.push((ns(greatest), n));
        }
        Self { longest_ns, steps }
    }

    /// Returns the number of values.
    #[inline(never)]
    pub fn count(&self) -> u64 {
        let mut sum: u64 = 0;
        for &(_, n) in &self.steps {
            sum = sum.saturating_add(n);
        }
        sum
    }

    /// Returns the smallest value that at least this share of the values do not exceed, in ns, to 1
    /// %. A share of 0.5 yields the median. The share is clamped to 0 to 1. `None` if there are no
    /// values.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        self.at_rank((self.count() as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0) as u64)
    }

    /// Returns the quantile for a share in percent, from whole numbers; 0 if there are no values.
    #[inline(never)]
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100);
        self.at_rank(rank as u64).unwrap_or_default()
    }

    /// Returns the value at a rank, from 1.
    fn at_rank(&self, rank: u64) -> Option<u64> {
        let mut so_far: u64 = 0;
        let mut reached = None;
        for &(bound, n) in &self.steps {
            reached = Some(bound.min(self.longest_ns));
            so_far = so_far.saturating_add(n);
            if so_far >= rank {
                break;
            }
        }
        reached
    }
}

/// The sums of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerSummary {
    /// Its index in the runtime.
    pub index: u32,
    /// The time spent polling tasks or looking for some, in ns.
    pub running_ns: u64,
    /// The time parked, in ns.
    pub parked_ns: u64,
    /// The number of parks.
    pub parks: u64,
    /// The number of polls that began on it.
    pub polls: u64,
}

/// One of the longest polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummedPoll {
    /// The task that was polled.
    pub task: TaskKey,
    /// The index of the task's spawn location in [`Summary::locations`].
    pub location: usize,
    /// The start of the poll, in ns.
    pub start_ns: u64,
    /// The time that it held its worker, in ns; on a thread that is no worker, its length.
    pub length_ns: u64,
    /// The worker; `None` on a thread that is no worker.
    pub worker: Option<u32>,
    /// `true` if it may have been longer: it began before or continued after the recorded time.
    pub is_cut: bool,
}

/// The sums of a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// The time that polls held workers, summed over all workers, in ns.
    pub held_ns: u64,
    /// The number of polls that began in it.
    pub polls: u64,
    /// The length of the longest of these polls, in ns.
    pub longest_ns: u64,
    /// The index of that poll's spawn location in [`Summary::locations`]; `None` if no poll began.
    pub longest_at: Option<usize>,
    /// The number of tasks spawned in it.
    pub spawned: u64,
    /// The number of tasks that terminated in it.
    pub terminated: u64,
}

impl Summary {
    pub(crate) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let sums = snapshot.sums();
        let length = |ticks| snapshot.length_ns(ticks);
        // Converts as the timeline does, with the clock rate at that time.
        let length_at = |LongestPoll { start, length, .. }: LongestPoll| {
            snapshot.ns(start.0.saturating_add(length)).saturating_sub(snapshot.ns(start.0))
        };
        let (locations, places) = locations(snapshot);
        let (begin_ns, end_ns) = (snapshot.ns(sums.from()), snapshot.end_ns);
        let (recorded_ns, stopped) = recorded(snapshot);
        let Lost { refused_events, reentrant_events, .. } = snapshot.capture.lost;
        let mut longest_polls = Vec::new();
        for poll in sums.longest.clone().into_sorted() {
            longest_polls.push(SummedPoll {
                task: TaskKey::from_id(crate::trace::snapshot::task_id(poll.task.0)),
                location: places[poll.row as usize],
                start_ns: snapshot.ns(poll.start.0),
                length_ns: length_at(poll),
                worker: poll.worker,
                is_cut: poll.is_cut,
            });
        }
        let mut running = Vec::new();
        for poll in &sums.running {
            running.push(SummedPoll {
                task: TaskKey::from_id(crate::trace::snapshot::task_id(poll.task.0)),
                location: places[poll.row as usize],
                start_ns: snapshot.ns(poll.start.0),
                // As the distribution has it, which counts it, too.
                length_ns: length(poll.length),
                worker: poll.worker,
                is_cut: poll.is_cut,
            });
        }
        crate::util::sort::by_key(&mut running, |poll| std::cmp::Reverse(poll.length_ns));
        // They are sorted by ticks, but the length of a tick changes a little.
        crate::util::sort::by_key(&mut longest_polls, |poll| std::cmp::Reverse(poll.length_ns));
        let mut workers = Vec::new();
        if snapshot.capture.config.trace_target.tracks_workers() {
            for &(index, ref worker) in &sums.workers {
                let (parks, polls) = (worker.parks, worker.polls);
                let (running_ns, parked_ns) = (length(worker.running), length(worker.parked));
                workers.push(WorkerSummary { index, running_ns, parked_ns, parks, polls });
            }
        }
        let (mut tasks, mut polls) = (0_u64, 0_u64);
        for location in &locations {
            tasks = tasks.saturating_add(if location.is_root { 0 } else { location.tasks });
            polls = polls.saturating_add(location.polls.count());
        }
        Self {
            begin_ns,
            end_ns,
            recorded_ns,
            stopped,
            tasks,
            polls,
            cut_polls: sums.cut_polls,
            live_tasks: Some(sums.live_tasks),
            running_polls: sums.running_polls,
            running,
            missed_events: refused_events
                .saturating_add(reentrant_events)
                .saturating_sub(sums.missed_before),
            workers,
            longest_polls,
            stretch_ns: length(sums.stretches.length()),
            stretches: stretches(&sums.stretches, &places, snapshot),
            locations,
        }
    }
}

/// Returns the time recorded since the sums began, and the periods in which it was stopped.
fn recorded(snapshot: &Snapshot) -> (u64, Vec<Stopped>) {
    let begin_ns = snapshot.ns(snapshot.sums().from());
    let (recorded, before) = snapshot.capture.windows_before.since(snapshot.sums().reset_at());
    let mut stops = Stops::default();
    for Stop { from, to, recorded, periods } in before {
        let (from, to) = (snapshot.ns(from), snapshot.ns(to));
        stops.add(Stop { from, to, recorded: snapshot.length_ns(recorded), periods });
    }
    let mut recorded_ns = snapshot.length_ns(recorded);
    let mut stopped_ns = None;
    for &(from_ns, to_ns) in &snapshot.recorded {
        if let Some(stopped_ns) = stopped_ns.replace(to_ns) {
            stops.add(Stop::new(begin_ns.max(stopped_ns), from_ns));
        }
        recorded_ns += to_ns.saturating_sub(from_ns.max(begin_ns));
    }
    let mut stopped = Vec::new();
    for Stop { from, to, recorded, periods } in stops.into_vec() {
        // Times of merged periods use the clock rate of the whole run, which is accurate to some ns
        // in a second.
        let recorded_ns = recorded.min(to - from);
        stopped.push(Stopped { recorded_ns, periods, ..Stopped::new(from, to) });
    }
    (recorded_ns.min(snapshot.end_ns.saturating_sub(begin_ns)), stopped)
}

/// Returns the sums of each location, and the index of the location of each row of the sums.
fn locations(snapshot: &Snapshot) -> (Vec<LocationSummary>, Vec<usize>) {
    let Sums { rows, .. } = snapshot.sums();
    let mut by_place: Map<(Option<SpawnLocation>, bool), (LocationSums, Vec<usize>)> =
        Map::default();
    for (number, row) in rows.iter().enumerate() {
        // After a reset there may be rows without activity since then.
        if row.tasks + row.polls() == 0 {
            continue;
        }
        let (location, is_root) = match row.key {
            Key::At(id) => (snapshot.location(id), false),
            Key::Root(root) => (snapshot.root_location(root), true),
            Key::Unknown => (None, false),
        };
        let (sums, numbers) = by_place
            .get_or_insert_with((location, is_root), || (LocationSums::new(row.key), Vec::new()));
        sums.merge(row);
        numbers.push(number);
    }
    let mut sorted = by_place.into_sorted();
    // The sort is stable: equal ones keep the order of the source.
    crate::util::sort::by_key(&mut sorted, |(_, (sums, _))| {
        std::cmp::Reverse((sums.held, sums.off_worker))
    });
    let mut places = vec![0; rows.len()];
    let mut all = Vec::new();
    let length = |ticks| snapshot.length_ns(ticks);
    for ((location, is_root), (sums, numbers)) in sorted {
        for number in numbers {
            places[number] = all.len();
        }
        let LocationSums { tasks, worker_polls, held, off_worker, .. } = sums;
        all.push(LocationSummary {
            location,
            is_root,
            tasks,
            worker_polls,
            held_ns: length(held),
            off_worker_ns: length(off_worker),
            long_polls: sums.long_polls,
            long_polls_ns: length(sums.long),
            polls: Distribution::new(&sums.lengths, length(sums.longest), &length),
            ready: Distribution::new(&sums.ready, sums.longest_ready_ns, &|ns| ns),
            ready_sum_ns: sums.ready_sum_ns,
        });
    }
    (all, places)
}

fn stretches(of: &Stretches, places: &[usize], snapshot: &Snapshot) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for stretch in of.all() {
        stretches.push(Stretch {
            held_ns: snapshot.length_ns(stretch.held),
            polls: stretch.polls,
            longest_ns: snapshot.length_ns(stretch.longest.0),
            longest_at: (stretch.polls > 0).then(|| places[stretch.longest.1 as usize]),
            spawned: stretch.spawned,
            terminated: stretch.terminated,
        });
    }
    stretches
}
