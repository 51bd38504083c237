//! Takes back the empty chunks that threads don't need any more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::recorder::hot::Shared;
use crate::recorder::kept::AHEAD;

/// A thread that fills no chunk for so long, or for up to twice as long, has none to spare after that.
const PERIOD: Duration = Duration::from_secs(1);

/// The times at which that is looked at.
#[derive(Debug, Default)]
pub(super) struct Spare {
    /// The last time; `None` if no thread has any.
    last: Option<Instant>,
}

impl Spare {
    /// Takes back what isn't needed, if that is due: `has_filled` says whether any thread filled a chunk, and so was given
    /// some.
    pub(super) fn take_back(&mut self, has_filled: bool, recorders: &[Arc<Shared>]) {
        match self.last {
            None => self.last = has_filled.then(Instant::now),
            Some(last) if last.elapsed() >= PERIOD => {
                let mut left = 0;
                for recorder in recorders {
                    left += recorder.kept.take_back(AHEAD);
                }
                self.last = (left > 0 || has_filled).then(Instant::now);
            }
            Some(_) => {}
        }
    }

    /// Returns how long may be slept until it is due; `None` if nothing is to be taken back.
    pub(super) fn time(&self) -> Option<Duration> {
        Some(PERIOD.saturating_sub(self.last?.elapsed()))
    }
}
