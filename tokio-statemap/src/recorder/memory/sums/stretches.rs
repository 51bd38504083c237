//! A coarse timeline of sums: equal stretches of time, which are merged in pairs as the run grows.

/// The most stretches.
const MAX: usize = 2000;

/// A stretch is at least 2²⁰ ticks long, about a millisecond of a clock of nanoseconds.
const FIRST_SHIFT: u32 = 20;

/// A stretch of time. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The time for which polls held workers in it, summed over all workers.
    pub(crate) held: u64,
    /// The number of polls that began in it.
    pub(crate) polls: u64,
    /// The longest of these polls: its length, and the row of its task.
    pub(crate) longest: (u64, u32),
    pub(crate) spawned: u64,
    pub(crate) terminated: u64,
}

impl Stretch {
    fn merge(&mut self, other: &Self) {
        self.held = self.held.wrapping_add(other.held);
        self.polls = self.polls.wrapping_add(other.polls);
        // Of equally long polls the one with the greater row counts, so that the order doesn't matter.
        self.longest = self.longest.max(other.longest);
        self.spawned = self.spawned.wrapping_add(other.spawned);
        self.terminated = self.terminated.wrapping_add(other.terminated);
    }
}

/// All stretches from a moment on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretches {
    /// The beginning of the first, in ticks.
    pub(crate) from: u64,
    /// The length of each, in ticks, as a power of two.
    shift: u32,
    /// The number of stretches so far.
    len: usize,
    /// The stretches, and room for all others, as later there may be little stack.
    room: Vec<Stretch>,
}

impl Default for Stretches {
    fn default() -> Self {
        Self { from: 0, shift: FIRST_SHIFT, len: 0, room: Vec::new() }
    }
}

