//! Memory that one thread appends to while other threads read the items that are already written.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::sys::planted::planted;
use crate::sys::prefault;
use crate::sys::sync::{Accesses, Arc, AtomicUsize, load_own};

/// Immutable items, and room for more, which only the chunk's [`ChunkWriter`] can append.
///
/// Aligned to a cache line, so that two threads that each write a chunk don't invalidate each
/// other's line with each item.
#[repr(align(64))]
pub(crate) struct Chunk<T> {
    /// The address of the first item.
    items: NonNull<T>,
    capacity: usize,
    /// The number of items that may be written: `capacity`, or 0 from an interruption until the writer
    /// resumes.
    limit: AtomicUsize,
    /// The number of items. Only the writer stores it, after the item.
    written: AtomicUsize,
    accesses: Accesses,
    /// Keeps the allocation alive; never accessed.
    _memory: std::sync::Arc<Vec<T>>,
}

// SAFETY: it owns its part of the memory as a vector of `T` would; the items that are shared are never
// written to again. Test: `sys::chunk::tests::others_read_while_one_writes`.
unsafe impl<T: Send + Sync> Send for Chunk<T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Chunk<T> {}

impl<T: Copy> Chunk<T> {
    /// Returns the items written so far.
    pub(crate) fn items(&self) -> &[T] {
        let written = self.written.load(Ordering::Acquire);
        self.accesses.read(0..written);
        // SAFETY: this number of items was written before `written` was stored, and nothing writes to them
        // while there is a reference to the chunk, see `ChunkWriter::reuse`. Test:
        // `sys::chunk::tests::others_read_while_one_writes`.
        unsafe { std::slice::from_raw_parts(self.items.as_ptr(), written) }
    }

    /// Interrupts the writer: it sees a full chunk from the next item on, until it
    /// [resumes](ChunkWriter::resume).
    ///
    /// This takes the writer off its fast path, at no cost to that path.
    pub(crate) fn interrupt(&self) {
        self.limit.store(0, Ordering::Relaxed);
    }
}

impl<T> Chunk<T> {
    /// Returns the address of the first item.
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

/// The writer of a chunk. A chunk has at most one, so that only one thread writes to it.
pub(crate) struct ChunkWriter<T> {
    chunk: Arc<Chunk<T>>,
    /// The number of items of the chunk that were ever written, by any thread.
    used: usize,
    /// `Send`, but not `Sync`.
    not_shared: PhantomData<Cell<()>>,
}

impl<T: Copy> ChunkWriter<T> {
    /// Allocates `chunks` chunks in one allocation, which is freed with the last of them. Memory that was
    /// never written is address space only.
    pub(crate) fn allocate(chunks: usize, capacity: usize) -> impl Iterator<Item = Self> {
        let mut memory = Vec::with_capacity(chunks.saturating_mul(capacity));
        let start = NonNull::new(memory.as_mut_ptr()).unwrap_or(NonNull::dangling());
        let memory = std::sync::Arc::new(memory);
        (0..chunks).map(move |i| {
            // SAFETY: a part of the memory for `chunks * capacity` items, which overlaps with no
            // other. Test: `sys::chunk::tests::chunks_of_one_memory_do_not_overlap`.
            let items = unsafe { start.add(i * capacity) };
            let _memory = std::sync::Arc::clone(&memory);
            let (limit, written) = (AtomicUsize::new(capacity), AtomicUsize::new(0));
            let accesses = Accesses::new(capacity);
            Self::new(|| Chunk { items, capacity, limit, written, accesses, _memory })
        })
    }

    /// Creates the first writer of a chunk. It is made in place: on a hook's stack it would take two hundred
    /// bytes.
    #[cfg(not(statemap_loom))]
    fn new(chunk: impl FnOnce() -> Chunk<T>) -> Self {
        let mut place = Arc::new_uninit();
        if let Some(place) = Arc::get_mut(&mut place) {
            place.write(chunk());
        }
        // SAFETY: it was written, as nothing else refers to a new place. Test:
        // `sys::chunk::tests::chunks_of_one_memory_do_not_overlap`.
        let chunk = unsafe { place.assume_init() };
        Self { chunk, used: 0, not_shared: PhantomData }
    }

    #[cfg(statemap_loom)]
    fn new(chunk: impl FnOnce() -> Chunk<T>) -> Self {
        Self { chunk: Arc::new(chunk()), used: 0, not_shared: PhantomData }
    }

