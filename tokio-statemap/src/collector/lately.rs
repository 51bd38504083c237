//! Caches the metrics that need a snapshot.
//!
//! A snapshot takes some 50 ms for a million events. One for each scrape, once a second, would be a twentieth of a processor.

use std::sync::{Mutex, TryLockError};
use std::time::{Duration, Instant};

use crate::render::prometheus::Lately;
use crate::trace::timeline::Timeline;
use crate::util::sync::lock;

/// Snapshots take at most 1/`ONE_OF` of the time, unless their metrics would become older than [`OLDEST`].
const ONE_OF: u32 = 100;

/// The greatest age of these metrics. The first snapshot may take long, as functions are looked up.
const OLDEST: Duration = Duration::from_secs(15);

/// The metrics of the last snapshot.
#[derive(Debug, Default)]
pub(super) struct LatelyFound {
    found: Mutex<Option<Found>>,
    /// Locked by the thread that takes a snapshot. Others don't wait for it, if anything was found before.
    takes: Mutex<()>,
}

#[derive(Debug)]
struct Found {
    lately: Lately,
    /// The time at which the snapshot was begun, and the time for which its metrics stay.
    at: Instant,
    stays: Duration,
}

impl LatelyFound {
    /// Returns the metrics that are kept, or those of a new snapshot by `take` if they are too old.
    pub(super) fn get(&self, now: Instant, take: impl FnOnce() -> Timeline) -> Lately {
        if let Some(found) = &*lock(&self.found) {
            if now.saturating_duration_since(found.at) < found.stays {
                return found.lately.clone();
            }
        }
        let _takes = match self.takes.try_lock() {
            Ok(takes) => takes,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if let Some(found) = &*lock(&self.found) {
                    return found.lately.clone();
                }
                let takes = lock(&self.takes);
                if let Some(found) = &*lock(&self.found) {
                    return found.lately.clone();
                }
                takes
            }
        };
        let began = Instant::now();
        let lately = Lately::from_timeline(&take());
        let stays = (began.elapsed() * ONE_OF).min(OLDEST);
        *lock(&self.found) = Some(Found { lately: lately.clone(), at: now, stays });
        lately
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_again_only_now_and_then() {
        let (found, mut taken) = (LatelyFound::default(), 0);
        let began = Instant::now();
        // It takes a fifth of a second, so it would stay for 20 s.
        for (after_s, times) in [(0, 1), (1, 1), (14, 1), (15, 2), (29, 2), (31, 3)] {
            found.get(began + Duration::from_secs(after_s), || {
                taken += 1;
                std::thread::sleep(Duration::from_millis(200));
                Timeline::empty()
            });
            assert_eq!(taken, times, "after {after_s} s");
        }
    }

    #[test]
    fn nobody_waits_for_a_snapshot_of_another_thread() {
        let found = LatelyFound::default();
        let began = Instant::now();
        let first = found.get(began, Timeline::empty);
        let later = began + Duration::from_secs(20);
        found.get(later, || {
            // Another scrape comes meanwhile.
            let again = std::thread::scope(|scope| {
                let other = || found.get(later, || unreachable!("another thread does that"));
                scope.spawn(other).join().expect("it doesn't panic")
            });
            assert_eq!(format!("{again:?}"), format!("{first:?}"));
            Timeline::empty()
        });
    }
}
