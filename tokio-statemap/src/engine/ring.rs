//! A thread's ring, and how it is emptied into the store.
//!
//! When a ring is full its own thread moves the content on, in one copy, and goes on: nothing is
//! lost. Anyone else may move it at any time too, for a snapshot.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::engine::record::{Record, Slot, events_in};
use crate::engine::store::{Buffer, Segment, Sequence, Store, StreamId};
use crate::sync::lock;

/// A thread's ring: the thread writes it, and whoever holds the lock of `side` reads it.
///
/// It doesn't go round: it is filled from the start, and when it is full its thread empties it and
/// fills it from the start again. So the writer looks at nothing that others write.
#[derive(Debug)]
pub(crate) struct Ring {
    /// How many slots are written. Only the ring's thread stores it, after the slots.
    written: AtomicUsize,
    slots: Box<[Slot]>,
    /// Events that were refused. Only the ring's thread writes it, so that no read-modify-write
    /// is needed.
    refused: AtomicU64,
    side: Mutex<Side>,
}

/// What was read but doesn't fill a block yet.
#[derive(Debug)]
struct Side {
    /// How many slots are read.
    read: usize,
    stream: StreamId,
    /// Of the run that is gathered in `open`.
    sequence: Sequence,
    open: Buffer,
    /// How many events are in `open`.
    open_events: u64,
}

/// Rings that no collector has. A ring is never freed, so that a hook can have it without counting
/// who else does; what is handed back is used again.
static IDLE: Mutex<Vec<&'static Ring>> = Mutex::new(Vec::new());

impl Ring {
    /// A ring for `capacity` records, that gathers blocks in buffers like `open`.
    pub(crate) fn take(capacity: usize, stream: StreamId, open: Buffer) -> &'static Self {
        let mut idle = lock(&IDLE);
        let place = idle.iter().position(|ring| ring.slots.len() == capacity);
        let idle_ring = place.map(|place| idle.swap_remove(place));
        drop(idle);
        let side = Side { read: 0, stream, sequence: 0, open, open_events: 0 };
        match idle_ring {
            Some(ring) => {
                *lock(&ring.side) = side;
                ring
            }
            None => Box::leak(Box::new(Self {
                written: AtomicUsize::new(0),
                slots: (0..capacity).map(|_| Slot::default()).collect(),
                refused: AtomicU64::new(0),
                side: Mutex::new(side),
            })),
        }
    }

    /// Takes rings back that no thread writes to any more.
    pub(crate) fn give_back(rings: Vec<&'static Self>) {
        for ring in &rings {
            let mut side = lock(&ring.side);
            side.open = Buffer::default();
            ring.written.store(0, Ordering::Relaxed);
            ring.refused.store(0, Ordering::Relaxed);
        }
        lock(&IDLE).extend(rings);
    }

    /// Adds a record, or says that the ring is full: [`make_room`](Self::make_room), then try
    /// again. Only the ring's thread may do so.
    #[inline]
    pub(crate) fn push(&self, record: Record) -> bool {
        let next = self.written.load(Ordering::Relaxed);
        let Some(slot) = self.slots.get(next) else { return false };
        slot.set(record);
        self.written.store(next + 1, Ordering::Release);
        true
    }

    /// Moves the ring's content on. Returns how many events that were. Only the ring's thread may do
    /// so.
    pub(crate) fn make_room(&self, store: &Mutex<Store>) -> u64 {
        let mut side = lock(&self.side);
        let moved = side.drain(self, store);
        // With the lock, so that no reader sees the one without the other.
        side.read = 0;
        self.written.store(0, Ordering::Release);
        moved
    }

    /// Counts an event that is not kept.
    #[inline]
    pub(crate) fn refuse(&self) {
        let refused = self.refused.load(Ordering::Relaxed);
        self.refused.store(refused + 1, Ordering::Relaxed);
    }

    /// Gives the ring to the thread whose stream is `next`: what it holds goes to the store.
    /// Returns how many events were moved on.
    pub(crate) fn hand_on(&self, next: StreamId, store: &Mutex<Store>) -> u64 {
        let mut side = lock(&self.side);
        let moved = side.flush(self, store);
        side.stream = next;
        side.sequence = 0;
        moved
    }

    /// Moves the ring's content on, and all of it to the store, whether it fills a block or not.
    /// Returns how many events were moved on.
    pub(crate) fn flush(&self, store: &Mutex<Store>) -> u64 {
        lock(&self.side).flush(self, store)
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
        side.drain(self, store);
        let old = side.open.partition_point(|record| record.ticks <= until_ticks);
        let events = events_in(&side.open[..old]);
        side.open_events -= events;
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
    fn drain(&mut self, ring: &Ring, store: &Mutex<Store>) -> u64 {
        let written = ring.written.load(Ordering::Acquire);
        let mut slots = &ring.slots[self.read..written];
        self.read = written;
        let mut events = 0;
        while !slots.is_empty() {
            // No snapshot shares a buffer before it is sealed, so this copies nothing.
            let open = Arc::make_mut(&mut self.open);
            let room = open.capacity() - open.len();
            if room == 0 {
                lock(store).seal(self.stream, self.sequence, &mut self.open, self.open_events);
                self.sequence = self.sequence.wrapping_add(1);
                self.open_events = 0;
                continue;
            }
            let (now, later) = slots.split_at(room.min(slots.len()));
            let mut notes = 0;
            open.extend(now.iter().map(|slot| {
                let record = slot.get();
                notes += u64::from(!record.is_event());
                record
            }));
            self.open_events += now.len() as u64 - notes;
            events += now.len() as u64 - notes;
            slots = later;
        }
        events
    }

    fn flush(&mut self, ring: &Ring, store: &Mutex<Store>) -> u64 {
        let moved = self.drain(ring, store);
        lock(store).keep_tail(self.stream, self.sequence, &self.open);
        self.sequence = self.sequence.wrapping_add(1);
        Arc::make_mut(&mut self.open).clear();
        self.open_events = 0;
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
        let ring = Ring::take(5, 3, new_buffer(7));
        let mut moved = 0;
        for i in 0..100 {
            let record = Record::new(i, Kind::Spawn, i);
            if !ring.push(record) {
                moved += ring.make_room(&store);
                assert!(ring.push(record));
            }
        }
        ring.flush(&store);
        let mut all = Vec::new();
        lock(&store).segments(&mut all);
        let ids: Vec<_> = all.iter().flat_map(|s| s.records()).map(|r| r.payload()).collect();
        assert_eq!(ids, (0..100).collect::<Vec<_>>());
        assert_eq!(moved, 95);
        assert!(all.iter().all(|s| s.stream == 3));
        Ring::give_back(vec![ring]);
    }

    #[test]
    fn a_ring_that_is_handed_on_writes_to_the_next_stream() {
        let store = Mutex::new(Store::new(8, 1000));
        let ring = Ring::take(4, 0, new_buffer(8));
        ring.push(Record::new(1, Kind::Park, 0));
        ring.hand_on(1, &store);
        ring.push(Record::new(2, Kind::Park, 0));
        ring.flush(&store);
        let mut kept = Vec::new();
        lock(&store).segments(&mut kept);
        let streams: Vec<_> = kept.iter().map(|s| (s.stream, s.records().len())).collect();
        assert_eq!(streams, [(0, 1), (1, 1)]);
        Ring::give_back(vec![ring]);
    }
}
