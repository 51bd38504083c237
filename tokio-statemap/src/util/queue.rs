//! A bounded queue between two threads.
//!
//! A channel of the standard library contains three kinds of channels, each compiled for each type: twenty kilobytes of
//! machine code.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::util::sync::lock;

/// The side that adds items. Dropping it ends the other side.
#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// The side that takes items.
#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// `true` if one side is gone.
    is_over: bool,
}

/// Returns the two sides of a queue of at most `most` items.
pub(crate) fn queue<T>(most: usize) -> (Sender<T>, Receiver<T>) {
    let state = Mutex::new(State { items: VecDeque::new(), is_over: false });
    let shared = Arc::new(Shared { state, changed: Condvar::new(), most });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<T> Shared<T> {
    fn end(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State<T>>,
        is_waiting: impl Fn(&State<T>) -> bool,
    ) -> MutexGuard<'a, State<T>> {
        let waited = self.changed.wait_while(state, |state| is_waiting(state) && !state.is_over);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Sender<T> {
    /// Adds an item, once there is room. Returns `false` if the receiver is gone.
    pub(crate) fn send(&self, item: T) -> bool {
        let shared = &*self.0;
        let state = shared.wait(lock(&shared.state), |state| state.items.len() >= shared.most);
        shared.add(state, item)
    }

    /// Adds an item. Returns `false` if there is no room, or the receiver is gone.
    #[cfg_attr(not(has_stacks), allow(dead_code, reason = "who listens to long polls does"))]
    pub(crate) fn try_send(&self, item: T) -> bool {
        let state = lock(&self.0.state);
        state.items.len() < self.0.most && self.0.add(state, item)
    }
}

impl<T> Shared<T> {
    fn add(&self, mut state: MutexGuard<'_, State<T>>, item: T) -> bool {
        if state.is_over {
            return false;
        }
        state.items.push_back(item);
        drop(state);
        self.changed.notify_all();
        true
    }
}

impl<T> Receiver<T> {
    /// Takes the next item, once there is one; `None` if there will be no more.
    pub(crate) fn receive(&self) -> Option<T> {
        let shared = &*self.0;
        let mut state = shared.wait(lock(&shared.state), |state| state.items.is_empty());
        let item = state.items.pop_front();
        drop(state);
        shared.changed.notify_all();
        item
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.end();
        // No item is added any more. The items are dropped here, as the sender may live for long, and without the lock,
        // as their destructors may do anything.
        drop(std::mem::take(&mut lock(&self.0.state).items));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn all_items_arrive_in_order() {
        for most in [1, 2, 100] {
            let (sender, receiver) = queue(most);
            let thread = thread::spawn(move || (0..1000).all(|n| sender.send(n)));
            for n in 0..1000 {
                assert_eq!(receiver.receive(), Some(n));
            }
            assert_eq!(receiver.receive(), None);
            assert!(thread.join().expect("it doesn't panic"));
        }
    }

    #[test]
    fn there_is_room_for_so_many() {
        let (sender, receiver) = queue(2);
        assert_eq!([1, 2, 3].map(|n| sender.try_send(n)), [true, true, false]);
        assert_eq!(receiver.receive(), Some(1));
        assert!(sender.try_send(4));
        // Items in the queue are still received after the sender is gone.
        drop(sender);
        assert_eq!([(); 3].map(|()| receiver.receive()), [Some(2), Some(4), None]);
    }

    #[test]
    fn items_that_were_not_received_are_dropped_with_the_receiver() {
        let (sender, receiver) = queue(3);
        let item = Arc::new(());
        assert!((0..3).all(|_| sender.try_send(Arc::clone(&item))));
        drop(receiver.receive());
        drop(receiver);
        assert_eq!(Arc::strong_count(&item), 1);
        assert!(!sender.send(Arc::clone(&item)));
        assert_eq!(Arc::strong_count(&item), 1);
    }

    #[test]
    fn nobody_waits_for_who_is_gone() {
        let (sender, receiver) = queue(1);
        assert!(sender.send(1));
        let thread = thread::spawn(move || sender.send(2) || sender.try_send(3));
        drop(receiver);
        assert!(!thread.join().expect("it doesn't panic"));
    }
}
