//! The processor time that the watcher may take, however many threads there are.

use std::time::{Duration, Instant};

use crate::sys::threads;

/// The watcher may use 1/`SHARE` of a processor. Without optimisation a sample takes ten times as long, and nobody
/// measures the program's speed: the part is larger, or most long polls would have no sample.
const SHARE: u32 = if cfg!(debug_assertions) { 40 } else { 200 };

/// The most time that may be saved up, and the most that may be owed. A program with few long polls has all of them
/// sampled.
const SAVED_UP: Duration = Duration::from_millis(100);

/// The time after which another poll may have its first sample though time is owed. That is a dozen a second in all, so
/// that a program with long polls for some time has most of their functions seen.
const BETWEEN_FIRSTS: Duration = Duration::from_millis(80);

/// The time after which a worker may be asked what it computes though long polls need the rest of the budget. That is
/// six a second at least, or a program with many long polls would never be said to compute anything else.
const BETWEEN_CPU_SAMPLES: Duration = Duration::from_millis(160);

/// The factor by which the time between two rounds grows while time is owed.
const SLOWER: u32 = 4;

/// A lower bound of the time that a sample takes.
const SAMPLE_NS: i64 = 100_000;

/// The number of threads that are looked at even while time is owed.
const LEAST_LOOKS: usize = 8;

/// The processor time that is left to the watcher. If it takes more, it owes the difference.
#[derive(Debug)]
pub(super) struct Budget {
    left_ns: i64,
    /// The time when the budget was last added to.
    at: Option<Instant>,
    /// The thread's CPU time up to which it is accounted for; `None` while it does nothing that counts.
    since_ns: Option<u64>,
    /// The recent average time of a look.
    look_ns: i64,
    /// The time of the last first sample of a poll that was taken though time was owed.
    first_at: Option<Instant>,
    /// The time when a worker was last asked what it computes.
    cpu_sample_at: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            left_ns: nanos(SAVED_UP),
            at: None,
            since_ns: None,
            look_ns: 500,
            first_at: None,
            cpu_sample_at: None,
        }
    }
}

impl Budget {
    /// Begins a round of looks at this many threads. Returns how many of them it may look at. The cost of few looks
    /// isn't measured, as measuring takes as long as they do.
    pub(super) fn begin(&mut self, threads: usize) -> usize {
        self.start_for(threads);
        self.earn(Instant::now())
    }

    fn earn(&mut self, now: Instant) -> usize {
        let since = self.at.replace(now).map_or(Duration::ZERO, |at| now.duration_since(at));
        self.left_ns = (self.left_ns + nanos(since / SHARE)).min(nanos(SAVED_UP));
        let looks = usize::try_from(self.left_ns / self.look_ns.max(1)).unwrap_or_default();
        looks.max(LEAST_LOOKS)
    }

    /// Returns the time until the next round: `usual`, or [`SLOWER`] times that while time is owed.
    pub(super) fn between(&self, usual: Duration) -> Duration {
        if self.left_ns > 0 { usual } else { usual * SLOWER }
    }

    /// Returns the time until polls that have samples may have more; `None` if they may now.
    pub(super) fn until_more_samples(&self) -> Option<Duration> {
        self.until_more_samples_at(Instant::now())
    }

    fn until_more_samples_at(&self, now: Instant) -> Option<Duration> {
        let owed_ns = u64::try_from(nanos(SAVED_UP) / 2 - self.left_ns).ok()?;
        let earned = self.at.map_or(Duration::ZERO, |at| now.saturating_duration_since(at));
        let time = Duration::from_nanos(owed_ns).saturating_mul(SHARE).saturating_sub(earned);
        Some(time).filter(|time| !time.is_zero())
    }

    /// Returns about how many more samples may be taken of polls that already have some.
    pub(super) fn more_samples(&self) -> usize {
        let left_ns = self.left_ns - nanos(SAVED_UP) / 2;
        usize::try_from(left_ns.div_euclid(SAMPLE_NS)).map_or(0, |samples| samples + 1)
    }

    /// Returns whether a poll with this many samples may have another one, which takes a hundred times as long as a
    /// look. The first sample says most, so half of what may be saved up is reserved for first samples.
    pub(super) fn allows_sample(&self, samples: u32) -> bool {
        match samples {
            0 => self.left_ns > 0 || self.is_over(self.first_at, BETWEEN_FIRSTS),
            _ => self.left_ns > nanos(SAVED_UP) / 2,
        }
    }

