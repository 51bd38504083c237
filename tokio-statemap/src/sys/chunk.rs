//! Memory that one thread appends to while others read what is there.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::sys::prefault;

/// Items that are there to stay, and room for more, which only the chunk's [`ChunkWriter`] can fill.
///
/// Aligned so that no two are in one line of a cache: two threads that each write one would take it
/// from each other with each item.
#[repr(align(64))]
pub(crate) struct Chunk<T> {
    /// Where the items begin.
    items: NonNull<T>,
    capacity: usize,
    /// How many items there are. Only the writer stores it, after the item.
    written: AtomicUsize,
    /// What holds the memory, which it never looks at.
    _memory: Arc<Vec<T>>,
}

// SAFETY: it owns its part of the memory as a vector of `T` would; what is shared of it are items
// that nobody writes to any more. Test: `sys::chunk::tests::others_read_while_one_writes`.
unsafe impl<T: Send + Sync> Send for Chunk<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Chunk<T> {}

impl<T: Copy> Chunk<T> {
    /// What is written up to now.
    pub(crate) fn items(&self) -> &[T] {
        let written = self.written.load(Ordering::Acquire);
        // SAFETY: so many items were written before `written` was stored, and nothing writes to
        // them while there is a reference to the chunk, see `ChunkWriter::again`. Test:
        // `sys::chunk::tests::others_read_while_one_writes`.
        unsafe { std::slice::from_raw_parts(self.items.as_ptr(), written) }
    }
}

impl<T> Chunk<T> {
    /// Where the items begin.
    pub(crate) fn address(&self) -> usize {
        self.items.addr().get()
    }
}

impl<T> fmt::Debug for Chunk<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = self.written.load(Ordering::Relaxed);
        write!(f, "{written} of {} items", self.capacity)
    }
}

/// What writes a chunk. Each has one at most, so that only one thread does.
pub(crate) struct ChunkWriter<T> {
    chunk: Arc<Chunk<T>>,
    /// How much of the chunk was written before, by whichever thread.
    used: usize,
    /// It may go to another thread, but not be shared.
    not_shared: PhantomData<Cell<()>>,
}

impl<T: Copy> ChunkWriter<T> {
    /// Those of so many chunks, which have their memory in common: it is allocated, and freed, at
    /// once. Memory that was never written to is only addresses.
    pub(crate) fn of_new_chunks(chunks: usize, capacity: usize) -> impl Iterator<Item = Self> {
        let mut memory = Vec::with_capacity(chunks.saturating_mul(capacity));
        let start = NonNull::new(memory.as_mut_ptr()).unwrap_or(NonNull::dangling());
        let memory = Arc::new(memory);
        (0..chunks).map(move |i| {
            // SAFETY: a part of the memory for `chunks * capacity` items, which overlaps with no
            // other. Test: `sys::chunk::tests::chunks_of_one_memory_do_not_overlap`.
            let items = unsafe { start.add(i * capacity) };
            let chunk = Chunk {
                items,
                capacity,
                written: AtomicUsize::new(0),
                _memory: Arc::clone(&memory),
            };
            Self { chunk: Arc::new(chunk), used: 0, not_shared: PhantomData }
        })
    }

    /// To write a chunk anew, from its start. `None` if anyone else has it, be it its writer.
    pub(crate) fn again(mut chunk: Arc<Chunk<T>>) -> Option<Self> {
        let used = std::mem::take(Arc::get_mut(&mut chunk)?.written.get_mut());
        Some(Self { chunk, used, not_shared: PhantomData })
    }

    /// Sees to the memory that is still to be written, at once: item by item, or page by page, each
    /// would be waited for. What was written before is taken from the processors that have it in their
    /// caches; for the rest the system is asked.
    pub(crate) fn claim(&self) {
        let chunk = &*self.chunk;
        let written = chunk.written.load(Ordering::Relaxed);
        let used = self.used.max(written);
        // SAFETY: it is within the chunk's memory, as so much of that was written, and nobody else
        // writes or reads it, as `push` has it. Test:
        // `sys::chunk::tests::what_is_claimed_is_what_is_not_written`.
        unsafe { chunk.items.add(written).write_bytes(0, used - written) };
        let new = (chunk.capacity - used) * size_of::<T>();
        prefault::for_writing(chunk.address() + used * size_of::<T>(), new);
    }

    /// Adds an item, or says that the chunk is full.
    #[inline]
    pub(crate) fn push(&self, item: T) -> bool {
        self.push_and_fetch(item, self.chunk.address())
    }

    /// The same; and has the memory at the address `other` fetched, as far on as this chunk is
    /// written.
    #[inline]
    fn push_and_fetch(&self, item: T, other: usize) -> bool {
        let chunk = &*self.chunk;
        let written = chunk.written.load(Ordering::Relaxed);
        if written >= chunk.capacity {
            return false;
        }
        prefault::for_reading(other.wrapping_add(written * size_of::<T>()));
        // SAFETY: it is within the chunk's memory, and nobody else writes there, as there is one writer,
        // or reads it, as `written` says it isn't there. Test:
        // `sys::chunk::tests::others_read_while_one_writes`.
        unsafe { chunk.items.add(written).write(item) };
        chunk.written.store(written + 1, Ordering::Release);
        true
    }

