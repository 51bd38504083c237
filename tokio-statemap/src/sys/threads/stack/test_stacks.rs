//! Stacks for tests that Rust's own threads don't have.

use std::ptr::{NonNull, null_mut};

use corosensei::stack::{Stack, StackPointer};

const PAGE: usize = 4096;

/// Memory between two pages that can't be accessed: what reads beyond either end faults.
#[derive(Debug)]
pub(crate) struct Guarded {
    memory: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its memory. Test: `recorder::background::watcher::captures`.
unsafe impl Send for Guarded {}

impl Guarded {
    /// `pages` pages, and the two around them.
    pub(crate) fn new(pages: usize) -> Self {
        let bytes = (pages + 2) * PAGE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, of which all but the first and the last page is made accessible. Test: as
        // above.
        let memory = unsafe {
            let memory = libc::mmap(null_mut(), bytes, libc::PROT_NONE, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(memory.byte_add(PAGE), pages * PAGE, access), 0);
            memory
        };
        Self { memory: NonNull::new(memory.cast()).expect("it is mapped"), bytes }
    }

    fn accessible(&self) -> (usize, usize) {
        let first = self.memory.addr().get();
        (first + PAGE, first + self.bytes - PAGE)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: it is this value's memory, which is no longer used. Test: as above.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.bytes) };
    }
}

// SAFETY: between these addresses there is memory, with a page below it that can't be accessed; both are
// multiples of a page. Test: as above.
unsafe impl Stack for Guarded {
    fn base(&self) -> StackPointer {
        StackPointer::new(self.accessible().1).expect("an address")
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.accessible().0).expect("an address")
    }
}

/// Runs `body` while the calling thread takes signals on this stack.
pub(crate) fn with_alternate_stack(stack: &Guarded, body: impl FnOnce()) {
    let (from, to) = stack.accessible();
    let ours = libc::stack_t {
        ss_sp: std::ptr::with_exposed_provenance_mut(from),
        ss_flags: 0,
        ss_size: to - from,
    };
    with(&ours, body);
}

/// Runs `body` while the calling thread takes signals on the stack that it is on.
pub(crate) fn without_alternate_stack(body: impl FnOnce()) {
    with(&libc::stack_t { ss_sp: null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 }, body);
}

fn with(stack: &libc::stack_t, body: impl FnOnce()) {
    let mut before = libc::stack_t { ss_sp: null_mut(), ss_flags: 0, ss_size: 0 };
    // SAFETY: the stack is borrowed as long as the thread uses it; then the previous one, which is the
    // standard library's, is restored. Test: as above.
    unsafe { assert_eq!(libc::sigaltstack(stack, &raw mut before), 0) };
    body();
    // SAFETY: as above.
    unsafe { assert_eq!(libc::sigaltstack(&raw const before, null_mut()), 0) };
}
