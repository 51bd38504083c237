//! Time: raw ticks on the hot path, nanoseconds and UTC at the end.
//!
//! A tick is one of the TSC's where the kernel itself keeps its time by the TSC, and a nanosecond
//! of [`std::time::Instant`] elsewhere. fastant decides by CPUID too, which says "invariant" even
//! where the kernel has measured that the TSC can't be trusted, and off x86 it falls back to the
//! wall clock, which can step back; so it is asked only where the kernel's answer is `tsc`.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// How far apart two anchors must be for the rate between them to be better than fastant's own
/// calibration, which is good to 10 ppm; reading an anchor is good to some 50 ns.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

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

    /// The time now, in ticks.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        if self.tsc {
            tsc_ticks()
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
            let now = self.anchor();
            let elapsed = now.instant - self.start.instant;
            let ticks = u128::from(now.ticks.saturating_sub(self.start.ticks));
            if elapsed >= LONG_ENOUGH && ticks > 0 {
                (elapsed.as_nanos() << FRACTION_BITS) / ticks
            } else {
                let since_zero = fastant::Instant::now() - fastant::Instant::ZERO;
                (since_zero.as_nanos() << FRACTION_BITS) / u128::from(tsc_ticks().max(1))
            }
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

/// Whether the kernel keeps its own time by the TSC, and fastant could calibrate it.
fn tsc_is_trusted() -> bool {
    static TRUSTED: OnceLock<bool> = OnceLock::new();
    *TRUSTED.get_or_init(|| {
        const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        fastant::is_tsc_available()
            && std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
    })
}

/// fastant's ticks. Its `Instant` shows them to nobody but a hasher, so a hasher takes them.
#[inline]
fn tsc_ticks() -> u64 {
    let mut ticks = KeepU64(0);
    fastant::Instant::now().hash(&mut ticks);
    ticks.0
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
