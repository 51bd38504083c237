//! Ticks → nanoseconds, by what anchors say.

use std::time::Duration;

use crate::recorder::clock::pieces::{Piece, piece_of};

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

    /// `None` of an empty span.
    pub(super) fn of(span: Span) -> Option<Self> {
        let rate = (u128::from(span.ns) << FRACTION_BITS).checked_div(u128::from(span.ticks))?;
        Some(Self(saturated(rate)))
    }

    /// So many ticks, in nanoseconds.
    #[inline]
    pub(crate) fn length_ns(self, ticks: u64) -> u64 {
        saturated((u128::from(ticks) * u128::from(self.0)) >> FRACTION_BITS)
    }

    /// About so many ticks are that long.
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

/// Converts ticks to nanoseconds since the clock's start.
///
/// All scales of a clock agree on the ticks before each was made, but for those of long ago, which may change by some 100 ns; see
/// [`Pieces`](super::pieces::Pieces).
#[derive(Clone, Debug)]
pub(crate) struct TickScale {
    /// By time; at least one.
    pub(super) pieces: Vec<Piece>,
    /// Over the whole time, without jumps.
    pub(super) rate: Rate,
}

impl TickScale {
    /// A tick is a nanosecond, from `from` on.
    #[cfg(test)]
    pub(crate) fn of_ns(from: u64) -> Self {
        let pieces = crate::recorder::clock::pieces::Pieces::new(from, Rate::ONE);
        Self { pieces: pieces.all().to_vec(), rate: Rate::ONE }
    }

    /// The rate over the whole run, without jumps: for ticks that were at several times.
    pub(crate) fn run_rate(&self) -> Rate {
        self.rate
    }

    /// So many ticks, which were at several times, in nanoseconds.
    pub(crate) fn length_ns(&self, ticks: u64) -> u64 {
        self.rate.length_ns(ticks)
    }

    /// Nanoseconds from the clock's start to `ticks`; 0 for an earlier time.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.pieces[piece_of(&self.pieces, ticks)].ns(ticks)
    }

    /// The same; `near` is where the last one was found.
    #[inline]
    pub(crate) fn ns_near(&self, ticks: u64, near: &mut usize) -> u64 {
        let is_in = |piece: &Piece| piece.from <= ticks;
        let is_there = self.pieces.get(*near).is_some_and(is_in)
            && !self.pieces.get(*near + 1).is_some_and(is_in);
        if !is_there {
            *near = piece_of(&self.pieces, ticks);
        }
        self.pieces[*near].ns(ticks)
    }
}
