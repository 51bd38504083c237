//! The polls and waits at which an issue can be seen.

use std::cmp::Reverse;

use crate::trace::timeline::TaskKey;

/// A poll or a wait of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) task: TaskKey,
    /// The time at which it began, in ns.
    pub(crate) start_ns: u64,
    /// The time that it took, in ns.
    pub(crate) length_ns: u64,
}

/// Any number of spots, the longest of which are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Spots {
    /// The number of spots.
    pub(super) n: u64,
    /// The longest spots, the longest first.
    pub(super) longest: Vec<Spot>,
    pub(super) longest_ns: u64,
    /// The sum of the lengths of all spots, in ns.
    pub(super) sum_ns: u128,
    /// The length of the shortest of all spots, in ns; 0 if there are none.
    pub(super) least_ns: u64,
}

/// The most spots that are kept.
pub(super) const MOST: usize = 100;

impl Spots {
    /// Adds all spots of another.
    pub(super) fn append(&mut self, other: Self) {
        if other.n == 0 {
            return;
        }
        let least_ns = if self.n == 0 { other.least_ns } else { other.least_ns.min(self.least_ns) };
        let n = self.n.saturating_add(other.n);
        let sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        // Spots that are not kept are shorter than all that are.
        for spot in other.longest {
            self.add(spot);
        }
        (self.n, self.least_ns, self.sum_ns) = (n, least_ns, sum_ns);
    }

    pub(super) fn add(&mut self, spot: Spot) {
        self.least_ns =
            if self.n == 0 { spot.length_ns } else { spot.length_ns.min(self.least_ns) };
        self.n += 1;
        self.sum_ns = self.sum_ns.saturating_add(spot.length_ns.into());
        self.longest_ns = spot.length_ns.max(self.longest_ns);
        let rank = |spot: &Spot| (Reverse(spot.length_ns), spot.task, spot.start_ns);
        let place = self.longest.partition_point(|other| rank(other) <= rank(&spot));
        if place < MOST {
            self.longest.insert(place, spot);
            self.longest.truncate(MOST);
        }
    }
}
