//! The times between looks.
//!
//! A look needs a processor for some µs. If all are busy with the program, it takes one from a worker, and all tasks in the
//! queue of that worker wait: with 32 busy connections, looks every 5 ms made the p99 of a web service 10 % longer. So looks
//! are rare while the program uses all processors: 25 a second for each processor. Once a sample of a long poll is kept, they
//! are frequent again, as where one long poll is there are others.

use std::time::{Duration, Instant};

use crate::recorder::watch::{BETWEEN_LOOKS, BETWEEN_RARE_LOOKS};
use crate::sys::{cgroup, threads};

/// The time after the last need of frequent looks from which on they may be rare.
const CALM: Duration = Duration::from_secs(1);

/// The part of the processors' time that a program uses if it has work for all of them.
const FULL: f64 = 0.9;

/// The least time over which that part is measured: the kernel counts the time of a running thread at its ticks, which are
/// up to 10 ms apart.
const MEASURED: Duration = Duration::from_millis(50);

/// The time for which a program that used all processors is expected to have bursts in which it does so again.
const BURSTS: Duration = Duration::from_secs(1);

/// The times between looks. They differ, so that a program that does something again and again has no polls
/// that always fall between two looks.
#[derive(Debug)]
pub(super) struct LookTimes {
    looks: u32,
    /// The number of processors that the program may use, once it is known.
    processors: Option<f64>,
    /// The last time that looks had to be frequent.
    needed_at: Instant,
    /// `true` if the next look must be soon.
    is_next_soon: bool,
    /// The last time that the program was seen to use all processors.
    full_at: Option<Instant>,
    /// The time since which the program's CPU time is measured, and that CPU time then, in ns.
    from: Option<(Instant, u64)>,
}

impl Default for LookTimes {
    fn default() -> Self {
        Self {
            looks: 0,
            processors: None,
            needed_at: Instant::now(),
            is_next_soon: false,
            full_at: None,
            from: None,
        }
    }
}

impl LookTimes {
    /// The multiples of the golden ratio are spread evenly between whole numbers, however many there are.
    const GOLDEN: u32 = 0x9E37_79B9;

    /// Keeps looks frequent for some time.
    pub(super) fn need_frequent(&mut self) {
        self.needed_at = Instant::now();
    }

    /// Keeps the next look from being a rare one.
    pub(super) fn need_soon(&mut self) {
        self.is_next_soon = true;
    }

    /// Notes that there is nothing to look at.
    pub(super) fn pause(&mut self) {
        self.from = None;
    }

    /// Notes that threads are looked at now.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if self.is_needed(now) {
            self.from = None;
            return;
        }
        let is_due = |&(at, _): &(Instant, u64)| now.saturating_duration_since(at) >= MEASURED;
        if self.from.as_ref().is_none_or(is_due) {
            self.processors.get_or_insert_with(processors);
            // This takes longer, the more threads the process has.
            if let Some(cpu_ns) = threads::cpu_ns_of_all() {
                self.measure(now, cpu_ns);
            }
        }
    }

    fn measure(&mut self, now: Instant, cpu_ns: u64) {
        let before = self.from.replace((now, cpu_ns));
        let (Some((at, before_ns)), Some(processors)) = (before, self.processors) else { return };
        let there_were = now.saturating_duration_since(at).as_nanos() as f64 * processors;
        if cpu_ns.saturating_sub(before_ns) as f64 >= there_were * FULL {
            self.full_at = Some(now);
        }
    }

    /// Returns the time until the next look, and whether that look is a rare one.
    pub(super) fn next(&mut self) -> (Duration, bool) {
        self.next_after(Instant::now())
    }

    fn next_after(&mut self, now: Instant) -> (Duration, bool) {
        let is_next_soon = std::mem::take(&mut self.is_next_soon);
        let average = if is_next_soon { BETWEEN_LOOKS } else { self.average(now) };
        self.looks = self.looks.wrapping_add(Self::GOLDEN);
        let part = f64::from(self.looks) / f64::from(u32::MAX);
        (average.mul_f64(0.5 + part), average > BETWEEN_LOOKS)
    }

    fn average(&self, now: Instant) -> Duration {
        let is_full = self.full_at.is_some_and(|at| now.saturating_duration_since(at) < BURSTS);
        match self.processors {
            // Each look takes one of the processors.
            Some(processors) if is_full && !self.is_needed(now) => {
                BETWEEN_RARE_LOOKS.div_f64(processors.max(1.0)).max(BETWEEN_LOOKS)
            }
            _ => BETWEEN_LOOKS,
        }
    }

    fn is_needed(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.needed_at) < CALM
    }
}

/// Returns the number of processors that the program may use.
fn processors() -> f64 {
    let all = std::thread::available_parallelism().map_or(1, usize::from) as f64;
    // A quota of 1.9 processors counts as one processor there.
    cgroup::limit().map_or(all, |limit| (limit.millis as f64 / 1000.0).min(all + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn looks_are_rare_in_the_bursts_of_a_program_without_long_polls() {
        for (processors, rare) in [(1.0, true), (4.0, true), (8.0, false)] {
            let mut times = LookTimes { processors: Some(processors), ..LookTimes::default() };
            let (mut at, mut cpu_ns) = (times.needed_at, 7_000_000_000);
            // The program uses this part of the processors for some time.
            let mut goes_on = |times: &mut LookTimes, time: Duration, part: f64| {
                at += time;
                cpu_ns += (time.as_nanos() as f64 * part * processors) as u64;
                times.measure(at, cpu_ns);
                times.next_after(at).1
            };
            assert!(!goes_on(&mut times, 50 * MS, 1.0));
            assert!(!goes_on(&mut times, 900 * MS, 1.0), "it has just begun");
            assert_eq!(goes_on(&mut times, 50 * MS, 0.95), rare);
            assert_eq!(goes_on(&mut times, 50 * MS, 0.5), rare, "another burst may come");
            assert!(!goes_on(&mut times, 1000 * MS, 0.85), "processors are idle");
            times.pause();
            assert!(!goes_on(&mut times, 50 * MS, 1.0), "it isn't known since when");
            assert_eq!(goes_on(&mut times, 50 * MS, 1.0), rare);
            times.need_soon();
            assert!(!goes_on(&mut times, 50 * MS, 1.0));
            assert_eq!(goes_on(&mut times, 50 * MS, 1.0), rare, "that was one look");
            times.needed_at += 2200 * MS;
            assert!(!goes_on(&mut times, 50 * MS, 1.0), "a long poll was seen");
            assert_eq!(goes_on(&mut times, 1000 * MS, 1.0), rare);
        }
    }

    #[test]
    fn times_are_spread_around_the_average() {
        let mut full = LookTimes { processors: Some(1.0), ..LookTimes::default() };
        let now = full.needed_at + CALM;
        full.full_at = Some(now);
        for (mut times, average) in
            [(LookTimes::default(), BETWEEN_LOOKS), (full, BETWEEN_RARE_LOOKS)]
        {
            let all: Vec<_> = (0..1000).map(|_| times.next_after(now).0).collect();
            assert!(all.iter().all(|time| (average / 2..=average * 3 / 2).contains(time)));
            let sum: Duration = all.iter().sum();
            assert!((sum.as_secs_f64() / 1000.0 / average.as_secs_f64() - 1.0).abs() < 0.01);
        }
    }
}
