//! A thread's buffer: the chunk that the thread fills, and how it gets into the store.
//!
//! The thread writes records into the chunk in place. When the chunk is full the thread hands it
//! over to the store as it is, and continues with an empty one: nothing is lost, and nothing is
//! copied. Other threads can read what was written at any time, for a snapshot.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::recorder::record::{Record, events_in};
use crate::recorder::store::Store;
use crate::recorder::store::segment::{RecordWriter, Segment, Sequence, SharedChunk, StreamId};
use crate::recorder::watch::Watched;
use crate::util::sync::lock;

/// A thread's buffer: the thread fills its chunk; the holder of the lock of `reader` reads it.
#[derive(Debug)]
pub(crate) struct Buffer {
    /// The number of refused events. Only the buffer's thread writes it, so no read-modify-write is
    /// needed.
    refused: AtomicU64,
    pub(crate) watched: Watched,
    reader: Mutex<ReaderState>,
}

/// The state of the reading side.
#[derive(Debug)]
struct ReaderState {
    stream: StreamId,
    /// The sequence number of the run that starts at `read`.
    sequence: Sequence,
    /// The chunk that the thread fills; `None` if the buffer has no thread.
    chunk: Option<SharedChunk>,
    /// How many records of the chunk were read: they are in the store, or evicted.
    read: usize,
}

/// Buffers that no recorder uses. A buffer is never freed, so that a hook can refer to it without a
/// reference count; instead it is reused.
static IDLE: Mutex<Vec<&'static Buffer>> = Mutex::new(Vec::new());

impl Buffer {
    /// A buffer without a thread.
    pub(crate) const fn unassigned() -> Self {
        let reader = ReaderState { stream: 0, sequence: 0, chunk: None, read: 0 };
        Self { refused: AtomicU64::new(0), watched: Watched::new(), reader: Mutex::new(reader) }
    }

