use super::*;
use crate::recorder::record::Kind;
use crate::recorder::store::rings::rings;
use std::collections::HashSet;

fn all(store: &Lock<Store, STORE>) -> Vec<Segment> {
    let mut all = Vec::new();
    lock(store).segments(&mut all);
    all
}

const SPARE: usize = 3;

/// A buffer with its writer. The payload of each record added is its time.
struct Filled {
    store: Lock<Store, STORE>,
    buffer: &'static Buffer,
    writer: Option<RecordWriter>,
    rings: ThreadEnd,
    /// The number of empty chunks that the thread is given each time one is full.
    given: usize,
    /// `true` if the thread finds an empty chunk elsewhere when it was given none.
    finds: bool,
}

impl Filled {
    fn new(chunk_records: usize, given: usize) -> Self {
        let mut store = Store::new(chunk_records, 1000);
        let writer = store.take_writer();
        let (rings, reader) = rings(SPARE);
        let buffer = Buffer::take(3, Arc::clone(writer.chunk()), reader);
        let (store, writer) = (Lock::new(store), Some(writer));
        Self { store, buffer, writer, rings, given, finds: true }
    }

    /// Adds a record. Buffers are reused, so the watcher of another test's recorder may interrupt what is written here.
    fn add(&mut self, ticks: u64, kind: Kind) {
        let record = Record::new(ticks, kind, ticks);
        let Some(writer) = self.writer.take() else { unreachable!() };
        let writer = if writer.push_anyway(record) {
            writer
        } else {
            let notes = writer.chunk().items().iter().filter(|r| !r.is_event()).count();
            // By turns, the thread finds a chunk, and hands the full one over itself.
            self.finds = !self.finds;
            let find = || self.finds.then(|| lock(&self.store).take_writer());
            let next = self.rings.exchange(writer, notes, find).unwrap_or_else(|full| {
                self.buffer.hand_over(full, notes, &self.store);
                self.buffer.next_writer(&self.store)
            });
            assert!(next.push_anyway(record));
            for _ in 0..self.given {
                let empty = lock(&self.store).take_writer();
                let _ = self.buffer.give(empty);
            }
            next
        };
        self.writer = Some(writer);
    }

    fn events(&self) -> u64 {
        lock(&self.store).events()
    }

    /// Lets another thread, whose stream is 4, continue with it.
    fn reassign(&mut self) {
        self.buffer.reassign(4, self.writer.take(), &mut self.rings, &self.store);
        let writer = lock(&self.store).take_unused();
        self.buffer.begin(Arc::clone(writer.chunk()));
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
    for given in 0..=SPARE + 1 {
        let mut filled = Filled::new(5, given);
        for i in 0..103 {
            filled.add(i, if i % 4 == 1 { Kind::Role } else { Kind::Spawn });
        }
        assert!(filled.buffer.has_filled());
        assert_eq!(filled.buffer.collect(&filled.store).0, 20);
        assert!(!filled.buffer.has_filled());
        assert_eq!(filled.events(), 75, "of 100 records, 20 chunks of 5");
        assert_eq!(filled.buffer.flush(&filled.store), 2);
        assert_eq!(filled.buffer.flush(&filled.store), 0, "it is moved on but once");
        let all = all(&filled.store);
        let ids = all.iter().flat_map(|s| s.records()).map(|r| r.payload());
        assert_eq!(ids.collect::<Vec<_>>(), (0..103).collect::<Vec<_>>());
        assert_eq!(filled.events(), 77);
        assert!(all.iter().all(|s| s.stream == 3));
    }
}

#[test]
fn records_read_before_the_chunk_is_full_are_not_moved_again() {
    for given in 0..=SPARE {
        let mut filled = Filled::new(8, given);
        let (mut taken, mut events) = (Vec::new(), 0);
        for i in 0..100 {
            filled.add(i, if i % 3 == 1 { Kind::Role } else { Kind::Spawn });
            match i % 7 {
                2 => _ = filled.buffer.flush(&filled.store),
                5 => {
                    filled.buffer.seal(&filled.store);
                    events += filled.buffer.take_until(i - 2, &mut taken, &filled.store);
                }
                _ => {}
            }
        }
        filled.buffer.flush(&filled.store);
        let all = all(&filled.store);
        let mut ids: Vec<_> =
            taken.iter().chain(&all).flat_map(|s| s.records()).map(|r| r.payload()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..100).collect::<Vec<_>>());
        assert_eq!(events + filled.events(), 67);
    }
}

#[test]
fn a_thread_is_given_no_more_chunks_than_there_is_room_for() {
    let mut filled = Filled::new(4, 0);
    let give = |filled: &Filled| {
        let empty = lock(&filled.store).take_writer();
        filled.buffer.give(empty)
    };
    (0..SPARE).for_each(|_| give(&filled).unwrap());
    give(&filled).unwrap_err();
    assert_eq!(filled.buffer.spare(), SPARE);
    (0..4 * SPARE as u64 + 1).for_each(|i| filled.add(i, Kind::Park));
    assert_eq!(filled.events(), 0, "it needed no lock");
    assert_eq!(filled.buffer.spare(), 0);
    assert_eq!(filled.buffer.collect(&filled.store), (SPARE, 0));
    (0..SPARE).for_each(|_| give(&filled).unwrap());
    filled.reassign();
    assert_eq!(filled.buffer.spare(), 0);
}

