//! The figures of the runs of one version.

use super::run::Run;
use crate::analysis::lengths::quantile;
use crate::analysis::locations::LocationRow;
use crate::analysis::workers::busy_share;
use crate::trace::timeline::{MachineTime, SamplingState, Timeline};

/// The runs of one version.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Side {
    /// The number of runs.
    pub runs: usize,
    /// The time that they recorded in sum, in ns.
    pub recorded_ns: u64,
    /// The part of that which is kept in detail, in ns; `None` if all of it is.
    pub detail_ns: Option<u64>,
    /// The number of tasks.
    pub tasks: u64,
    /// The number of polls.
    pub polls: u64,
    /// The share of the workers' time that they were running, from 0 to 1; `None` if workers were not recorded.
    pub busy_share: Option<f64>,
    /// The time that threads were ready to run but the machine had taken the processor, in ns, summed over threads;
    /// `None` if that isn't known.
    pub taken_ns: Option<u64>,
    /// `true` if it is known when tasks became ready.
    pub schedule_latency: bool,
    /// `true` if tasks are known.
    pub has_tasks: bool,
}

impl Side {
    pub(super) fn from_runs(runs: &[Run<'_>]) -> Self {
        let sum = |figure: &dyn Fn(&Run<'_>) -> u64| {
            runs.iter().fold(0, |sum: u64, run| sum.saturating_add(figure(run)))
        };
        let detail_ns = |run: &Run<'_>| run.report.recording.detail_ns;
        let is_part = runs.iter().any(|run| detail_ns(run).is_some());
        let workers: Vec<_> = runs.iter().flat_map(|run| run.report.workers.clone()).collect();
        let taken = runs.iter().map(|run| taken_ns(run.timeline));
        Self {
            runs: runs.len(),
            recorded_ns: sum(&|run| run.report.recording.recorded_ns),
            detail_ns: is_part
                .then(|| sum(&|run| detail_ns(run).unwrap_or(run.report.recording.recorded_ns))),
            tasks: sum(&|run| run.report.counts.tasks),
            polls: sum(&|run| run.report.counts.polls),
            busy_share: busy_share(&workers),
            taken_ns: taken.sum(),
            schedule_latency: runs.iter().all(|run| run.timeline.settings.schedule_latency),
            has_tasks: runs.iter().all(|run| run.report.recording.has_tasks()),
        }
    }
}

/// Returns how long threads were ready to run but the machine had taken the processor, in ns, summed over threads;
/// `None` if that isn't known.
pub(super) fn taken_ns(timeline: &Timeline) -> Option<u64> {
    let MachineTime { run_delay_ns, stolen_ns, .. } = timeline.machine;
    let is_known = timeline.long_polls.sampling.state == SamplingState::On;
    is_known.then(|| run_delay_ns.saturating_add(stolen_ns))
}

/// The figures of the polls of a line in the runs of one version.
///
/// Lengths are own time, without the time that the machine took. If only a part of a whole run is kept, lengths are wall
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Figures {
    /// The number of polls.
    pub polls: u64,
    /// The time that they held workers, in ns.
    pub held_ns: u64,
    /// The longest, in ns.
    pub longest_ns: u64,
    /// The median, in ns.
    pub p50_ns: u64,
    /// The length that 99 % of the polls did not exceed, in ns.
    pub p99_ns: u64,
    /// The middle half of the medians of all blocks of polls, as a range in ns: it shows how much the median varies
    /// within a run and between runs. `None` if there are too few polls.
    pub p50_spread_ns: Option<(u64, u64)>,
    /// The median of how long tasks were ready before polls on workers, in ns; `None` if that isn't known.
    pub ready_p50_ns: Option<u64>,
    /// The longest time that one was ready, in ns.
    pub longest_ready_ns: Option<u64>,
}

impl Figures {
    /// Returns the figures of whole runs: those of their sums, and of their detail those that the sums lack.
    pub(super) fn from_rows(rows: &[LocationRow], detail: Option<&Self>) -> Option<Self> {
        let sum = |figure: fn(&LocationRow) -> u64| {
            rows.iter().fold(0, |sum: u64, row| sum.saturating_add(figure(row)))
        };
        let middle = |figure: fn(&LocationRow) -> u64| {
            quantile(&mut rows.iter().map(figure).collect::<Vec<_>>(), 50)
        };
        Some(Self {
            polls: sum(|row| row.polls),
            held_ns: sum(|row| row.held_ns),
            longest_ns: rows.iter().map(|row| row.longest_ns).max()?,
            p50_ns: middle(|row| row.p50_ns),
            p99_ns: middle(|row| row.p99_ns),
            p50_spread_ns: detail.and_then(|detail| detail.p50_spread_ns),
            ready_p50_ns: detail.and_then(|detail| detail.ready_p50_ns),
            longest_ready_ns: rows.iter().filter_map(|row| row.longest_ready_ns).max(),
        })
    }
}

/// Adds up the figures of polls.
#[derive(Default)]
pub(super) struct Measures {
    lengths: Vec<u64>,
    held_ns: u64,
    ready: Vec<u64>,
    /// The medians of blocks of polls.
    medians: Vec<u64>,
}

impl Measures {
    pub(super) fn add(&mut self, own_ns: u64, is_on_worker: bool, ready_ns: Option<u64>) {
        self.lengths.push(own_ns);
        if is_on_worker {
            self.held_ns = self.held_ns.saturating_add(own_ns);
        }
        self.ready.extend(ready_ns);
    }

    pub(super) fn add_medians(&mut self, medians: Vec<u64>) {
        self.medians.extend(medians);
    }

    pub(super) fn polls(&self) -> u64 {
        self.lengths.len() as u64
    }

    pub(super) fn quantile(&mut self, percent: u8) -> u64 {
        quantile(&mut self.lengths, percent.into())
    }

    /// Returns `None` if there are no polls.
    pub(super) fn figures(mut self) -> Option<Figures> {
        let longest_ns = self.lengths.iter().copied().max()?;
        let medians = &mut self.medians;
        let is_enough = !medians.is_empty();
        Some(Figures {
            polls: self.lengths.len() as u64,
            held_ns: self.held_ns,
            longest_ns,
            p50_spread_ns: is_enough.then(|| (quantile(medians, 25), quantile(medians, 75))),
            p50_ns: quantile(&mut self.lengths, 50),
            p99_ns: quantile(&mut self.lengths, 99),
            longest_ready_ns: self.ready.iter().copied().max(),
            ready_p50_ns: (!self.ready.is_empty()).then(|| quantile(&mut self.ready, 50)),
        })
    }
}
