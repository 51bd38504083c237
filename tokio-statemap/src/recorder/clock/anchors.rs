//! Anchors: moments at which both the ticks and the time are known, and what was found between them.

use std::time::Duration;

use crate::recorder::clock::pieces::{Pieces, piece_of};
use crate::recorder::clock::rate::{Rate, Span};
use crate::recorder::clock::scale::TickScale;
use crate::recorder::clock::source::{Continued, Reading, Source};

/// The least time between two anchors. An anchor is accurate to some 50 ns, which is too inaccurate for a shorter time.
pub(super) const LEAST_NS: u64 = 100_000;

/// The time after which another anchor is due. At first it is shorter, so that the rate is known soon.
const USUAL_NS: u64 = 100_000_000;

/// The most by which two clocks may differ by drift and adjustment: as far as the kernel adjusts its own.
const DRIFT_PPM: u64 = 500;

/// A smaller difference is no jump.
const LEAST_JUMP_NS: u64 = 1_000_000;

/// The largest error of the readings of a rate, in sum.
const READING_ERROR_NS: u64 = 2_000;

/// The time over which the rate is measured to which the next anchor is compared.
const REFERENCE_NS: u64 = 10_000_000_000;

/// The number of jumps that are kept one by one.
const MAX_JUMPS: usize = 64;

/// A jump of the ticks against the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    /// Earlier times are before the jump, in ticks. If `from` is later than `to`, times between them may be on either
    /// side.
    pub(crate) from: u64,
    /// Later times are after the jump.
    pub(crate) to: u64,
    /// The time that it takes on the scale.
    pub(crate) length_ns: u64,
}

/// The irregularities of the clock so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) jumps: u64,
    pub(crate) jumped_ns: u64,
    pub(crate) went_back: bool,
    /// `true` if the kernel took another clock source.
    pub(crate) lost_source: bool,
}

/// A finding of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The clock jumped, somewhere from `Jump::from` to `Jump::to`.
    Jump(Jump),
    /// The clock jumped, and it isn't known where.
    JumpSomewhere,
    /// The counter went back. From then on, ticks are another clock's.
    WentBack(u64),
}

/// The most findings that wait to be taken.
const MOST_FOUND: usize = 16;

/// All anchors of a clock, as the times that result from them.
#[derive(Debug)]
pub(super) struct Anchors {
    pieces: Pieces,
    start_ns: u64,
    last: Reading,
    /// The time by which jumps took the clock ahead of `Instant`.
    ahead_ns: u64,
    /// The times up to this moment were given out, in ticks: they don't change any more.
    given_out: u64,
    /// The sum of all spans without a jump.
    total: Span,
    /// The sum of the last of these spans.
    reference: Span,
    /// The last span, if it had a jump.
    jump_before: Option<Span>,
    jumps: Vec<Jump>,
    /// The findings that nobody has taken yet, by time. There is room for [`MOST_FOUND`]: hooks add to it.
    found: Vec<Found>,
    account: Account,
    /// The width of a reading that nothing interrupted.
    narrowest: u64,
}

impl Anchors {
    pub(super) fn new(start: Reading) -> Self {
        Self {
            pieces: Pieces::new(start.ticks, Rate::ONE),
            start_ns: start.at_ns,
            last: start,
            ahead_ns: 0,
            given_out: 0,
            total: Span::default(),
            reference: Span::default(),
            jump_before: None,
            jumps: Vec::with_capacity(MAX_JUMPS),
            found: Vec::with_capacity(MOST_FOUND),
            account: Account::default(),
            narrowest: start.width,
        }
    }

    /// Returns whether the rate isn't known.
    pub(super) fn is_new(&self) -> bool {
        self.total.ns == 0
    }

    /// Returns whether the rate should be known by now. If the counter goes back a little at the start, it takes
    /// longer.
    pub(super) fn is_overdue(&self, now: Reading) -> bool {
        now.at_ns.saturating_sub(self.start_ns) > 10 * LEAST_NS
    }

    /// Returns the rate now.
    pub(super) fn rate(&self) -> Rate {
        Rate::from_span(self.reference).unwrap_or(Rate::ONE)
    }

    /// Returns the last anchor, in ticks.
    pub(super) fn last_ticks(&self) -> u64 {
        self.last.ticks
    }

