//! Models of a recorder: threads that record and end, one that collects, and one that takes snapshots.

use loom::thread;

use super::account::{check, emit, ids, recorder};
use super::every_order;
use crate::config::Keep;
use crate::recorder::{Recorder, process};
use crate::trace::snapshot::Snapshot;

/// A thread that records `events` events and ends.
fn short_lived(recorder: &Recorder, number: u64, events: u64) -> thread::JoinHandle<()> {
    let recorder = recorder.clone();
    thread::spawn(move || {
        let mut thread = recorder.new_thread_recorder();
        emit(&recorder, &mut thread, ids(number, 0..events));
        recorder.retire(thread);
    })
}

/// One thread's full chunks go to the background thread, and empty ones come back.
#[test]
fn full_chunks_go_one_way_and_empty_ones_back() {
    every_order(|| {
        process::pretend_there(true);
        let recorder = recorder(Keep::Last, 100);
        let writes = short_lived(&recorder, 0, 6);
        (0..2).for_each(|_| _ = recorder.kept.collect());
        writes.join().expect("it doesn't panic");
        assert_eq!(check(&Snapshot::take(&recorder, false), 0), 6);
    });
}

/// The background thread takes back what it gave, while the thread takes that.
#[test]
fn a_spare_chunk_is_taken_once() {
    every_order(|| {
        process::pretend_there(true);
        let recorder = recorder(Keep::Last, 100);
        let writes = short_lived(&recorder, 0, 6);
        recorder.kept.collect();
        recorder.kept.take_back(0);
        writes.join().expect("it doesn't panic");
        assert_eq!(check(&Snapshot::take(&recorder, false), 0), 6);
    });
}

/// A thread ends while the background thread collects and a snapshot is taken.
#[test]
fn a_thread_ends_while_others_collect_and_look() {
    every_order(|| {
        process::pretend_there(true);
        let recorder = recorder(Keep::Last, 100);
        let ends = short_lived(&recorder, 0, 3);
        let collects = thread::spawn({
            let recorder = recorder.clone();
            move || _ = recorder.kept.collect()
        });
        assert!(check(&Snapshot::take(&recorder, false), 0) <= 3);
        ends.join().expect("it doesn't panic");
        collects.join().expect("it doesn't panic");
        assert_eq!(check(&Snapshot::take(&recorder, false), 0), 3);
        assert_eq!(recorder.idle_thread_recorders(), 1);
    });
}

/// A thread gets the chunks that another had, while a snapshot is taken.
#[test]
fn a_thread_goes_on_with_what_another_had() {
    every_order(|| {
        process::pretend_there(true);
        let recorder = recorder(Keep::Last, 100);
        let ends = thread::spawn({
            let recorder = recorder.clone();
            move || {
                for number in 0..2 {
                    let mut thread = recorder.new_thread_recorder();
                    emit(&recorder, &mut thread, ids(number, 0..2));
                    recorder.retire(thread);
                }
            }
        });
        recorder.kept.collect();
        check(&Snapshot::take(&recorder, false), 0);
        ends.join().expect("it doesn't panic");
        assert_eq!(check(&Snapshot::take(&recorder, false), 0), 4);
    });
}

/// The background thread evicts while a snapshot is taken.
#[test]
fn the_oldest_are_evicted_while_others_look() {
    every_order(|| {
        process::pretend_there(true);
        let recorder = recorder(Keep::Last, 2);
        let writes = short_lived(&recorder, 0, 7);
        let collects = thread::spawn({
            let recorder = recorder.clone();
            move || (0..2).for_each(|_| _ = recorder.kept.collect())
        });
        check(&Snapshot::take(&recorder, false), 0);
        writes.join().expect("it doesn't panic");
        collects.join().expect("it doesn't panic");
        let snapshot = Snapshot::take(&recorder, false);
        assert_eq!(check(&snapshot, 0), 7);
        assert_eq!(snapshot.capture.lost.dropped_events, 5);
    });
}

/// Without the background thread, those that record evict, while a snapshot is taken.
#[test]
fn threads_evict_by_themselves() {
    every_order(|| {
        process::pretend_there(false);
        let recorder = recorder(Keep::Last, 2);
        let writes = [0, 1].map(|number| short_lived(&recorder, number, 5));
        check(&Snapshot::take(&recorder, false), 0);
        for thread in writes {
            thread.join().expect("it doesn't panic");
        }
        let snapshot = Snapshot::take(&recorder, false);
        assert_eq!(check(&snapshot, 0), 10);
        assert_eq!(snapshot.capture.lost.dropped_events, 8);
    });
}

/// A drain takes what is there, and leaves the rest.
#[test]
fn drains_take_each_record_once() {
    for keep in [Keep::First, Keep::Last] {
        every_order(move || {
            process::pretend_there(true);
            let recorder = recorder(keep, 100);
            let ends = short_lived(&recorder, 0, 5);
            let collects = thread::spawn({
                let recorder = recorder.clone();
                move || _ = recorder.kept.collect()
            });
            let drained = check(&Snapshot::take(&recorder, true), 0);
            ends.join().expect("it doesn't panic");
            collects.join().expect("it doesn't panic");
            assert_eq!(check(&Snapshot::take(&recorder, true), drained), 5);
            assert_eq!(check(&Snapshot::take(&recorder, true), 5), 5);
        });
    }
}
