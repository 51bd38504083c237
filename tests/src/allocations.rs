//! A counting allocator, for programs and tests whose memory or allocations are bounded.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The system's allocator, counting the bytes that the process holds and the allocations of each thread.
#[derive(Debug)]
pub struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Both are `const` and have nothing to drop, so that counting can't allocate.
    static THREAD_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static IS_IN_TOTAL: Cell<bool> = const { Cell::new(false) };
}

static TOTAL: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn allocated(bytes: usize) {
        let now = BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes;
        PEAK_BYTES.fetch_max(now, Ordering::Relaxed);
    }

    fn count() {
        THREAD_ALLOCATIONS.set(THREAD_ALLOCATIONS.get() + 1);
        if IS_IN_TOTAL.get() {
            TOTAL.fetch_add(1, Ordering::Relaxed);
        }
    }
}

// SAFETY: All calls go to the system's allocator; counting changes nothing about them.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::count();
        Self::allocated(layout.size());
        // SAFETY: The caller keeps to the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::count();
        Self::allocated(size);
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: The caller keeps to the same contract.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: The caller keeps to the same contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the number of bytes that are allocated now.
pub fn bytes() -> usize {
    BYTES.load(Ordering::Relaxed)
}

/// Returns the most bytes that were allocated at once since [`reset_peak`].
pub fn peak_bytes() -> usize {
    PEAK_BYTES.load(Ordering::Relaxed)
}

/// Returns the resident memory of this process that isn't backed by a file, in KiB.
///
/// # Panics
///
/// If the system doesn't say.
#[cfg(target_os = "linux")]
pub fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Restarts [`peak_bytes`] from the bytes that are allocated now, and returns those.
pub fn reset_peak() -> usize {
    let now = bytes();
    PEAK_BYTES.store(now, Ordering::Relaxed);
    now
}

/// Returns the number of allocations of the calling thread.
pub fn thread_allocations() -> u64 {
    THREAD_ALLOCATIONS.get()
}

/// Adds the calling thread's allocations to [`total_allocations`] from now on.
pub fn count_this_thread() {
    IS_IN_TOTAL.set(true);
}

/// Returns the number of allocations that threads made after they called [`count_this_thread`].
pub fn total_allocations() -> u64 {
    TOTAL.load(Ordering::Relaxed)
}