    /// Whether `items` more would fit.
    pub(crate) fn has_room_for(&self, items: usize) -> bool {
        self.chunk.capacity - self.chunk.written.load(Ordering::Relaxed) >= items
    }

    pub(crate) fn chunk(&self) -> &Arc<Chunk<T>> {
        &self.chunk
    }
}

impl<T> fmt::Debug for ChunkWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chunk.fmt(f)
    }
}

/// A place for a writer, for use in a thread-local: it is written with where it lies, and there is
/// nothing to be done at the thread's end. What is still in it then is never freed.
///
/// Along with what is written, as much is fetched from other memory, which is to be read when the
/// chunk is full: so that it needn't be waited for then.
pub(crate) struct WriterCell<T> {
    writer: ManuallyDrop<Cell<Option<ChunkWriter<T>>>>,
    /// An address.
    fetched: Cell<usize>,
}

impl<T: Copy> WriterCell<T> {
    pub(crate) const fn new() -> Self {
        Self { writer: ManuallyDrop::new(Cell::new(None)), fetched: Cell::new(0) }
    }

    /// Adds an item, or says that there is no writer, or that the chunk is full.
    #[inline]
    pub(crate) fn push(&self, item: T) -> bool {
        // SAFETY: no other thread has a reference to a cell; on this one nothing runs before it is
        // given back that could put another writer there. Test:
        // `sys::chunk::tests::a_pen_is_written_with_where_it_lies`.
        let writer = unsafe { &*self.writer.as_ptr() };
        writer.as_ref().is_some_and(|writer| writer.push_and_fetch(item, self.fetched.get()))
    }

    /// Puts a writer there, or none; returns what was there.
    pub(crate) fn replace(&self, writer: Option<ChunkWriter<T>>) -> Option<ChunkWriter<T>> {
        self.writer.replace(writer)
    }

    /// Fetches from that address from now on, whether there is memory or not.
    pub(crate) fn fetch(&self, address: usize) {
        self.fetched.set(address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(capacity: usize) -> ChunkWriter<u64> {
        ChunkWriter::of_new_chunks(1, capacity).next().unwrap()
    }

    #[test]
    fn others_read_while_one_writes() {
        const ITEMS: usize = 200;
        let writer = writer(ITEMS);
        let chunk = Arc::clone(writer.chunk());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                assert!((0..ITEMS as u64).all(|item| writer.push(item)));
                assert!(!writer.push(0), "it is full");
            });
            let mut seen = 0;
            while seen < ITEMS {
                let items = chunk.items();
                assert!(items.iter().copied().eq(0..items.len() as u64));
                assert!(items.len() >= seen);
                seen = items.len();
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn chunks_of_one_memory_do_not_overlap() {
        let writers: Vec<_> = ChunkWriter::of_new_chunks(3, 2).collect();
        for (i, writer) in (0_u64..).zip(&writers) {
            assert!(writer.push(i) && writer.push(10 * i) && !writer.push(100));
        }
        let items: Vec<_> = writers.iter().map(|writer| writer.chunk().items().to_vec()).collect();
        assert_eq!(items, [[0, 0], [1, 10], [2, 20]]);
    }

    #[test]
    fn a_chunk_is_written_anew_only_when_nobody_else_has_it() {
        let first = writer(2);
        first.push(1);
        let reader = Arc::clone(first.chunk());
        assert!(ChunkWriter::again(Arc::clone(&reader)).is_none(), "it has a writer");
        drop(first);
        let again = ChunkWriter::again(reader).unwrap();
        assert!(again.chunk().items().is_empty());
        assert!(again.has_room_for(2) && !again.has_room_for(3));
    }

    #[test]
    fn what_is_claimed_is_what_is_not_written() {
        let writers: Vec<_> = ChunkWriter::of_new_chunks(2, 3).collect();
        let [first, second] = <[ChunkWriter<u64>; 2]>::try_from(writers).unwrap();
        assert!((1..=3).all(|item| first.push(item)) && second.push(4));
        let chunk = Arc::clone(first.chunk());
        drop(first);
        let again = ChunkWriter::again(chunk).unwrap();
        again.claim();
        again.push(5);
        again.claim();
        again.push(6);
        assert_eq!((again.chunk().items(), second.chunk().items()), (&[5, 6][..], &[4][..]));
    }

    #[test]
    fn a_pen_is_written_with_where_it_lies() {
        let holder = WriterCell::<u64>::new();
        assert!(!holder.push(1), "there is no writer");
        let writer = writer(1);
        let chunk = Arc::clone(writer.chunk());
        assert!(holder.replace(Some(writer)).is_none());
        holder.fetch(usize::MAX); // whatever is there
        assert!(holder.push(7) && !holder.push(8));
        assert_eq!(chunk.items(), [7]);
        drop(holder.replace(None));
        assert_eq!(Arc::strong_count(&chunk), 1);
    }

    #[test]
    fn memory_for_nothing_is_no_memory() {
        assert!(!writer(0).push(1));
        assert_eq!(ChunkWriter::<u64>::of_new_chunks(0, 8).count(), 0);
    }
}