    /// Returns a writer that starts over at the beginning of `chunk`, or `None` if anything else refers to
    /// the chunk, such as its writer.
    pub(crate) fn reuse(mut chunk: Arc<Chunk<T>>) -> Option<Self> {
        let only = Arc::get_mut(&mut chunk)?;
        let used = load_own(&only.written);
        only.written.store(0, Ordering::Relaxed);
        only.limit.store(only.capacity, Ordering::Relaxed);
        Some(Self { chunk, used, not_shared: PhantomData })
    }

    /// Gives the memory of an empty chunk back to the system, which gives it anew when it is written to.
    pub(crate) fn release(&mut self) {
        debug_assert_eq!(load_own(&self.chunk.written), 0);
        self.used = 0;
        // Prefaulted memory counts too, even if it was never written.
        prefault::release(self.chunk.address(), self.chunk.capacity * size_of::<T>());
    }

    /// Prefaults the memory that is still to be written, at once, instead of item by item and page
    /// by page: memory that was written before is taken from the caches of other processors; for
    /// the rest the system is asked.
    pub(crate) fn prefault(&self) {
        let chunk = &*self.chunk;
        let written = load_own(&chunk.written);
        let used = self.used.max(written);
        chunk.accesses.write(written..used);
        // SAFETY: it is within the chunk's memory, as that many items were written, and nothing else writes
        // or reads it, for the reasons in `push`. Test:
        // `sys::chunk::tests::prefault_touches_only_unwritten_memory`.
        unsafe { chunk.items.add(written).write_bytes(0, used - written) };
        let new = (chunk.capacity - used) * size_of::<T>();
        prefault::for_writing(chunk.address() + used * size_of::<T>(), new);
    }

    /// Appends an item. Returns `false` if the chunk is full.
    #[inline]
    pub(crate) fn push(&self, item: T) -> bool {
        let chunk = &*self.chunk;
        let written = load_own(&chunk.written);
        if written >= chunk.limit.load(Ordering::Relaxed) {
            return false;
        }
        chunk.accesses.write(written..written + 1);
        // SAFETY: it is within the chunk's memory. Nothing else writes there, as a chunk has one writer, and
        // nothing reads there, as `written` doesn't include it yet. Test:
        // `sys::chunk::tests::others_read_while_one_writes`.
        unsafe { chunk.items.add(written).write(item) };
        // A thread that sees the number of items must see the items.
        let published = if planted("relaxed") { Ordering::Relaxed } else { Ordering::Release };
        chunk.written.store(written + 1, published);
        true
    }

    /// Appends an item, and ends an interruption. Returns `false` if the chunk is full.
    pub(crate) fn push_anyway(&self, item: T) -> bool {
        // It may be interrupted again meanwhile.
        while !self.push(item) {
            if !self.resume() {
                return false;
            }
        }
        true
    }

    /// Ends an interruption; returns whether there was one.
    pub(crate) fn resume(&self) -> bool {
        let Chunk { capacity, limit, .. } = &*self.chunk;
        let is_interrupted = limit.load(Ordering::Relaxed) != *capacity;
        if is_interrupted {
            limit.store(*capacity, Ordering::Relaxed);
        }
        is_interrupted
    }

