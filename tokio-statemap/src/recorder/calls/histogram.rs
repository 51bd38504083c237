//! Histograms of the times of calls in ticks, in buckets that widen with the times.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Each octave has this many buckets, so that the middle of one is within 1/64 of its times.
const STEPS: usize = 1 << STEP_BITS;
const STEP_BITS: u32 = 5;
/// Longer times, from some hour and a half on, are counted with those of the last octave. The longest time is known by
/// itself.
const OCTAVES: usize = 44 - STEP_BITS as usize;
pub(super) const BUCKETS: usize = (OCTAVES + 1) * STEPS;

/// The times that one thread saw: 5 KiB. Only that thread writes, and any thread reads.
#[derive(Debug)]
pub(super) struct Histogram {
    sum_ticks: AtomicU64,
    longest_ticks: AtomicU64,
    buckets: Vec<AtomicU32>,
}

impl Histogram {
    pub(super) fn new() -> Self {
        let mut buckets = Vec::with_capacity(BUCKETS);
        while buckets.len() < BUCKETS {
            buckets.push(AtomicU32::new(0));
        }
        Self { sum_ticks: AtomicU64::new(0), longest_ticks: AtomicU64::new(0), buckets }
    }

    pub(super) fn add(&self, ticks: u64) {
        add(&self.sum_ticks, ticks);
        if ticks > self.longest_ticks.load(Ordering::Relaxed) {
            self.longest_ticks.store(ticks, Ordering::Relaxed);
        }
        if let Some(bucket) = self.buckets.get(bucket(ticks)) {
            let count = bucket.load(Ordering::Relaxed);
            bucket.store(count.saturating_add(1), Ordering::Relaxed);
        }
    }
}

/// Adds to a counter that no other thread writes to.
#[inline]
pub(super) fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed).saturating_add(n), Ordering::Relaxed);
}

#[inline]
fn bucket(ticks: u64) -> usize {
    if ticks < STEPS as u64 {
        return ticks as usize;
    }
    let octave = u64::BITS - 1 - STEP_BITS - ticks.leading_zeros();
    let step = (ticks >> octave) as usize - STEPS;
    ((octave as usize + 1) * STEPS + step).min(BUCKETS - 1)
}

/// Returns the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let (octave, step) = (bucket / STEPS, (bucket % STEPS) as u64);
    match octave.checked_sub(1) {
        None => step,
        Some(octave) => ((STEPS as u64 + step) << octave) + ((1 << octave) >> 1),
    }
}

/// The times that several threads saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    pub(crate) sum_ticks: u64,
    pub(crate) longest_ticks: u64,
    pub(crate) count: u64,
    buckets: Vec<u64>,
}

impl Times {
    pub(super) fn merge(&mut self, one: &Histogram) {
        self.buckets.resize(BUCKETS, 0);
        for (all, one) in self.buckets.iter_mut().zip(&one.buckets) {
            let count = u64::from(one.load(Ordering::Relaxed));
            *all += count;
            self.count += count;
        }
        self.sum_ticks = self.sum_ticks.saturating_add(one.sum_ticks.load(Ordering::Relaxed));
        self.longest_ticks = self.longest_ticks.max(one.longest_ticks.load(Ordering::Relaxed));
    }

    /// Adds a time.
    #[cfg(feature = "tracing")]
    pub(crate) fn add(&mut self, ticks: u64) {
        let bucket = bucket(ticks);
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum_ticks = self.sum_ticks.saturating_add(ticks);
        self.longest_ticks = self.longest_ticks.max(ticks);
    }

    /// Adds the times that are in `others`.
    #[cfg(feature = "tracing")]
    pub(crate) fn add_all(&mut self, others: &Self) {
        if self.buckets.len() < others.buckets.len() {
            self.buckets.resize(others.buckets.len(), 0);
        }
        for (all, one) in self.buckets.iter_mut().zip(&others.buckets) {
            *all += one;
        }
        self.count += others.count;
        self.sum_ticks = self.sum_ticks.saturating_add(others.sum_ticks);
        self.longest_ticks = self.longest_ticks.max(others.longest_ticks);
    }

    /// Returns the time that `percent` of all times don't exceed, by the nearest rank. `None` if there are none.
    pub(crate) fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut before = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            before += count;
            if before >= rank {
                return Some(middle(bucket).min(self.longest_ticks));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_within_two_percent() {
        let times =
            (0..44).flat_map(|bit| [1_u64 << bit, (1 << bit) + (1 << bit) / 3, (2 << bit) - 1]);
        for ticks in times {
            let middle = middle(bucket(ticks));
            assert!(middle.abs_diff(ticks) * 50 <= ticks, "{ticks} as {middle}");
        }
        assert_eq!((bucket(0), bucket(u64::MAX)), (0, BUCKETS - 1));
        assert_eq!(bucket((1 << 44) - 1), BUCKETS - 1);
        assert!((0..BUCKETS).all(|n| bucket(middle(n)) == n));
    }

    #[test]
    fn percentiles_are_by_the_nearest_rank() {
        let (one, other) = (Histogram::new(), Histogram::new());
        (1..=50).for_each(|n| one.add(n * 1_000));
        (51..=100).for_each(|n| other.add(n * 1_000));
        let mut times = Times::default();
        assert_eq!(times.percentile(50), None);
        times.merge(&one);
        times.merge(&other);
        assert_eq!((times.count, times.sum_ticks, times.longest_ticks), (100, 5_050_000, 100_000));
        for percent in [1, 50, 90, 99, 100] {
            let (found, real) = (times.percentile(percent).unwrap(), percent * 1_000);
            assert!(found.abs_diff(real) * 50 <= real, "p{percent} is {found}");
        }
    }
}
