//! An allocator that counts, for programs and tests that must not take much memory, or allocate at all.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The system's allocator, which counts the allocated bytes of the process and the allocations of each thread.
#[derive(Debug)]
pub struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// `const` and with nothing to drop, so that counting can't allocate.
    static OF_THREAD: Cell<u64> = const { Cell::new(0) };
    static IN_TOTAL: Cell<bool> = const { Cell::new(false) };
}

static TOTAL: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn allocated(bytes: usize) {
        let now = BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes;
        PEAK_BYTES.fetch_max(now, Ordering::Relaxed);
    }

    fn count() {
        OF_THREAD.set(OF_THREAD.get() + 1);
        if IN_TOTAL.get() {
            TOTAL.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: it is the system's allocator; counting changes nothing about it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        Self::allocated(layout.size());
        // SAFETY: as this function's own.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count();
        Self::allocated(size);
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as this function's own.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as this function's own.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The bytes that are allocated now.
pub fn bytes() -> usize {
    BYTES.load(Ordering::Relaxed)
}

/// The most bytes that were allocated at once since [`reset_peak`].
pub fn peak_bytes() -> usize {
    PEAK_BYTES.load(Ordering::Relaxed)
}

/// Lets [`peak_bytes`] begin with what is allocated now, and returns that.
pub fn reset_peak() -> usize {
    let now = bytes();
    PEAK_BYTES.store(now, Ordering::Relaxed);
    now
}

/// The number of allocations of the calling thread.
pub fn of_this_thread() -> u64 {
    OF_THREAD.get()
}

/// Counts the calling thread's allocations in [`of_counted_threads`] from now on.
pub fn count_this_thread() {
    IN_TOTAL.set(true);
}

/// The number of allocations of all threads that called [`count_this_thread`], since they did.
pub fn of_counted_threads() -> u64 {
    TOTAL.load(Ordering::Relaxed)
}
