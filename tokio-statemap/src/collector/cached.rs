//! Caches metrics that take a while.
//!
//! Both the sums of the whole run and a snapshot take some 50 ms where a million events are kept. For each scrape, once a
//! second, that would be a tenth of a processor.

use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use crate::util::sync::lock;

/// Metrics are found in at most 1/`ONE_OF` of the time, unless they would become older than [`OLDEST`].
const ONE_OF: u32 = 100;

/// The greatest age of metrics. The first snapshot may take long, as functions are looked up.
const OLDEST: Duration = Duration::from_secs(15);

/// Metrics that take less are found for each scrape, as nobody asks more than once a second.
const CHEAP: Duration = Duration::from_millis(10);

/// The metrics that were found last.
#[derive(Debug)]
pub(super) struct Cached<T> {
    found: Mutex<Option<Found<T>>>,
    /// Locked by the thread that finds them. Others don't wait for it, if any were found before.
    takes: Mutex<()>,
}

#[derive(Debug)]
struct Found<T> {
    metrics: T,
    /// The time at which they were asked for, and the time for which they stay.
    at: Instant,
    stays: Duration,
}

impl<T> Default for Cached<T> {
    fn default() -> Self {
        Self { found: Mutex::new(None), takes: Mutex::new(()) }
    }
}

impl<T: Clone> Cached<T> {
    /// Forgets the metrics.
    pub(super) fn clear(&self) {
        *lock(&self.found) = None;
    }

    /// Returns the metrics that are kept, or those that `find` returns if they are too old.
    pub(super) fn get(&self, now: Instant, find: &dyn Fn() -> T) -> T {
        if let Some(found) = &*lock(&self.found) {
            if now.saturating_duration_since(found.at) < found.stays {
                return found.metrics.clone();
            }
        }
        let _takes = match self.takes.try_lock() {
            Ok(takes) => takes,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if let Some(found) = &*lock(&self.found) {
                    return found.metrics.clone();
                }
                let takes = lock(&self.takes);
                if let Some(found) = &*lock(&self.found) {
                    return found.metrics.clone();
                }
                takes
            }
        };
        let began = Instant::now();
        let metrics = find();
        let took = began.elapsed();
        let stays = if took < CHEAP { Duration::ZERO } else { (took * ONE_OF).min(OLDEST) };
        *lock(&self.found) = Some(Found { metrics: metrics.clone(), at: now, stays });
        metrics
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_takes_long_is_found_again_only_now_and_then() {
        let (cached, found) = (Cached::default(), Cell::new(0));
        let began = Instant::now();
        let get = |after_s, takes_ms| {
            cached.get(began + Duration::from_secs(after_s), &|| {
                std::thread::sleep(Duration::from_millis(takes_ms));
                found.set(found.get() + 1);
                found.get()
            })
        };
        // It takes a fifth of a second, so it would stay for 20 s.
        for (after_s, number) in [(0, 1), (1, 1), (14, 1), (15, 2), (29, 2), (31, 3)] {
            assert_eq!(get(after_s, 200), number, "after {after_s} s");
        }
        cached.clear();
        assert_eq!(get(32, 200), 4);
    }

    #[test]
    fn nobody_waits_for_what_another_thread_finds() {
        let cached = Cached::default();
        let began = Instant::now();
        assert_eq!(cached.get(began, &|| 1), 1);
        let later = began + Duration::from_secs(20);
        let found = cached.get(later, &|| {
            // Another scrape comes meanwhile.
            let again = std::thread::scope(|scope| {
                let other = || cached.get(later, &|| unreachable!("another thread does that"));
                scope.spawn(other).join().expect("it doesn't panic")
            });
            assert_eq!(again, 1);
            2
        });
        assert_eq!(found, 2);
    }
}
