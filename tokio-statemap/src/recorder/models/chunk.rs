//! A chunk: one thread writes, others read, interrupt and use it again.

use loom::thread;

use super::every_order;
use crate::sys::chunk::ChunkWriter;
use crate::sys::sync::Arc;

fn writer(capacity: usize) -> ChunkWriter<u64> {
    ChunkWriter::allocate(1, capacity).next().expect("one was asked for")
}

#[test]
fn it_is_read_while_it_is_written() {
    every_order(|| {
        let writer = writer(2);
        let chunk = Arc::clone(writer.chunk());
        let writes = thread::spawn(move || {
            assert!((0..2).all(|item| writer.push(item)));
            assert!(!writer.push(2), "it is full");
        });
        for _ in 0..2 {
            let items = chunk.items();
            assert!(items.iter().copied().eq(0..items.len() as u64));
        }
        writes.join().expect("it doesn't panic");
        assert_eq!(chunk.items(), [0, 1]);
    });
}

#[test]
fn an_interrupted_writer_loses_nothing() {
    every_order(|| {
        let writer = writer(3);
        let chunk = Arc::clone(writer.chunk());
        let writes = thread::spawn(move || {
            assert!((0..3).all(|item| writer.push_anyway(item)));
            assert!(!writer.push_anyway(3), "it is full");
        });
        for _ in 0..2 {
            chunk.interrupt();
            let items = chunk.items();
            assert!(items.iter().copied().eq(0..items.len() as u64));
        }
        writes.join().expect("it doesn't panic");
        assert_eq!(chunk.items(), [0, 1, 2]);
    });
}

#[test]
fn it_is_used_again_only_after_its_readers() {
    every_order(|| {
        let first = writer(1);
        let chunk = Arc::clone(first.chunk());
        let reads = thread::spawn({
            let chunk = Arc::clone(&chunk);
            move || {
                chunk.interrupt();
                assert!(chunk.items().iter().all(|&item| item == 1));
            }
        });
        assert!(first.push_anyway(1));
        drop(first);
        if let Some(again) = ChunkWriter::reuse(chunk) {
            again.prefault();
            assert!(again.push(2), "it is interrupted no more");
            assert_eq!(again.chunk().items(), [2]);
        }
        reads.join().expect("it doesn't panic");
    });
}
