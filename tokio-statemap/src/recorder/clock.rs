//! Clock: raw ticks on the hot path, converted to nanoseconds and UTC afterwards.
//!
//! A tick is one tick of the processor's time stamp counter (TSC) if the kernel's clock source is
//! the TSC, and one nanosecond of [`std::time::Instant`] otherwise. The processor's own "invariant
//! TSC" flag is not consulted: it is also set on machines where the kernel has found the TSC to be
//! unstable.

use std::hash::Hasher;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::sys::tsc;

/// A source of ticks, and the anchor they are counted from.
#[derive(Debug)]
pub(crate) struct Clock {
    tsc: bool,
    start: Anchor,
}

/// One moment in ticks, as an `Instant`, and in UTC.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    ticks: u64,
    instant: Instant,
    utc: Duration,
}

/// Converts ticks to nanoseconds since the clock's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickScale {
    start_ticks: u64,
    /// Nanoseconds per tick, in units of 2⁻³².
    ns_per_tick: u128,
}

const FRACTION_BITS: u32 = 32;

/// The minimum distance between two anchors. An anchor is accurate to about 50 ns, so a rate taken
/// over a shorter interval would be dominated by that error.
const MIN_ANCHOR_DISTANCE: Duration = Duration::from_micros(100);

impl Clock {
    pub(crate) fn new() -> Self {
        Self::with_source(tsc_is_trusted())
    }

    fn with_source(tsc: bool) -> Self {
        let mut clock = Self {
            tsc,
            start: Anchor {
                ticks: instant_ticks(),
                instant: Instant::now(),
                utc: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            },
        };
        if tsc {
            clock.start = clock.anchor();
        }
        clock
    }

    /// Whether a tick is one of the TSC, so that [`tsc::ticks`] reads this clock.
    pub(crate) fn is_tsc(&self) -> bool {
        self.tsc
    }

    /// The current time, in ticks.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        if self.tsc { tsc::ticks() } else { instant_ticks() }
    }

    /// UTC at the clock's start, since the Unix epoch.
    pub(crate) fn utc_at_start(&self) -> Duration {
        self.start.utc
    }

    /// The scale, with the rate taken over the whole time from the clock's start until now, so that
    /// a drift of the TSC against the system clock cancels at both ends.
    pub(crate) fn scale(&self) -> TickScale {
        let one = 1 << FRACTION_BITS;
        let ns_per_tick = if self.tsc {
            while self.start.instant.elapsed() < MIN_ANCHOR_DISTANCE {
                std::hint::spin_loop();
            }
            let now = self.anchor();
            let ticks = u128::from(now.ticks.saturating_sub(self.start.ticks)).max(1);
            ((now.instant - self.start.instant).as_nanos() << FRACTION_BITS) / ticks
        } else {
            one
        };
        TickScale { start_ticks: self.start.ticks, ns_per_tick }
    }

    /// Reads both clocks a few times and keeps the reading with the shortest distance between them:
    /// a reading that was interrupted in between relates the two clocks wrongly.
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

impl TickScale {
    /// About so many ticks are that long.
    pub(crate) fn ticks(&self, length: Duration) -> u64 {
        let ticks = (length.as_nanos() << FRACTION_BITS) / self.ns_per_tick.max(1);
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// So many ticks, in nanoseconds.
    pub(crate) fn length_ns(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * self.ns_per_tick) >> FRACTION_BITS) as u64
    }

    /// Nanoseconds from the clock's start to `ticks`; 0 for an earlier time.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        let since = u128::from(ticks.saturating_sub(self.start_ticks));
        ((since * self.ns_per_tick) >> FRACTION_BITS) as u64
    }
}

/// The current time in ticks, which all clocks of a process have in common.
#[inline]
pub(crate) fn ticks() -> u64 {
    if tsc_is_trusted() { tsc::ticks() } else { instant_ticks() }
}

/// Nanoseconds since this was first called.
fn instant_ticks() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // 2⁶⁴ ns are 584 years.
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Whether the kernel's clock source is the TSC.
fn tsc_is_trusted() -> bool {
    static TRUSTED: OnceLock<bool> = OnceLock::new();
    *TRUSTED.get_or_init(|| {
        const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        cfg!(target_arch = "x86_64")
            && std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
    })
}

/// A hasher whose result is the last integer written to it.
#[derive(Debug, Default)]
pub(crate) struct KeepU64(pub(crate) u64);

impl Hasher for KeepU64 {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only for a type that hashes itself as bytes; `check_casts` detects that.
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
        // However long the system interrupts it, the ticks are read between the two instants.
        fn read(clock: &Clock) -> (Instant, u64, Instant) {
            (Instant::now(), clock.ticks(), Instant::now())
        }
        for tsc in [false, tsc_is_trusted()] {
            let clock = Clock::with_source(tsc);
            let (before_from, from, after_from) = read(&clock);
            std::thread::sleep(Duration::from_millis(30));
            let (before_to, to, after_to) = read(&clock);
            let scale = clock.scale();
            let took = Duration::from_nanos(scale.ns(to) - scale.ns(from));
            let (shortest, longest) = (before_to - after_from, after_to - before_from);
            // The rate is taken over 30 ms, between anchors that are good to 50 ns each.
            let margin = Duration::from_micros(30);
            assert!(
                took + margin >= shortest && took <= longest + margin,
                "tsc {tsc}: {took:?}, not from {shortest:?} to {longest:?}"
            );
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