#[test]
fn what_a_thread_does_not_need_is_taken_back() {
    let mut filled = Filled::new(4, 0);
    let give = |filled: &Filled| {
        let empty = lock(&filled.store).take_writer();
        filled.buffer.give(empty)
    };
    (0..SPARE).for_each(|_| give(&filled).unwrap());
    (0..5).for_each(|i| filled.add(i, Kind::Park));
    assert_eq!(filled.buffer.collect(&filled.store), (1, SPARE - 1));
    let take_back = || filled.buffer.take_back(&filled.store, 1);
    assert_eq!((take_back(), filled.buffer.spare()), (1, 1), "it filled one");
    assert_eq!((take_back(), filled.buffer.spare()), (0, 0));
    assert_eq!(filled.buffer.take_back(&filled.store, 9), 0);
    give(&filled).unwrap();
    assert_eq!(filled.buffer.spare(), 1);
}

#[test]
fn no_more_full_chunks_wait_than_there_is_room_for() {
    let mut filled = Filled::new(4, 0);
    let mut writer = filled.writer.take().expect("it has one");
    let next = || lock(&filled.store).take_writer();
    for _ in 0..2 * SPARE {
        writer = filled.rings.exchange(writer, 0, || Some(next())).unwrap();
    }
    let full = filled.rings.exchange(writer, 0, || panic!("there is no room")).unwrap_err();
    filled.buffer.hand_over(full, 0, &filled.store);
    filled.writer = Some(filled.buffer.next_writer(&filled.store));
    assert_eq!(filled.buffer.collect(&filled.store).0, 2 * SPARE + 1);
}

#[test]
fn a_chunk_is_not_read_while_its_thread_takes_another() {
    let mut filled = Filled::new(4, 0);
    (0..4).for_each(|i| filled.add(i, Kind::Park));
    let full = filled.writer.take().expect("it has one");
    filled.buffer.hand_over(full, 0, &filled.store);
    assert!(filled.buffer.read(|_, _, chunk| chunk.interrupt()).is_none());
    filled.writer = Some(filled.buffer.next_writer(&filled.store));
    assert!(filled.buffer.read(|_, sequence, _| sequence == 1).unwrap());
}

#[test]
fn the_chunk_that_is_filled_is_read() {
    let mut filled = Filled::new(4, 2);
    for i in 0..50 {
        filled.add(i, Kind::Park);
        let last = filled.buffer.read(|_, _, chunk| chunk.items().last().map(|r| r.ticks));
        assert_eq!(last, Some(Some(i)));
        if i % 9 == 0 {
            filled.buffer.collect(&filled.store);
        }
    }
}

/// The background thread works and a snapshot is taken while a thread writes.
#[test]
fn one_thread_writes_while_others_collect() {
    const RECORDS: u64 = if cfg!(miri) { 400 } else { 100_000 };
    let mut filled = Filled::new(8, 0);
    let writer = filled.writer.take().expect("it has one");
    let (buffer, store) = (filled.buffer, &filled.store);
    let rings = &mut filled.rings;
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let mut writer = writer;
            for ticks in 0..RECORDS {
                let record = Record::new(ticks, Kind::Spawn, ticks);
                if !writer.push_anyway(record) {
                    let find = || (ticks % 5 > 0).then(|| lock(store).take_writer());
                    writer = rings.exchange(writer, 0, find).unwrap_or_else(|full| {
                        buffer.hand_over(full, 0, store);
                        buffer.next_writer(store)
                    });
                    assert!(writer.push_anyway(record));
                }
            }
        });
        let mut rounds = 0;
        while !thread.is_finished() {
            buffer.collect(store);
            let empty = lock(store).take_writer();
            let _ = buffer.give(empty);
            if rounds % 3 == 0 {
                buffer.flush(store);
            }
            rounds += 1;
        }
    });
    filled.buffer.flush(&filled.store);
    let all = all(&filled.store);
    let ticks = all.iter().flat_map(|s| s.records()).map(|r| r.ticks);
    assert!(ticks.eq(0..RECORDS));
}

/// Short-lived threads each flush a few records.
#[test]
fn flushed_records_take_memory_once() {
    let mut filled = Filled::new(64, 1);
    for i in 0..800 {
        filled.add(i, Kind::Spawn);
        if i % 10 == 9 {
            filled.buffer.flush(&filled.store);
        }
    }
    assert_eq!(filled.events(), 800);
    let all = all(&filled.store).into_iter();
    let chunks: HashSet<_> = all.map(|segment| Arc::as_ptr(&segment.into_chunk())).collect();
    // A chunk holds five runs of ten records, each with its note.
    assert!(chunks.len() <= 20, "{}", chunks.len());
}

#[test]
fn a_whole_chunk_can_be_flushed() {
    let mut filled = Filled::new(4, 0);
    (0..4).for_each(|i| filled.add(i, Kind::Park));
    assert_eq!(filled.buffer.flush(&filled.store), 4);
    filled.add(4, Kind::Park);
    assert_eq!(filled.events(), 4);
    filled.buffer.flush(&filled.store);
    let all = all(&filled.store);
    let ticks: Vec<_> = all.iter().flat_map(|s| s.records()).map(|r| r.ticks).collect();
    assert_eq!(ticks, [0, 1, 2, 3, 4]);
}

#[test]
fn a_reassigned_buffer_belongs_to_the_next_stream() {
    let mut filled = Filled::new(8, 0);
    filled.add(1, Kind::Park);
    filled.reassign();
    filled.add(2, Kind::Park);
    filled.buffer.flush(&filled.store);
    let streams: Vec<_> =
        all(&filled.store).iter().map(|s| (s.stream, s.records().len())).collect();
    assert_eq!(streams, [(3, 1), (4, 1)]);
}
