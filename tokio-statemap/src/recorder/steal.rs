//! The time that the host of a virtual machine took, as the kernel counted it in the course of the recording.
//!
//! Time off the processor without any other reason is only the host's as far as the kernel counted so much meanwhile.

use std::time::{Duration, Instant};

use crate::recorder::{Recorder, watch};
use crate::util::sync::lock;

/// How many counts are kept: of more, every second one.
const MOST: usize = 4096;

/// The least time between two counts at first. To read one takes some 0.1 ms.
const INTERVAL: Duration = Duration::from_secs(1);

/// What was counted up to several moments.
#[derive(Debug)]
pub(crate) struct StealCounts {
    /// Each with its time, in ticks, and in ns of all processors.
    all: Vec<(u64, u64)>,
    interval: Duration,
    due: Option<Instant>,
}

impl Default for StealCounts {
    fn default() -> Self {
        Self { all: Vec::new(), interval: INTERVAL, due: None }
    }
}

impl StealCounts {
    fn add(&mut self, ticks: u64, stolen_ns: u64) {
        if self.all.len() == MOST {
            let mut place = 0;
            self.all.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.interval *= 2;
        }
        self.all.push((ticks, stolen_ns));
    }
}

impl Recorder {
    /// Notes what the kernel has counted so far; nothing where it doesn't count that.
    pub(crate) fn note_steal(&self) {
        if self.config.stacks {
            // Read within the lock, so that they are in order.
            let mut counts = lock(&self.steal);
            if let Some(stolen_ns) = watch::stolen_ns() {
                counts.add(self.clock.ticks(), stolen_ns);
            }
        }
    }

    /// The same, if the last time is long ago.
    pub(crate) fn note_steal_if_due(&self) {
        let now = Instant::now();
        let is_due = {
            let mut counts = lock(&self.steal);
            let is_due = counts.due.is_none_or(|due| now >= due);
            if is_due {
                counts.due = Some(now + counts.interval);
            }
            is_due
        };
        if is_due {
            self.note_steal();
        }
    }

    /// What was noted, by time in ticks.
    pub(crate) fn steal_counts(&self) -> Vec<(u64, u64)> {
        lock(&self.steal).all.clone()
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
