//! Converts ticks to nanoseconds, by the anchors.

use std::sync::OnceLock;

use crate::recorder::clock::pieces::{Piece, piece_of};
use crate::recorder::clock::rate::Rate;

/// Converts ticks to nanoseconds since the clock's start.
///
/// All scales of a clock agree on the ticks before each was made. Only those of long ago may change by some 100 ns; see
/// [`Pieces`](super::pieces::Pieces).
#[derive(Clone, Debug)]
pub(crate) struct TickScale {
    /// The pieces, by time; at least one.
    pub(super) pieces: Vec<Piece>,
    /// The rate over the whole time, without jumps.
    pub(super) rate: Rate,
}

impl TickScale {
    /// Returns a scale on which a tick is a nanosecond, from `from` on.
    #[cfg(test)]
    pub(crate) fn of_ns(from: u64) -> Self {
        let pieces = crate::recorder::clock::pieces::Pieces::new(from, Rate::ONE);
        Self { pieces: pieces.all().to_vec(), rate: Rate::ONE }
    }

    /// Returns the pieces, by time.
    #[cfg(has_black_box)]
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Returns the scale of a black box; `None` if it has no pieces, or these aren't sorted.
    #[cfg(all(has_black_box, feature = "read"))]
    pub(crate) fn of_box(pieces: Vec<Piece>, rate: Rate) -> Option<Self> {
        let is_whole = !pieces.is_empty() && pieces.is_sorted_by(|a, b| a.from <= b.from);
        is_whole.then_some(Self { pieces, rate })
    }

    /// Returns the rate over the whole run, without jumps: for sums of ticks from several times.
    pub(crate) fn run_rate(&self) -> Rate {
        self.rate
    }

    /// Takes the rate of an earlier scale for sums, or keeps this one's for later scales. The rate of the whole run changes
    /// a little with each anchor, so a sum to which nothing was added would go back otherwise.
    pub(crate) fn keep_rate(&mut self, kept: &OnceLock<Rate>) {
        self.rate = *kept.get_or_init(|| self.rate);
    }

    /// Converts a sum of ticks from several times to nanoseconds.
    pub(crate) fn length_ns(&self, ticks: u64) -> u64 {
        self.rate.length_ns(ticks)
    }

    /// Returns the nanoseconds from the clock's start to `ticks`; 0 for an earlier time.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.pieces[piece_of(&self.pieces, ticks)].ns(ticks)
    }

    /// Like [`ns`](Self::ns). `near` is the place of the piece that was found last.
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
