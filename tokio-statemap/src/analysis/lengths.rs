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
    /// The number of each size: the upper bound of a step, in ns, and the number in it. The steps are 1, 2, 5, 10
    /// and so on, from the first that isn't empty to the last.
    pub steps: Vec<(u64, u64)>,
}

impl Lengths {
    pub(crate) fn from_ns(mut lengths_ns: Vec<u64>) -> Self {
        let longest_ns = lengths_ns.iter().copied().max().unwrap_or_default();
        let p99_ns = quantile(&mut lengths_ns, 99);
        let p50_ns = quantile(&mut lengths_ns, 50);
        Self { p50_ns, p99_ns, longest_ns, steps: steps(&lengths_ns) }
    }
}

/// Counts the lengths in each step: a length is in the first step whose bound it doesn't exceed.
fn steps(lengths_ns: &[u64]) -> Vec<(u64, u64)> {
    let mut steps: Vec<(u64, u64)> = bounds().into_iter().map(|bound| (bound, 0)).collect();
    for &ns in lengths_ns {
        let step = steps.partition_point(|&(bound, _)| bound < ns);
        steps[step].1 += 1;
    }
    while steps.last().is_some_and(|&(_, n)| n == 0) {
        steps.pop();
    }
    let unused = steps.iter().take_while(|&&(_, n)| n == 0).count();
    steps.split_off(unused)
}

/// Returns 1, 2, 5, 10 and so on, and the greatest number.
fn bounds() -> Vec<u64> {
    let mut bounds = Vec::new();
    let mut decade = Some(1_u64);
    while let Some(base) = decade {
        bounds.extend([1, 2, 5].into_iter().filter_map(|factor| base.checked_mul(factor)));
        decade = base.checked_mul(10);
    }
    bounds.push(u64::MAX);
    bounds
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
        let bounds = bounds();
        assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
    }
}
