//! A thread's ring, and how it is emptied into the store.
//!
//! When a ring is full its own thread moves the content on, in one copy, and goes on: nothing is
//! lost. Anyone else may move it at any time too, for a snapshot.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rtrb::{Consumer, Producer, PushError, RingBuffer};

use crate::engine::record::{Record, events_in};
use crate::engine::store::{Buffer, Segment, Sequence, Store, StreamId};
use crate::sync::lock;

/// The writing end of a ring; its thread alone has it.
#[derive(Debug)]
pub(crate) struct Ring {
    producer: Producer<Record>,
    outlet: Arc<Outlet>,
}

/// The reading end of a ring, and what was read but doesn't fill a block yet.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Events that were refused. Only the ring's thread writes it, so that no read-modify-write
    /// is needed.
    refused: AtomicU64,
    side: Mutex<Side>,
}

#[derive(Debug)]
struct Side {
    consumer: Consumer<Record>,
    stream: StreamId,
    /// Of the run that is gathered in `open`.
    sequence: Sequence,
    open: Buffer,
}

impl Ring {
    /// A ring for `capacity` records, that gathers blocks in buffers like `open`.
    pub(crate) fn new(capacity: usize, stream: StreamId, open: Buffer) -> Self {
        let (producer, consumer) = RingBuffer::new(capacity);
        let side = Side { consumer, stream, sequence: 0, open };
        Self {
            producer,
            outlet: Arc::new(Outlet { refused: AtomicU64::new(0), side: Mutex::new(side) }),
        }
    }

    pub(crate) fn outlet(&self) -> &Arc<Outlet> {
        &self.outlet
    }

    /// Adds a record. `Err` gives it back if the ring is full: [`Outlet::drain`], then try again.
    #[inline]
    pub(crate) fn push(&mut self, record: Record) -> Result<(), Record> {
        self.producer.push(record).map_err(|PushError::Full(record)| record)
    }

    /// Counts an event that is not kept.
    #[inline]
    pub(crate) fn refuse(&mut self) {
        let refused = self.outlet.refused.load(Ordering::Relaxed);
        self.outlet.refused.store(refused + 1, Ordering::Relaxed);
    }

    /// Gives the ring to the thread whose stream is `next`: what it holds goes to the store.
    /// Returns how many events were moved on.
    pub(crate) fn hand_on(&mut self, next: StreamId, store: &Mutex<Store>) -> u64 {
        let mut side = lock(&self.outlet.side);
        let moved = side.flush(store);
        side.stream = next;
        side.sequence = 0;
        moved
    }
}

impl Outlet {
    /// Moves the ring's content on. Returns how many events that were.
    pub(crate) fn drain(&self, store: &Mutex<Store>) -> u64 {
        lock(&self.side).drain(store)
    }

    /// Moves the ring's content on, and all of it to the store, whether it fills a block or not.
    /// Returns how many events were moved on.
    pub(crate) fn flush(&self, store: &Mutex<Store>) -> u64 {
        lock(&self.side).flush(store)
    }

    /// Moves the ring's content on, and what is no later than `until_ticks` out to `into`.
    /// Returns how many events went there.
    pub(crate) fn take_until(
        &self,
        until_ticks: u64,
        store: &Mutex<Store>,
        into: &mut Vec<Segment>,
    ) -> u64 {
        let mut side = lock(&self.side);
        side.drain(store);
        let old = side.open.partition_point(|record| record.ticks <= until_ticks);
        let events = events_in(&side.open[..old]);
        if old > 0 {
            let (stream, sequence) = (side.stream, side.sequence);
            let mut taken = lock(store).take_buffer();
            Arc::make_mut(&mut taken).extend(Arc::make_mut(&mut side.open).drain(..old));
            into.push(Segment::new(stream, sequence, taken));
            side.sequence = side.sequence.wrapping_add(1);
        }
        events
    }

    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Side {
    fn drain(&mut self, store: &Mutex<Store>) -> u64 {
        let slots = self.consumer.slots();
        let Ok(chunk) = self.consumer.read_chunk(slots) else {
            return 0; // it can't be: so many were just counted
        };
        let (first, second) = chunk.as_slices();
        let mut events = 0;
        for mut records in [first, second] {
            events += events_in(records);
            while !records.is_empty() {
                // No snapshot shares a buffer before it is sealed, so this copies nothing.
                let open = Arc::make_mut(&mut self.open);
                let room = open.capacity() - open.len();
                if room == 0 {
                    lock(store).seal(self.stream, self.sequence, &mut self.open);
                    self.sequence = self.sequence.wrapping_add(1);
                    continue;
                }
                let (now, later) = records.split_at(room.min(records.len()));
                open.extend_from_slice(now);
                records = later;
            }
        }
        chunk.commit_all();
        events
    }

    fn flush(&mut self, store: &Mutex<Store>) -> u64 {
        let moved = self.drain(store);
        lock(store).keep_tail(self.stream, self.sequence, &self.open);
        self.sequence = self.sequence.wrapping_add(1);
        Arc::make_mut(&mut self.open).clear();
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::record::Kind;
    use crate::engine::store::new_buffer;

    #[test]
    fn a_full_ring_is_moved_on_in_order_and_nothing_is_lost() {
        let store = Mutex::new(Store::new(7, 1000));
        let mut ring = Ring::new(5, 3, new_buffer(7));
        let mut moved = 0;
        for i in 0..100 {
            if let Err(back) = ring.push(Record::new(i, Kind::Spawn, i)) {
                moved += ring.outlet().drain(&store);
                ring.push(back).unwrap();
            }
        }
        ring.outlet().flush(&store);
        let mut all = Vec::new();
        lock(&store).segments(&mut all);
        let ids: Vec<_> = all.iter().flat_map(|s| s.records()).map(|r| r.payload()).collect();
        assert_eq!(ids, (0..100).collect::<Vec<_>>());
        assert_eq!(moved, 95);
        assert!(all.iter().all(|s| s.stream == 3));
    }

    #[test]
    fn a_ring_that_is_handed_on_writes_to_the_next_stream() {
        let store = Mutex::new(Store::new(8, 1000));
        let mut ring = Ring::new(4, 0, new_buffer(8));
        ring.push(Record::new(1, Kind::Park, 0)).unwrap();
        ring.hand_on(1, &store);
        ring.push(Record::new(2, Kind::Park, 0)).unwrap();
        ring.outlet().flush(&store);
        let mut kept = Vec::new();
        lock(&store).segments(&mut kept);
        let streams: Vec<_> = kept.iter().map(|s| (s.stream, s.records().len())).collect();
        assert_eq!(streams, [(0, 1), (1, 1)]);
    }
}
