//! The lines of two versions, and what their polls did in each.

use std::collections::{BTreeSet, HashMap};

use super::Line;
use super::blocks::{self, QUANTILES};
use super::estimate::Estimate;
use super::functions::{Function, Functions};
use super::pairing;
use super::side::{Figures, Measures};
use crate::analysis::locations::{LocationRow, quantile};
use crate::analysis::long_polls::{PollAt, length_ns, ready_since};
use crate::analysis::own::own_ns;
use crate::analysis::place::Place;
use crate::analysis::report::Report;
use crate::trace::timeline::{Poll, Task, Timeline};

/// What is added to the length of a poll before it is compared, in ns: below that it is how cold the caches are that
/// makes the difference, and the clock.
const LENGTH_FLOOR_NS: u64 = 2_000;

/// The same of how long a task was ready: what it takes to wake a worker up.
const READY_FLOOR_NS: u64 = 100_000;

/// A run.
pub(super) struct Run<'a> {
    pub(super) timeline: &'a Timeline,
    pub(super) report: Report,
    /// The tasks of each place, among those that were seen.
    tasks: HashMap<Place, Vec<usize>>,
}

/// A line, and what its polls did.
pub(super) struct MeasuredLine {
    pub(super) line: Line,
    pub(super) before: Measured,
    pub(super) after: Measured,
}

/// What the polls of a line did in the runs of one version.
pub(super) struct Measured {
    pub(super) figures: Option<Figures>,
    /// The logarithms of the quantiles of blocks of polls, in the order of [`QUANTILES`].
    pub(super) lengths: [Option<Estimate>; QUANTILES.len()],
    /// The quantiles of all polls, in ns, in that order.
    pub(super) quantiles_ns: [u64; QUANTILES.len()],
    /// That of the medians of the times for which tasks were ready.
    pub(super) ready: Option<Estimate>,
    /// How many polls these are of.
    pub(super) polls: u64,
}

