//! The two rings between a thread and who reads its records: full chunks go one way, empty ones come back
//! the other.
//!
//! Neither end waits for the other, and there is room for all chunks that a thread can have.

use rtrb::{Consumer, Producer, RingBuffer};

use crate::recorder::store::segment::RecordWriter;

/// A chunk that its thread has filled.
#[derive(Debug)]
pub(crate) struct FullChunk {
    pub(crate) writer: RecordWriter,
    /// How many of its records are notes: so its events need not be counted.
    pub(crate) notes: usize,
}

/// The thread's end.
#[derive(Debug)]
pub(crate) struct ThreadEnd {
    full: Producer<FullChunk>,
    empty: Consumer<RecordWriter>,
}

/// The other end, whose holder has the lock of the thread's buffer.
#[derive(Debug)]
pub(crate) struct ReaderEnd {
    full: Consumer<FullChunk>,
    empty: Producer<RecordWriter>,
}

/// Rings for a thread that has up to `spare` empty chunks besides the one that it fills.
#[inline]
pub(crate) fn rings(spare: usize) -> (ThreadEnd, ReaderEnd) {
    // All that it filled, and the one that it had before any came through the ring.
    let (full, from_thread) = ring(spare + 1);
    let (to_thread, empty) = ring(spare);
    (ThreadEnd { full, empty }, ReaderEnd { full: from_thread, empty: to_thread })
}

/// Never inlined: a hook makes them, and one takes a third of the stack that a hook may use.
#[inline(never)]
fn ring<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    RingBuffer::new(capacity)
}

impl ThreadEnd {
    /// Hands the full chunk over and takes an empty one. Gives the full one back if there is no empty one.
    pub(crate) fn exchange(&mut self, full: FullChunk) -> Result<RecordWriter, FullChunk> {
        if self.full.is_full() {
            return Err(full); // unreachable: there are no more chunks than that
        }
        let Ok(empty) = self.empty.pop() else { return Err(full) };
        // Before anything is written to the next one: who sees its records sees that this one is full.
        match self.full.push(full) {
            Ok(()) => Ok(empty),
            Err(rtrb::PushError::Full(full)) => Err(full), // unreachable: as above
        }
    }

    /// The empty chunks that the thread will not fill.
    pub(crate) fn leave(&mut self) -> impl Iterator<Item = RecordWriter> {
        std::iter::from_fn(|| self.empty.pop().ok())
    }
}

impl ReaderEnd {
    /// How many full chunks wait to be read.
    pub(super) fn waiting(&self) -> usize {
        self.full.slots()
    }

    /// The oldest of them.
    pub(super) fn take_full(&mut self) -> Option<FullChunk> {
        self.full.pop().ok()
    }

    /// How many chunks the thread may have besides the one that it fills.
    pub(super) fn spare(&self) -> usize {
        self.empty.buffer().capacity()
    }

    /// Gives the thread an empty chunk. Gives it back if there is no room.
    pub(super) fn give_empty(&mut self, empty: RecordWriter) -> Result<(), RecordWriter> {
        self.empty.push(empty).map_err(|rtrb::PushError::Full(empty)| empty)
    }
}
