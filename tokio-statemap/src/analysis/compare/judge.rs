//! Decides which differences are more than chance.

use super::blocks::QUANTILES;
use super::estimate::{Estimate, median};
use super::lines::{Measured, MeasuredLine};
use super::run::Run;
use super::side::taken_ns;

/// The probability that anything is called a change although nothing changed, if runs of one program differed by no
/// more than each run suggests. They differ by more, which [`least`] allows for.
const CHANCE: f64 = 0.05;

/// The least number of other lines that show what the machine did.
const ENOUGH_OTHERS: usize = 3;

/// With at most this many lines, each is compared with all others but itself. With more, one line makes no difference.
const FEW_LINES: usize = 50;

/// The least number of runs of each version that shows their spread.
const SEVERAL_RUNS: usize = 3;

/// The least change that is worth a line, as 1/n of the recorded time.
const WORTH_A_LINE: u64 = 10_000;

/// The largest share of the time of polls that the machine may have taken if ready times are to be compared.
const TAKEN_WHILE_READY: f64 = 0.02;

/// The number of polls beyond a quantile must be this many times the number that the machine may have made long.
const BEYOND: f64 = 4.0;

/// The change of a time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// It is longer than before, by more than chance.
    Longer(Factor),
    /// It is shorter than before, by more than chance.
    Shorter(Factor),
    /// The difference is no larger than between two runs of one program.
    Same(Factor),
    /// There are too few polls to tell, before or after.
    TooFew,
    /// The change isn't known: the time wasn't recorded, or the machine took too much of it.
    Unknown,
}

impl Change {
    /// Returns whether the time is longer or shorter than before.
    pub fn is_a_change(self) -> bool {
        matches!(self, Self::Longer(_) | Self::Shorter(_))
    }

    /// Returns the factor by which the time differs, if that is known.
    pub fn factor(self) -> Option<Factor> {
        match self {
            Self::Longer(factor) | Self::Shorter(factor) | Self::Same(factor) => Some(factor),
            Self::TooFew | Self::Unknown => None,
        }
    }
}

/// The factor by which something takes longer than before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Factor {
    /// The quantile, in percent: 50 for the median. If several changed, it is the one that shows the change most
    /// clearly.
    pub percent: u8,
    /// The factor.
    pub factor: f64,
    /// The lower bound of the factor, by how much it varies within runs and between them, corrected for the number of
    /// comparisons.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The changes of the lines, in their order.
pub(super) struct Judged {
    pub(super) lines: Vec<JudgedLine>,
    pub(super) common_factor: Option<f64>,
    pub(super) common_ready_factor: Option<f64>,
    pub(super) quantiles: Vec<u8>,
}

/// The changes of a line.
pub(super) struct JudgedLine {
    pub(super) polls: Change,
    pub(super) ready: Change,
    pub(super) extra_ns: i64,
}

pub(super) fn judge(before: &[Run<'_>], after: &[Run<'_>], lines: &[MeasuredLine]) -> Judged {
    let has_several = before.len().min(after.len()) >= SEVERAL_RUNS;
    let machine = Machine::from_runs(before.iter().chain(after));
    let is_judged = |percent: u8| machine.leaves(percent);
    let quantiles: Vec<usize> =
        (0..QUANTILES.len()).filter(|&index| is_judged(QUANTILES[index].0)).collect();
    let lengths = Table::new(lines, &quantiles, |line, quantile| line.lengths[quantile]);
    let ready = Table::new(lines, &[0], |line, _| line.ready);
    let recorded_ns: u64 = after.iter().map(|run| run.timeline.recorded_ns()).sum();
    let judged = lines.iter().enumerate().map(|(index, line)| {
        let mut changes = Changes::default();
        for (place, &quantile) in quantiles.iter().enumerate() {
            let Some(difference) = lengths.columns[place][index] else { continue };
            let (percent, _) = QUANTILES[quantile];
            let common = lengths.common(lines, place, index);
            let found =
                lengths.change(percent, difference, common, least(percent, common, has_several));
            let extra_ns = extra_ns(line, quantile, common);
            let is_worth_it = extra_ns.unsigned_abs() >= recorded_ns / WORTH_A_LINE;
            changes.add(found, extra_ns, is_worth_it);
        }
        let waits = match (machine.takes_little(), ready.columns[0][index]) {
            (false, _) => Change::Unknown,
            (true, None) => Change::TooFew,
            (true, Some(difference)) => {
                let common = ready.common(lines, 0, index);
                let least = least_ready(common);
                ready.change(50, difference, common, least).0
            }
        };
        let is_any_ready =
            |of: &Measured| of.figures.is_some_and(|figures| figures.ready_p50_ns.is_some());
        let is_ready_known = is_any_ready(&line.before) && is_any_ready(&line.after);
        JudgedLine {
            polls: changes.best.unwrap_or(Change::TooFew),
            ready: if is_ready_known { waits } else { Change::Unknown },
            extra_ns: changes.extra_ns,
        }
    });
    Judged {
        lines: judged.collect(),
        common_factor: lengths.common_factor(lines),
        common_ready_factor: ready.common_factor(lines),
        quantiles: quantiles.iter().map(|&index| QUANTILES[index].0).collect(),
    }
}

