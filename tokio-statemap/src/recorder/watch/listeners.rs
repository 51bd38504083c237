//! The listeners that are notified of long polls while they run.

use std::fmt;
use std::panic::Location;
#[cfg(feature = "html")]
use std::path::Path;
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
    /// The task's id, as in records.
    pub(crate) task: u64,
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) worker: Option<u32>,
    pub(crate) age: Duration,
    /// `true` if its thread was ready to run and did not.
    pub(crate) is_taken_away: bool,
    /// A sample of its stack; `None` if that could not be read.
    pub(crate) sample: Option<Sample>,
}

/// Notifies a listener of a poll, with the number of polls missed since the last time.
pub(crate) type Notify = dyn Fn(&SeenPoll, u64) + Send + Sync;

/// A listener for long polls.
pub(crate) struct Listener {
    /// The age of a poll at which the listener is notified.
    pub(crate) threshold: Duration,
    /// Returns whether the listener wants to be notified now. Called on the watcher's thread, once per poll, before
    /// anything is looked up.
    pub(crate) wants: Box<dyn Fn() -> bool + Send + Sync>,
    pub(crate) notify: Box<Notify>,
    /// The number of polls that the listener wanted since the last notification, and was not notified of.
    pub(crate) missed: AtomicU64,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

/// The listeners of one recorder.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// The lowest threshold in ns, below which no listener is searched for.
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

    /// Returns whether there are any listeners.
    pub(crate) fn are_there(&self) -> bool {
        self.lowest_ns.load(Ordering::Relaxed) != u64::MAX
    }

    /// Returns the listeners to notify of a poll whose age went from `from` to `to` since the last look.
    pub(crate) fn due(&self, from: Duration, to: Duration) -> Vec<Arc<Listener>> {
        if to.as_nanos() < u128::from(self.lowest_ns.load(Ordering::Relaxed)) {
            return Vec::new();
        }
        let mut due = Vec::new();
        for one in lock(&self.all).iter() {
            if from < one.threshold && one.threshold <= to {
                due.push(Arc::clone(one));
            }
        }
        due
    }
}

/// The pages that the key `dump_on` has written in this process, and the triggers that led to none. Metrics tell these.
#[derive(Debug)]
pub(crate) struct Pages {
    pub(crate) written: AtomicU64,
    pub(crate) left_out: AtomicU64,
}

pub(crate) static PAGES: Pages = Pages { written: AtomicU64::new(0), left_out: AtomicU64::new(0) };

/// A listener for the pages that are written while the program runs.
#[cfg(feature = "html")]
pub(crate) type OnPage = Arc<dyn Fn(&Path) + Send + Sync>;

/// The listeners for pages of one recorder.
#[cfg(feature = "html")]
#[derive(Default)]
pub(crate) struct PageListeners(pub(crate) Mutex<Vec<OnPage>>);

#[cfg(feature = "html")]
impl fmt::Debug for PageListeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PageListeners")
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
            let (wants, notify) = (Box::new(|| true), Box::new(|_: &SeenPoll, _| ()));
            listeners.add(Listener { threshold, wants, notify, missed: AtomicU64::new(0) });
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