    /// Returns `true` if there is room for `items` more items.
    pub(crate) fn has_room_for(&self, items: usize) -> bool {
        self.chunk.capacity - load_own(&self.chunk.written) >= items
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

/// A cell for a writer, for use in a thread-local: items are written through it in place, and it
/// needs no destructor. A writer that is still in it when the thread ends is never freed.
pub(crate) struct WriterCell<T> {
    writer: ManuallyDrop<Cell<Option<ChunkWriter<T>>>>,
}

impl<T: Copy> WriterCell<T> {
    pub(crate) const fn new() -> Self {
        Self { writer: ManuallyDrop::new(Cell::new(None)) }
    }

    /// Appends an item. Returns `false` if there is no writer, or the chunk is full.
    #[inline]
    pub(crate) fn push(&self, item: T) -> bool {
        // SAFETY: no other thread has a reference to a cell; on this one nothing runs before it is
        // given back that could put another writer there. Test:
        // `sys::chunk::tests::a_writer_cell_is_written_in_place`.
        let writer = unsafe { &*self.writer.as_ptr() };
        writer.as_ref().is_some_and(|writer| writer.push(item))
    }

    /// Sets the writer; returns the previous one.
    pub(crate) fn replace(&self, writer: Option<ChunkWriter<T>>) -> Option<ChunkWriter<T>> {
        self.writer.replace(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(capacity: usize) -> ChunkWriter<u64> {
        ChunkWriter::allocate(1, capacity).next().unwrap()
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
        let writers: Vec<_> = ChunkWriter::allocate(3, 2).collect();
        for (i, writer) in (0_u64..).zip(&writers) {
            assert!(writer.push(i) && writer.push(10 * i) && !writer.push(100));
        }
        let items: Vec<_> = writers.iter().map(|writer| writer.chunk().items().to_vec()).collect();
        assert_eq!(items, [[0, 0], [1, 10], [2, 20]]);
    }

    #[test]
    fn a_chunk_is_reused_only_when_nothing_refers_to_it() {
        let first = writer(2);
        first.push(1);
        let reader = Arc::clone(first.chunk());
        assert!(ChunkWriter::reuse(Arc::clone(&reader)).is_none(), "it has a writer");
        drop(first);
        let reused = ChunkWriter::reuse(reader).unwrap();
        assert!(reused.chunk().items().is_empty());
        assert!(reused.has_room_for(2) && !reused.has_room_for(3));
    }

    #[test]
    fn prefault_touches_only_unwritten_memory() {
        let writers: Vec<_> = ChunkWriter::allocate(2, 3).collect();
        let [first, second] = <[ChunkWriter<u64>; 2]>::try_from(writers).unwrap();
        assert!((1..=3).all(|item| first.push(item)) && second.push(4));
        let chunk = Arc::clone(first.chunk());
        drop(first);
        let reused = ChunkWriter::reuse(chunk).unwrap();
        reused.prefault();
        reused.push(5);
        reused.prefault();
        reused.push(6);
        assert_eq!((reused.chunk().items(), second.chunk().items()), (&[5, 6][..], &[4][..]));
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri), not(statemap_loom)))]
    fn what_was_prefaulted_and_never_written_is_released_too() {
        const PAGE: usize = 65_536;
        let mut writer = writer(3 * PAGE / size_of::<u64>());
        let address = writer.chunk().address().next_multiple_of(PAGE);
        let resident = || {
            let mut pages = [0_u8; 2 * PAGE / 4096];
            // SAFETY: it only looks at memory of the chunk, and there is room for each page, of at least 4 KiB.
            let failed = unsafe {
                let from = std::ptr::without_provenance_mut(address);
                libc::mincore(from, 2 * PAGE, pages.as_mut_ptr())
            };
            assert_eq!(failed, 0);
            pages.iter().filter(|&&page| page & 1 == 1).count()
        };
        writer.prefault();
        let prefaulted = resident();
        writer.release();
        // Before Linux 5.14 there is nothing to release.
        assert_eq!(resident(), 0, "of {prefaulted}");
        assert!(writer.push(7) && resident() <= 1);
        assert_eq!(writer.chunk().items(), [7]);
    }

    #[test]
    fn a_writer_cell_is_written_in_place() {
        let holder = WriterCell::<u64>::new();
        assert!(!holder.push(1), "there is no writer");
        let writer = writer(1);
        let chunk = Arc::clone(writer.chunk());
        assert!(holder.replace(Some(writer)).is_none());
        assert!(holder.push(7) && !holder.push(8));
        assert_eq!(chunk.items(), [7]);
        drop(holder.replace(None));
        assert_eq!(Arc::strong_count(&chunk), 1);
    }

    #[test]
    fn an_interrupted_writer_writes_on_once_it_resumes() {
        let writer = writer(3);
        let chunk = Arc::clone(writer.chunk());
        assert!(writer.push(1) && !writer.resume());
        chunk.interrupt();
        assert!(!writer.push(2));
        assert!(writer.resume() && !writer.resume());
        assert!(writer.push(2));
        chunk.interrupt();
        assert!(writer.push_anyway(3) && !writer.push_anyway(4));
        assert_eq!(chunk.items(), [1, 2, 3]);
        chunk.interrupt();
        assert!(!writer.push_anyway(4), "it is full");
        chunk.interrupt();
        drop(writer);
        let reused = ChunkWriter::reuse(chunk).unwrap();
        assert!(reused.push(5), "it is interrupted no more");
    }

    #[test]
    fn empty_allocations_work() {
        assert!(!writer(0).push(1));
        assert_eq!(ChunkWriter::<u64>::allocate(0, 8).count(), 0);
    }
}
