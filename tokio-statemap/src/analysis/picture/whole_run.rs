//! The sums of a whole run, in a picture of which only a part is kept in detail.

use super::bins::Bins;
use crate::analysis::{Place, Report};
use crate::trace::summary::{self, LocationSummary, Stopped, Summary};
use crate::trace::timeline::{TaskKey, Timeline};
use crate::util::quantity::{count, human};

/// The sums of a whole run of which only a part is kept in detail. Times count from the picture's left edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WholeRun {
    /// The begin of the first stretch, and the length of each stretch, in ns.
    pub(crate) from_ns: u64,
    pub(crate) stretch_ns: u64,
    /// The number of workers: polls can hold workers for at most this many times the length of a stretch.
    pub(crate) workers: u64,
    pub(crate) stretches: Vec<Stretch>,
    /// The spawn locations, the one that held the workers longest first.
    pub(crate) places: Vec<PlaceSums>,
    /// The periods that were recorded but of which no detail is kept: from and to, in the order of time.
    pub(crate) dropped: Vec<(u64, u64)>,
    /// A sentence on what is kept in detail, and one on what is kept in sums only.
    pub(crate) detail: [String; 2],
}

/// A spawn location in sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlaceSums {
    pub(crate) label: String,
    pub(crate) tasks: u64,
    pub(crate) polls: u64,
    /// The time that the polls held workers, in ns. On threads that are no workers they hold nothing.
    pub(crate) held_ns: u64,
    /// The length of the longest poll, in ns, and the length that 99 % of the polls did not exceed.
    pub(crate) longest_ns: u64,
    pub(crate) p99_ns: Option<u64>,
    /// The longest time that a task was ready before a poll, in ns; `None` if that isn't known.
    pub(crate) longest_ready_ns: Option<u64>,
    /// The lengths of the polls, and the times that tasks were ready before polls; `None` if none are known.
    pub(crate) lengths: Option<Bins>,
    pub(crate) readies: Option<Bins>,
}

impl PlaceSums {
    fn from_sums(sums: &LocationSummary, report: &Report) -> Self {
        let place = report.spell(Place::new(sums.location, sums.is_root));
        Self {
            label: place.to_string(),
            tasks: sums.tasks,
            polls: sums.polls.count(),
            held_ns: sums.held_ns,
            longest_ns: sums.polls.longest_ns,
            p99_ns: sums.polls.quantile(0.99),
            longest_ready_ns: (sums.ready.count() > 0).then_some(sums.ready.longest_ns),
            lengths: Bins::from_distribution(&sums.polls),
            readies: Bins::from_distribution(&sums.ready),
        }
    }
}

/// The most workers that are assumed if their number isn't known.
const MOST_WORKERS: u64 = 1024;

/// A stretch of time in sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The time that recording was stopped in it, in ns.
    pub(crate) stopped_ns: u64,
    /// The time that polls held workers in it, in ns, summed over workers.
    pub(crate) held_ns: u64,
    /// The number of polls that began in it.
    pub(crate) polls: u64,
    /// The length of the longest of these polls, in ns, and the spawn location of its task, as an index into the
    /// places.
    pub(crate) longest: Option<(u64, usize)>,
    /// The number of tasks that were alive at its end.
    pub(crate) alive: u64,
}

/// Returns the sums of the run, if the timeline is only a part of it and the sums describe the rest.
fn sums(timeline: &Timeline) -> Option<&Summary> {
    let whole = timeline.whole_run()?;
    let is_part = timeline.begin_ns > whole.begin_ns || timeline.recent_ns > timeline.begin_ns;
    let has_polls = timeline.settings.task_hooks && timeline.settings.trace_target.tracks_tasks();
    let is_drawn = is_part && has_polls && !timeline.lacking.time;
    // After a reset, the sums lack what was before.
    let is_whole = whole.begin_ns == 0 && whole.stretch_ns > 0 && !whole.stretches.is_empty();
    (is_drawn && is_whole).then_some(whole)
}

/// Returns when a picture of `timeline` begins, in ns. It begins with the run if there are sums of the dropped part.
pub(super) fn left_ns(timeline: &Timeline) -> u64 {
    sums(timeline).map_or(timeline.begin_ns, |whole| whole.begin_ns.min(timeline.begin_ns))
}

