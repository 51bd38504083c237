//! The threads whose stacks are captured.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use corosensei::{Coroutine, Yielder};

use crate::sys::threads;
use crate::sys::threads::stack::test_stacks::{
    Guarded, with_alternate_stack, without_alternate_stack,
};

/// The stack of a thread that isn't meant to have a small one, in bytes.
const ENOUGH: usize = 2 << 20;

/// The smallest stack that the C library allows.
const TINY: usize = 16 << 10;

/// The work of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It computes without a pause.
    Busy,
    BusyToo,
    /// It computes and sleeps by turns.
    Sleeps,
    /// It lives for some 100 µs, and then another one comes.
    Comes,
    /// It is a thousand functions deep, and comes back.
    Deep,
    /// It has little stack.
    Tiny,
    /// It takes signals on a stack of its own.
    Alternate,
    /// It has the usual stack, and takes signals on it.
    NoAlternate,
    /// It is in fibers.
    Fibers,
    /// It is in fibers whose stacks begin and end at a page that can't be accessed.
    Guarded,
}

impl Kind {
    pub(super) const ALL: [Self; 10] = [
        Self::Busy,
        Self::BusyToo,
        Self::Sleeps,
        Self::Comes,
        Self::Deep,
        Self::Tiny,
        Self::Alternate,
        Self::NoAlternate,
        Self::Fibers,
        Self::Guarded,
    ];

    fn stack_bytes(self) -> usize {
        if self == Self::Tiny { TINY } else { ENOUGH }
    }
}

/// A thread of a kind, or several, one after the other.
pub(super) struct Thread {
    pub(super) kind: Kind,
    /// The id of the current thread, which may have ended.
    pub(super) id: Arc<AtomicI32>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Thread {
    pub(super) fn start(kind: Kind) -> Self {
        let (id, stop) = (Arc::new(AtomicI32::new(0)), Arc::new(AtomicBool::new(false)));
        let of_thread = (Arc::clone(&id), Arc::clone(&stop));
        let body = move || {
            let (id, stop) = of_thread;
            id.store(threads::id(), Ordering::Relaxed);
            let again = || !stop.load(Ordering::Relaxed);
            match kind {
                Kind::Alternate => with_alternate_stack(&Guarded::new(16), || live(kind, again)),
                Kind::NoAlternate => without_alternate_stack(|| live(kind, again)),
                Kind::Comes => come_and_go(&id, again),
                _ => live(kind, again),
            }
        };
        let thread = Builder::new().stack_size(kind.stack_bytes()).spawn(body).unwrap();
        Self { kind, id, stop, thread }
    }

    pub(super) fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

fn live(kind: Kind, again: impl Fn() -> bool) {
    while again() {
        match kind {
            Kind::Busy | Kind::BusyToo => compute(1000),
            Kind::Deep => {
                recurse(1000, &|| compute_and_sleep(20));
            }
            Kind::Fibers => fibers(|| Coroutine::new(fiber)),
            Kind::Guarded => fibers(|| {
                Coroutine::with_stack(
                    Guarded::new(if cfg!(debug_assertions) { 8 } else { 4 }),
                    fiber,
                )
            }),
            _ => compute_and_sleep(50),
        }
    }
}

fn come_and_go(id: &Arc<AtomicI32>, again: impl Fn() -> bool) {
    while again() {
        let id = Arc::clone(id);
        let one = move || {
            id.store(threads::id(), Ordering::Relaxed);
            compute(100);
        };
        Builder::new().stack_size(ENOUGH).spawn(one).unwrap().join().unwrap();
    }
}

/// Goes into three fibers by turns, until all are at their ends.
fn fibers<S: corosensei::stack::Stack>(new: impl Fn() -> Coroutine<(), (), (), S>) {
    let mut all = [new(), new(), new()];
    while all.iter().any(|fiber| !fiber.done()) {
        for fiber in all.iter_mut().filter(|fiber| !fiber.done()) {
            fiber.resume(());
        }
    }
}

fn fiber(yielder: &Yielder<(), ()>, (): ()) {
    for _ in 0..10 {
        recurse(5, &|| compute_and_sleep(20));
        yielder.suspend(());
    }
}

#[inline(never)]
fn recurse(depth: u32, last: &dyn Fn()) -> u32 {
    if depth == 0 {
        last();
        return 0;
    }
    let deeper = recurse(black_box(depth - 1), last);
    compute(0);
    black_box(deeper) + 1
}

#[inline(never)]
fn compute_and_sleep(us: u64) {
    compute(us);
    // Otherwise more threads than processors would run at any moment, and each capture would wait.
    sleep(Duration::from_micros(4 * us));
}

#[inline(never)]
fn compute(us: u64) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_micros(us) {
        black_box(&began);
    }
}
