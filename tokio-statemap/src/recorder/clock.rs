//! Time: raw ticks on the hot path, nanoseconds and UTC at the end.
//!
//! A tick is one of the processor's time stamp counter (TSC) where the kernel itself keeps its time
//! by the TSC, and a nanosecond of [`std::time::Instant`] elsewhere. What the processor says of its
//! TSC is not asked: it says "invariant" even where the kernel has measured that it can't be
//! trusted.

use std::hash::Hasher;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::sys::tsc;

/// A source of ticks, and the moment they are counted from.
#[derive(Debug)]
pub(crate) struct Clock {
    tsc: bool,
    start: Anchor,
}

/// One moment in all three times.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    ticks: u64,
    instant: Instant,
    utc: Duration,
}

/// Turns ticks into nanoseconds since the clock's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    start_ticks: u64,
    /// Nanoseconds a tick, in units of 2⁻³².
    ns_per_tick: u128,
}

const FRACTION_BITS: u32 = 32;

/// How far apart two anchors must be. Reading one is good to some 50 ns, so that a time between the
/// two is that good, too; but the rate of a stretch that is hardly longer would be anything.
const LONG_ENOUGH: Duration = Duration::from_micros(100);

impl Clock {
    pub(crate) fn new() -> Self {
        Self::with_source(tsc_is_trusted())
    }

    fn with_source(tsc: bool) -> Self {
        let mut clock = Self {
            tsc,
            start: Anchor {
                ticks: 0,
                instant: Instant::now(),
                utc: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            },
        };
        if tsc {
            clock.start = clock.anchor();
        }
        clock
    }

    /// Whether a tick is one of the TSC's: [`tsc::ticks`] is the time then.
    pub(crate) fn is_tsc(&self) -> bool {
        self.tsc
    }

    /// The time now, in ticks.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        if self.tsc {
            tsc::ticks()
        } else {
            // 2⁶⁴ ns are 584 years.
            self.start.instant.elapsed().as_nanos() as u64
        }
    }

    /// UTC at the clock's start, since the Unix epoch.
    pub(crate) fn utc_at_start(&self) -> Duration {
        self.start.utc
    }

    /// The scale between the clock's start and now: the rate is taken over that whole stretch, so
    /// that a drift of the TSC against the system's time cancels at both ends.
    pub(crate) fn scale(&self) -> Scale {
        let one = 1 << FRACTION_BITS;
        let ns_per_tick = if self.tsc {
            while self.start.instant.elapsed() < LONG_ENOUGH {
                std::hint::spin_loop();
            }
            let now = self.anchor();
            let ticks = u128::from(now.ticks.saturating_sub(self.start.ticks)).max(1);
            ((now.instant - self.start.instant).as_nanos() << FRACTION_BITS) / ticks
        } else {
            one
        };
        Scale { start_ticks: self.start.ticks, ns_per_tick }
    }

    /// The tightest of a few readings of both clocks: one that was interrupted between them lies
    /// about their relation.
    fn anchor(&self) -> Anchor {
        let mut best: Option<(u64, Anchor)> = None;
        for _ in 0..8 {
            let before = self.ticks();
            let instant = Instant::now();
            let after = self.ticks();
            let width = after.saturating_sub(before);
            if best.is_none_or(|(narrowest, _)| width < narrowest) {
                let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                let anchor = Anchor { ticks: before + width / 2, instant, utc };
                best = Some((width, anchor));
            }
        }
        best.map_or(self.start, |(_, anchor)| anchor)
    }
}

impl Scale {
    /// Nanoseconds from the clock's start to `ticks`; 0 for an earlier moment.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        let since = u128::from(ticks.saturating_sub(self.start_ticks));
        ((since * self.ns_per_tick) >> FRACTION_BITS) as u64
    }
}

/// Whether the kernel keeps its own time by the TSC.
fn tsc_is_trusted() -> bool {
    static TRUSTED: OnceLock<bool> = OnceLock::new();
    *TRUSTED.get_or_init(|| {
        const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        cfg!(target_arch = "x86_64")
            && std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
    })
}

/// A hasher that keeps the one integer that it is given.
#[derive(Debug, Default)]
pub(crate) struct KeepU64(pub(crate) u64);

impl Hasher for KeepU64 {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only where a type hashes itself as bytes; `check_casts` finds out.
        for chunk in bytes.chunks(8) {
            let mut buffer = [0; 8];
            buffer[..chunk.len()].copy_from_slice(chunk);
            self.0 = u64::from_ne_bytes(buffer);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sources_agree_with_instant() {
        for tsc in [false, tsc_is_trusted()] {
            let clock = Clock::with_source(tsc);
            let (from, began) = (clock.ticks(), Instant::now());
            std::thread::sleep(Duration::from_millis(30));
            let (to, took) = (clock.ticks(), began.elapsed());
            let scale = clock.scale();
            let ns = scale.ns(to) - scale.ns(from);
            let off = ns.abs_diff(took.as_nanos() as u64);
            // 1 % of 30 ms: room for being preempted between the two readings.
            assert!(off < 300_000, "tsc {tsc}: {ns} ns against {took:?}");
        }
    }

    #[test]
    fn a_short_stretch_has_a_sane_rate() {
        let clock = Clock::new();
        let from = clock.ticks();
        let began = Instant::now();
        while began.elapsed() < Duration::from_micros(200) {}
        let to = clock.ticks();
        let scale = clock.scale();
        let ns = scale.ns(to) - scale.ns(from);
        assert!((190_000..20_000_000).contains(&ns), "{ns}");
    }

    #[test]
    fn the_scale_never_goes_back() {
        let clock = Clock::new();
        let scale = clock.scale();
        let mut last = 0;
        for _ in 0..1000 {
            let ns = scale.ns(clock.ticks());
            assert!(ns >= last);
            last = ns;
        }
        assert_eq!(scale.ns(0), 0);
    }
}
