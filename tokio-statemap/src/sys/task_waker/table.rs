//! The table of the functions of wakers, as it is in memory.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, LocalSet};

use super::page::Page;

/// The number of functions in a table.
const FUNCTIONS: usize = 4;

/// A value for each function. In order, these are the function that clones, the one that wakes, the one that wakes by
/// reference, and the one that drops.
pub(super) type OfEach<T> = [T; FUNCTIONS];

/// The table of all tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    words: &'static [AtomicUsize; FUNCTIONS],
    /// The places of the functions among the words.
    places: OfEach<usize>,
}

impl Table {
    /// Finds the table of the tasks of this Tokio.
    pub(super) fn find() -> Option<Self> {
        let places = places()?;
        let table = in_a_task(|waker| std::ptr::from_ref(waker.vtable()).expose_provenance())?;
        // SAFETY: a table is this large, which `places` checks, and has the alignment of its parts. It is read by
        // atomic loads, and written to only in `set`, where its page is writable. Test:
        // `recorder::chains::wakers::tests::clones_are_seen_and_are_tokios`.
        let words = unsafe { &*std::ptr::with_exposed_provenance(table) };
        Some(Self { words, places })
    }

    /// Returns the addresses of the functions.
    pub(super) fn functions(self) -> OfEach<usize> {
        self.places.map(|place| self.words[place].load(Ordering::Acquire))
    }

    /// Sets the functions to those at these addresses. Returns whether that was possible.
    pub(super) fn set(self, functions: OfEach<usize>) -> bool {
        let words = std::ptr::from_ref(self.words).addr();
        let Some(page) = Page::make_writable(words, size_of_val(self.words)) else { return false };
        for (place, function) in self.places.into_iter().zip(functions) {
            self.words[place].store(function, Ordering::Release);
        }
        page.restore();
        true
    }
}

/// Returns the places of the functions among the words of a table, which Rust doesn't specify. `None` if the words are
/// anything else.
fn places() -> Option<OfEach<usize>> {
    unsafe fn clones(_: *const ()) -> RawWaker {
        RawWaker::new(std::ptr::null(), &OURS)
    }
    // Functions with equal code may be merged into one.
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
    // SAFETY: it is this large, and consists of addresses of functions. Test: as above.
    let words: [usize; FUNCTIONS] = unsafe { std::mem::transmute_copy(&OURS) };
    let place = |function: *const ()| words.iter().position(|&word| word == function as usize);
    let wakes = (place(wakes as *const ())?, place(wakes_by_ref as *const ())?);
    Some([place(clones as *const ())?, wakes.0, wakes.1, place(drops as *const ())?])
}

/// The least size of a task of our own.
pub(super) const TASK_SIZE: usize = 512;

/// Returns what `see` returns for the waker of a task, during a poll of the task. `None` where there can be no task.
pub(super) fn in_a_task(see: fn(&Waker) -> usize) -> Option<usize> {
    let seen = Rc::new(Cell::new(None));
    let sees = Rc::clone(&seen);
    let part = [0_u8; TASK_SIZE];
    let poll = move |cx: &mut Context<'_>| {
        std::hint::black_box(&part);
        sees.set(Some(see(cx.waker())));
        Poll::Ready(())
    };
    polled_once(poll, |_| seen.take())?
}

/// Returns what `see` returns for the only waker of a waiting task and the handle to join the task. `None` where there
/// can be no task.
pub(super) fn beside_an_idle_task<R>(see: fn(&Waker, JoinHandle<()>) -> R) -> Option<R> {
    let waker = Rc::new(Cell::new(None));
    let keeps = Rc::clone(&waker);
    let poll = move |cx: &mut Context<'_>| {
        keeps.set(Some(cx.waker().clone()));
        Poll::Pending
    };
    polled_once(poll, |joins| waker.take().map(|waker| see(&waker, joins)))?
}

/// Polls a task once, and calls `then` with the handle to join it. `None` where there can be no task.
///
/// The task is one of a `LocalSet`: it needs no runtime, and no hook of a runtime is called for it.
pub(super) fn polled_once<R>(
    poll: impl FnMut(&mut Context<'_>) -> Poll<()> + 'static,
    then: impl FnOnce(JoinHandle<()>) -> R,
) -> Option<R> {
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        return None;
    }
    let set = LocalSet::new();
    let joins = set.spawn_local(poll_fn(poll));
    let mut set = pin!(set);
    let _ = set.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    Some(then(joins))
}
