//! Waiting until something is over.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Something that goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct Ongoing(Arc<Latch>);

/// What waits until that is over.
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

impl Latch {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Over {
    /// Waits for at most `time`. Returns whether it is over.
    pub(crate) fn wait_for(&self, time: Duration) -> bool {
        let waited = self.0.changed.wait_timeout_while(self.0.lock(), time, |is_over| !*is_over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        *self.0.lock() = true;
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
