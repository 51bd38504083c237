//! A clock that a test sets.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::recorder::clock::Clock;
use crate::recorder::clock::source::{Continued, Source};

/// Ticks, and an `Instant`, that go on when they are told to.
#[derive(Debug)]
pub(crate) struct Fake {
    ticks: AtomicU64,
    at_ns: AtomicU64,
    /// Ticks in a second: 3 GHz, more or less some ppm.
    rate: AtomicU64,
    /// The remainder of a tick, in units of 10⁻⁹.
    rest: AtomicU64,
    pub(in crate::recorder::clock) continued: OnceLock<Continued>,
    pub(in crate::recorder::clock) is_lost: AtomicBool,
}

/// At 3 GHz.
const RATE: u64 = 3_000_000_000;
const UNIT: u64 = 1_000_000_000;

impl Fake {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            ticks: AtomicU64::new(1 << 40),
            at_ns: AtomicU64::new(1 << 30),
            rate: AtomicU64::new(RATE),
            rest: AtomicU64::new(0),
            continued: OnceLock::new(),
            is_lost: AtomicBool::new(false),
        })
    }

    pub(crate) fn clock(self: &Arc<Self>) -> Clock {
        Clock::with_source(Source::Fake(Arc::clone(self)))
    }

    pub(crate) fn ticks(&self) -> u64 {
        match self.continued.get() {
            Some(continued) => continued.ticks(self.at_ns()),
            None => self.ticks.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn at_ns(&self) -> u64 {
        self.at_ns.load(Ordering::Relaxed)
    }

    /// From now on, ticks are shorter by this much.
    pub(crate) fn drift(&self, ppm: i64) {
        let rate = RATE.saturating_add_signed(ppm * (RATE / 1_000_000) as i64);
        self.rate.store(rate, Ordering::Relaxed);
    }

    /// Lets time pass.
    pub(crate) fn run(&self, time: Duration) {
        let ns = time.as_nanos() as u64;
        let rate = u128::from(self.rate.load(Ordering::Relaxed));
        let all = u128::from(ns) * rate + u128::from(self.rest.load(Ordering::Relaxed));
        self.rest.store((all % u128::from(UNIT)) as u64, Ordering::Relaxed);
        self.ticks.fetch_add((all / u128::from(UNIT)) as u64, Ordering::Relaxed);
        self.at_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// Lets the machine sleep: ticks go on, `Instant` doesn't.
    pub(crate) fn sleep(&self, time: Duration) {
        self.ticks.fetch_add(time.as_nanos() as u64 * 3, Ordering::Relaxed);
    }

    /// Sets the counter.
    pub(crate) fn set_ticks(&self, ticks: u64) {
        self.ticks.store(ticks, Ordering::Relaxed);
    }
}
