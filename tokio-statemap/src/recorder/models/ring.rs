//! A stand-in for `rtrb` in a model: the same interface, and the same order of loads and stores, with loom's atomics,
//! with which `rtrb` can't be built. Whether `rtrb` itself keeps to that order is up to its own tests, Miri and
//! ThreadSanitizer.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use crate::sys::sync::{Accesses, Arc, AtomicUsize};
use crate::util::sync::lock;

/// The buffer of a ring, which both ends share.
#[derive(Debug)]
pub(crate) struct RingBuffer<T> {
    /// Locked only so that items can be moved in and out without `unsafe`: std's locks order nothing in a model.
    slots: Box<[Mutex<Option<T>>]>,
    accesses: Accesses,
    /// The number of items that were ever taken.
    head: AtomicUsize,
    /// The number of items that were ever added.
    tail: AtomicUsize,
}

/// The end that adds.
#[derive(Debug)]
pub(crate) struct Producer<T> {
    buffer: Arc<RingBuffer<T>>,
    cached_head: Cell<usize>,
    tail: usize,
}

/// The end that takes.
#[derive(Debug)]
pub(crate) struct Consumer<T> {
    buffer: Arc<RingBuffer<T>>,
    head: usize,
    cached_tail: Cell<usize>,
}

/// The reason why nothing was added.
#[derive(Debug)]
pub(crate) enum PushError<T> {
    Full(T),
}

/// There is nothing to take.
#[derive(Debug)]
pub(crate) struct PopError;

impl<T> RingBuffer<T> {
    #[expect(clippy::new_ret_no_self, reason = "rtrb's interface")]
    pub(crate) fn new(capacity: usize) -> (Producer<T>, Consumer<T>) {
        let buffer = Arc::new(Self {
            slots: (0..capacity).map(|_| Mutex::new(None)).collect(),
            accesses: Accesses::new(capacity),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
        });
        let producer = Producer { buffer: Arc::clone(&buffer), cached_head: Cell::new(0), tail: 0 };
        (producer, Consumer { buffer, head: 0, cached_tail: Cell::new(0) })
    }

    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }
}

impl<T> Producer<T> {
    pub(crate) fn is_full(&self) -> bool {
        let is_full = || self.tail - self.cached_head.get() == self.buffer.capacity();
        is_full() && {
            self.cached_head.set(self.buffer.head.load(Ordering::Acquire));
            is_full()
        }
    }

    pub(crate) fn push(&mut self, value: T) -> Result<(), PushError<T>> {
        if self.is_full() {
            return Err(PushError::Full(value));
        }
        let place = self.tail % self.buffer.capacity();
        self.buffer.accesses.write(place..place + 1);
        *lock(&self.buffer.slots[place]) = Some(value);
        self.tail += 1;
        self.buffer.tail.store(self.tail, Ordering::Release);
        Ok(())
    }

    pub(crate) fn buffer(&self) -> &RingBuffer<T> {
        &self.buffer
    }

    /// Returns how many more items there is room for.
    pub(crate) fn slots(&self) -> usize {
        self.cached_head.set(self.buffer.head.load(Ordering::Acquire));
        self.buffer.capacity() - (self.tail - self.cached_head.get())
    }
}

impl<T> Consumer<T> {
    pub(crate) fn slots(&self) -> usize {
        self.cached_tail.set(self.buffer.tail.load(Ordering::Acquire));
        self.cached_tail.get() - self.head
    }

    /// Calls `see` with an item that waits, one of those that [`slots`](Self::slots) counted. This stands in for
    /// `rtrb`'s slices.
    pub(crate) fn see<R>(&self, number: Option<usize>, see: impl FnOnce(Option<&T>) -> R) -> R {
        let Some(number) = number else { return see(None) };
        let place = (self.head + number) % self.buffer.capacity();
        self.buffer.accesses.read(place..place + 1);
        see(lock(&self.buffer.slots[place]).as_ref())
    }

    pub(crate) fn pop(&mut self) -> Result<T, PopError> {
        if self.cached_tail.get() == self.head && self.slots() == 0 {
            return Err(PopError);
        }
        let place = self.head % self.buffer.capacity();
        self.buffer.accesses.write(place..place + 1);
        let value = lock(&self.buffer.slots[place]).take();
        self.head += 1;
        self.buffer.head.store(self.head, Ordering::Release);
        value.ok_or(PopError)
    }
}
