//! Takes back the empty chunks that threads don't need any more, and gives back the memory of those that stay idle.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::recorder::hot::Shared;
use crate::recorder::kept::AHEAD;

/// A thread that fills no chunk for one to two of these periods has no spare chunks afterwards.
const PERIOD: Duration = Duration::from_secs(1);

/// Decides when chunks are taken back.
#[derive(Debug, Default)]
pub(super) struct Spare {
    /// The start of the current period; `None` if no thread has spare chunks, and few chunks are idle.
    last: Option<Instant>,
}

impl Spare {
    /// Takes back what isn't needed, if that is due. `has_filled` says whether any thread filled a chunk, and so was
    /// given empty ones.
    pub(super) fn take_back(&mut self, has_filled: bool, recorders: &[Arc<Shared>]) {
        match self.last {
            None => self.last = has_filled.then(Instant::now),
            Some(last) if last.elapsed() >= PERIOD => {
                let mut left = 0;
                for recorder in recorders {
                    left += recorder.kept.take_back(AHEAD) + recorder.kept.give_back_memory();
                }
                self.last = (left > 0 || has_filled).then(Instant::now);
            }
            Some(_) => {}
        }
    }

    /// Returns how long the thread may sleep until chunks are taken back; `None` if there are none to take back.
    pub(super) fn time(&self) -> Option<Duration> {
        Some(PERIOD.saturating_sub(self.last?.elapsed()))
    }
}
