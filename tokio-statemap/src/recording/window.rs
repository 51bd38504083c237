//! The recording window: `start_after` and `duration`.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::active::Active;
use crate::collector::Collector;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The time in which runtimes are recorded.
#[derive(Debug)]
pub(super) struct RecordingWindow {
    start_after: Option<Duration>,
    duration: Option<Duration>,
    phase: Mutex<Phase>,
    closed: Arc<(Mutex<bool>, Condvar)>,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The window begins later.
    Before,
    Open,
    Over,
}

impl RecordingWindow {
    pub(super) fn new(start_after: Option<Duration>, duration: Option<Duration>) -> Self {
        let start_after = start_after.filter(|after| !after.is_zero());
        let phase = if start_after.is_some() { Phase::Before } else { Phase::Open };
        let closed = Arc::new((Mutex::new(false), Condvar::new()));
        Self { start_after, duration, phase: Mutex::new(phase), closed }
    }

    /// Starts a new collector if the window is open. Returns `false` if it is over.
    pub(super) fn admit(&self, collector: &Collector) -> bool {
        match *lock(&self.phase) {
            Phase::Before => collector.expect_late_start(),
            Phase::Open => collector.start(),
            Phase::Over => return false,
        }
        true
    }

    /// Returns `true` if nothing is recorded any more.
    pub(super) fn is_over(&self) -> bool {
        matches!(*lock(&self.phase), Phase::Over)
    }

    /// Returns `true` if the window begins later. Until then, no hook shows that a runtime was built.
    pub(super) fn is_delayed(&self) -> bool {
        self.start_after.is_some()
    }

    /// Spawns a thread that starts the collectors of `active` after `start_after` and stops them after `duration`,
    /// if either is set.
    pub(super) fn schedule(&self, active: &Arc<Active>) {
        let Self { start_after, duration, .. } = *self;
        if start_after.is_none() && duration.is_none() {
            return;
        }
        let (closed, waiting) = (Arc::clone(&self.closed), Arc::downgrade(active));
        let run = move || {
            if start_after.is_some_and(|after| sleep(&closed, after)) {
                return;
            }
            if let Some(active) = waiting.upgrade() {
                active.open_window();
            }
            if duration.is_some_and(|duration| !sleep(&closed, duration)) {
                if let Some(active) = waiting.upgrade() {
                    active.end_window();
                }
            }
        };
        if let Err(error) = crate::sys::start("statemap-window", Box::new(run)) {
            warn(format_args!("the whole run is recorded: no thread for the window: {error}"));
            active.open_window();
        }
    }

    /// Ends the thread, as the recording is over.
    pub(super) fn close(&self) {
        let (closed, changed) = &*self.closed;
        *lock(closed) = true;
        changed.notify_all();
    }
}

impl Active {
    /// Starts all collectors, and those that are added from now on.
    fn open_window(&self) {
        let open = || {
            let mut phase = lock(&self.window.phase);
            let is_before = matches!(*phase, Phase::Before);
            if is_before {
                *phase = Phase::Open;
            }
            is_before
        };
        self.runtimes.each(&open, &Collector::start);
    }

    /// Stops all collectors. Those that are added from now on are not started.
    pub(super) fn end_window(&self) {
        let end = || {
            *lock(&self.window.phase) = Phase::Over;
            true
        };
        self.runtimes.each(&end, &Collector::stop);
    }
}

/// Waits for `time`. Returns `true` if the recording ended earlier.
fn sleep(closed: &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let (closed, changed) = closed;
    let waited = changed.wait_timeout_while(lock(closed), time, |closed| !*closed);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}
