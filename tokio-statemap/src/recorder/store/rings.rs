//! The two rings between a thread and the reader of its records: full chunks go one way, empty ones come back
//! the other.
//!
//! Neither end waits for the other. A full chunk comes with the one that is filled next. So the reader knows the order
//! of the chunks, wherever the thread found them.
//!
//! Empty chunks that the thread doesn't need are taken back: both ends take from the ring of empty chunks, each only
//! if the other isn't taking at that moment.

#[cfg(not(statemap_loom))]
use rtrb::{Consumer, Producer, PushError, RingBuffer};

#[cfg(statemap_loom)]
use crate::recorder::models::ring::{Consumer, Producer, PushError, RingBuffer};
use crate::recorder::store::segment::{RecordWriter, SharedChunk};
use crate::sys::sync::{Arc, Mutex};
use crate::util::sync::try_lock;

/// A chunk that its thread has filled.
#[derive(Debug)]
pub(crate) struct FullChunk {
    pub(crate) writer: RecordWriter,
    /// The number of its records that are notes, so that its events need not be counted.
    pub(crate) notes: usize,
    /// The chunk that the thread fills after it.
    pub(crate) next: SharedChunk,
}

/// The thread's end.
#[derive(Debug)]
pub(crate) struct ThreadEnd {
    full: Producer<FullChunk>,
    empty: EmptyChunks,
}

/// The other end, whose holder has the lock of the thread's buffer.
#[derive(Debug)]
pub(crate) struct ReaderEnd {
    full: Consumer<FullChunk>,
    empty: Producer<RecordWriter>,
    /// The thread's end of the same ring.
    given: EmptyChunks,
}

/// The source of empty chunks. Nobody waits for it: a taker that finds it locked does without.
type EmptyChunks = Arc<Mutex<Consumer<RecordWriter>>>;

fn take_empty(from: &EmptyChunks) -> Option<RecordWriter> {
    let from: &Mutex<_> = from;
    try_lock(from)?.pop().ok()
}

/// Creates the rings of a thread that is given up to `spare` empty chunks ahead. Twice as many full ones may wait, as
/// the thread finds an empty chunk elsewhere if it was given none in time.
#[inline]
pub(crate) fn rings(spare: usize) -> (ThreadEnd, ReaderEnd) {
    let (full, from_thread) = ring(2 * spare);
    let (to_thread, empty) = ring(spare);
    let given = Arc::new(Mutex::new(empty));
    let thread = ThreadEnd { full, empty: Arc::clone(&given) };
    (thread, ReaderEnd { full: from_thread, empty: to_thread, given })
}

/// Never inlined: a hook makes the rings, and making one takes a third of the stack that a hook may use.
#[inline(never)]
fn ring<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    RingBuffer::new(capacity)
}

impl ThreadEnd {
    /// Hands over the full chunk of `writer`, of which `notes` records are notes, and takes an empty one from the ring,
    /// or else from `find`. Gives the full chunk back if there is no empty one, or if too many full ones wait already.
    pub(crate) fn exchange(
        &mut self,
        writer: RecordWriter,
        notes: usize,
        find: impl FnOnce() -> Option<RecordWriter>,
    ) -> Result<RecordWriter, RecordWriter> {
        if self.full.is_full() {
            return Err(writer);
        }
        let Some(empty) = take_empty(&self.empty).or_else(find) else { return Err(writer) };
        // Pushed before anything is written to the next chunk: whoever sees its records sees that this one is full.
        let full = FullChunk { writer, notes, next: Arc::clone(empty.chunk()) };
        match self.full.push(full) {
            Ok(()) => Ok(empty),
            Err(PushError::Full(full)) => Err(full.writer), // unreachable: it wasn't full
        }
    }

    /// Returns the next of the empty chunks that the thread will not fill.
    pub(crate) fn leave(&mut self) -> Option<RecordWriter> {
        take_empty(&self.empty)
    }
}

impl ReaderEnd {
    /// Returns how many full chunks wait to be read.
    pub(super) fn waiting(&self) -> usize {
        self.full.slots()
    }

    /// Calls `see` with the number of full chunks that wait, and with the chunk that the thread fills after them, if
    /// any wait.
    pub(super) fn see_last(&mut self, see: &mut dyn FnMut(usize, Option<&SharedChunk>)) {
        let waiting = self.waiting();
        #[cfg(statemap_loom)]
        return self.full.see(waiting.checked_sub(1), |full| see(waiting, full.map(|f| &f.next)));
        #[cfg(not(statemap_loom))]
        match self.full.read_chunk(waiting) {
            Ok(chunk) => {
                let (first, second) = chunk.as_slices();
                see(waiting, second.last().or(first.last()).map(|full| &full.next))
            }
            Err(_) => see(0, None), // unreachable: this many wait
        }
    }

    /// Returns the oldest full chunk.
    pub(super) fn take_full(&mut self) -> Option<FullChunk> {
        self.full.pop().ok()
    }

    /// Returns how many empty chunks the thread was given and hasn't taken.
    pub(super) fn given(&self) -> usize {
        self.empty.buffer().capacity() - self.empty.slots()
    }

    /// Takes back an empty chunk.
    pub(super) fn take_back(&mut self) -> Option<RecordWriter> {
        take_empty(&self.given)
    }

    /// Gives the thread an empty chunk. Returns the chunk if there is no room.
    pub(super) fn give_empty(&mut self, empty: RecordWriter) -> Result<(), RecordWriter> {
        self.empty.push(empty).map_err(|PushError::Full(empty)| empty)
    }
}
