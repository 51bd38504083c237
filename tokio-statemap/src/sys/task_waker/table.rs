//! The table of the functions of wakers, as it is in memory.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use tokio::runtime::Handle;
use tokio::task::LocalSet;

use super::page::Page;

/// The number of functions in a table.
const FUNCTIONS: usize = 4;

/// The table of all tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    words: &'static [AtomicUsize; FUNCTIONS],
    /// The place among them of the function that clones.
    clones: usize,
}

impl Table {
    /// Finds the table of the tasks of this Tokio.
    pub(super) fn find() -> Option<Self> {
        let clones = place_of_clones()?;
        let table: &'static RawWakerVTable = in_a_task(Waker::vtable)?;
        // SAFETY: a table is as large, which `place_of_clones` checks, and has the alignment of what it consists of. It is
        // read by atomic loads, and written to in `set_clones` alone, where its page is writable. Test:
        // `recorder::chains::wakers::tests::clones_are_seen_and_are_tokios`.
        let words = unsafe { &*std::ptr::from_ref(table).cast() };
        Some(Self { words, clones })
    }

    /// Returns the address of the function that clones.
    pub(super) fn clones(self) -> usize {
        self.words[self.clones].load(Ordering::Acquire)
    }

    /// Sets the function that clones to the one at this address. Returns whether that was possible.
    pub(super) fn set_clones(self, function: usize) -> bool {
        let word = &self.words[self.clones];
        let Some(page) = Page::make_writable(std::ptr::from_ref(word).addr(), size_of_val(word))
        else {
            return false;
        };
        word.store(function, Ordering::Release);
        page.restore();
        true
    }
}

/// Returns which of the words of a table is the function that clones: Rust doesn't say. `None` if there are others.
fn place_of_clones() -> Option<usize> {
    unsafe fn clones(_: *const ()) -> RawWaker {
        RawWaker::new(std::ptr::null(), &OURS)
    }
    // Those of equal code may be one.
    unsafe fn wakes(_: *const ()) {
        std::hint::black_box(1);
    }
    unsafe fn wakes_by_ref(_: *const ()) {
        std::hint::black_box(2);
    }
    unsafe fn drops(_: *const ()) {
        std::hint::black_box(3);
    }
    static OURS: RawWakerVTable = RawWakerVTable::new(clones, wakes, wakes_by_ref, drops);

    if size_of::<RawWakerVTable>() != FUNCTIONS * size_of::<usize>() {
        return None;
    }
    // SAFETY: it is as large, and consists of addresses of functions. Test: as above.
    let words: [usize; FUNCTIONS] = unsafe { std::mem::transmute_copy(&OURS) };
    let functions = [wakes as *const (), wakes_by_ref as *const (), drops as *const ()];
    let clones = clones as *const () as usize;
    let are_known = functions.iter().all(|function| words.contains(&(*function as usize)));
    are_known.then(|| words.iter().position(|&word| word == clones)).flatten()
}

/// Returns what `see` returns for the waker of a task, in a poll of it. `None` where there can be no task.
///
/// The task is one of a `LocalSet`: it needs no runtime, and no hook of a runtime is called for it.
pub(super) fn in_a_task<R: 'static>(see: fn(&Waker) -> R) -> Option<R> {
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        return None;
    }
    let set = LocalSet::new();
    let seen = Rc::new(Cell::new(None));
    let sees = Rc::clone(&seen);
    set.spawn_local(poll_fn(move |cx: &mut Context<'_>| {
        sees.set(Some(see(cx.waker())));
        Poll::Ready(())
    }));
    let _ = pin!(set).poll(&mut Context::from_waker(Waker::noop()));
    seen.take()
}
