//! The window of a run: `start_after` and `duration`.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::collector::Collector;
use crate::util::message::say;
use crate::util::sync::lock;

/// A thread that starts and stops the collector in time. Without either key there is none.
#[derive(Debug)]
pub(super) struct Window {
    closed: Arc<(Mutex<bool>, Condvar)>,
}

impl Window {
    /// Starts `collector` now, or `start_after` from now, for `duration` or for good.
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
            say(format_args!("the whole run is recorded: no thread for the window: {error}"));
            collector.start();
        }
        Some(window)
    }

    /// Ends the thread: the run is over.
    pub(super) fn close(&self) {
        let (closed, changed) = &*self.closed;
        *lock(closed) = true;
        changed.notify_all();
    }
}

/// Waits for so long; `true` if the run was over before.
fn sleep(closed: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let (closed, changed) = closed;
    let waited = changed.wait_timeout_while(lock(closed), time, |closed| !*closed);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