    /// Returns the ticks until another anchor is due, or findings are to be taken.
    pub(super) fn interval_ticks(&self) -> u64 {
        match self.is_new() || !self.found.is_empty() {
            true => 0,
            false => self.rate().ticks(Duration::from_nanos(self.interval_ns())),
        }
    }

    fn interval_ns(&self) -> u64 {
        ((self.last.at_ns - self.start_ns) / 4).clamp(LEAST_NS, USUAL_NS)
    }

    /// Returns the scale as of now, `now` in ticks.
    pub(super) fn scale(&mut self, now: u64) -> TickScale {
        self.given_out = self.given_out.max(now);
        TickScale {
            pieces: self.pieces.all().to_vec(),
            rate: Rate::from_span(self.total).unwrap_or(Rate::ONE),
        }
    }

    /// Returns the time at `ticks`, in ns since the start. It doesn't change any more.
    pub(super) fn ns(&mut self, ticks: u64) -> u64 {
        self.given_out = self.given_out.max(ticks);
        let pieces = self.pieces.all();
        pieces[piece_of(pieces, ticks)].ns(ticks)
    }

    pub(super) fn account(&self) -> Account {
        self.account
    }

    /// Returns the time between two moments, in ns, without the jumps in between.
    pub(super) fn length_ns(&self, from: u64, to: u64) -> u64 {
        let pieces = self.pieces.all();
        let ns = |ticks| pieces[piece_of(pieces, ticks)].ns(ticks);
        let mut length_ns = ns(to).saturating_sub(ns(from));
        for jump in &self.jumps {
            if from <= jump.from.min(jump.to) && jump.from.max(jump.to) <= to {
                length_ns = length_ns.saturating_sub(jump.length_ns);
            }
        }
        length_ns
    }

    /// Reads both clocks until nothing interrupts the reading, which would relate them wrongly. Returns `None` if that
    /// fails again and again.
    pub(super) fn read(&mut self, source: &Source) -> Option<Reading> {
        const TRIES: usize = 8;
        let mut best: Option<Reading> = None;
        for _ in 0..TRIES {
            let reading = source.read();
            if best.is_none_or(|best| reading.width < best.width) {
                best = Some(reading);
            }
            if reading.width <= self.narrowest.saturating_mul(2) {
                break;
            }
        }
        let best = best?;
        self.narrowest = self.narrowest.min(best.width.max(1));
        let may_be_ns = self.rate().length_ns(best.width);
        let is_good = self.is_new()
            || best.width <= self.narrowest.saturating_mul(2)
            || may_be_ns <= READING_ERROR_NS;
        is_good.then_some(best)
    }

    /// Adds an anchor, unless it is too near the last one.
    pub(super) fn add(&mut self, reading: Reading, source: &Source) {
        if let Some(found) = self.add_to(reading, source) {
            // If nobody took findings for that long, only the last ones are told.
            if self.found.len() == MOST_FOUND {
                self.found.remove(0);
            }
            self.found.push(found);
        }
    }

    /// Returns the first finding that wasn't taken yet.
    pub(super) fn take_found(&mut self) -> Option<Found> {
        (!self.found.is_empty()).then(|| self.found.remove(0))
    }

    #[inline(always)]
    fn add_to(&mut self, mut reading: Reading, source: &Source) -> Option<Found> {
        let since_ns = reading.at_ns.checked_sub(self.last.at_ns)?;
        if since_ns < LEAST_NS {
            return None;
        }
        let usual = self.rate().ticks(Duration::from_nanos(since_ns));
        let slack = self.rate().ticks(Duration::from_nanos(LEAST_JUMP_NS));
        if reading.ticks.saturating_add(slack) < self.last.ticks {
            let ticks = self.last.ticks.saturating_add(usual).max(self.given_out + 1);
            source.go_on(Continued { ticks, at_ns: reading.at_ns, rate: self.rate() });
            reading.ticks = ticks;
        }
        let went_back = if self.account.went_back { None } else { source.continued_at() };
        // The counters of two processors may differ by some ns.
        if reading.ticks <= self.last.ticks.max(self.given_out) {
            return None;
        }
        let span = Span { ticks: reading.ticks - self.last.ticks, ns: since_ns };
        self.pieces.settle(self.given_out);
        let found = match self.jumped_ns(span) {
            None => {
                self.go_on(reading, span);
                None
            }
            Some(length_ns) => Some(self.jump(reading, span, length_ns)),
        };
        self.last = reading;
        if let Some(at) = went_back {
            self.account.went_back = true;
            self.note_jump(Jump { from: at, to: at, length_ns: 0 });
            return Some(Found::WentBack(at));
        }
        found
    }

