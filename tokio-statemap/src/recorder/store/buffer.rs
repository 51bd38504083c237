//! A thread's buffer: the chunk that the thread fills, and how it gets into the store.
//!
//! The thread writes records into the chunk in place. When the chunk is full, the thread hands it over as it is,
//! through a [ring](super::rings), and continues with an empty one. Nothing is lost, and nothing is copied. The holder
//! of the buffer's lock moves full chunks to the store and gives the thread empty ones, and can read what was written
//! at any time, for a capture. The thread takes the lock only if too many full chunks wait.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::recorder::locks::{Lock, READER, STORE, lock, try_lock};
use crate::recorder::record::{Record, events_in};
use crate::recorder::store::Store;
use crate::recorder::store::rings::{FullChunk, ReaderEnd, ThreadEnd};
use crate::recorder::store::segment::{
    RecordWriter, Segment, Sequence, SharedChunk, StreamId, records_until,
};
use crate::recorder::store::watched::Watched;
use crate::sys::planted::planted;
use crate::sys::sync::Arc;
use crate::util::sync;

/// A thread's buffer: the thread fills its chunks, and the holder of the lock of `reader` reads them.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// The number of refused events. Only the buffer's thread writes it, so no read-modify-write is
    /// needed.
    refused: AtomicU64,
    pub(crate) watched: Watched,
    reader: Lock<ReaderState, READER>,
}

/// The state of the reading side.
#[derive(Debug)]
struct ReaderState {
    stream: StreamId,
    /// The sequence number of the run that starts at `read`.
    sequence: Sequence,
    /// The first chunk that is not in the store: the oldest of those that wait in the ring, or else the one that the
    /// thread fills. `None` if there is no thread, and while the thread takes another chunk by itself.
    first: Option<SharedChunk>,
    /// The number of records of `first` that were read: they are in the store, or evicted.
    read: usize,
    /// The number of chunks that got full since the last collection.
    filled: usize,
    /// The most chunks that were collected at once since spare ones were last [taken back](Buffer::take_back).
    most: usize,
    /// `None` if the buffer has no thread.
    rings: Option<ReaderEnd>,
}

/// The buffers that no recorder uses. A buffer is never freed, so that a hook can refer to it without a reference
/// count. Instead it is reused.
static IDLE: std::sync::Mutex<Vec<&'static Buffer>> = std::sync::Mutex::new(Vec::new());

impl Buffer {
    /// Returns a buffer without a thread.
    pub(crate) fn unassigned() -> Self {
        Self {
            refused: AtomicU64::new(0),
            watched: Watched::new(),
            reader: Lock::new(ReaderState::unassigned()),
        }
    }

