//! Waits until something is over.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::util::sync::lock;

/// Something that goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct Ongoing(Arc<Latch>);

/// The side that waits until it is over.
#[derive(Debug)]
pub(crate) struct Over(Arc<Latch>);

#[derive(Debug, Default)]
struct Latch {
    is_over: Mutex<bool>,
    changed: Condvar,
}

/// Returns the two sides.
pub(crate) fn latch() -> (Ongoing, Over) {
    let latch = Arc::new(Latch::default());
    (Ongoing(Arc::clone(&latch)), Over(latch))
}

impl Over {
    /// Waits for at most `time`. Returns whether it is over.
    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        let waited =
            self.0.changed.wait_timeout_while(lock(&self.0.is_over), time, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Ongoing {
    #[inline(never)]
    fn drop(&mut self) {
        *lock(&self.0.is_over) = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_once_it_is_dropped() {
        let (ongoing, over) = latch();
        assert!(!over.wait_for(Duration::ZERO) && !over.wait_for(Duration::from_millis(1)));
        let thread = std::thread::spawn(move || drop(ongoing));
        assert!(over.wait_for(Duration::MAX) && over.wait_for(Duration::ZERO));
        thread.join().expect("it doesn't panic");
    }

    #[test]
    fn a_panic_ends_it() {
        let (ongoing, over) = latch();
        let thread = std::thread::spawn(move || {
            let _ongoing = ongoing;
            panic!("it is meant to");
        });
        assert!(over.wait_for(Duration::MAX));
        assert!(thread.join().is_err());
    }
}
