//! How long we wait for those who don't read what we write.
//!
//! It is one patience for all streams and for the whole life of the process, so that the program's end is
//! held up by no more than that, however many streams there are and however slowly they are read.

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long in all.
const ALL_MS: u64 = 10_000;

static OF_PROCESS: Patience = Patience::new();

/// Calls `wait` with the time that it may take; `None` if no time is left, without a call.
pub(crate) fn wait<T>(wait: impl FnOnce(Duration) -> T) -> Option<T> {
    let left = OF_PROCESS.begin(now_ms())?;
    let _waiting = Waiting;
    Some(wait(left))
}

/// What `act` comes to as soon as it wouldn't block. In between, `wait` waits until it may be so far.
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
                // It may be said to be ready and yet not be: for less than what is to be written.
                thread::sleep(STEP);
            }
        });
        if waited.is_none() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads on"));
        }
        is_first = false;
    }
}

/// Whether anyone waits at the moment who may. It is async-signal-safe.
pub(crate) fn is_waiting() -> bool {
    OF_PROCESS.state().waiters > 0 && OF_PROCESS.state().left_ms(now_ms()) > 0
}

fn now_ms() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_millis() as u64
}

/// Ends a wait, also if it panics.
struct Waiting;

impl Drop for Waiting {
    fn drop(&mut self) {
        OF_PROCESS.end(now_ms());
    }
}

/// It is one number and no lock: a child of a fork may find a lock held for ever.
#[derive(Debug)]
struct Patience(AtomicU64);

/// Waits that overlap count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    waiters: u64,
    /// Since when there has been one, if there is.
    since_ms: u64,
    /// What was waited before that.
    spent_ms: u64,
}

impl State {
    const SPENT_BITS: u32 = 16;
    const SINCE_BITS: u32 = 40; // 34 years
    const MOST_WAITERS: u64 = 255;

    fn of(bits: u64) -> Self {
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
        (self.spent_ms + going_on).min(ALL_MS)
    }

    fn left_ms(self, now_ms: u64) -> u64 {
        ALL_MS - self.spent_until(now_ms)
    }
}

impl Patience {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn state(&self) -> State {
        State::of(self.0.load(Ordering::Acquire))
    }

    /// One more waits: how long it may. `None` if no time is left.
    fn begin(&self, now_ms: u64) -> Option<Duration> {
        let mut left_ms = 0;
        let begun = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            let mut state = State::of(bits);
            left_ms = state.left_ms(now_ms);
            if left_ms == 0 || state.waiters == State::MOST_WAITERS {
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

    /// One of those who wait ceases to.
    fn end(&self, now_ms: u64) {
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |bits| {
            let mut state = State::of(bits);
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

    const ALL: Duration = Duration::from_millis(ALL_MS);

    fn left_ms(patience: &Patience, now_ms: u64) -> u64 {
        patience.state().left_ms(now_ms)
    }

    #[test]
    fn one_wait_takes_from_the_next() {
        let patience = Patience::new();
        assert_eq!(patience.begin(5), Some(ALL));
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
            State::default(),
            State { waiters: State::MOST_WAITERS, since_ms: (1 << 40) - 1, spent_ms: ALL_MS },
            State { waiters: 1, since_ms: 0, spent_ms: 7 },
        ] {
            assert_eq!(State::of(state.bits()), state);
        }
    }

    #[test]
    fn too_many_waiters_are_refused() {
        let patience = Patience::new();
        for _ in 0..State::MOST_WAITERS {
            assert!(patience.begin(0).is_some());
        }
        assert_eq!(patience.begin(0), None);
        for _ in 0..=State::MOST_WAITERS {
            patience.end(1);
        }
        assert_eq!(left_ms(&patience, 2), ALL_MS - 1);
    }

    #[test]
    fn what_does_not_block_is_not_waited_for() {
        let mut results = vec![Ok(7), Err(io::ErrorKind::Interrupted.into())];
        let done = until_ready(|| results.pop().unwrap(), |_| panic!("it waits"));
        assert_eq!(done.unwrap(), 7);
    }
}
