//! The whole run in sums: per spawn location, per worker, and per stretch of time, in bounded memory.
//!
//! A [`Collector`](crate::Collector) with [`Keep::Last`](crate::Keep::Last) keeps the last `max_events` one by one. What
//! happened before that it has added up: [`Collector::summary`](crate::Collector::summary) tells of all that was recorded,
//! however long ago. [`Timeline::whole_run`](crate::Timeline::whole_run) has the same as it was at a snapshot, also of a run
//! that was read from its files; the report takes its tables from it where events were dropped.

use std::collections::BTreeMap;

use crate::recorder::lost::Lost;
use crate::recorder::stops::{Stop, Stops};
use crate::recorder::sums::{Histogram, Key, LocationSums, LongestPoll, Stretches, Sums};
use crate::trace::event::SpawnLocation;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::TaskKey;

/// What all tasks and workers did, in the whole run.
///
/// The length of a poll is the time that it held its worker: where a task calls `block_in_place`, only up to where the
/// worker went on elsewhere. All numbers are exact, but for those of a [`Distribution`], which are good to 1 %.
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
    /// Since when it is, in ns since recording was first started: 0, or when it was reset last.
    pub begin_ns: u64,
    /// Up to when it is, in ns since recording was first started.
    pub end_ns: u64,
    /// How long was recorded in between, in ns: without the time in which recording was stopped.
    pub recorded_ns: u64,
    /// The periods in between in which recording was stopped, by time: at most 1000. If there were more, those are merged
    /// that are short together.
    pub stopped: Vec<Stopped>,
    /// How many tasks there were; root futures are not counted.
    pub tasks: u64,
    /// How many polls there were, with those that still run.
    pub polls: u64,
    /// How many of them began before, or went on after what was recorded.
    pub cut_polls: u64,
    /// How many of them still run: they count with their lengths so far.
    pub running_polls: u64,
    /// The events that were emitted and aren't in these sums, as nobody could record them: those that were refused
    /// because `max_events` were kept ([`Keep::First`](crate::Keep::First)), and those of hooks that ran within a hook.
    pub missed_events: u64,
    /// The spawn locations, that which held the workers longest first.
    pub locations: Vec<LocationSummary>,
    /// The workers, by rising index. Empty if workers were not recorded.
    pub workers: Vec<WorkerSummary>,
    /// The longest polls, the longest first, at most 1000.
    pub longest_polls: Vec<SummedPoll>,
    /// The length of a stretch of time, in ns. It doubles when there are too many.
    pub stretch_ns: u64,
    /// What happened when: equal stretches of time from `begin_ns` on, at most 2000.
    pub stretches: Vec<Stretch>,
}

/// A period in which recording was stopped; or several ones, with what was recorded between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stopped {
    /// When it began, in ns.
    pub from_ns: u64,
    /// When it ended, in ns.
    pub to_ns: u64,
    /// How long was recorded in it, in ns: 0 if it is one period.
    pub recorded_ns: u64,
    /// How many periods it is.
    pub periods: u64,
}

impl Stopped {
    /// One period.
    pub(crate) const fn new(from_ns: u64, to_ns: u64) -> Self {
        Self { from_ns, to_ns, recorded_ns: 0, periods: 1 }
    }
}

/// What the tasks of one spawn location did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LocationSummary {
    /// Where they were spawned; `None` if that isn't known.
    pub location: Option<SpawnLocation>,
    /// Whether it is the root future of `block_on` rather than spawned tasks.
    pub is_root: bool,
    /// How many tasks. One that did nothing for a whole period between a start and a stop of recording may count
    /// twice.
    pub tasks: u64,
    /// How many of the polls were on workers.
    pub worker_polls: u64,
    /// How long the polls held workers, in ns.
    pub held_ns: u64,
    /// How long the polls ran on threads that are no workers, in ns.
    pub off_worker_ns: u64,
    /// How many of the polls held a worker longer than [`long_poll`](crate::CollectorConfig::long_poll).
    pub long_polls: u64,
    /// How long those held workers, in ns.
    pub long_polls_ns: u64,
    /// The lengths of the polls.
    pub polls: Distribution,
    /// How long the tasks were ready before polls on workers, as far as Tokio told: without `schedule_latency` it is empty.
    pub ready: Distribution,
    /// The sum of that, in ns.
    pub ready_sum_ns: u64,
}

/// How many values there are of each size, to 1 %. The values are in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distribution {
    /// The greatest value, exactly; 0 of no values.
    pub longest_ns: u64,
    /// The upper bounds of the steps that have values, and how many each has, by rising bound.
    pub steps: Vec<(u64, u64)>,
}

