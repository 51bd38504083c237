//! The length of a tick.

use std::time::Duration;

/// A length in ticks of one clock, and in nanoseconds of another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) ticks: u64,
    pub(super) ns: u64,
}

impl Span {
    pub(super) fn add(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// Nanoseconds per tick, in units of 2⁻⁴⁸: a day at 3 GHz is off by 1 ns at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(u64);

const FRACTION_BITS: u32 = 48;

impl Rate {
    /// A tick is a nanosecond.
    pub(super) const ONE: Self = Self(1 << FRACTION_BITS);

    /// Returns the rate of a span; `None` if the span is empty.
    #[inline(never)]
    pub(super) fn from_span(span: Span) -> Option<Self> {
        let rate = (u128::from(span.ns) << FRACTION_BITS).checked_div(u128::from(span.ticks))?;
        Some(Self(saturated(rate)))
    }

    /// Converts ticks to nanoseconds.
    #[inline]
    pub(crate) fn length_ns(self, ticks: u64) -> u64 {
        saturated((u128::from(ticks) * u128::from(self.0)) >> FRACTION_BITS)
    }

    /// Returns about how many ticks make this length.
    pub(crate) fn ticks(self, length: Duration) -> u64 {
        let ns = u128::from(saturated(length.as_nanos()));
        saturated((ns << FRACTION_BITS) / u128::from(self.0).max(1))
    }

    pub(super) fn to_bits(self) -> u64 {
        self.0
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(has_black_box)]
crate::util::plain::plain_newtype! { Rate }
