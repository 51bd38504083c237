//! Who is told of long polls while they go on.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::recorder::watch::Sample;
use crate::util::sync::lock;

/// A poll that has gone on for long, as it was seen.
#[derive(Clone, Debug)]
pub(crate) struct SeenPoll {
    /// The runtime's name, if it has one.
    pub(crate) runtime: Option<String>,
    /// The task, as records have it.
    pub(crate) task: u64,
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) worker: Option<u32>,
    pub(crate) age: Duration,
    /// Whether its thread was ready to run and did not.
    pub(crate) is_taken_away: bool,
    /// What it was doing; `None` if its stack could not be had.
    pub(crate) sample: Option<Sample>,
}

/// Tells a listener of a poll, and of how many it wasn't told since the last time.
pub(crate) type Tell = dyn Fn(&SeenPoll, u64) + Send + Sync;

/// One who is told.
pub(crate) struct Listener {
    /// The age of a poll at which it is.
    pub(crate) threshold: Duration,
    /// Whether it wants to be told now. Asked on the watcher's thread, once a poll, before anything is
    /// looked up.
    pub(crate) wants: Box<dyn Fn() -> bool + Send + Sync>,
    pub(crate) tell: Box<Tell>,
    /// Of how many polls that it wanted it wasn't told since then.
    pub(crate) missed: AtomicU64,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

/// Those of one recorder.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// The lowest threshold in ns: below it nobody is looked for.
    lowest_ns: AtomicU64,
    all: Mutex<Vec<Arc<Listener>>>,
}

impl Default for Listeners {
    fn default() -> Self {
        Self { lowest_ns: AtomicU64::new(u64::MAX), all: Mutex::default() }
    }
}

impl Listeners {
    pub(crate) fn add(&self, listener: Listener) {
        let threshold_ns = u64::try_from(listener.threshold.as_nanos()).unwrap_or(u64::MAX);
        lock(&self.all).push(Arc::new(listener));
        self.lowest_ns.fetch_min(threshold_ns, Ordering::Relaxed);
    }

    /// Whether there are any.
    pub(crate) fn are_there(&self) -> bool {
        self.lowest_ns.load(Ordering::Relaxed) != u64::MAX
    }

    /// Those who are to be told of a poll that has got from one age to another since it was looked at.
    pub(crate) fn due(&self, from: Duration, to: Duration) -> Vec<Arc<Listener>> {
        if to.as_nanos() < u128::from(self.lowest_ns.load(Ordering::Relaxed)) {
            return Vec::new();
        }
        let is_due = |threshold| from < threshold && threshold <= to;
        lock(&self.all).iter().filter(|one| is_due(one.threshold)).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_told_once_a_poll() {
        let ms = Duration::from_millis;
        let listeners = Listeners::default();
        assert!(listeners.due(ms(0), Duration::MAX).is_empty());
        for threshold in [ms(10), ms(5)] {
            let (wants, tell) = (Box::new(|| true), Box::new(|_: &SeenPoll, _| ()));
            listeners.add(Listener { threshold, wants, tell, missed: AtomicU64::new(0) });
        }
        let due = |from, to| {
            let due = listeners.due(ms(from), ms(to));
            due.iter().map(|one| one.threshold.as_millis()).collect::<Vec<_>>()
        };
        let looks = [due(0, 4), due(0, 5), due(5, 9), due(9, 12), due(12, 99)];
        assert_eq!(looks, [vec![], vec![5], vec![], vec![10], vec![]]);
        assert_eq!(due(0, 99), [10, 5]);
    }
}
