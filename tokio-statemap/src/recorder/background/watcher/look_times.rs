//! The times between looks.
//!
//! A look needs a processor for some µs. If all are busy with the program, it takes one from a worker, and all tasks in the
//! queue of that worker wait: with 32 busy connections, looks every 5 ms made the p99 of a web service 10 % longer. So looks
//! are rare while the program uses all processors. Once a look finds a long poll, they are frequent again, as where one
//! long poll is there are others.

use std::time::{Duration, Instant};

use crate::recorder::watch::{BETWEEN_LOOKS, BETWEEN_RARE_LOOKS};
use crate::sys::threads;

/// The time without a sample of a long poll after which looks may be rare.
const CALM: Duration = Duration::from_secs(1);

/// The part of the processors' time that a program uses if it has work for all of them.
const FULL: f64 = 0.9;

/// The time for which a program that used all processors is expected to have bursts in which it does so again.
const BURSTS: Duration = Duration::from_secs(1);

/// The times between looks. They differ, so that a program that does something again and again has no polls
/// that always fall between two looks.
#[derive(Debug)]
pub(super) struct LookTimes {
    looks: u32,
    /// The number of processors that the program may use.
    processors: f64,
    /// The last time that looks had to be frequent.
    needed_at: Instant,
    /// The last time that the program was seen to use all processors.
    full_at: Option<Instant>,
    /// The time of the last look, and the program's CPU time then, in ns. `None` if nothing was looked at since.
    last: Option<(Instant, u64)>,
}

impl Default for LookTimes {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        Self { looks: 0, processors, needed_at: Instant::now(), full_at: None, last: None }
    }
}

impl LookTimes {
    /// The multiples of the golden ratio are spread evenly between whole numbers, however many there are.
    const GOLDEN: u32 = 0x9E37_79B9;

    /// Keeps looks frequent for some time.
    pub(super) fn need_frequent(&mut self) {
        self.needed_at = Instant::now();
    }

    /// Notes that there is nothing to look at.
    pub(super) fn pause(&mut self) {
        self.last = None;
    }

    /// Notes that threads are looked at now.
    pub(super) fn look(&mut self) {
        if let Some(cpu_ns) = threads::cpu_ns_of_all() {
            self.note_load(Instant::now(), cpu_ns);
        }
    }

    /// Returns the time until the next look.
    pub(super) fn next(&mut self) -> Duration {
        let now = Instant::now();
        let average = if self.may_be_rare(now) { BETWEEN_RARE_LOOKS } else { BETWEEN_LOOKS };
        self.looks = self.looks.wrapping_add(Self::GOLDEN);
        average.mul_f64(0.5 + f64::from(self.looks) / f64::from(u32::MAX))
    }

    fn note_load(&mut self, now: Instant, cpu_ns: u64) {
        if let Some((at, before_ns)) = self.last.replace((now, cpu_ns)) {
            let there_were = now.saturating_duration_since(at).as_nanos() as f64 * self.processors;
            if cpu_ns.saturating_sub(before_ns) as f64 >= there_were * FULL {
                self.full_at = Some(now);
            }
        }
    }

    fn may_be_rare(&self, now: Instant) -> bool {
        let since = |at| now.saturating_duration_since(at);
        since(self.needed_at) >= CALM && self.full_at.is_some_and(|at| since(at) < BURSTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_rare_in_the_bursts_of_a_program_without_long_polls() {
        for processors in [1.0, 64.0] {
            let mut times = LookTimes { processors, ..LookTimes::default() };
            let (ms, mut at, mut cpu_ns) =
                (Duration::from_millis(1), times.needed_at, 7_000_000_000);
            // The program uses this part of the processors for some time.
            let mut goes_on = |times: &mut LookTimes, time: Duration, part: f64| {
                at += time;
                cpu_ns += (time.as_nanos() as f64 * part * processors) as u64;
                times.note_load(at, cpu_ns);
                times.may_be_rare(at)
            };
            assert!(!goes_on(&mut times, 5 * ms, 1.0));
            assert!(!goes_on(&mut times, 990 * ms, 1.0), "it has just begun");
            assert!(goes_on(&mut times, 5 * ms, 0.95));
            assert!(goes_on(&mut times, 40 * ms, 0.5), "another burst may come");
            times.pause();
            assert!(goes_on(&mut times, 100 * ms, 1.0), "this wasn't looked at");
            assert!(!goes_on(&mut times, 1000 * ms, 0.85), "processors are idle");
            assert!(goes_on(&mut times, 5 * ms, 1.0));
            times.needed_at += 2140 * ms;
            assert!(!goes_on(&mut times, 5 * ms, 1.0), "a long poll was seen");
            assert!(goes_on(&mut times, 1000 * ms, 1.0));
        }
    }

    #[test]
    fn times_are_spread_around_the_average() {
        let mut times = LookTimes::default();
        let next = (0..1000).map(|_| times.next());
        let all: Vec<_> = next.collect();
        assert!(all.iter().all(|time| (BETWEEN_LOOKS / 2..=BETWEEN_LOOKS * 3 / 2).contains(time)));
        let sum: Duration = all.iter().sum();
        assert!((sum.as_secs_f64() / 1000.0 / BETWEEN_LOOKS.as_secs_f64() - 1.0).abs() < 0.01);
    }
}