impl WholeRun {
    /// `report` is that of `timeline`. Returns `None` if all of the run is kept in detail, or there are no sums.
    pub(super) fn from_report(timeline: &Timeline, report: &Report) -> Option<Self> {
        let whole = sums(timeline)?;
        let left_ns = left_ns(timeline);
        let (sums, stretch_ns) = up_to_the_end(whole, timeline.end_ns);
        let mut stretches = Vec::with_capacity(sums.len());
        let mut from_ns = whole.begin_ns;
        let mut workers = workers(whole);
        for stretch in &sums {
            let to_ns = from_ns.saturating_add(stretch_ns).min(timeline.end_ns.max(from_ns));
            let longest = stretch.longest_at.map(|at| (stretch.longest_ns, at));
            let stopped_ns = stopped_ns(&whole.stopped, from_ns, to_ns);
            if whole.workers.is_empty() {
                // No worker is held for longer than it exists.
                let recorded_ns = (to_ns - from_ns - stopped_ns).max(1);
                workers = workers.max(stretch.held_ns.div_ceil(recorded_ns).min(MOST_WORKERS));
            }
            stretches.push(Stretch {
                stopped_ns,
                held_ns: stretch.held_ns,
                polls: stretch.polls,
                longest,
                alive: 0,
            });
            from_ns = from_ns.saturating_add(stretch_ns);
        }
        count_alive(timeline, &sums, &mut stretches);
        let mut places = Vec::with_capacity(whole.locations.len());
        for location in &whole.locations {
            places.push(PlaceSums::from_sums(location, report));
        }
        let mut dropped = dropped(timeline, whole, left_ns);
        let detail = detail(timeline, whole, &dropped);
        for (from_ns, to_ns) in &mut dropped {
            (*from_ns, *to_ns) = (*from_ns - left_ns, *to_ns - left_ns);
        }
        Some(Self {
            from_ns: whole.begin_ns - left_ns,
            stretch_ns,
            workers,
            stretches,
            places,
            detail,
            dropped,
        })
    }
}

impl WholeRun {
    /// Splits `gaps`, which are in the order of time, into those that were dropped and those in which recording was
    /// stopped.
    pub(super) fn split_gaps(&self, gaps: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut parts = Vec::new();
        let mut add = |from_ns: u64, to_ns: u64| {
            if from_ns < to_ns {
                parts.push((from_ns, to_ns));
            }
        };
        for &(gap_ns, end_ns) in gaps {
            let mut from_ns = gap_ns;
            for &(dropped_ns, to_ns) in &self.dropped {
                let (dropped_ns, to_ns) = (dropped_ns.max(gap_ns), to_ns.min(end_ns));
                if dropped_ns < to_ns {
                    add(from_ns, dropped_ns);
                    add(dropped_ns, to_ns);
                    from_ns = to_ns;
                }
            }
            add(from_ns, end_ns);
        }
        parts
    }

    /// Returns the share of the workers' time that was in polls, for each of `n` equal parts of a picture of that
    /// length; `None` where nothing was recorded.
    pub(crate) fn shares(&self, n: usize, length_ns: u64) -> Vec<Option<f64>> {
        let part_ns = length_ns as f64 / n.max(1) as f64;
        let mut sums = vec![(0.0, 0.0); n];
        let mut from_ns = self.from_ns;
        for stretch in &self.stretches {
            let to_ns = from_ns.saturating_add(self.stretch_ns).min(length_ns);
            let (from, to) = (from_ns as f64, to_ns as f64);
            let recorded_ns = to_ns.saturating_sub(from_ns).saturating_sub(stretch.stopped_ns);
            let first = (from / part_ns) as usize;
            for (part, sum) in sums.iter_mut().enumerate().skip(first) {
                let begin = part as f64 * part_ns;
                if begin >= to {
                    break;
                }
                let within = ((begin + part_ns).min(to) - begin.max(from)).max(0.0) / (to - from);
                sum.0 += stretch.held_ns as f64 * within;
                sum.1 += recorded_ns as f64 * within * self.workers as f64;
            }
            from_ns = to_ns;
        }
        let mut shares = Vec::with_capacity(n);
        for (held, whole) in sums {
            shares.push((whole > 0.0).then(|| (held / whole).min(1.0)));
        }
        shares
    }
}

/// The most stretches of a picture.
const MOST: u64 = 2000;

/// Returns the stretches of the run up to its end, and the length of each. The sums end with the last poll, but the run
/// may have gone on for long.
fn up_to_the_end(whole: &Summary, end_ns: u64) -> (Vec<summary::Stretch>, u64) {
    let (mut stretches, mut stretch_ns) = (whole.stretches.clone(), whole.stretch_ns);
    let length_ns = end_ns.saturating_sub(whole.begin_ns);
    while length_ns.div_ceil(stretch_ns) > MOST {
        let halves = stretches.len().div_ceil(2);
        for half in 0..halves {
            let (first, second) = (stretches[2 * half], stretches.get(2 * half + 1));
            stretches[half] = second.map_or(first, |second| merged(&first, second));
        }
        stretches.truncate(halves);
        stretch_ns *= 2;
    }
    let n = length_ns.div_ceil(stretch_ns) as usize;
    while stretches.len() < n {
        stretches.push(NOTHING);
    }
    (stretches, stretch_ns)
}

