//! The lengths of polls or waits: quantiles, and the number of each size.

/// The time that the polls or waits of an issue took, in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lengths {
    /// The median.
    pub p50_ns: u64,
    /// The length that 99 % of them did not exceed.
    pub p99_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// The number of polls or waits of each size: the upper bound of a step, in ns, and the number in it. The bounds
    /// are 1, 2, 5, 10 and so on, from the first step that isn't empty to the last.
    pub steps: Vec<(u64, u64)>,
}

impl Lengths {
    pub(crate) fn from_ns(mut lengths_ns: Vec<u64>) -> Self {
        let longest_ns = quantile(&mut lengths_ns, 100);
        let p99_ns = quantile(&mut lengths_ns, 99);
        let p50_ns = quantile(&mut lengths_ns, 50);
        Self { p50_ns, p99_ns, longest_ns, steps: steps(&lengths_ns) }
    }
}

/// Counts the lengths in each step: a length is in the first step whose bound it doesn't exceed.
fn steps(lengths_ns: &[u64]) -> Vec<(u64, u64)> {
    // Each step has 1, 2, 5, 10 and so on as its bound. The last one has the greatest number as its bound.
    let mut steps = Vec::new();
    let mut decade = Some(1_u64);
    while let Some(base) = decade {
        for factor in [1, 2, 5] {
            if let Some(bound) = base.checked_mul(factor) {
                steps.push((bound, 0));
            }
        }
        decade = base.checked_mul(10);
    }
    steps.push((u64::MAX, 0));
    for &ns in lengths_ns {
        let step = steps.partition_point(|&(bound, _)| bound < ns);
        steps[step].1 += 1;
    }
    while steps.last().is_some_and(|&(_, n)| n == 0) {
        steps.pop();
    }
    let used = steps.iter().position(|&(_, n)| n > 0).unwrap_or(0);
    steps.split_off(used)
}

/// Returns the smallest value that at least `percent` of the values do not exceed; 0 if there are none.
pub(super) fn quantile(values: &mut [u64], percent: usize) -> u64 {
    let rank = (values.len() * percent).div_ceil(100);
    match rank.checked_sub(1) {
        Some(index) => *values.select_nth_unstable(index).1,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_is_in_one_step() {
        let lengths = Lengths::from_ns(vec![900, 1_000, 1_001, 4_000, 60_000]);
        assert_eq!((lengths.p50_ns, lengths.p99_ns, lengths.longest_ns), (1_001, 60_000, 60_000));
        let steps = [(1_000, 2), (2_000, 1), (5_000, 1), (10_000, 0), (20_000, 0), (50_000, 0)];
        assert_eq!(lengths.steps, [&steps[..], &[(100_000, 1)]].concat());
        assert_eq!(Lengths::from_ns(Vec::new()), Lengths::default());
        let extreme = Lengths::from_ns(vec![0, u64::MAX]);
        assert_eq!(extreme.steps.first(), Some(&(1, 1)));
        assert_eq!(extreme.steps.last(), Some(&(u64::MAX, 1)));
        assert!(extreme.steps.is_sorted_by(|a, b| a.0 < b.0), "{:?}", extreme.steps);
    }
}
