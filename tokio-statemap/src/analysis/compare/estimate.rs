//! The middle of consecutive blocks, and its standard error.

/// The share of the blocks that is left out on each side, as bursts and other exceptions would distort the mean.
const TRIMMED: f64 = 0.2;

/// The least number of batches that shows their spread.
const LEAST_BATCHES: usize = 5;

/// The least error, as a logarithm: the clock's error, and 1 % that doesn't matter.
const LEAST_ERROR: f64 = 0.01;

/// The middle of blocks, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) middle: f64,
    pub(super) error: f64,
    /// The degrees of freedom that the error has.
    pub(super) freedom: f64,
}

impl Estimate {
    /// Returns the trimmed mean of a run's blocks, which are in the order of time, with its error by their winsorized
    /// variance (Yuen). Blocks that depend on earlier ones tell less than their number suggests, so the error is the
    /// largest of the errors by means of one, two and four blocks.
    pub(super) fn from_blocks(blocks: &[f64]) -> Option<Self> {
        let n = blocks.len();
        if n < super::blocks::LEAST_BLOCKS {
            return None;
        }
        let mut sorted = blocks.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let trimmed = (n as f64 * TRIMMED) as usize;
        let kept = &sorted[trimmed..n - trimmed];
        let (low, high) = (kept[0], kept[kept.len() - 1]);
        let winsorized: Vec<f64> = blocks.iter().map(|block| block.clamp(low, high)).collect();
        let rest = kept.len() as f64 / n as f64;
        let error_by = |length: usize| {
            // The rest at the end is too short for a batch.
            let batches: Vec<f64> = winsorized.chunks_exact(length).map(mean).collect();
            let enough = length == 1 || batches.len() >= LEAST_BATCHES;
            enough.then(|| (variance(&batches) / batches.len() as f64).sqrt() / rest)
        };
        let error = [1, 2, 4].into_iter().filter_map(error_by).fold(LEAST_ERROR, f64::max);
        Some(Self { middle: mean(kept), error, freedom: kept.len() as f64 - 1.0 })
    }

    /// Returns the mean of several runs, whose spread adds to the error.
    pub(super) fn from_runs(runs: &[Self]) -> Option<Self> {
        let n = runs.len() as f64;
        let middles: Vec<f64> = runs.iter().map(|run| run.middle).collect();
        let within = runs.iter().map(|run| run.error.powi(2)).sum::<f64>() / (n * n);
        let between = if runs.len() > 1 { variance(&middles) / n } else { 0.0 };
        Some(Self {
            middle: mean(&middles),
            error: (within + between).sqrt(),
            freedom: runs.iter().map(|run| run.freedom).min_by(f64::total_cmp)?,
        })
    }

    /// Returns by how much `after` is greater, with Welch's degrees of freedom.
    pub(super) fn difference(before: Self, after: Self) -> Self {
        let error = before.error.hypot(after.error);
        let part = |side: Self| side.error.powi(4) / side.freedom;
        Self {
            middle: after.middle - before.middle,
            error,
            freedom: error.powi(4) / (part(before) + part(after)),
        }
    }

    /// Returns the number of standard errors that the mean's deviation exceeds with the probability `chance`
    /// (two-sided, Student's t).
    pub(super) fn errors(&self, chance: f64) -> f64 {
        student(normal(chance / 2.0), self.freedom)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len() as f64 - 1.0).max(1.0)
}

/// Returns the value that a normal variable exceeds with this probability, to 0.0005 (Abramowitz and Stegun, 26.2.23).
fn normal(chance: f64) -> f64 {
    let t = (-2.0 * chance.clamp(1e-30, 0.5).ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - above / below
}

/// Returns the corresponding value of Student's distribution, from that of a normal one (Abramowitz and Stegun,
/// 26.7.5).
fn student(normal: f64, freedom: f64) -> f64 {
    let square = normal * normal;
    let first = normal * (square + 1.0) / 4.0;
    let second = normal * (5.0 * square * square + 16.0 * square + 3.0) / 96.0;
    normal + first / freedom + second / (freedom * freedom)
}

/// Returns the middle value, or the mean of the two middle ones.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let high = *values.get(values.len() / 2)?;
    let low = values[(values.len() - 1) / 2];
    Some(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_do_not_move_the_middle_and_widen_the_error() {
        let quiet: Vec<f64> = (0..20).map(|n| f64::from(n % 2) / 10.0).collect();
        let of_quiet = Estimate::from_blocks(&quiet).expect("there are enough");
        let mut burst = quiet.clone();
        burst[8..11].iter_mut().for_each(|block| *block += 5.0);
        let of_burst = Estimate::from_blocks(&burst).expect("there are enough");
        assert!((of_burst.middle - of_quiet.middle).abs() < 0.05, "{of_burst:?}, {of_quiet:?}");
        // The same values, once in turns and once one half after the other.
        let mut sorted = quiet;
        sorted.sort_unstable_by(f64::total_cmp);
        let of_sorted = Estimate::from_blocks(&sorted).expect("there are enough");
        assert!((of_sorted.middle - of_quiet.middle).abs() < 1e-12);
        assert!(of_sorted.error > 1.5 * of_quiet.error, "{of_sorted:?}, {of_quiet:?}");
        assert_eq!(Estimate::from_blocks(&[1.0; 5]), None);
    }

    #[test]
    fn runs_that_differ_tell_less() {
        let run = |middle| Estimate { middle, error: 0.01, freedom: 11.0 };
        let alike = Estimate::from_runs(&[run(1.0), run(1.0), run(1.0)]).expect("there are some");
        let apart = Estimate::from_runs(&[run(0.5), run(1.0), run(1.5)]).expect("there are some");
        assert!(alike.error < 0.01 && apart.error > 0.2, "{alike:?}, {apart:?}");
        assert_eq!(Estimate::from_runs(&[]), None);
    }

    /// The expected values are from tables of both distributions.
    #[test]
    fn chances_are_those_of_the_tables() {
        for (chance, expected) in [(0.025, 1.960), (0.005, 2.576), (0.0005, 3.291)] {
            assert!((normal(chance) - expected).abs() < 0.001, "{chance}");
        }
        for (freedom, expected) in [(11.0, 3.106), (20.0, 2.845), (100.0, 2.626)] {
            let found = Estimate { middle: 0.0, error: 1.0, freedom }.errors(0.01);
            assert!((found - expected).abs() < 0.02, "{freedom}: {found}");
        }
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