    /// Continues from the last anchor without a jump.
    fn go_on(&mut self, reading: Reading, span: Span) {
        if self.jump_before.take().is_some_and(|before| is_same_rate(before, span)) {
            // It wasn't a jump: since then, ticks have had another length.
            self.reference = Span::default();
        }
        self.total.add(span);
        if self.reference.ns > REFERENCE_NS {
            self.reference = Span { ticks: self.reference.ticks / 2, ns: self.reference.ns / 2 };
        }
        self.reference.add(span);
        let is_long = span.ns >= USUAL_NS / 2;
        let rate = match Rate::from_span(span) {
            Some(rate) if is_long => rate,
            _ => self.rate(),
        };
        let ns = (reading.at_ns - self.start_ns).saturating_add(self.ahead_ns);
        self.pieces.reach(reading.ticks, ns, rate);
    }

    /// Returns by how much the clock jumped in `span`, if that is more than drift explains.
    fn jumped_ns(&self, span: Span) -> Option<i128> {
        if self.is_new() {
            return None;
        }
        let jumped_ns = i128::from(self.rate().length_ns(span.ticks)) - i128::from(span.ns);
        let drift_ns = (span.ns / 1_000_000 + 1).saturating_mul(DRIFT_PPM).max(LEAST_JUMP_NS);
        let unknown_ns = u128::from(span.ns) * u128::from(READING_ERROR_NS)
            / u128::from(self.reference.ns.max(1));
        let is_jump = jumped_ns.unsigned_abs() > u128::from(drift_ns) + unknown_ns;
        // If this happens twice in a row, the rate has changed.
        let may_be_rate = jumped_ns.unsigned_abs() < u128::from(span.ns);
        let is_rate =
            may_be_rate && self.jump_before.is_some_and(|before| is_same_rate(before, span));
        (is_jump && !is_rate).then_some(jumped_ns)
    }

    fn jump(&mut self, reading: Reading, span: Span, jumped_ns: i128) -> Found {
        let rate = self.rate();
        self.jump_before = Some(span);
        let length_ns = u64::try_from(jumped_ns.unsigned_abs()).unwrap_or(u64::MAX);
        let at_ns = reading.at_ns - self.start_ns;
        let jump = if jumped_ns > 0 {
            // The time that the clock jumped over is a part of the scale. So the ticks before and after have their
            // places, wherever the jump was in between.
            let end_ns = self.pieces.jump(rate, reading.ticks, None);
            self.ahead_ns = end_ns.saturating_sub(at_ns);
            // The program ran for `span.ns`, so the jump is at most this long after the last anchor, and at most this
            // long before this one.
            let ran = rate.ticks(Duration::from_nanos(span.ns + span.ns / 1000 + LEAST_NS));
            let from = self.last.ticks.saturating_add(ran);
            Jump { from, to: reading.ticks.saturating_sub(ran), length_ns }
        } else {
            self.pieces.jump(rate, reading.ticks, Some(at_ns.saturating_add(self.ahead_ns)));
            Jump { from: reading.ticks, to: reading.ticks, length_ns }
        };
        self.note_jump(jump);
        match jump.from <= jump.to && self.account.jumps <= MAX_JUMPS as u64 {
            true => Found::Jump(jump),
            false => Found::JumpSomewhere,
        }
    }

    fn note_jump(&mut self, jump: Jump) {
        self.account.jumps += u64::from(jump.length_ns > 0);
        self.account.jumped_ns = self.account.jumped_ns.saturating_add(jump.length_ns);
        if self.jumps.len() < MAX_JUMPS {
            self.jumps.push(jump);
        }
    }
}

/// Returns whether both have the same rate, to 1 %. Two jumps hardly do.
fn is_same_rate(one: Span, other: Span) -> bool {
    let (one, other) = match (Rate::from_span(one), Rate::from_span(other)) {
        (Some(one), Some(other)) => (one.to_bits(), other.to_bits()),
        _ => return false,
    };
    one.abs_diff(other) <= one.max(other) / 100
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Account { jumps, jumped_ns, went_back, lost_source }
}
