//! A function from ticks to nanoseconds that never goes back, made of straight pieces.

use crate::recorder::clock::rate::{Rate, Span};

/// The most pieces: 128 KiB.
pub(super) const MAX: usize = 4096;

/// The number of last pieces that stay as they are: those of a minute or so, at least.
pub(super) const RECENT: usize = 512;

/// The most by which merging may change a time, in ns, as long as that makes enough room.
const MAX_ERROR_NS: u32 = 256;

/// A piece, from `from` until the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The beginning, in ticks.
    pub(super) from: u64,
    from_ns: u64,
    rate: Rate,
    /// The most by which merging changed a time in this piece.
    error_ns: u32,
    /// `true` if it begins later than the one before ends.
    jumps: bool,
}

impl Piece {
    #[inline]
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        self.from_ns.saturating_add(self.rate.length_ns(ticks.saturating_sub(self.from)))
    }

    /// Makes the piece reach `ns` at `ticks`, or end no later than that.
    fn bend(&mut self, ticks: u64, ns: u64) {
        let length =
            Span { ticks: ticks.saturating_sub(self.from), ns: ns.saturating_sub(self.from_ns) };
        self.rate = Rate::from_span(length).unwrap_or(self.rate);
    }
}

/// Returns the piece that `ticks` are in; the first, if they are before.
pub(super) fn piece_of(pieces: &[Piece], ticks: u64) -> usize {
    pieces.partition_point(|piece| piece.from <= ticks).saturating_sub(1)
}

/// All pieces. The last one has no end yet: the times of it that were asked for are [settled](Self::settle), and the
/// rest changes with the next anchor.
///
/// There are at most [`MAX`]. When there are more, the older ones are merged in pairs, as long as no time changes by
/// more than 256 ns. If that doesn't make room, the limit is doubled, and so on. So pieces stay where the clock's rate
/// changed.
#[derive(Debug)]
pub(super) struct Pieces {
    all: Vec<Piece>,
    max_error_ns: u32,
}

impl Pieces {
    /// Creates pieces from time 0 on, which is at `ticks`.
    pub(super) fn new(ticks: u64, rate: Rate) -> Self {
        let first = Piece { from: ticks, from_ns: 0, rate, error_ns: 0, jumps: false };
        // Without a background thread, hooks add to it, and hooks don't allocate. The system provides the memory as it
        // is used.
        let mut all = Vec::with_capacity(MAX + 2);
        all.push(first);
        Self { all, max_error_ns: MAX_ERROR_NS }
    }

    pub(super) fn all(&self) -> &[Piece] {
        &self.all
    }

    fn last(&mut self) -> &mut Piece {
        let last = self.all.len() - 1;
        &mut self.all[last]
    }

    /// Settles the times up to `ticks`, which don't change any more.
    pub(super) fn settle(&mut self, ticks: u64) {
        let last = *self.last();
        if ticks > last.from {
            let from_ns = last.ns(ticks);
            self.all.push(Piece { from: ticks, from_ns, jumps: false, error_ns: 0, ..last });
        }
    }

    /// Sets the time to `ns` at `ticks`, from where on ticks have this `rate`. The time isn't set to earlier than what
    /// is settled.
    pub(super) fn reach(&mut self, ticks: u64, ns: u64, rate: Rate) {
        let last = self.last();
        let from_ns = ns.max(last.from_ns);
        last.bend(ticks, from_ns);
        self.push(Piece { from: ticks, from_ns, rate, error_ns: 0, jumps: false });
    }

    /// Continues the last piece at the rate `before` up to `ticks`, where the next piece begins: at `ns`, if that is
    /// later. Returns the time at which it begins.
    pub(super) fn jump(&mut self, before: Rate, ticks: u64, ns: Option<u64>) -> u64 {
        let last = self.last();
        last.rate = before;
        let end_ns = last.ns(ticks);
        let from_ns = ns.unwrap_or(end_ns).max(end_ns);
        self.push(Piece {
            from: ticks,
            from_ns,
            rate: before,
            error_ns: 0,
            jumps: from_ns > end_ns,
        });
        from_ns
    }

    fn push(&mut self, piece: Piece) {
        self.all.push(piece);
        if self.all.len() > MAX {
            self.thin();
        }
    }

    #[inline(never)]
    fn thin(&mut self) {
        loop {
            self.merge_older();
            // Leaves some room, so that this isn't done again at once.
            if self.all.len() <= MAX - MAX / 16 || self.max_error_ns == u32::MAX {
                return;
            }
            self.max_error_ns = self.max_error_ns.saturating_mul(2);
        }
    }

    fn merge_older(&mut self) {
        let newer = self.all.len().saturating_sub(RECENT);
        let (mut from, mut to) = (0, 0);
        while from < self.all.len() {
            let merged = match self.all.get(from..from + 3) {
                Some(three) if from + 2 <= newer => merged_two(three, self.max_error_ns),
                _ => None,
            };
            self.all[to] = merged.unwrap_or(self.all[from]);
            from += if merged.is_some() { 2 } else { 1 };
            to += 1;
        }
        self.all.truncate(to);
    }
}

/// Returns one piece in place of the first two, up to where the third begins.
fn merged_two(three: &[Piece], max_error_ns: u32) -> Option<Piece> {
    let &[first, second, third] = three else { return None };
    // If nothing else makes room, jumps are merged, too: a clock that jumps all the time is none.
    let is_last_resort = max_error_ns == u32::MAX;
    if (second.jumps || third.jumps) && !is_last_resort {
        return None;
    }
    let mut merged = first;
    merged.bend(third.from, third.from_ns);
    let changed_ns = merged.ns(second.from).abs_diff(second.from_ns);
    let error_ns = first.error_ns.max(second.error_ns);
    merged.error_ns = error_ns.saturating_add(u32::try_from(changed_ns).unwrap_or(u32::MAX));
    (merged.error_ns <= max_error_ns).then_some(merged)
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Piece { from, from_ns, rate, error_ns, jumps }
}