/// A stretch in which no poll began, and no task began or ended.
const NOTHING: summary::Stretch = summary::Stretch {
    held_ns: 0,
    polls: 0,
    longest_ns: 0,
    longest_at: None,
    spawned: 0,
    terminated: 0,
};

fn merged(a: &summary::Stretch, b: &summary::Stretch) -> summary::Stretch {
    let (longest_ns, longest_at) = (a.longest_ns, a.longest_at).max((b.longest_ns, b.longest_at));
    summary::Stretch {
        held_ns: a.held_ns.saturating_add(b.held_ns),
        polls: a.polls.saturating_add(b.polls),
        longest_ns,
        longest_at,
        spawned: a.spawned.saturating_add(b.spawned),
        terminated: a.terminated.saturating_add(b.terminated),
    }
}

/// Counts the tasks that were alive at the end of each stretch, backwards: the number at the end is known, but the one
/// at the begin of the sums may not be.
fn count_alive(timeline: &Timeline, sums: &[summary::Stretch], stretches: &mut [Stretch]) {
    let mut alive: u64 = 0;
    for task in timeline.tasks.one_by_one() {
        let is_spawned = matches!(task.key, TaskKey::Spawned(_));
        alive += u64::from(is_spawned && task.terminated_ns.is_none());
    }
    for at in (0..sums.len()).rev() {
        stretches[at].alive = alive;
        alive = alive.saturating_add(sums[at].terminated).saturating_sub(sums[at].spawned);
    }
}

/// Returns the number of workers. If workers were not recorded, it is the least number that fits the longest polls.
fn workers(whole: &Summary) -> u64 {
    let mut workers = (whole.workers.len() as u64).max(1);
    for poll in &whole.longest_polls {
        workers = workers.max(poll.worker.map_or(0, |index| u64::from(index) + 1));
    }
    workers
}

/// Returns how long recording was stopped in a stretch of time, in ns. If periods were merged, the time recorded
/// between them is assumed to be spread evenly.
fn stopped_ns(stopped: &[Stopped], from_ns: u64, to_ns: u64) -> u64 {
    let first = stopped.partition_point(|stopped| stopped.to_ns <= from_ns);
    let mut stopped_ns = 0;
    for of in &stopped[first..] {
        if of.from_ns >= to_ns {
            break;
        }
        let part_ns = of.to_ns.min(to_ns) - of.from_ns.max(from_ns);
        let recorded = u128::from(part_ns) * u128::from(of.recorded_ns);
        stopped_ns += part_ns - (recorded / u128::from(of.to_ns - of.from_ns).max(1)) as u64;
    }
    stopped_ns
}

/// Returns the periods before the last events in which recording was on, but which are not kept as the surroundings of
/// a long poll.
fn dropped(timeline: &Timeline, whole: &Summary, left_ns: u64) -> Vec<(u64, u64)> {
    let mut kept: Vec<_> = timeline.stretches_before().collect();
    kept.push((timeline.recent_ns, timeline.end_ns));
    // If periods were merged, it isn't known at which times in them something was recorded.
    for stopped in &whole.stopped {
        if stopped.recorded_ns == 0 {
            kept.push((stopped.from_ns, stopped.to_ns));
        }
    }
    crate::util::sort::sort(&mut kept);
    let mut dropped = Vec::new();
    let mut from_ns = left_ns;
    for (kept_ns, to_ns) in kept {
        let until_ns = kept_ns.min(timeline.recent_ns);
        if from_ns < until_ns {
            dropped.push((from_ns, until_ns));
        }
        from_ns = from_ns.max(to_ns);
    }
    dropped
}

/// Returns a sentence on what is kept in detail, and one on the rest: "In detail: the last 1.05 s, and 16 moments
/// before, around the longest polls (704 ms)." and "In sums only: the other 18.4 s."
fn detail(timeline: &Timeline, whole: &Summary, dropped: &[(u64, u64)]) -> [String; 2] {
    let recent = human(timeline.end_ns - timeline.recent_ns);
    let (mut moments, mut moments_ns) = (0, 0);
    for (from_ns, to_ns) in timeline.stretches_before() {
        moments += 1;
        moments_ns += to_ns - from_ns;
    }
    let around = match moments {
        0 => String::new(),
        n => {
            let length = human(moments_ns);
            format!(", and {} before, around the longest polls ({length})", count(n, "moment"))
        }
    };
    let mut rest_ns = 0;
    for &(from_ns, to_ns) in dropped {
        rest_ns += to_ns - from_ns - stopped_ns(&whole.stopped, from_ns, to_ns);
    }
    let rest = human(rest_ns);
    [format!("In detail: the last {recent}{around}."), format!("In sums only: the other {rest}.")]
}