impl<'a> Run<'a> {
    pub(super) fn of_all(timelines: &[&'a Timeline]) -> Vec<Self> {
        timelines.iter().map(|&timeline| Self::of(timeline)).collect()
    }

    fn of(timeline: &'a Timeline) -> Self {
        let report = timeline.report();
        let mut tasks: HashMap<Place, Vec<usize>> = HashMap::new();
        for (index, task) in timeline.tasks.seen().iter().enumerate() {
            if !task.polls.is_empty() {
                tasks.entry(report.place_of(task)).or_default().push(index);
            }
        }
        Self { timeline, report, tasks }
    }

    fn polls_of(&self, place: Place) -> impl Iterator<Item = PollAt> {
        let tasks = self.tasks.get(&place).into_iter().flatten();
        tasks.flat_map(|&task| (0..self.task(task).polls.len()).map(move |poll| (task, poll)))
    }

    pub(super) fn task(&self, index: usize) -> &Task {
        &self.timeline.tasks.seen()[index]
    }

    pub(super) fn poll(&self, at: PollAt) -> &Poll {
        &self.task(at.0).polls[at.1]
    }

    /// How long a poll took by its own doing, in ns.
    pub(super) fn own_ns(&self, at: PollAt) -> u64 {
        own_ns(self.timeline, self.poll(at))
    }

    /// What the report has of a place, with wall times: of a run of which only a part is kept there is nothing else to
    /// compare with.
    fn wall_row(&self, place: Place) -> Option<LocationRow> {
        let mut row = *self.report.locations.iter().find(|row| row.place == place)?;
        if self.report.detail_ns.is_none() {
            let polls = self.polls_of(place).map(|at| length_ns(self.timeline, self.poll(at)));
            let mut lengths: Vec<u64> = polls.collect();
            row.longest_ns = lengths.iter().copied().max().unwrap_or_default();
            row.p99_ns = quantile(&mut lengths, 99);
            row.p50_ns = quantile(&mut lengths, 50);
        }
        Some(row)
    }

    /// Whether all of a poll is there, and those around it, too: before the last events only some are kept, the longest.
    pub(super) fn is_comparable(&self, poll: &Poll) -> bool {
        let is_whole = !poll.is_cut_left() && !poll.is_cut_right() && poll.end_ns().is_some();
        is_whole && poll.start_ns() >= self.timeline.recent_ns
    }

    /// The polls at these places, for `measures`, and their lengths and ready times in the order of time.
    fn measure(
        &self,
        polls: impl Iterator<Item = PollAt>,
        measures: &mut Measures,
    ) -> [Vec<u64>; 2] {
        let mut all: Vec<(u64, u64, Option<u64>)> = Vec::new();
        for at in polls {
            let poll = self.poll(at);
            let own_ns = self.own_ns(at);
            let is_on_worker = poll.worker().is_some();
            let ready_ns = ready_since(self.timeline, self.task(at.0), at.1)
                .filter(|_| self.timeline.schedule_latency && is_on_worker)
                .map(|since_ns| poll.start_ns().saturating_sub(since_ns));
            measures.add(own_ns, is_on_worker, ready_ns);
            if self.is_comparable(poll) {
                all.push((poll.start_ns(), own_ns, ready_ns));
            }
        }
        all.sort_unstable_by_key(|(start_ns, ..)| *start_ns);
        let ready = all.iter().filter_map(|(.., ready_ns)| *ready_ns).collect();
        [all.into_iter().map(|(_, own_ns, _)| own_ns).collect(), ready]
    }
}

/// All lines of both versions.
pub(super) fn measured(
    before: &[Run<'_>],
    after: &[Run<'_>],
    is_of_whole_runs: bool,
) -> Vec<MeasuredLine> {
    let places = |runs: &[Run<'_>]| -> BTreeSet<Place> {
        runs.iter().flat_map(|run| run.tasks.keys().copied()).collect()
    };
    let pairs = pairing::pair(&places(before), &places(after));
    let functions = Functions::of(before, after, &pairs);
    let mut lines = Vec::with_capacity(pairs.len());
    for (index, &(old, new)) in pairs.iter().enumerate() {
        let (Some(place), label) = (old.or(new), functions.label(index)) else { continue };
        lines.push(MeasuredLine {
            line: Line {
                frame: label.map(|told| told.frame.clone()),
                act: label.map_or_else(String::new, |told| told.act.clone()),
                place,
                place_after: new.filter(|&new| new != place),
                is_of_function: false,
            },
            before: of_place(before, old, is_of_whole_runs),
            after: of_place(after, new, is_of_whole_runs),
        });
    }
    for (function, told) in functions.of_several_places() {
        let (old, new) = pairs[told.pair];
        let Some(place) = old.or(new) else { continue };
        lines.push(MeasuredLine {
            line: Line {
                frame: Some(told.frame.clone()),
                act: told.act.clone(),
                place,
                place_after: new.filter(|&new| new != place),
                is_of_function: true,
            },
            before: of_function(before, function),
            after: of_function(after, function),
        });
    }
    lines
}

fn of_place(runs: &[Run<'_>], place: Option<Place>, is_of_whole_runs: bool) -> Measured {
    let mut measured = Measured::of(runs, |run| place.into_iter().flat_map(|of| run.polls_of(of)));
    if let Some(place) = place.filter(|_| is_of_whole_runs) {
        let rows: Vec<_> = runs.iter().filter_map(|run| run.wall_row(place)).collect();
        measured.figures = Figures::of_rows(&rows, measured.figures.as_ref());
    }
    measured
}

fn of_function(runs: &[Run<'_>], function: &Function) -> Measured {
    Measured::of(runs, |run| {
        let culprits = run.report.culprits.iter();
        let is_it = |of: &&crate::analysis::Culprit| {
            of.frame.as_ref().is_some_and(|frame| Function::of(frame) == *function)
        };
        culprits.filter(is_it).flat_map(|culprit| culprit.at.iter().copied())
    })
}

impl Measured {
    fn of<'a, I: Iterator<Item = PollAt>>(
        runs: &'a [Run<'a>],
        polls: impl Fn(&'a Run<'a>) -> I,
    ) -> Self {
        let mut measures = Measures::default();
        let mut of_runs: [Vec<Estimate>; QUANTILES.len()] = Default::default();
        let mut of_ready = Vec::new();
        for run in runs {
            let [lengths, ready] = run.measure(polls(run), &mut measures);
            for (estimates, &(percent, least)) in of_runs.iter_mut().zip(&QUANTILES) {
                let blocks = blocks::quantiles(&lengths, percent, least);
                estimates.extend(blocks.as_deref().and_then(|of| logarithms(of, LENGTH_FLOOR_NS)));
            }
            if let Some(medians) = blocks::quantiles(&lengths, 50, 1) {
                measures.add_medians(medians);
            }
            let blocks = blocks::quantiles(&ready, 50, 1);
            of_ready.extend(blocks.as_deref().and_then(|of| logarithms(of, READY_FLOOR_NS)));
        }
        let quantiles_ns = QUANTILES.map(|(percent, _)| measures.quantile(percent));
        let polls = measures.polls();
        Self {
            figures: measures.figures(),
            lengths: of_runs.map(|estimates| Estimate::of_runs(&estimates)),
            quantiles_ns,
            ready: Estimate::of_runs(&of_ready),
            polls,
        }
    }
}

fn logarithms(blocks: &[u64], floor_ns: u64) -> Option<Estimate> {
    let logarithm = |&ns: &u64| (ns.saturating_add(floor_ns) as f64).ln();
    Estimate::of_run(&blocks.iter().map(logarithm).collect::<Vec<_>>())
}