impl Stretches {
    pub(crate) fn since(from: u64) -> Self {
        Self { from, room: vec![Stretch::default(); MAX], ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn all(&self) -> &[Stretch] {
        &self.room[..self.len]
    }

    /// Returns the length of each stretch, in ticks.
    pub(crate) fn length(&self) -> u64 {
        1 << self.shift
    }

    /// Returns the stretch of a moment. Earlier moments count as part of the first stretch.
    #[inline]
    pub(crate) fn at(&mut self, ticks: u64) -> &mut Stretch {
        let place = ticks.saturating_sub(self.from) >> self.shift;
        if place < self.len as u64 {
            return &mut self.room[place as usize];
        }
        self.grow(ticks)
    }

    /// Returns the stretch of a moment, if there is one so far, with its beginning and its length.
    #[inline]
    pub(crate) fn known(&mut self, ticks: u64) -> Option<(&mut Stretch, u64, u64)> {
        let place = ticks.checked_sub(self.from)? >> self.shift;
        let (from, length) = (self.from + (place << self.shift), self.length());
        self.room[..self.len].get_mut(place as usize).map(|stretch| (stretch, from, length))
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, ticks: u64) -> &mut Stretch {
        if self.room.is_empty() {
            // A recorder that counts has room. A box that somebody forged may have none.
            self.room.resize(MAX, Stretch::default());
        }
        let since = ticks.saturating_sub(self.from);
        while since >> self.shift >= MAX as u64 {
            self.shift += 1;
            for place in 0..self.len.div_ceil(2) {
                let mut stretch = self.room[2 * place];
                if 2 * place + 1 < self.len {
                    stretch.merge(&self.room[2 * place + 1]);
                }
                self.room[place] = stretch;
            }
            let merged = self.len.div_ceil(2);
            self.room[merged..self.len].fill(Stretch::default());
            self.len = merged;
        }
        let place = (since >> self.shift) as usize;
        self.len = self.len.max(place + 1);
        &mut self.room[place]
    }

    /// Adds a poll of a task of `row` that began at `start` and took `length`, of which it held a worker for `held`.
    #[inline]
    pub(crate) fn poll(&mut self, start: u64, length: u64, held: u64, row: u32) {
        let (shift, since) = (self.shift, start.wrapping_sub(self.from));
        let place = since >> shift;
        if start >= self.from && place < self.len as u64 {
            let stretch = &mut self.room[place as usize];
            stretch.polls = stretch.polls.wrapping_add(1);
            if length >= stretch.longest.0 {
                stretch.longest = stretch.longest.max((length, row));
            }
            // Most polls are within one stretch.
            if since.saturating_add(held.saturating_sub(1)) >> shift == place {
                stretch.held = stretch.held.wrapping_add(held);
            } else {
                self.spread(start, start.saturating_add(held));
            }
        } else {
            self.poll_of_new(start, length, held, row);
        }
    }

    /// Adds a poll that began in none of the stretches so far.
    #[cold]
    #[inline(never)]
    fn poll_of_new(&mut self, start: u64, length: u64, held: u64, row: u32) {
        let end = start.saturating_add(held);
        let begins = self.at(start);
        begins.polls = begins.polls.wrapping_add(1);
        begins.longest = begins.longest.max((length, row));
        let start = start.max(self.from);
        if start < end {
            self.spread(start, end);
        }
    }

    #[inline(never)]
    fn spread(&mut self, start: u64, end: u64) {
        // Adds the last stretch first, so that their length doesn't change meanwhile.
        self.at(end - 1);
        let mut from = start;
        while from < end {
            // In a box that somebody forged, a poll may last for ever, and the last stretch ends after all times.
            let next = (from.saturating_sub(self.from) >> self.shift) + 1;
            let next = next.saturating_mul(self.length());
            let to = next.saturating_add(self.from).min(end);
            let held = &mut self.at(from).held;
            *held = held.saturating_add(to - from);
            from = to;
        }
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Stretch { held, polls, longest, spawned, terminated }
}

#[cfg(has_black_box)]
impl crate::util::plain::Plain for Stretches {
    fn write(&self, into: &mut Vec<u8>) {
        let Self { from, shift, len: _, room } = self;
        (*from, *shift, room.is_empty()).write(into);
        self.all().to_vec().write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut crate::util::plain::Bytes<'_>) -> Option<Self> {
        let (begin, shift, is_empty): (u64, u32, bool) = <_>::read(from)?;
        let mut room: Vec<Stretch> = <_>::read(from)?;
        let len = room.len();
        let has_room = len <= MAX && (len == 0 || !is_empty);
        room.resize(if is_empty { 0 } else { MAX.max(len) }, Stretch::default());
        // A stretch of some centuries at most.
        (has_room && shift < 53 && begin < 1 << 62).then_some(Self {
            from: begin,
            shift,
            len,
            room,
        })
    }
}

#[cfg(all(has_black_box, feature = "read"))]
impl Stretches {
    /// Returns whether it refers to rows that are there.
    pub(super) fn are_whole(&self, is_row: &dyn Fn(u32) -> bool) -> bool {
        let is_one = |stretch: &Stretch| {
            stretch.polls == 0 && stretch.longest.0 == 0 || is_row(stretch.longest.1)
        };
        self.all().iter().all(is_one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls as numbers would have them: start, length, row.
    fn polls(n: u64, apart: u64) -> Vec<(u64, u64, u32)> {
        let poll = |i: u64| (1000 + i * apart, i.wrapping_mul(0x9e37_79b9) % apart, (i % 7) as u32);
        (0..n).map(poll).collect()
    }

    #[test]
    fn a_poll_without_an_end_is_spread_all_the_same() {
        let mut all = Stretches::since(1000);
        all.poll(2000, u64::MAX, u64::MAX, 0);
        let held: u64 = all.all().iter().map(|stretch| stretch.held).sum();
        assert_eq!(held, u64::MAX - 2000);
    }

    #[test]
    fn the_sums_do_not_depend_on_order_nor_on_merges() {
        for (n, apart) in [(100, 1 << 10), (5000, 1 << 22), (300, 1 << 29), (3, 1 << 40)] {
            let polls = polls(n, apart);
            let of = |polls: &mut dyn Iterator<Item = &(u64, u64, u32)>| {
                let mut all = Stretches::since(1000);
                polls.for_each(|&(start, length, row)| all.poll(start, length, length, row));
                all
            };
            let (forth, back) = (of(&mut polls.iter()), of(&mut polls.iter().rev()));
            assert!(forth.all().len() <= MAX, "{}", forth.all().len());
            assert_eq!(forth, back);
            let sum = |what: fn(&Stretch) -> u64| forth.all().iter().map(what).sum::<u64>();
            assert_eq!(sum(|s| s.held), polls.iter().map(|&(_, length, _)| length).sum::<u64>());
            assert_eq!(sum(|s| s.polls), n);
            // As none of these polls overlap, no more was held than fits into a stretch.
            assert!(forth.all().iter().all(|s| s.held <= forth.length()));
            let longest = forth.all().iter().map(|s| s.longest).max();
            assert_eq!(longest, polls.iter().map(|&(_, length, row)| (length, row)).max());
        }
    }

    #[test]
    fn a_poll_is_spread_over_the_stretches_that_it_takes() {
        let mut all = Stretches::since(0);
        let length = all.length();
        all.poll(length / 2, 2 * length, 2 * length, 3);
        let held: Vec<_> = all.all().iter().map(|stretch| stretch.held).collect();
        assert_eq!(held, [length / 2, length, length / 2]);
        assert_eq!(
            (all.all()[0].polls, all.all()[0].longest, all.all()[1].polls),
            (1, (2 * length, 3), 0)
        );
        // This poll held no worker.
        all.poll(0, length, 0, 4);
        assert_eq!((all.all()[0].polls, all.all()[0].held), (2, length / 2));
    }
}