/// The common behaviour of the other lines.
#[derive(Clone, Copy, Debug)]
struct Common {
    /// The median of their differences, as a logarithm; 0 if there are too few.
    middle: f64,
    /// The median deviation from that; `None` if there are too few.
    spread: Option<f64>,
}

/// Returns the least factor by which the polls of a line must differ. The other lines, or several runs, show by how
/// much two runs of one program differ. Otherwise threads that share a core may make a factor of 1.5.
fn least(percent: u8, common: Common, has_several_runs: bool) -> f64 {
    let least: f64 = match (has_several_runs, common.spread) {
        (true, _) => 1.2,
        (false, Some(spread)) => (3.0 * spread).exp().clamp(1.4, 1.7),
        (false, None) => 1.6,
    };
    // The slowest polls are few, and have more reasons to be slow.
    least * if percent > 90 { 1.15 } else { 1.0 }
}

/// Returns the least factor by which ready times must differ, which depend on all other tasks.
fn least_ready(common: Common) -> f64 {
    common.spread.map_or(3.0, |spread| (3.0 * spread).exp().clamp(2.0, 4.0))
}

/// Returns how much more time the polls of a line take in sum, if all polls beyond the quantile changed as it did.
fn extra_ns(line: &MeasuredLine, quantile: usize, common: Common) -> i64 {
    let (percent, _) = QUANTILES[quantile];
    let expected_ns = line.before.quantiles_ns[quantile] as f64 * common.middle.exp();
    let difference_ns = line.after.quantiles_ns[quantile] as f64 - expected_ns;
    let share = (f64::from(100 - percent) / 50.0).min(1.0);
    (difference_ns * share * line.after.polls as f64) as i64
}

/// The changes of a line's quantiles.
#[derive(Default)]
struct Changes {
    best: Option<Change>,
    clarity: f64,
    extra_ns: i64,
}

impl Changes {
    fn add(&mut self, (change, clarity): (Change, f64), extra_ns: i64, is_worth_it: bool) {
        let change = match change.factor() {
            Some(factor) if !is_worth_it => Change::Same(factor),
            _ => change,
        };
        if change.is_a_change() && extra_ns.unsigned_abs() > self.extra_ns.unsigned_abs() {
            self.extra_ns = extra_ns;
        }
        let was_a_change = self.best.is_some_and(Change::is_a_change);
        let is_better = match (change.is_a_change(), was_a_change) {
            (true, false) => true,
            // The median comes first, and stays if nothing changed.
            (true, true) => clarity > self.clarity * 1.5,
            _ => self.best.is_none(),
        };
        if is_better {
            (self.best, self.clarity) = (Some(change), clarity);
        }
    }
}

/// The logarithms of the factors by which lines take longer: a column for each quantile.
struct Table {
    columns: Vec<Vec<Option<Estimate>>>,
    /// The probability allowed for any single comparison to be wrong.
    chance: f64,
}

impl Table {
    fn new(
        lines: &[MeasuredLine],
        quantiles: &[usize],
        estimate: impl Fn(&Measured, usize) -> Option<Estimate>,
    ) -> Self {
        let column = |&quantile: &usize| {
            let difference = |line: &MeasuredLine| {
                let before = estimate(&line.before, quantile)?;
                Some(Estimate::difference(before, estimate(&line.after, quantile)?))
            };
            lines.iter().map(difference).collect::<Vec<_>>()
        };
        let columns: Vec<_> = quantiles.iter().map(column).collect();
        let tests = columns.iter().flatten().flatten().count();
        Self { columns, chance: CHANCE / tests.max(1) as f64 }
    }