    /// Returns a buffer for the thread whose stream is `stream`, which fills `chunk` and has the other end of `rings`.
    pub(crate) fn take(stream: StreamId, chunk: SharedChunk, rings: ReaderEnd) -> &'static Self {
        // A model begins anew each time.
        let idle = if cfg!(statemap_loom) { None } else { sync::lock(&IDLE).pop() };
        let buffer = idle.unwrap_or_else(|| Box::leak(Box::new(Self::unassigned())));
        let (first, rings) = (Some(chunk), Some(rings));
        *lock(&buffer.reader) = ReaderState { stream, first, rings, ..ReaderState::unassigned() };
        buffer.watched.set_worker(None);
        buffer
    }

    /// Takes back buffers that no thread writes to any more.
    pub(crate) fn give_back(buffers: Vec<&'static Self>) {
        for buffer in &buffers {
            *lock(&buffer.reader) = ReaderState::unassigned();
            buffer.refused.store(0, Ordering::Relaxed);
        }
        sync::lock(&IDLE).extend(buffers);
    }

    /// Moves the full chunk of `writer` to the store, after those before it. `notes` of its records are notes. Must
    /// only be called by the buffer's thread.
    pub(crate) fn hand_over(&self, writer: RecordWriter, notes: usize, store: &Lock<Store, STORE>) {
        let mut reader = lock(&self.reader);
        let mut store = lock(store);
        reader.seal_all(&mut store);
        reader.seal(writer, notes, None, &mut store);
    }

    /// Gives the thread an empty chunk. Must only be called by the buffer's thread, after
    /// [`hand_over`](Self::hand_over).
    pub(crate) fn next_writer(&self, store: &Lock<Store, STORE>) -> RecordWriter {
        let empty = lock(store).take_writer();
        self.begin(Arc::clone(empty.chunk()));
        empty.prefault();
        empty
    }

    /// Moves full chunks to the store.
    pub(crate) fn seal(&self, store: &Lock<Store, STORE>) {
        lock(&self.reader).seal_waiting(store);
    }

    /// Moves full chunks to the store. Returns how many got full since the last collection, and how many empty ones the
    /// thread has to spare.
    pub(crate) fn collect(&self, store: &Lock<Store, STORE>) -> (usize, usize) {
        let mut reader = lock(&self.reader);
        reader.seal_waiting(store);
        let filled = std::mem::take(&mut reader.filled);
        reader.most = reader.most.max(filled);
        (filled, reader.rings.as_ref().map_or(0, ReaderEnd::given))
    }

    /// Takes back empty chunks. The thread keeps `ahead` times as many as were collected from it at once since the last
    /// call. Returns how many it has left.
    pub(crate) fn take_back(&self, store: &Lock<Store, STORE>, ahead: usize) -> usize {
        let mut reader = lock(&self.reader);
        let needed = ahead * std::mem::take(&mut reader.most);
        let Some(rings) = &mut reader.rings else { return 0 };
        for _ in needed..rings.given() {
            let Some(empty) = rings.take_back() else { break };
            lock(store).give_back(empty);
        }
        rings.given()
    }

    /// Returns whether nobody is reading it.
    pub(crate) fn is_free(&self) -> bool {
        try_lock(&self.reader).is_some()
    }

    /// Returns whether any chunk got full since the last collection.
    #[cfg(test)]
    pub(crate) fn has_filled(&self) -> bool {
        let reader = lock(&self.reader);
        reader.filled > 0 || reader.waiting() > 0
    }

    /// Returns how many empty chunks the thread was given and hasn't taken.
    pub(crate) fn spare(&self) -> usize {
        lock(&self.reader).rings.as_ref().map_or(0, ReaderEnd::given)
    }

    /// Gives the thread an empty chunk. Returns the chunk if the thread has as many as it may have.
    pub(crate) fn give(&self, empty: RecordWriter) -> Result<(), RecordWriter> {
        match &mut lock(&self.reader).rings {
            Some(rings) => rings.give_empty(empty),
            None => Err(empty),
        }
    }

    /// Calls `read` with the stream, the sequence number of what isn't in the store yet, and the chunk that the thread
    /// fills. `None` if the buffer has no thread, or while the thread takes another chunk by itself.
    pub(crate) fn read<R>(
        &self,
        read: impl Fn(StreamId, Sequence, &SharedChunk) -> R,
    ) -> Option<R> {
        let mut result = None;
        self.see(&mut |stream, sequence, chunk| result = Some(read(stream, sequence, chunk)));
        result
    }

    fn see(&self, see: &mut dyn FnMut(StreamId, Sequence, &SharedChunk)) {
        let mut reader = lock(&self.reader);
        let ReaderState { stream, sequence, first, rings, .. } = &mut *reader;
        let Some(rings) = rings else { return };
        rings.see_last(&mut |waiting, last| {
            if let Some(chunk) = last.or(first.as_ref()) {
                see(*stream, sequence.wrapping_add(waiting as Sequence), chunk);
            }
        });
    }

    /// Counts a refused event.
    #[inline]
    pub(crate) fn refuse(&self) {
        let refused = self.refused.load(Ordering::Relaxed);
        self.refused.store(refused + 1, Ordering::Relaxed);
    }

    /// Moves the thread's records to the store, and reassigns the buffer to a future thread, whose stream is `next`.
    /// The chunk of `writer` goes back, and so do the thread's empty chunks, which are in `thread`. Returns the number
    /// of events moved.
    pub(crate) fn reassign(
        &self,
        next: StreamId,
        writer: Option<RecordWriter>,
        thread: &mut ThreadEnd,
        store: &Lock<Store, STORE>,
    ) -> u64 {
        let mut reader = lock(&self.reader);
        let moved = if planted("no-flush") { 0 } else { reader.flush(store) };
        drop(writer); // so that only the store has the chunk
        if let Some(chunk) = reader.first.take() {
            lock(store).recycle(chunk);
        }
        while let Some(empty) = thread.leave() {
            lock(store).give_back(empty);
        }
        self.watched.set_worker(None);
        // The next thread may fill none.
        let rings = reader.rings.take();
        *reader = ReaderState { stream: next, rings, ..ReaderState::unassigned() };
        moved
    }

    /// Notes that the thread begins to fill `chunk`. Must only be called by the buffer's thread, while it has no chunk.
    pub(crate) fn begin(&self, chunk: SharedChunk) {
        lock(&self.reader).first = Some(chunk);
    }

    /// Returns whether its thread ever wrote a record.
    pub(crate) fn is_used(&self) -> bool {
        let reader = lock(&self.reader);
        reader.sequence > 0 || !reader.unread().is_empty()
    }

    /// Moves all records to the store, even though the chunk isn't full. Returns the number of events moved.
    pub(crate) fn flush(&self, store: &Lock<Store, STORE>) -> u64 {
        lock(&self.reader).flush(store)
    }

    /// Moves the records up to `until_ticks` to `into`, if that is before the buffer was [sealed](Self::seal). Returns
    /// the number of events moved. `store` is only told of them.
    pub(crate) fn take_until(
        &self,
        until_ticks: u64,
        into: &mut Vec<Segment>,
        store: &Lock<Store, STORE>,
    ) -> u64 {
        let mut reader = lock(&self.reader);
        let unread = reader.unread();
        let old = records_until(unread, until_ticks);
        let events = events_in(&unread[..old]);
        if let Some(segment) = reader.take(old) {
            // While the reader is locked, so that later records of the thread come later.
            #[cfg(has_black_box)]
            lock(store).tap(segment.stream, segment.sequence, segment.records());
            #[cfg(not(has_black_box))]
            let _ = store;
            into.push(segment);
        }
        events
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl ReaderState {
    const fn unassigned() -> Self {
        Self { stream: 0, sequence: 0, first: None, read: 0, filled: 0, most: 0, rings: None }
    }

    /// Returns how many full chunks wait in the ring.
    fn waiting(&self) -> usize {
        self.rings.as_ref().map_or(0, ReaderEnd::waiting)
    }

    /// Returns the unread records of the first chunk.
    fn unread(&self) -> &[Record] {
        self.first.as_ref().map_or(&[], |chunk| &chunk.items()[self.read..])
    }

    /// Reads the next `n` unread records of the first chunk.
    fn take(&mut self, n: usize) -> Option<Segment> {
        let chunk = self.first.as_ref().filter(|_| n > 0)?;
        let range = self.read..self.read + n;
        let segment = Segment::new(self.stream, self.sequence, Arc::clone(chunk), range);
        self.read += n;
        self.sequence = self.sequence.wrapping_add(1);
        Some(segment)
    }

    /// Moves the full chunks that wait to the store, which isn't locked if there are none.
    fn seal_waiting(&mut self, store: &Lock<Store, STORE>) {
        if self.waiting() > 0 {
            self.seal_all(&mut lock(store));
        }
    }

    /// Moves all full chunks to the store. Returns the number of events moved.
    fn seal_all(&mut self, store: &mut Store) -> u64 {
        let mut events = 0;
        while let Some(full) = self.rings.as_mut().and_then(ReaderEnd::take_full) {
            let FullChunk { writer, notes, next } = full;
            events += self.seal(writer, notes, Some(next), store);
        }
        events
    }

    /// Moves the first chunk to the store. The chunk is full, is that of `writer`, and has this many notes. Then `next`
    /// is the first chunk. Returns the number of events moved.
    fn seal(
        &mut self,
        writer: RecordWriter,
        notes: usize,
        next: Option<SharedChunk>,
        store: &mut Store,
    ) -> u64 {
        drop(writer); // so that only the store has the chunk
        self.filled += 1;
        let unread = self.unread();
        let n = unread.len();
        let events = if n < self.read {
            // Most of it was read already. The rest is copied, so that the chunk can be reused.
            let events = self.copy_unread(store);
            if let Some(chunk) = std::mem::replace(&mut self.first, next) {
                store.recycle(chunk);
            }
            events
        } else {
            // Usually none of it was read, and its events needn't be counted.
            let events =
                if self.read == 0 { n.saturating_sub(notes) as u64 } else { events_in(unread) };
            if let Some(segment) = self.take(n) {
                store.keep(segment, events);
            }
            self.first = next;
            events
        };
        self.read = 0;
        events
    }

    fn flush(&mut self, store: &Lock<Store, STORE>) -> u64 {
        if self.waiting() == 0 && self.unread().is_empty() {
            return 0;
        }
        let mut store = lock(store);
        self.seal_all(&mut store) + self.copy_unread(&mut store)
    }

    fn copy_unread(&mut self, store: &mut Store) -> u64 {
        let unread = self.unread();
        let (n, events) = (unread.len(), events_in(unread));
        let mut sequence = self.sequence;
        store.keep_tail(self.stream, &mut sequence, unread);
        self.sequence = sequence;
        self.read += n;
        events
    }
}
