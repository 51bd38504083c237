//! A distribution in a few bins, as a histogram shows it.

use crate::trace::summary::Distribution;

/// The begins of the bins of a decade, in tenths: the numbers of the series E6.
const OF_DECADE: [u64; 6] = [10, 15, 22, 33, 47, 68];
/// The bins of times below 10 ns are whole ns.
const FIRST: [u64; 6] = [0, 1, 2, 3, 5, 7];
const DECADES: u32 = 15;

/// The number of values of each size, in bins each of which is about one and a half times as wide as the one before.
///
/// The page has the same bins for what it counts itself (`model/histogram.js`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bins {
    /// The begin of each bin with values, in ns, and the number of its values. A step of the distribution is in the bin
    /// that contains its upper bound. So a value at a bin's edge may be in the bin beside it, as steps are 1 % wide.
    pub(crate) bins: Vec<(u64, u64)>,
    /// The values that 50, 90 and 99 % of them did not exceed, in ns, exact to 1 %.
    pub(crate) quantiles_ns: [u64; 3],
}

impl Bins {
    /// Returns `None` if the distribution is empty.
    pub(super) fn from_distribution(distribution: &Distribution) -> Option<Self> {
        if distribution.count() == 0 {
            return None;
        }
        let edges = edges();
        let mut bins: Vec<(u64, u64)> = Vec::new();
        for &(bound_ns, n) in &distribution.steps {
            let from_ns = edges[edges.partition_point(|&edge| edge <= bound_ns) - 1];
            match bins.last_mut() {
                Some((last_ns, values)) if *last_ns == from_ns => {
                    *values = values.saturating_add(n);
                }
                _ => bins.push((from_ns, n)),
            }
        }
        let quantile_ns = |percent| distribution.percentile(percent);
        Some(Self { bins, quantiles_ns: [quantile_ns(50), quantile_ns(90), quantile_ns(99)] })
    }
}

/// Returns where each bin begins, in ns, from 0 on.
fn edges() -> Vec<u64> {
    let mut edges = FIRST.to_vec();
    for decade in 0..DECADES {
        for tenths in OF_DECADE {
            edges.push(tenths * 10_u64.pow(decade));
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::{Bins, edges};
    use crate::trace::summary::Distribution;

    fn distribution(steps: &[(u64, u64)]) -> Distribution {
        let longest_ns = steps.last().map_or(0, |&(bound, _)| bound);
        Distribution { longest_ns, steps: steps.to_vec() }
    }

    #[test]
    fn each_step_is_in_the_bin_of_its_bound() {
        assert_eq!(Bins::from_distribution(&distribution(&[])), None);
        let steps = [(0, 2), (9, 1), (10, 3), (14, 4), (15, 5), (1_000, 6), (1_499, 7)];
        let found = Bins::from_distribution(&distribution(&steps)).expect("values");
        assert_eq!(found.bins, [(0, 2), (7, 1), (10, 7), (15, 5), (1_000, 13)]);
        assert_eq!(found.quantiles_ns, [15, 1_499, 1_499]);
        let far = Bins::from_distribution(&distribution(&[(u64::MAX, 1)])).expect("a value");
        assert_eq!(far.bins, [(6_800_000_000_000_000, 1)]);
    }

    #[test]
    fn the_bins_have_all_values_once() {
        let mut seed = 7_u64;
        for _ in 0..100 {
            let mut steps: Vec<(u64, u64)> = (0..200)
                .map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (seed >> (8 + seed % 56), 1 + seed % 9)
                })
                .collect();
            steps.sort_unstable();
            let found = Bins::from_distribution(&distribution(&steps)).expect("values");
            assert!(found.bins.is_sorted_by(|(a, _), (b, _)| a < b));
            let edges = edges();
            for &(from, n) in &found.bins {
                let bin = edges.binary_search(&from).expect("an edge");
                let is_in = |v: u64| v >= from && edges.get(bin + 1).is_none_or(|&to| v < to);
                let values = steps.iter().filter(|&&(bound, _)| is_in(bound));
                assert_eq!(n, values.map(|&(_, n)| n).sum::<u64>());
            }
            let all: u64 = found.bins.iter().map(|&(_, n)| n).sum();
            assert_eq!(all, steps.iter().map(|&(_, n)| n).sum::<u64>());
        }
    }
}
