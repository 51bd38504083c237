//! The buffers of one recorder.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::recorder::locks::{BUFFERS, Held, Lock, lock, try_lock};
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::rings::ReaderEnd;
use crate::recorder::store::segment::{SharedChunk, StreamId};

/// The buffers of all threads that have recorded.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    all: Lock<Vec<&'static Buffer>, BUFFERS>,
    /// The number of streams so far.
    streams: AtomicU32,
}

impl Buffers {
    /// Makes a buffer for a thread that fills `chunk`, and has the other end of `rings`.
    pub(crate) fn add(&self, chunk: SharedChunk, rings: ReaderEnd) -> &'static Buffer {
        let buffer = Buffer::take(self.new_stream(), chunk, rings);
        self.lock().push(buffer);
        buffer
    }

    /// Returns the stream of a thread that is yet to record.
    pub(crate) fn new_stream(&self) -> StreamId {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// Locks them, for a caller that can't allocate.
    pub(crate) fn lock(&self) -> Held<'_, Vec<&'static Buffer>> {
        lock(&self.all)
    }

    pub(crate) fn all(&self) -> Vec<&'static Buffer> {
        self.lock().clone()
    }

    /// Returns how many events the threads refused.
    pub(crate) fn refused(&self) -> u64 {
        let mut refused = 0;
        for buffer in self.lock().iter() {
            refused += buffer.refused();
        }
        refused
    }

    /// Returns whether nothing of them is locked.
    pub(crate) fn is_free(&self) -> bool {
        try_lock(&self.all).is_some_and(|all| all.iter().all(|buffer| buffer.is_free()))
    }

    /// Gives all of them back, as no thread writes to any.
    pub(crate) fn give_back(&self) {
        Buffer::give_back(std::mem::take(&mut *self.lock()));
    }
}