    /// A buffer for the thread whose stream is `stream`, which fills `chunk`.
    pub(crate) fn take(stream: StreamId, chunk: SharedChunk) -> &'static Self {
        let idle = lock(&IDLE).pop();
        let buffer = idle.unwrap_or_else(|| Box::leak(Box::new(Self::unassigned())));
        *lock(&buffer.reader) = ReaderState { stream, sequence: 0, chunk: Some(chunk), read: 0 };
        buffer.watched.set_worker(None);
        buffer
    }

    /// Takes back buffers that no thread writes to any more.
    pub(crate) fn give_back(buffers: Vec<&'static Self>) {
        for buffer in &buffers {
            lock(&buffer.reader).chunk = None;
            buffer.refused.store(0, Ordering::Relaxed);
        }
        lock(&IDLE).extend(buffers);
    }

    /// Hands the chunk that `full` wrote over to the store. Returns the number of events moved.
    /// `notes` is the number of notes among all records of the chunk. Must only be called by the
    /// buffer's thread.
    pub(crate) fn hand_over(&self, full: RecordWriter, notes: usize, store: &Mutex<Store>) -> u64 {
        let mut reader = lock(&self.reader);
        drop(full); // so that only the store has the chunk
        reader.seal(notes, &mut lock(store))
    }

    /// Gives the thread an empty chunk. Must only be called by the buffer's thread, after
    /// [`hand_over`](Self::hand_over).
    pub(crate) fn next_writer(&self, store: &Mutex<Store>) -> RecordWriter {
        let empty = lock(store).take_writer();
        lock(&self.reader).chunk = Some(Arc::clone(empty.chunk()));
        empty.prefault();
        empty
    }

    /// Calls `read` with the stream, the sequence number of what isn't in the store yet, and the thread's
    /// chunk. `None` if the buffer has no thread.
    pub(crate) fn read<R>(
        &self,
        read: impl FnOnce(StreamId, Sequence, &SharedChunk) -> R,
    ) -> Option<R> {
        let reader = lock(&self.reader);
        let chunk = reader.chunk.as_ref()?;
        Some(read(reader.stream, reader.sequence, chunk))
    }

    /// Counts a refused event.
    #[inline]
    pub(crate) fn refuse(&self) {
        let refused = self.refused.load(Ordering::Relaxed);
        self.refused.store(refused + 1, Ordering::Relaxed);
    }

    /// Reassigns the buffer to the thread whose stream is `next`, after its records are moved to
    /// the store. Returns the number of events moved.
    pub(crate) fn reassign(&self, next: StreamId, store: &Mutex<Store>) -> u64 {
        let mut reader = lock(&self.reader);
        let moved = reader.flush(store);
        self.watched.set_worker(None);
        reader.stream = next;
        reader.sequence = 0;
        moved
    }

    /// Whether its thread ever wrote a record.
    pub(crate) fn is_used(&self) -> bool {
        let reader = lock(&self.reader);
        reader.sequence > 0 || !reader.unread().is_empty()
    }

    /// Moves all records to the store, though the chunk isn't full. Returns the number of events
    /// moved.
    pub(crate) fn flush(&self, store: &Mutex<Store>) -> u64 {
        lock(&self.reader).flush(store)
    }

    /// Moves the records up to `until_ticks` to `into`. Returns the number of events moved.
    pub(crate) fn take_until(&self, until_ticks: u64, into: &mut Vec<Segment>) -> u64 {
        let mut reader = lock(&self.reader);
        let unread = reader.unread();
        let old = unread.partition_point(|record| record.ticks <= until_ticks);
        let events = events_in(&unread[..old]);
        into.extend(reader.take(old));
        events
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl ReaderState {
    fn unread(&self) -> &[Record] {
        self.chunk.as_ref().map_or(&[], |chunk| &chunk.items()[self.read..])
    }

    /// Reads the next `n` unread records.
    fn take(&mut self, n: usize) -> Option<Segment> {
        let chunk = self.chunk.as_ref().filter(|_| n > 0)?;
        let range = self.read..self.read + n;
        let segment = Segment::new(self.stream, self.sequence, Arc::clone(chunk), range);
        self.read += n;
        self.sequence = self.sequence.wrapping_add(1);
        Some(segment)
    }

    /// Moves a full chunk to the store.
    fn seal(&mut self, notes: usize, store: &mut Store) -> u64 {
        let unread = self.unread();
        let n = unread.len();
        if n < self.read {
            // Most of it was read already: the rest is copied, so that the chunk can be reused.
            let events = self.copy_unread(store);
            if let Some(chunk) = self.chunk.take() {
                store.recycle(chunk);
            }
            self.read = 0;
            return events;
        }
        // Usually none of it was read, and the events needn't be counted.
        let events = if self.read == 0 { (n - notes) as u64 } else { events_in(unread) };
        if let Some(segment) = self.take(n) {
            store.keep(segment, events);
        }
        self.chunk = None;
        self.read = 0;
        events
    }

    fn flush(&mut self, store: &Mutex<Store>) -> u64 {
        if self.unread().is_empty() { 0 } else { self.copy_unread(&mut lock(store)) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::Kind;
    use std::collections::HashSet;

    fn all(store: &Mutex<Store>) -> Vec<Segment> {
        let mut all = Vec::new();
        lock(store).segments(&mut all);
        all
    }

    /// A buffer with its writer. The payload of each record added is its time.
    struct Filled {
        store: Mutex<Store>,
        buffer: &'static Buffer,
        writer: Option<RecordWriter>,
        notes: usize,
        moved: u64,
    }

    impl Filled {
        fn new(chunk_records: usize) -> Self {
            let mut store = Store::new(chunk_records, 1000);
            let writer = store.take_writer();
            let buffer = Buffer::take(3, Arc::clone(writer.chunk()));
            let (store, writer) = (Mutex::new(store), Some(writer));
            Self { store, buffer, writer, notes: 0, moved: 0 }
        }

        fn add(&mut self, ticks: u64, kind: Kind) {
            let record = Record::new(ticks, kind, ticks);
            let Some(writer) = self.writer.take() else { unreachable!() };
            let writer = if writer.push(record) {
                writer
            } else {
                self.moved += self.buffer.hand_over(writer, self.notes, &self.store);
                self.notes = 0;
                let next = self.buffer.next_writer(&self.store);
                assert!(next.push(record));
                next
            };
            self.notes += usize::from(!record.is_event());
            self.writer = Some(writer);
        }
    }

    impl Drop for Filled {
        fn drop(&mut self) {
            Buffer::give_back(vec![self.buffer]);
        }
    }

    #[test]
    fn full_chunks_are_moved_in_order_without_loss() {
        let mut filled = Filled::new(5);
        for i in 0..103 {
            filled.add(i, if i % 4 == 1 { Kind::Role } else { Kind::Spawn });
        }
        assert_eq!(filled.moved, 75, "of 100 records, 20 chunks of 5");
        assert_eq!(filled.buffer.flush(&filled.store), 2);
        assert_eq!(filled.buffer.flush(&filled.store), 0, "it is moved on but once");
        let all = all(&filled.store);
        let ids = all.iter().flat_map(|s| s.records()).map(|r| r.payload());
        assert_eq!(ids.collect::<Vec<_>>(), (0..103).collect::<Vec<_>>());
        assert_eq!(lock(&filled.store).events(), 77);
        assert!(all.iter().all(|s| s.stream == 3));
    }

    #[test]
    fn records_read_before_the_chunk_is_full_are_not_moved_again() {
        let mut filled = Filled::new(8);
        let mut taken = Vec::new();
        for i in 0..100 {
            filled.add(i, if i % 3 == 1 { Kind::Role } else { Kind::Spawn });
            match i % 7 {
                2 => filled.moved += filled.buffer.flush(&filled.store),
                5 => filled.moved += filled.buffer.take_until(i - 2, &mut taken),
                _ => {}
            }
        }
        filled.moved += filled.buffer.flush(&filled.store);
        let all = all(&filled.store);
        let mut ids: Vec<_> =
            taken.iter().chain(&all).flat_map(|s| s.records()).map(|r| r.payload()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..100).collect::<Vec<_>>());
        assert_eq!(filled.moved, 67);
    }

    /// Short-lived threads each flush a few records.
    #[test]
    fn flushed_records_take_memory_once() {
        let mut filled = Filled::new(64);
        for i in 0..800 {
            filled.add(i, Kind::Spawn);
            if i % 10 == 9 {
                filled.moved += filled.buffer.flush(&filled.store);
            }
        }
        assert_eq!(filled.moved, 800);
        let all = all(&filled.store).into_iter();
        let chunks: HashSet<_> = all.map(|segment| Arc::as_ptr(&segment.into_chunk())).collect();
        // A chunk holds five runs of ten records, each with its note.
        assert!(chunks.len() <= 20, "{}", chunks.len());
    }

    #[test]
    fn a_whole_chunk_can_be_flushed() {
        let mut filled = Filled::new(4);
        (0..4).for_each(|i| filled.add(i, Kind::Park));
        assert_eq!(filled.buffer.flush(&filled.store), 4);
        filled.add(4, Kind::Park);
        assert_eq!(filled.moved, 0);
        filled.buffer.flush(&filled.store);
        let all = all(&filled.store);
        let ticks: Vec<_> = all.iter().flat_map(|s| s.records()).map(|r| r.ticks).collect();
        assert_eq!(ticks, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_reassigned_buffer_belongs_to_the_next_stream() {
        let mut filled = Filled::new(8);
        filled.add(1, Kind::Park);
        filled.buffer.reassign(4, &filled.store);
        filled.add(2, Kind::Park);
        filled.buffer.flush(&filled.store);
        let streams: Vec<_> =
            all(&filled.store).iter().map(|s| (s.stream, s.records().len())).collect();
        assert_eq!(streams, [(3, 1), (4, 1)]);
    }
}