    /// Returns the differences of the other lines in a column, unless their error is too large.
    fn others(&self, lines: &[MeasuredLine], column: usize, index: Option<usize>) -> Vec<f64> {
        let is_other = |other: &MeasuredLine| {
            let place = index.map(|index| lines[index].line.place);
            !other.line.is_of_function && place != Some(other.line.place)
        };
        let others = lines.iter().zip(&self.columns[column]).filter(|(line, _)| is_other(line));
        let told = others.filter_map(|(_, difference)| *difference);
        let is_solid = |of: &Estimate| of.error * of.errors(self.chance) < std::f64::consts::LN_2;
        told.filter(is_solid).map(|difference| difference.middle).collect()
    }

    fn common(&self, lines: &[MeasuredLine], column: usize, index: usize) -> Common {
        let but = (lines.len() <= FEW_LINES).then_some(index);
        let mut others = self.others(lines, column, but);
        if others.len() < ENOUGH_OTHERS {
            // Whatever makes all medians longer makes the slowest polls longer, too.
            others = self.others(lines, 0, but);
        }
        let is_enough = others.len() >= ENOUGH_OTHERS;
        let Some(middle) = median(others.clone()).filter(|_| is_enough) else {
            return Common { middle: 0.0, spread: None };
        };
        let off = others.iter().map(|other| (other - middle).abs()).collect();
        // Scaled to the standard deviation of a normal distribution.
        Common { middle, spread: median(off).map(|off| 1.4826 * off) }
    }

    /// Returns the factor that all lines have in common in the first column.
    fn common_factor(&self, lines: &[MeasuredLine]) -> Option<f64> {
        let all = self.others(lines, 0, None);
        (all.len() > ENOUGH_OTHERS).then(|| median(all)).flatten().map(f64::exp)
    }

    /// Returns the change that a difference stands for, and how clear it is.
    fn change(&self, percent: u8, of: Estimate, common: Common, least: f64) -> (Change, f64) {
        let off = of.error * of.errors(self.chance);
        let factor = Factor {
            percent,
            factor: of.middle.exp(),
            low: (of.middle - off).exp(),
            high: (of.middle + off).exp(),
        };
        let beyond = of.middle - common.middle;
        let is_change = beyond.abs() > off && beyond.abs() > least.ln();
        let change = match is_change {
            true if beyond > 0.0 => Change::Longer(factor),
            true => Change::Shorter(factor),
            false => Change::Same(factor),
        };
        (change, beyond.abs() / off.max(f64::MIN_POSITIVE))
    }
}

/// The time that the machine took, as a share of the time of all polls, in the run where that share is largest.
struct Machine {
    /// The time in pieces too small to be measured in any poll; `None` if that isn't known.
    hidden: Option<f64>,
    /// The whole time; `None` if that isn't known.
    taken: Option<f64>,
}

impl Machine {
    fn from_runs<'a>(runs: impl Iterator<Item = &'a Run<'a>>) -> Self {
        let mut machine = Self { hidden: Some(0.0), taken: Some(0.0) };
        for run in runs {
            let tasks = run.timeline.tasks.seen().iter();
            let polls = tasks.flat_map(|task| &task.polls);
            let held_ns: u64 = polls.map(|poll| run.timeline.held_ns(poll)).sum();
            let share = |ns: u64| ns as f64 / held_ns.max(1) as f64;
            let taken_ns = taken_ns(run.timeline);
            let known_ns: u64 =
                run.timeline.long_polls.causes.iter().map(|(_, cause)| cause.taken_ns()).sum();
            let greater = |most: Option<f64>, ns: Option<u64>| Some(most?.max(share(ns?)));
            let hidden_ns = taken_ns.map(|ns| ns.saturating_sub(known_ns));
            machine.hidden = greater(machine.hidden, hidden_ns);
            machine.taken = greater(machine.taken, taken_ns);
        }
        machine
    }

    /// Returns whether a quantile is about the program, rather than about the number of polls that the machine made
    /// longer. The machine can't make more polls longer than fit into the time that it took.
    fn leaves(&self, percent: u8) -> bool {
        let beyond = f64::from(100 - percent) / 100.0;
        match self.hidden {
            _ if percent <= 50 => true,
            Some(hidden) => beyond > BEYOND * hidden,
            None => percent <= 75,
        }
    }

    fn takes_little(&self) -> bool {
        self.taken.is_some_and(|taken| taken <= TAKEN_WHILE_READY)
    }
}
