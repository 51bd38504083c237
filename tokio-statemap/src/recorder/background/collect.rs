//! Collecting: full chunks go to the store, and threads that fill many get as many empty ones.

use std::sync::Arc;

use crate::recorder::Recorder;
use crate::recorder::background::pace::Filled;
use crate::recorder::retention::spare_chunks;
use crate::recorder::store::buffer::Buffer;
use crate::util::sync::lock;

/// Collects from all.
pub(super) fn all(recorders: &[Arc<Recorder>]) -> Filled {
    recorders.iter().map(|recorder| recorder.collect()).fold(Filled::default(), Filled::max)
}

/// Whether there is anything to collect.
pub(super) fn is_needed(recorders: &[Arc<Recorder>]) -> bool {
    let waits = |recorder: &Arc<Recorder>| lock(&recorder.buffers).iter().any(|b| b.has_filled());
    recorders.iter().any(waits)
}

impl Recorder {
    /// Moves full chunks to the store, and evicts.
    pub(in crate::recorder) fn collect(&self) -> Filled {
        let buffers = lock(&self.buffers).clone();
        let mut most = Filled { chunks: 0, of: spare_chunks(&self.config) };
        for buffer in buffers {
            let filled = buffer.collect(&self.store);
            if filled > 0 {
                most.chunks = most.chunks.max(filled);
                self.supply(buffer, filled);
            }
        }
        if !most.is_nothing() {
            self.after_drain();
        }
        most
    }

    /// Gives the thread of `buffer` empty chunks, which filled so many since the last time.
    fn supply(&self, buffer: &Buffer, filled: usize) {
        // Four times as many, as the next time may be later.
        let wanted = (4 * filled).min(spare_chunks(&self.config));
        for _ in buffer.spare()..wanted {
            let empty = lock(&self.store).take_writer();
            empty.prefault();
            if let Err(empty) = buffer.give(empty) {
                return lock(&self.store).give_back(empty);
            }
        }
    }
}
