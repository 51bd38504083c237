//! The budget for writes to streams whose reader doesn't read.
//!
//! A single budget covers all streams for the whole life of the process. So it bounds the delay of the
//! program's end, however many streams there are and however slowly they are read.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The total budget.
const TOTAL_MS: u64 = 10_000;

static PROCESS: Patience = Patience::new();

/// Calls `wait` with the time that it may take; returns `None` without calling it if no time is
/// left.
pub(crate) fn wait<T>(wait: impl FnOnce(Duration) -> T) -> Option<T> {
    let left = PROCESS.begin(now_ms())?;
    let _waiting = Waiting;
    Some(wait(left))
}

/// Calls `act` until it returns something other than `WouldBlock`, and `wait_for_it` in between.
pub(crate) fn until_ready<T>(
    mut act: impl FnMut() -> io::Result<T>,
    wait_for_it: impl Fn(Duration),
) -> io::Result<T> {
    const STEP: Duration = Duration::from_millis(1);
    let mut is_first = true;
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            done => return done,
        }
        let waited = wait(|left| {
            wait_for_it(left);
            if !is_first {
                // A descriptor may be reported as ready although it has too little room.
                thread::sleep(STEP);
            }
        });
        if waited.is_none() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the reader stopped reading"));
        }
        is_first = false;
    }
}

/// Returns `true` if anything is waiting at the moment, with time left. Async-signal-safe.
pub(crate) fn is_waiting() -> bool {
    PROCESS.state().waiters > 0 && PROCESS.state().left_ms(now_ms()) > 0
}

fn now_ms() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64
}

/// Ends a wait when dropped.
struct Waiting;

impl Drop for Waiting {
    fn drop(&mut self) {
        PROCESS.end(now_ms());
    }
}

/// An atomic instead of a lock: a child of a fork may find a lock held forever.
#[derive(Debug)]
struct Patience(AtomicU64);

/// Overlapping waits count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct WaitState {
    waiters: u64,
    /// The time at which the current wait began, if there is one.
    since_ms: u64,
    /// The time spent in earlier waits.
    spent_ms: u64,
}

impl WaitState {
    const SPENT_BITS: u32 = 16;
    const SINCE_BITS: u32 = 40; // 34 years
    const MAX_WAITERS: u64 = 255;

    fn from_bits(bits: u64) -> Self {
        Self {
            waiters: bits >> (Self::SINCE_BITS + Self::SPENT_BITS),
            since_ms: (bits >> Self::SPENT_BITS) & ((1 << Self::SINCE_BITS) - 1),
            spent_ms: bits & ((1 << Self::SPENT_BITS) - 1),
        }
    }

    fn bits(self) -> u64 {
        ((self.waiters << Self::SINCE_BITS | self.since_ms) << Self::SPENT_BITS) | self.spent_ms
    }

    fn spent_until(self, now_ms: u64) -> u64 {
        let going_on = if self.waiters > 0 { now_ms.saturating_sub(self.since_ms) } else { 0 };
        (self.spent_ms + going_on).min(TOTAL_MS)
    }

    fn left_ms(self, now_ms: u64) -> u64 {
        TOTAL_MS - self.spent_until(now_ms)
    }
}

impl Patience {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn state(&self) -> WaitState {
        WaitState::from_bits(self.0.load(Ordering::Acquire))
    }

    /// Begins a wait. Returns how long it may take, or `None` if no time is left.
    fn begin(&self, now_ms: u64) -> Option<Duration> {
        let mut left_ms = 0;
        let begun = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            let mut state = WaitState::from_bits(bits);
            left_ms = state.left_ms(now_ms);
            if left_ms == 0 || state.waiters == WaitState::MAX_WAITERS {
                return None;
            }
            if state.waiters == 0 {
                state.since_ms = now_ms;
            }
            state.waiters += 1;
            Some(state.bits())
        });
        begun.ok().map(|_| Duration::from_millis(left_ms))
    }

    /// Ends a wait.
    fn end(&self, now_ms: u64) {
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            let mut state = WaitState::from_bits(bits);
            if state.waiters == 1 {
                state.spent_ms = state.spent_until(now_ms);
            }
            state.waiters = state.waiters.saturating_sub(1);
            Some(state.bits())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: Duration = Duration::from_millis(TOTAL_MS);

    fn left_ms(patience: &Patience, now_ms: u64) -> u64 {
        patience.state().left_ms(now_ms)
    }

    #[test]
    fn one_wait_takes_from_the_next() {
        let patience = Patience::new();
        assert_eq!(patience.begin(5), Some(TOTAL));
        assert_eq!(left_ms(&patience, 1_005), 9_000);
        patience.end(2_005);
        assert_eq!(left_ms(&patience, 1_000_000), 8_000, "only waiting counts");
        assert_eq!(patience.begin(1_000_000), Some(Duration::from_secs(8)));
        patience.end(1_100_000);
        assert_eq!(patience.begin(1_100_000), None);
        assert_eq!(patience.begin(u64::MAX >> 24), None, "it doesn't come back");
    }

    #[test]
    fn waits_that_overlap_count_once() {
        let patience = Patience::new();
        // [0, 4 s], [1 s, 2 s] and [3 s, 6 s], then [8 s, 9 s].
        patience.begin(0).unwrap();
        assert_eq!(patience.begin(1_000), Some(Duration::from_secs(9)));
        patience.end(2_000);
        assert_eq!(patience.begin(3_000), Some(Duration::from_secs(7)));
        patience.end(4_000);
        patience.end(6_000);
        assert_eq!(left_ms(&patience, 8_000), 4_000);
        patience.begin(8_000).unwrap();
        patience.end(9_000);
        assert_eq!(left_ms(&patience, 9_000), 3_000);
    }

    #[test]
    fn a_state_is_its_bits() {
        for state in [
            WaitState::default(),
            WaitState {
                waiters: WaitState::MAX_WAITERS,
                since_ms: (1 << 40) - 1,
                spent_ms: TOTAL_MS,
            },
            WaitState { waiters: 1, since_ms: 0, spent_ms: 7 },
        ] {
            assert_eq!(WaitState::from_bits(state.bits()), state);
        }
    }

    #[test]
    fn too_many_waiters_are_refused() {
        let patience = Patience::new();
        for _ in 0..WaitState::MAX_WAITERS {
            assert!(patience.begin(0).is_some());
        }
        assert_eq!(patience.begin(0), None);
        for _ in 0..=WaitState::MAX_WAITERS {
            patience.end(1);
        }
        assert_eq!(left_ms(&patience, 2), TOTAL_MS - 1);
    }

    #[test]
    fn what_does_not_block_is_not_waited_for() {
        let mut results = vec![Ok(7), Err(io::ErrorKind::Interrupted.into())];
        let done = until_ready(|| results.pop().unwrap(), |_| panic!("it waits"));
        assert_eq!(done.unwrap(), 7);
    }
}
