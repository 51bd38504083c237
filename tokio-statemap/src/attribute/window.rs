//! The recording window of a run: `start_after` and `duration`.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::collector::Collector;
use crate::util::message::warn;
use crate::util::sync::lock;

/// A thread that starts and stops the collector on schedule. Only needed with one of the two keys.
#[derive(Debug)]
pub(super) struct RecordingThread {
    closed: Arc<(Mutex<bool>, Condvar)>,
}

impl RecordingThread {
    /// Starts `collector` now or after `start_after`, and stops it after `duration`, if given.
    pub(super) fn open(
        collector: &Arc<Collector>,
        start_after: Option<Duration>,
        duration: Option<Duration>,
    ) -> Option<Self> {
        let start_after = start_after.filter(|after| !after.is_zero());
        match start_after {
            Some(_) => collector.expect_late_start(),
            None => collector.start(),
        }
        if start_after.is_none() && duration.is_none() {
            return None;
        }
        let closed = Arc::new((Mutex::new(false), Condvar::new()));
        let window = Self { closed: Arc::clone(&closed) };
        let waiting = Arc::clone(collector);
        let thread = std::thread::Builder::new().name("statemap-window".into()).spawn(move || {
            if start_after.is_some_and(|after| sleep(&closed, after)) {
                return;
            }
            waiting.start();
            if duration.is_some_and(|duration| !sleep(&closed, duration)) {
                waiting.stop();
            }
        });
        if let Err(error) = thread {
            warn(format_args!("the whole run is recorded: no thread for the window: {error}"));
            collector.start();
        }
        Some(window)
    }

    /// Ends the thread, as the run is over.
    pub(super) fn close(&self) {
        let (closed, changed) = &*self.closed;
        *lock(closed) = true;
        changed.notify_all();
    }
}

/// Waits for `time`; returns `true` if the run ended before.
fn sleep(closed: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let (closed, changed) = closed;
    let waited = changed.wait_timeout_while(lock(closed), time, |closed| !*closed);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
