//! How long things took: the median, the worst of a hundred, and how many there are of each size.

use crate::analysis::locations::quantile;

/// How long the polls or waits of an issue took, in ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lengths {
    /// Half of them took no longer.
    pub p50_ns: u64,
    /// 99 % of them took no longer.
    pub p99_ns: u64,
    /// The longest.
    pub longest_ns: u64,
    /// How many there are of each size: the upper bound of a step, in ns, and how many are in it. The steps go by
    /// 1, 2, 5, 10 and so on, from the first that has some to the last.
    pub steps: Vec<(u64, u64)>,
}

impl Lengths {
    pub(crate) fn of(mut lengths_ns: Vec<u64>) -> Self {
        let longest_ns = lengths_ns.iter().copied().max().unwrap_or_default();
        let p99_ns = quantile(&mut lengths_ns, 99);
        let p50_ns = quantile(&mut lengths_ns, 50);
        Self { p50_ns, p99_ns, longest_ns, steps: steps(&lengths_ns) }
    }
}

/// Which step a length is in: the first whose bound it doesn't exceed.
fn steps(lengths_ns: &[u64]) -> Vec<(u64, u64)> {
    let bounds = bounds();
    let of = |ns: u64| bounds.partition_point(|&bound| bound < ns);
    let mut counts = vec![0_u64; bounds.len()];
    lengths_ns.iter().for_each(|&ns| counts[of(ns)] += 1);
    let is_used = |&n: &u64| n > 0;
    let (first, last) = (counts.iter().position(is_used), counts.iter().rposition(is_used));
    match (first, last) {
        (Some(first), Some(last)) => {
            bounds.into_iter().zip(counts).take(last + 1).skip(first).collect()
        }
        _ => Vec::new(),
    }
}

/// 1, 2, 5, 10 … up to the longest that there can be.
fn bounds() -> Vec<u64> {
    let mut bounds = Vec::new();
    let mut decade: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            match decade.checked_mul(factor) {
                Some(bound) => bounds.push(bound),
                None => {
                    bounds.push(u64::MAX);
                    return bounds;
                }
            }
        }
        match decade.checked_mul(10) {
            Some(next) => decade = next,
            None => {
                bounds.push(u64::MAX);
                return bounds;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_length_is_in_one_step() {
        let lengths = Lengths::of(vec![900, 1_000, 1_001, 4_000, 60_000]);
        assert_eq!((lengths.p50_ns, lengths.p99_ns, lengths.longest_ns), (1_001, 60_000, 60_000));
        let steps = [(1_000, 2), (2_000, 1), (5_000, 1), (10_000, 0), (20_000, 0), (50_000, 0)];
        assert_eq!(lengths.steps, [&steps[..], &[(100_000, 1)]].concat());
        assert_eq!(Lengths::of(Vec::new()), Lengths::default());
        let extreme = Lengths::of(vec![0, u64::MAX]);
        assert_eq!(extreme.steps.first(), Some(&(1, 1)));
        assert_eq!(extreme.steps.last(), Some(&(u64::MAX, 1)));
        let bounds = bounds();
        assert!(bounds.is_sorted_by(|a, b| a < b), "{bounds:?}");
    }
}
