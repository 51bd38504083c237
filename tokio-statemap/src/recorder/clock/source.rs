//! The source of ticks, and the clock to which they are compared.

use std::sync::OnceLock;
#[cfg(not(statemap_loom))]
use std::time::Instant;

use crate::recorder::clock::rate::{Rate, Span};
use crate::sys::tsc;

/// A source of ticks.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// The processor's time stamp counter.
    Tsc,
    /// Nanoseconds of `Instant`.
    Instant,
    #[cfg(test)]
    Fake(std::sync::Arc<super::tests::fake::Fake>),
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) ticks: u64,
    /// The time of `Instant`, in ns since the process first asked.
    pub(super) at_ns: u64,
    /// Twice the error of the ticks, to either side.
    pub(super) width: u64,
}

/// The ticks after the counter went back, as if it had continued with `Instant`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Continued {
    pub(super) ticks: u64,
    pub(super) at_ns: u64,
    pub(super) rate: Rate,
}

impl Reading {
    /// Returns the time since `before`; `None` if no time has passed.
    pub(super) fn since(self, before: Self) -> Option<Span> {
        let ticks = self.ticks.checked_sub(before.ticks)?;
        let ns = self.at_ns.checked_sub(before.at_ns)?;
        (ticks > 0 && ns > 0).then_some(Span { ticks, ns })
    }
}

static CONTINUED: OnceLock<Continued> = OnceLock::new();

impl Source {
    /// Returns the source of this process.
    pub(super) fn of_process() -> Self {
        if tsc_is_trusted() { Self::Tsc } else { Self::Instant }
    }

    /// Returns the current time, in ticks.
    #[inline]
    pub(super) fn ticks(&self) -> u64 {
        match self {
            Self::Tsc => tsc_ticks(),
            Self::Instant => instant_ns(),
            #[cfg(test)]
            Self::Fake(fake) => fake.ticks(),
        }
    }

    fn at_ns(&self) -> u64 {
        match self {
            Self::Tsc | Self::Instant => instant_ns(),
            #[cfg(test)]
            Self::Fake(fake) => fake.at_ns(),
        }
    }

    /// Reads both clocks.
    pub(super) fn read(&self) -> Reading {
        let before = self.ticks();
        let at_ns = self.at_ns();
        let width = self.ticks().saturating_sub(before);
        Reading { ticks: before + width / 2, at_ns, width }
    }

    /// Lets a little time pass.
    pub(super) fn wait(&self) {
        match self {
            Self::Tsc | Self::Instant => std::hint::spin_loop(),
            #[cfg(test)]
            Self::Fake(fake) => fake.run(std::time::Duration::from_micros(1)),
        }
    }

    /// Returns whether the kernel has another clock source now, so that the counter isn't trusted any more.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Tsc => kernel_has_tsc() == Some(false),
            Self::Instant => false,
            #[cfg(test)]
            Self::Fake(fake) => fake.is_lost.load(std::sync::atomic::Ordering::Relaxed),
        }
    }

    /// Returns whether a tick is a nanosecond of `Instant`.
    pub(super) fn is_instant(&self) -> bool {
        matches!(self, Self::Instant)
    }

    /// Returns whether [`tsc::ticks`] reads this source.
    pub(super) fn is_tsc(&self) -> bool {
        matches!(self, Self::Tsc) && CONTINUED.get().is_none()
    }

    /// Returns the tick from which on ticks are those of `Instant`, because the counter went back.
    pub(super) fn continued_at(&self) -> Option<u64> {
        Some(self.continued()?.get()?.ticks)
    }

    /// Continues ticks as `from` says, for all clocks of the process, after the counter went back.
    pub(super) fn go_on(&self, from: Continued) {
        if let Some(continued) = self.continued() {
            continued.get_or_init(|| from);
        }
    }

    fn continued(&self) -> Option<&OnceLock<Continued>> {
        match self {
            Self::Tsc => Some(&CONTINUED),
            Self::Instant => None,
            #[cfg(test)]
            Self::Fake(fake) => Some(&fake.continued),
        }
    }
}

impl Continued {
    pub(super) fn ticks(&self, at_ns: u64) -> u64 {
        let since = std::time::Duration::from_nanos(at_ns.saturating_sub(self.at_ns));
        self.ticks.saturating_add(self.rate.ticks(since))
    }
}

#[inline]
fn tsc_ticks() -> u64 {
    match CONTINUED.get() {
        None => tsc::ticks(),
        Some(continued) => continued.ticks(instant_ns()),
    }
}

/// Returns the current time in ticks, which all clocks of a process have in common.
#[inline]
pub(crate) fn ticks() -> u64 {
    if tsc_is_trusted() { tsc_ticks() } else { instant_ns() }
}

/// Returns the nanoseconds since this was first called.
fn instant_ns() -> u64 {
    #[cfg(statemap_loom)]
    return crate::recorder::models::ticks();
    #[cfg(not(statemap_loom))]
    since_first_call()
}

#[cfg(not(statemap_loom))]
fn since_first_call() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // 2⁶⁴ ns are 584 years.
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Returns whether the kernel's clock source was the TSC when the process first asked.
pub(super) fn tsc_is_trusted() -> bool {
    static TRUSTED: OnceLock<bool> = OnceLock::new();
    *TRUSTED.get_or_init(|| {
        cfg!(all(target_arch = "x86_64", not(statemap_loom))) && kernel_has_tsc() == Some(true)
    })
}

/// Returns whether the kernel's clock source is the TSC now; `None` if the kernel doesn't tell.
pub(super) fn kernel_has_tsc() -> Option<bool> {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(SOURCE).ok().map(|source| source.trim() == "tsc")
}
