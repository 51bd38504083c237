//! The lines of two versions, and what their polls did in each.

use std::collections::BTreeSet;

use super::Line;
use super::blocks::{self, QUANTILES};
use super::estimate::Estimate;
use super::functions::{Function, Functions};
use super::pairing;
use super::run::Run;
use super::side::{Figures, Measures};
use crate::analysis::Culprit;
use crate::analysis::place::Place;
use crate::analysis::poll::{PollAt, ready_since};

/// Added to the length of a poll before it is compared, in ns: below this, cold caches and the clock make the
/// difference.
const LENGTH_FLOOR_NS: u64 = 2_000;

/// Added to the time that a task was ready before it is compared, in ns: waking up a worker takes about as long.
const READY_FLOOR_NS: u64 = 100_000;

/// A line, and what its polls did.
pub(super) struct MeasuredLine {
    pub(super) line: Line,
    pub(super) before: Measured,
    pub(super) after: Measured,
}

/// Measurements of the polls of a line in the runs of one version.
pub(super) struct Measured {
    pub(super) figures: Option<Figures>,
    /// Estimates of the logarithms of the quantiles of blocks of polls, in the order of [`QUANTILES`].
    pub(super) lengths: [Option<Estimate>; QUANTILES.len()],
    /// The quantiles of all polls in the same order, in ns.
    pub(super) quantiles_ns: [u64; QUANTILES.len()],
    /// The estimate of the logarithm of the median time that tasks were ready.
    pub(super) ready: Option<Estimate>,
    /// The number of polls.
    pub(super) polls: u64,
}

/// Returns all lines of both versions.
pub(super) fn measured(
    before: &[Run<'_>],
    after: &[Run<'_>],
    is_of_whole_runs: bool,
) -> Vec<MeasuredLine> {
    let places = |runs: &[Run<'_>]| -> BTreeSet<Place> {
        runs.iter().flat_map(|run| run.tasks.keys().copied()).collect()
    };
    let pairs = pairing::pair(&places(before), &places(after));
    let functions = Functions::new(before, after, &pairs);
    let mut lines = Vec::with_capacity(pairs.len());
    for (index, &(old, new)) in pairs.iter().enumerate() {
        let (Some(place), label) = (old.or(new), functions.label(index)) else { continue };
        lines.push(MeasuredLine {
            line: Line {
                frame: label.map(|told| told.frame.clone()),
                blocking_cause: label.map_or_else(String::new, |of| of.blocking_cause.clone()),
                place,
                place_after: new.filter(|&new| new != place),
                is_of_function: false,
            },
            before: measured_at_place(before, old, is_of_whole_runs),
            after: measured_at_place(after, new, is_of_whole_runs),
        });
    }
    for (function, told) in functions.of_several_places() {
        let (old, new) = pairs[told.pair];
        let Some(place) = old.or(new) else { continue };
        lines.push(MeasuredLine {
            line: Line {
                frame: Some(told.frame.clone()),
                blocking_cause: told.blocking_cause.clone(),
                place,
                place_after: new.filter(|&new| new != place),
                is_of_function: true,
            },
            before: measured_of_function(before, function),
            after: measured_of_function(after, function),
        });
    }
    lines
}

fn measured_at_place(runs: &[Run<'_>], place: Option<Place>, is_of_whole_runs: bool) -> Measured {
    let mut measured = Measured::new(runs, |run| place.into_iter().flat_map(|of| run.polls_of(of)));
    if let Some(place) = place.filter(|_| is_of_whole_runs) {
        let rows: Vec<_> = runs.iter().filter_map(|run| run.wall_row(place)).collect();
        measured.figures = Figures::from_rows(&rows, measured.figures.as_ref());
    }
    measured
}

fn measured_of_function(runs: &[Run<'_>], function: &Function) -> Measured {
    Measured::new(runs, |run| {
        let culprits = run.report.blame.culprits.iter();
        let is_it = |culprit: &&Culprit| {
            culprit.frame.as_ref().is_some_and(|frame| Function::from_frame(frame) == *function)
        };
        culprits.filter(is_it).flat_map(|culprit| culprit.at.iter().copied())
    })
}

impl Measured {
    fn new<'a, I: Iterator<Item = PollAt>>(
        runs: &'a [Run<'a>],
        polls: impl Fn(&'a Run<'a>) -> I,
    ) -> Self {
        let mut measures = Measures::default();
        let mut of_runs: [Vec<Estimate>; QUANTILES.len()] = Default::default();
        let mut of_ready = Vec::new();
        for run in runs {
            let [lengths, ready] = measure(run, polls(run), &mut measures);
            for (estimates, &(percent, least)) in of_runs.iter_mut().zip(&QUANTILES) {
                let blocks = blocks::quantiles(&lengths, percent, least);
                estimates.extend(
                    blocks.as_deref().and_then(|blocks| logarithms(blocks, LENGTH_FLOOR_NS)),
                );
            }
            if let Some(medians) = blocks::quantiles(&lengths, 50, 1) {
                measures.add_medians(medians);
            }
            let blocks = blocks::quantiles(&ready, 50, 1);
            of_ready
                .extend(blocks.as_deref().and_then(|blocks| logarithms(blocks, READY_FLOOR_NS)));
        }
        let quantiles_ns = QUANTILES.map(|(percent, _)| measures.quantile(percent));
        let polls = measures.polls();
        Self {
            figures: measures.figures(),
            lengths: of_runs.map(|estimates| Estimate::from_runs(&estimates)),
            quantiles_ns,
            ready: Estimate::from_runs(&of_ready),
            polls,
        }
    }
}

/// Adds polls to `measures`, and returns their lengths and ready times in the order of time.
fn measure(
    run: &Run<'_>,
    polls: impl Iterator<Item = PollAt>,
    measures: &mut Measures,
) -> [Vec<u64>; 2] {
    let mut all: Vec<(u64, u64, Option<u64>)> = Vec::new();
    for at in polls {
        let poll = run.poll(at);
        let own_ns = run.own_ns(at);
        let is_on_worker = poll.worker().is_some();
        let ready_ns = ready_since(run.timeline, run.task(at.0), at.1)
            .filter(|_| run.timeline.settings.schedule_latency && is_on_worker)
            .map(|since_ns| poll.start_ns().saturating_sub(since_ns));
        measures.add(own_ns, is_on_worker, ready_ns);
        if run.is_comparable(poll) {
            all.push((poll.start_ns(), own_ns, ready_ns));
        }
    }
    all.sort_unstable_by_key(|(start_ns, ..)| *start_ns);
    let ready = all.iter().filter_map(|(.., ready_ns)| *ready_ns).collect();
    [all.into_iter().map(|(_, own_ns, _)| own_ns).collect(), ready]
}

fn logarithms(blocks: &[u64], floor_ns: u64) -> Option<Estimate> {
    let logarithm = |&ns: &u64| (ns.saturating_add(floor_ns) as f64).ln();
    Estimate::from_blocks(&blocks.iter().map(logarithm).collect::<Vec<_>>())
}
