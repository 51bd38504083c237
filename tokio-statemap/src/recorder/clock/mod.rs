//! Clock: raw ticks on the hot path, converted to nanoseconds and UTC afterwards.
//!
//! A tick is one tick of the processor's time stamp counter (TSC) if the kernel's clock source is
//! the TSC, and one nanosecond of [`std::time::Instant`] otherwise. The processor's own "invariant
//! TSC" flag is not consulted: it is also set on machines where the kernel has found the TSC to be
//! unstable.
//!
//! The length of a tick comes from [anchors](anchors): now and then both clocks are read at once. Between two anchors
//! time is a straight line. If the TSC jumps against `Instant`, as it does while the machine sleeps, the jump is found,
//! and is a part of the time in which nothing ran.

mod anchors;
mod pieces;
mod rate;
mod scale;
mod source;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anchors::Anchors;
pub(crate) use anchors::{Account, Found};
#[cfg(has_black_box)]
pub(crate) use pieces::Piece;
pub(crate) use rate::Rate;
pub(crate) use scale::TickScale;
pub(crate) use source::ticks;
use source::{Reading, Source};

use crate::util::sync::{lock, try_lock};

/// A source of ticks, and the relation of ticks to time.
#[derive(Debug)]
pub(crate) struct Clock {
    source: Source,
    start: Reading,
    utc_at_start: Duration,
    anchors: Mutex<Anchors>,
    /// The time of the last anchor, and the time after which another one is due, in ticks.
    last_ticks: AtomicU64,
    interval_ticks: AtomicU64,
    /// The rate at the last anchor.
    rate: AtomicU64,
    /// `true` if the kernel took another clock source since.
    lost_source: AtomicBool,
    /// The rate by which summaries convert sums; set by the first summary that knows the rate well.
    pub(crate) sums_rate: OnceLock<Rate>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self::with_source(Source::of_process())
    }

    fn with_source(source: Source) -> Self {
        // Takes the narrowest of some readings: another thread may have the processor during a reading.
        let mut start = source.read();
        for _ in 1..8 {
            let reading = source.read();
            if reading.width < start.width {
                start = reading;
            }
        }
        Self {
            start,
            utc_at_start: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            anchors: Mutex::new(Anchors::new(start)),
            last_ticks: AtomicU64::new(start.ticks),
            interval_ticks: AtomicU64::new(if source.is_instant() { u64::MAX } else { 0 }),
            rate: AtomicU64::new(Rate::ONE.to_bits()),
            lost_source: AtomicBool::new(false),
            sums_rate: OnceLock::new(),
            source,
        }
    }

    /// Returns whether a tick is one of the TSC, so that [`tsc::ticks`](crate::sys::tsc::ticks) reads this clock.
    pub(crate) fn is_tsc(&self) -> bool {
        self.source.is_tsc()
    }

    /// Returns the current time, in ticks.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        self.source.ticks()
    }

    /// Returns UTC at the clock's start, since the Unix epoch.
    pub(crate) fn utc_at_start(&self) -> Duration {
        self.utc_at_start
    }

    /// Returns whether the last anchor is so old that another one is due. Reads the ticks once.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        // If ticks went back, this is huge.
        let since = self.ticks().wrapping_sub(self.last_ticks.load(Ordering::Relaxed));
        since >= self.interval_ticks.load(Ordering::Relaxed)
    }

    /// Takes an anchor. Returns the first new finding, of this anchor or of one that a hook took. Never blocks: if the
    /// lock is held, its holder takes the anchor.
    pub(crate) fn take_anchor(&self) -> Option<Found> {
        self.add_anchor();
        let mut anchors = try_lock(&self.anchors)?;
        let found = anchors.take_found();
        if found.is_some() {
            self.publish(&anchors);
        }
        found
    }

    /// Takes an anchor in a hook. Its findings are left to the next caller of [`take_anchor`](Self::take_anchor).
    #[inline(never)]
    pub(crate) fn add_anchor(&self) {
        if self.source.is_instant() {
            return;
        }
        let Some(mut anchors) = try_lock(&self.anchors) else { return };
        if let Some(reading) = anchors.read(&self.source) {
            anchors.add(reading, &self.source);
            self.publish(&anchors);
        }
    }

    fn publish(&self, anchors: &Anchors) {
        self.last_ticks.store(anchors.last_ticks(), Ordering::Relaxed);
        self.interval_ticks.store(anchors.interval_ticks(), Ordering::Relaxed);
        self.rate.store(anchors.rate().to_bits(), Ordering::Relaxed);
    }

    /// Returns the scale for ticks up to now. Later scales agree on these.
    pub(crate) fn scale(&self) -> TickScale {
        self.with_rate().scale(self.ticks())
    }

    /// Returns the nanoseconds from the clock's start to `ticks`, as the scale has them.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.with_rate().ns(ticks)
    }

    /// Returns the anchors, once there are two.
    fn with_rate(&self) -> MutexGuard<'_, Anchors> {
        let mut anchors = lock(&self.anchors);
        while anchors.is_new() && !self.source.is_instant() {
            // This mostly takes 100 µs.
            self.source.wait();
            let Some(reading) = anchors.read(&self.source) else { break };
            anchors.add(reading, &self.source);
            if anchors.is_overdue(reading) {
                break;
            }
            self.publish(&anchors);
        }
        anchors
    }

    /// Returns how long a tick is now. Takes no lock.
    pub(crate) fn rate(&self) -> Rate {
        let rate = Rate::from_bits(self.rate.load(Ordering::Relaxed));
        if rate != Rate::ONE || self.source.is_instant() {
            return rate;
        }
        // Before the first anchor this is approximate.
        self.source.read().since(self.start).and_then(Rate::from_span).unwrap_or(rate)
    }

    /// Returns the time between two moments, in ns as the scale has it, without jumps of the clock.
    pub(crate) fn length_ns(&self, from: u64, to: u64) -> u64 {
        self.with_rate().length_ns(from, to)
    }

    /// Returns the irregularities of the clock so far.
    pub(crate) fn account(&self) -> Account {
        let lost_source = self.lost_source.load(Ordering::Relaxed);
        Account { lost_source, ..lock(&self.anchors).account() }
    }

    /// Checks whether the kernel's clock source is still the one that ticks are from.
    pub(crate) fn check_source(&self) {
        if self.source.is_lost() {
            self.lost_source.store(true, Ordering::Relaxed);
        }
    }
}