impl Distribution {
    fn new(histogram: &Histogram, longest_ns: u64, ns: impl Fn(u64) -> u64) -> Self {
        let steps = histogram.steps().map(|(_, greatest, n)| (ns(greatest).min(longest_ns), n));
        Self { longest_ns, steps: steps.collect() }
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.steps.iter().fold(0, |sum: u64, &(_, n)| sum.saturating_add(n))
    }

    /// The smallest value that at least this share of the values do not exceed, in ns, to 1 %: of 0.5 the median.
    /// `None` of no values. The share is from 0 to 1.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        self.at_rank((self.count() as f64 * share.clamp(0.0, 1.0)).ceil().max(1.0) as u64)
    }

    /// The same of a share in percent, by whole numbers; 0 of no values.
    pub(crate) fn percentile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100);
        self.at_rank(rank as u64).unwrap_or_default()
    }

    /// The value at a rank from 1 on.
    fn at_rank(&self, rank: u64) -> Option<u64> {
        let mut so_far: u64 = 0;
        let mut reached = self.steps.iter().filter(|&&(_, n)| {
            so_far = so_far.saturating_add(n);
            so_far >= rank
        });
        reached.next().or(self.steps.last()).map(|&(bound, _)| bound)
    }
}

/// What a worker did with its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerSummary {
    /// Its index in the runtime.
    pub index: u32,
    /// How long it polled tasks or looked for some, in ns.
    pub running_ns: u64,
    /// How long it was parked, in ns.
    pub parked_ns: u64,
    /// How often it parked.
    pub parks: u64,
    /// How many polls began on it.
    pub polls: u64,
}

/// One of the longest polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummedPoll {
    /// The task that was polled.
    pub task: TaskKey,
    /// Where the task was spawned: the place in [`Summary::locations`].
    pub location: usize,
    /// When it began, in ns.
    pub start_ns: u64,
    /// How long it held its worker, in ns; on a thread that is no worker, how long it ran.
    pub length_ns: u64,
    /// The worker; `None` on a thread that is no worker.
    pub worker: Option<u32>,
    /// Whether it may have been longer: it began before, or went on after what was recorded.
    pub is_cut: bool,
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretch {
    /// How long polls held workers in it, all workers together, in ns.
    pub held_ns: u64,
    /// How many polls began in it.
    pub polls: u64,
    /// The length of the longest of these, in ns.
    pub longest_ns: u64,
    /// Where the task of that one was spawned: the place in [`Summary::locations`]; `None` if none began.
    pub longest_at: Option<usize>,
    /// How many tasks were spawned in it.
    pub spawned: u64,
    /// How many tasks ended in it.
    pub terminated: u64,
}

impl Summary {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let sums = &snapshot.sums;
        let length = |ticks| snapshot.length_ns(ticks);
        // As the timeline has it, which knows the rate at that time.
        let length_at = |LongestPoll { start, length, .. }: LongestPoll| {
            snapshot.ns(start.0.saturating_add(length)) - snapshot.ns(start.0)
        };
        let (locations, places) = locations(snapshot);
        let (begin_ns, end_ns) = (snapshot.ns(sums.from()), snapshot.end_ns);
        let (recorded_ns, stopped) = recorded(snapshot);
        let Lost { refused_events, reentrant_events, .. } = snapshot.lost;
        let poll = |poll: LongestPoll| SummedPoll {
            task: TaskKey::from_id(crate::trace::snapshot::task_id(poll.task.0)),
            location: places[poll.row as usize],
            start_ns: snapshot.ns(poll.start.0),
            length_ns: length_at(poll),
            worker: poll.worker,
            is_cut: poll.is_cut,
        };
        let tracks_workers = snapshot.config.trace_target.tracks_workers();
        let workers = sums.workers.iter().filter(|_| tracks_workers);
        let spawned = locations.iter().filter(|location| !location.is_root);
        let mut longest_polls: Vec<_> = sums.longest.clone().into_sorted().map(poll).collect();
        // By ticks they are sorted already; how long a tick is changes a little.
        longest_polls.sort_by_key(|poll| std::cmp::Reverse(poll.length_ns));
        Self {
            begin_ns,
            end_ns,
            recorded_ns,
            stopped,
            tasks: spawned.map(|location| location.tasks).sum(),
            polls: locations.iter().map(|location| location.polls.count()).sum(),
            cut_polls: sums.cut_polls,
            running_polls: sums.running_polls,
            missed_events: (refused_events + reentrant_events).saturating_sub(sums.missed_before),
            workers: workers
                .map(|&(index, ref worker)| WorkerSummary {
                    index,
                    running_ns: length(worker.running),
                    parked_ns: length(worker.parked),
                    parks: worker.parks,
                    polls: worker.polls,
                })
                .collect(),
            longest_polls,
            stretch_ns: length(sums.stretches.length()),
            stretches: stretches(&sums.stretches, &places, length),
            locations,
        }
    }
}

