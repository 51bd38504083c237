//! Cuts the polls of a run, in the order of time, into blocks, and takes a quantile of each.

/// The quantiles that are compared, in percent, each with the least number of polls that a block needs for it.
pub(super) const QUANTILES: [(u8, usize); 4] = [(50, 1), (75, 8), (90, 20), (99, 200)];

/// The most blocks that a run is cut into: enough to show their spread, and each long enough to depend little on the
/// one before.
const MOST_BLOCKS: usize = 20;

/// The least number of blocks that shows their spread.
pub(super) const LEAST_BLOCKS: usize = 6;

/// Returns the quantile of each block of `values`, which are in the order of time; `None` if there are too few. Blocks
/// have equal numbers of values, as equal stretches of time may have none.
pub(super) fn quantiles(values: &[u64], percent: u8, least_values: usize) -> Option<Vec<u64>> {
    let number = (values.len() / least_values.max(1)).min(MOST_BLOCKS);
    if number < LEAST_BLOCKS {
        return None;
    }
    let mut block = Vec::with_capacity(values.len() / number + 1);
    let edge = |index: usize| index * values.len() / number;
    let quantile = (0..number).map(|index| {
        block.clear();
        block.extend_from_slice(&values[edge(index)..edge(index + 1)]);
        crate::analysis::lengths::quantile(&mut block, percent.into())
    });
    Some(quantile.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_each_other_and_leave_nothing_out() {
        assert_eq!(quantiles(&[7; 5], 50, 1), None);
        assert_eq!(quantiles(&[7; 119], 90, 20), None);
        assert_eq!(quantiles(&[1, 2, 3, 4, 5, 6], 50, 1), Some(vec![1, 2, 3, 4, 5, 6]));
        let values: Vec<u64> = (0..1_009).collect();
        let found = quantiles(&values, 99, 1).expect("there are enough");
        assert_eq!((found.len(), found.last()), (20, Some(&1_008)));
        assert!(found.windows(2).all(|pair| (45..=55).contains(&(pair[1] - pair[0]))));
    }
}
