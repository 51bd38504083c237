//! Attributes the time off the processor that was taken by the host of a virtual machine.

/// The resolution of the kernel's counts in ns: they advance in steps, and are updated at ticks.
const STEP_NS: u64 = 10_000_000;

/// The time that the kernel counted as stolen and that is not yet attributed to a thread.
#[derive(Debug, Default)]
pub(super) struct Steal {
    between: Vec<Interval>,
    /// The time that the last step may not show yet.
    rest_ns: u64,
}

/// The time between two counts.
#[derive(Debug)]
struct Interval {
    from_ns: u64,
    to_ns: u64,
    left_ns: u64,
}

impl Steal {
    /// Creates it from `counts`, sorted by time: the time in ns and the total stolen time of all
    /// processors up to then.
    pub(super) fn new(counts: &[(u64, u64)]) -> Self {
        let (mut between, mut rest_ns) = (Vec::new(), 0);
        for pair in counts.windows(2) {
            let left_ns = pair[1].1.saturating_sub(pair[0].1);
            between.push(Interval { from_ns: pair[0].0, to_ns: pair[1].0, left_ns });
            if left_ns > 0 {
                rest_ns = STEP_NS;
            }
        }
        Self { between, rest_ns }
    }

    /// Takes at most `ns` of the time stolen between `from_ns` and `to_ns`, and returns how much
    /// that is.
    pub(super) fn take(&mut self, from_ns: u64, to_ns: u64, ns: u64) -> u64 {
        let (from_ns, to_ns) = (from_ns.saturating_sub(STEP_NS), to_ns.saturating_add(STEP_NS));
        let first = self.between.partition_point(|interval| interval.to_ns < from_ns);
        let mut taken_ns = 0;
        for interval in &mut self.between[first..] {
            if interval.from_ns > to_ns {
                break;
            }
            let part_ns = interval.left_ns.min(ns - taken_ns);
            interval.left_ns -= part_ns;
            taken_ns += part_ns;
        }
        let rest_ns = self.rest_ns.min(ns - taken_ns);
        self.rest_ns -= rest_ns;
        taken_ns + rest_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn no_more_is_given_than_was_counted_meanwhile() {
        let mut steal = Steal::new(&[(0, 500 * MS), (1000 * MS, 530 * MS), (2000 * MS, 530 * MS)]);
        assert_eq!(steal.take(1200 * MS, 1300 * MS, 8 * MS), 8 * MS, "a step may hide it");
        assert_eq!(steal.take(1300 * MS, 1400 * MS, 8 * MS), 2 * MS);
        assert_eq!(steal.take(100 * MS, 200 * MS, 25 * MS), 25 * MS);
        assert_eq!(steal.take(300 * MS, 400 * MS, 25 * MS), 5 * MS);
        assert_eq!(steal.take(300 * MS, 400 * MS, 25 * MS), 0);
    }

    #[test]
    fn nothing_is_given_where_nothing_was_counted() {
        for counts in [&[][..], &[(0, 7)], &[(0, 7 * MS), (1000 * MS, 7 * MS)]] {
            assert_eq!(Steal::new(counts).take(0, 100 * MS, MS), 0, "{counts:?}");
        }
    }
}
