//! The time that the host of a virtual machine took, as the kernel counted it in the course of the recording.
//!
//! Time off the processor for no other reason counts as the host's only as far as the kernel counted as much meanwhile.

use std::time::{Duration, Instant};

use crate::recorder::clock::Clock;

/// The most counts that are kept; beyond that, every second one is dropped.
const MOST: usize = 4096;

/// The least time between two counts at first. Reading a count takes some 0.1 ms.
const INTERVAL: Duration = Duration::from_secs(1);

/// The counts at several moments.
#[derive(Debug)]
pub(super) struct StealCounts {
    /// The counts, in ns of all processors, each with its time in ticks.
    all: Vec<(u64, u64)>,
    interval: Duration,
    due: Option<Instant>,
}

impl Default for StealCounts {
    fn default() -> Self {
        Self { all: Vec::new(), interval: INTERVAL, due: None }
    }
}

/// Returns what the kernel has counted so far; `None` where it doesn't count that.
fn stolen_ns() -> Option<u64> {
    #[cfg(has_stacks)]
    let stolen_ns = crate::sys::threads::proc::stolen_ns();
    #[cfg(not(has_stacks))]
    let stolen_ns = None;
    stolen_ns
}

impl StealCounts {
    /// Notes what the kernel has counted so far, if it counts that.
    pub(super) fn note(&mut self, clock: &Clock) {
        if let Some(stolen_ns) = stolen_ns() {
            self.add(clock.ticks(), stolen_ns);
        }
    }

    /// Notes it if it was noted last long ago.
    pub(super) fn note_if_due(&mut self, clock: &Clock) {
        let now = Instant::now();
        if self.due.is_none_or(|due| now >= due) {
            self.due = Some(now + self.interval);
            self.note(clock);
        }
    }

    /// Returns the noted counts, by time.
    pub(super) fn all(&self) -> &[(u64, u64)] {
        &self.all
    }

    fn add(&mut self, ticks: u64, stolen_ns: u64) {
        if self.all.len() == MOST {
            for place in 0..MOST / 2 {
                self.all[place] = self.all[2 * place];
            }
            self.all.truncate(MOST / 2);
            self.interval *= 2;
        }
        self.all.push((ticks, stolen_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_counts_takes_little_room() {
        let mut counts = StealCounts::default();
        for n in 0..10 * MOST as u64 {
            counts.add(n, 2 * n);
        }
        assert!(counts.all.len() <= MOST && counts.interval > INTERVAL);
        assert!(counts.all.is_sorted() && counts.all.iter().all(|&(at, ns)| ns == 2 * at));
        assert_eq!((counts.all[0], counts.all.last()), ((0, 0), Some(&(40_959, 81_918))));
    }
}
