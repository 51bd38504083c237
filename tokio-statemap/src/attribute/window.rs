//! The recording window of a run: `start_after` and `duration`.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::collector::Collector;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The times at which the collector starts and stops.
#[derive(Debug)]
pub(super) struct RecordingWindow {
    start_after: Option<Duration>,
    duration: Option<Duration>,
    closed: Arc<(Mutex<bool>, Condvar)>,
}

impl RecordingWindow {
    /// Starts `collector`, unless `start_after` delays it.
    pub(super) fn open(
        collector: &Collector,
        start_after: Option<Duration>,
        duration: Option<Duration>,
    ) -> Self {
        let start_after = start_after.filter(|after| !after.is_zero());
        match start_after {
            Some(_) => collector.expect_late_start(),
            None => collector.start(),
        }
        Self { start_after, duration, closed: Arc::new((Mutex::new(false), Condvar::new())) }
    }

    /// Spawns a thread that starts `collector` after `start_after` and stops it after `duration`,
    /// if either is set.
    pub(super) fn schedule(&self, collector: &Arc<Collector>) {
        let Self { start_after, duration, .. } = *self;
        if start_after.is_none() && duration.is_none() {
            return;
        }
        let (closed, waiting) = (Arc::clone(&self.closed), Arc::clone(collector));
        let run = move || {
            if start_after.is_some_and(|after| sleep(&closed, after)) {
                return;
            }
            waiting.start();
            if duration.is_some_and(|duration| !sleep(&closed, duration)) {
                waiting.stop();
            }
        };
        if let Err(error) = crate::sys::start("statemap-window", Box::new(run)) {
            warn(format_args!("the whole run is recorded: no thread for the window: {error}"));
            collector.start();
        }
    }

    /// Ends the thread, as the run is over.
    pub(super) fn close(&self) {
        let (closed, changed) = &*self.closed;
        *lock(closed) = true;
        changed.notify_all();
    }
}

/// Waits for `time`. Returns `true` if the run ended earlier.
fn sleep(closed: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let (closed, changed) = closed;
    let waited = changed.wait_timeout_while(lock(closed), time, |closed| !*closed);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