/// How long was recorded since the sums began, and when it was stopped.
fn recorded(snapshot: &Snapshot) -> (u64, Vec<Stopped>) {
    let begin_ns = snapshot.ns(snapshot.sums.from());
    let (recorded, before) = snapshot.windows_before.since(snapshot.sums.reset_at());
    let mut stops = Stops::default();
    for Stop { from, to, recorded, periods } in before {
        let (from, to) = (snapshot.ns(from), snapshot.ns(to));
        stops.add(Stop { from, to, recorded: snapshot.length_ns(recorded), periods });
    }
    let windows = snapshot.recorded.iter();
    for (before, after) in windows.clone().zip(windows.clone().skip(1)) {
        stops.add(Stop::new(before.1.max(begin_ns), after.0));
    }
    let length_ns = |&(from, to): &(u64, u64)| to.saturating_sub(from.max(begin_ns));
    // What of it was at several times is by the rate of the whole run, which is good to some ns in a second.
    let stopped = |Stop { from, to, recorded, periods }| Stopped {
        recorded_ns: recorded.min(to - from),
        periods,
        ..Stopped::new(from, to)
    };
    let recorded_ns = snapshot.length_ns(recorded) + windows.map(length_ns).sum::<u64>();
    (
        recorded_ns.min(snapshot.end_ns.saturating_sub(begin_ns)),
        stops.into_vec().into_iter().map(stopped).collect(),
    )
}

/// The sums of each location, and which of them each row of the sums is in.
fn locations(snapshot: &Snapshot) -> (Vec<LocationSummary>, Vec<usize>) {
    let Sums { rows, .. } = &snapshot.sums;
    let mut by_place: BTreeMap<(Option<SpawnLocation>, bool), (LocationSums, Vec<usize>)> =
        BTreeMap::new();
    // After a reset there are such of which nothing was seen since.
    let used = rows.iter().enumerate().filter(|(_, row)| row.tasks + row.polls() > 0);
    for (number, row) in used {
        let (location, is_root) = match row.key {
            Key::At(id) => (snapshot.location(id), false),
            Key::Root(root) => (snapshot.root_location(root), true),
            Key::Unknown => (None, false),
        };
        let (sums, numbers) = by_place
            .entry((location, is_root))
            .or_insert_with(|| (LocationSums::new(row.key), Vec::new()));
        sums.merge(row);
        numbers.push(number);
    }
    let mut all: Vec<_> = by_place.into_iter().collect();
    // Stable: of equals the first in the source.
    all.sort_by_key(|(_, (sums, _))| std::cmp::Reverse((sums.held, sums.off_worker)));
    let mut places = vec![0; rows.len()];
    let location = |(place, ((location, is_root), (sums, numbers)))| {
        let numbers: Vec<usize> = numbers;
        numbers.into_iter().for_each(|number| places[number] = place);
        let length = |ticks| snapshot.length_ns(ticks);
        let LocationSums { tasks, worker_polls, held, off_worker, .. } = sums;
        LocationSummary {
            location,
            is_root,
            tasks,
            worker_polls,
            held_ns: length(held),
            off_worker_ns: length(off_worker),
            long_polls: sums.long_polls,
            long_polls_ns: length(sums.long),
            polls: Distribution::new(&sums.lengths, length(sums.longest), length),
            ready: Distribution::new(&sums.ready, sums.longest_ready_ns, |ns| ns),
            ready_sum_ns: sums.ready_sum_ns,
        }
    };
    (all.into_iter().enumerate().map(location).collect(), places)
}

fn stretches(of: &Stretches, places: &[usize], length: impl Fn(u64) -> u64) -> Vec<Stretch> {
    let stretch = |stretch: &crate::recorder::sums::Stretch| Stretch {
        held_ns: length(stretch.held),
        polls: stretch.polls,
        longest_ns: length(stretch.longest.0),
        longest_at: (stretch.polls > 0).then(|| places[stretch.longest.1 as usize]),
        spawned: stretch.spawned,
        terminated: stretch.terminated,
    };
    of.all().iter().map(stretch).collect()
}