    /// Returns whether a thread may be asked what it computes. Most of the budget is left to long polls.
    pub(super) fn allows_cpu_sample(&self) -> bool {
        self.left_ns > nanos(SAVED_UP) / 10 * 9
            || self.is_over(self.cpu_sample_at, BETWEEN_CPU_SAMPLES)
    }

    /// Returns whether this much time has passed since then.
    fn is_over(&self, since: Option<Instant>, time: Duration) -> bool {
        let passed = |since| self.at.is_some_and(|at| at.saturating_duration_since(since) >= time);
        since.is_none_or(passed)
    }

    /// Notes that a thread is asked what it computes.
    pub(super) fn takes_cpu_sample(&mut self) {
        self.start();
        self.cpu_sample_at = self.at;
    }

    /// Notes that a poll with this many samples gets another one.
    pub(super) fn takes_sample(&mut self, samples: u32) {
        self.start();
        if samples == 0 && self.left_ns <= 0 {
            self.first_at = self.at;
        }
    }

    /// Starts accounting before looks at this many threads, if they are many.
    pub(super) fn start_for(&mut self, threads: usize) {
        if threads > LEAST_LOOKS {
            self.start();
        }
    }

    /// Accounts for the CPU time of the calling thread from now on, and for what was counted before.
    #[inline(never)]
    pub(super) fn start(&mut self) {
        self.pay();
        self.since_ns = threads::cpu_ns();
    }

    /// Pays for what the calling thread did since accounting started. Returns how long that took, in ns.
    #[inline(never)]
    pub(super) fn pay(&mut self) -> i64 {
        let since_ns = self.since_ns.take();
        let taken_ns = since_ns.and_then(|since_ns| threads::cpu_ns()?.checked_sub(since_ns));
        let taken_ns = i64::try_from(taken_ns.unwrap_or_default()).unwrap_or(i64::MAX);
        self.charge(taken_ns);
        taken_ns
    }

    fn charge(&mut self, taken_ns: i64) {
        // The debt is bounded, so that first samples beyond the budget aren't owed for minutes.
        self.left_ns = self.left_ns.saturating_sub(taken_ns).max(-nanos(SAVED_UP));
    }

    /// Pays for this many looks.
    pub(super) fn pay_for(&mut self, looks: usize) {
        let taken_ns = self.pay();
        if looks > LEAST_LOOKS {
            let looks = i64::try_from(looks).unwrap_or(i64::MAX);
            self.look_ns += (taken_ns / looks - self.look_ns) / 8;
        }
    }
}

fn nanos(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_samples_are_taken_whatever_is_owed() {
        let mut budget = Budget::default();
        let (start, mut firsts, mut asked) = (Instant::now(), 0, 0);
        for at in 0..1000 {
            budget.charge(i64::MAX);
            assert_eq!(budget.left_ns, -nanos(SAVED_UP), "no more is owed");
            budget.earn(start + Duration::from_millis(at));
            assert!(!budget.allows_sample(1));
            if budget.allows_sample(0) {
                budget.takes_sample(0);
                firsts += 1;
            }
            if budget.allows_cpu_sample() {
                budget.takes_cpu_sample();
                asked += 1;
            }
        }
        assert_eq!((firsts, asked), (13, 7));
    }

    #[test]
    fn what_is_owed_is_paid_before_anything_is_sampled() {
        let mut budget = Budget::default();
        let (start, half) = (Instant::now(), nanos(SAVED_UP) / 2);
        let after = |millis: u64| start + Duration::from_millis(millis * u64::from(SHARE));
        assert!(budget.earn(start) > 1000 && budget.allows_sample(1));
        budget.left_ns = half - 10_000_000;
        assert!(budget.allows_sample(0) && !budget.allows_sample(1) && budget.more_samples() == 0);
        let left = after(10) - start;
        assert_eq!(budget.until_more_samples_at(start), Some(left));
        budget.left_ns = -10_000_000;
        budget.takes_sample(0);
        budget.left_ns = -10_000_000;
        assert_eq!(budget.earn(start), LEAST_LOOKS);
        assert!(!budget.allows_sample(0));
        // In this time, the watcher's share of a processor pays what is owed.
        assert_eq!(budget.earn(after(10)), LEAST_LOOKS);
        assert_eq!(budget.left_ns, 0);
        budget.earn(after(11));
        assert!(budget.allows_sample(0) && !budget.allows_sample(1));
        budget.earn(after(11 + 50));
        assert!(budget.allows_sample(1) && budget.more_samples() > 0);
        assert_eq!(budget.until_more_samples_at(after(11 + 50)), None);
        budget.earn(after(100_000));
        assert_eq!(budget.left_ns, nanos(SAVED_UP), "it doesn't save up more");
    }
}
