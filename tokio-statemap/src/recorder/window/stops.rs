//! The periods in which recording was stopped. Their number is bounded, however often recording was stopped.

/// A period in which recording was stopped, or several with the recorded time in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// The recorded time within it.
    pub(crate) recorded: u64,
    /// The number of periods.
    pub(crate) periods: u64,
}

impl Stop {
    /// Creates one period.
    pub(crate) fn new(from: u64, to: u64) -> Self {
        Self { from, to, recorded: 0, periods: 1 }
    }

    /// Merges it with the next one, and with the recorded time in between.
    fn merged(self, next: Self) -> Self {
        let between = next.from.saturating_sub(self.to);
        let recorded = self.recorded + between + next.recorded;
        Self { from: self.from, to: next.to, recorded, periods: self.periods + next.periods }
    }

    fn length(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }
}

/// All periods, by time. When there are too many, neighbours that are short together are merged, so that the rest have
/// about equal lengths, except for those that were longer from the start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops(Vec<Stop>);

/// The most periods.
pub(crate) const MOST: usize = 1000;

impl Stops {
    /// Adds the next one, unless it took no time.
    pub(crate) fn add(&mut self, stop: Stop) {
        if stop.from < stop.to {
            self.0.push(stop);
        }
        // Merges half of them each time, so that this takes little time for each.
        if self.0.len() > 2 * MOST {
            self.merge();
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Stop> {
        self.0.iter().copied()
    }

    /// Returns at most [`MOST`] of them.
    pub(crate) fn into_vec(mut self) -> Vec<Stop> {
        self.merge();
        self.0
    }

    fn merge(&mut self) {
        while self.0.len() > MOST {
            let mut lengths = Vec::new();
            for two in self.0.windows(2) {
                lengths.push(two[0].merged(two[1]).length());
            }
            let excess = (self.0.len() - MOST).min(lengths.len());
            let (_, &mut longest, _) = lengths.select_nth_unstable(excess - 1);
            self.merge_up_to(longest);
        }
    }

    /// Merges pairs that are together no longer than `length`, while there are too many.
    fn merge_up_to(&mut self, length: u64) {
        let mut excess = self.0.len() - MOST;
        let (mut from, mut to) = (0, 0);
        while from < self.0.len() {
            let mut stop = self.0[from];
            from += 1;
            if from < self.0.len() && excess > 0 {
                let merged = stop.merged(self.0[from]);
                if merged.length() <= length {
                    stop = merged;
                    from += 1;
                    excess -= 1;
                }
            }
            self.0[to] = stop;
            to += 1;
        }
        self.0.truncate(to);
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Stop { from, to, recorded, periods }
}

#[cfg(has_black_box)]
crate::util::plain::plain_newtype! { Stops }

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded for `on`, stopped for `off`, and so on.
    fn toggled(times: impl Iterator<Item = (u64, u64)>) -> (Vec<Stop>, u64, u64) {
        let (mut stops, mut now, mut recorded) = (Stops::default(), 0, 0);
        for (on, off) in times {
            stops.add(Stop::new(now + on, now + on + off));
            assert!(stops.0.len() <= 2 * MOST);
            now += on + off;
            recorded += on;
        }
        (stops.into_vec(), now, recorded)
    }

    fn sum(stops: &[Stop], of: fn(&Stop) -> u64) -> u64 {
        stops.iter().map(of).sum()
    }

    #[test]
    fn a_year_of_seconds_takes_little_room_and_nothing_is_lost() {
        const SECONDS: u64 = 1_000_000;
        let (stops, end, recorded) = toggled((0..SECONDS).map(|_| (1, 1)));
        assert!((MOST / 2..=MOST).contains(&stops.len()), "{}", stops.len());
        assert_eq!(sum(&stops, |stop| stop.periods), SECONDS);
        let stopped = sum(&stops, |stop| stop.length() - stop.recorded);
        assert_eq!(stopped + recorded, end);
        assert!(stops.windows(2).all(|two| two[0].to < two[1].from));
        // Of each stop, as of the whole, half is recorded.
        for stop in &stops {
            assert!(stop.recorded * 2 <= stop.length() && stop.recorded * 2 + 1 >= stop.length());
        }
        let longest = stops.iter().map(Stop::length).max().unwrap();
        assert!(longest <= 8 * end / MOST as u64, "{longest} of {end}");
    }

    #[test]
    fn few_stay_as_they_are_and_long_ones_among_many() {
        let (few, ..) = toggled((0..MOST as u64).map(|i| (1, i)));
        assert!(few.iter().all(|stop| stop.periods == 1) && few.len() == MOST - 1);
        assert_eq!(sum(&few, Stop::length), (0..MOST as u64).sum::<u64>());
        const LONG: u64 = 1 << 40;
        let is_long = |i: u64| i % 5000 == 4321;
        let (many, ..) = toggled((0..50_000).map(|i| (1, if is_long(i) { LONG } else { 1 })));
        assert_eq!(many.iter().filter(|stop| stop.length() == LONG).count(), 10);
        assert_eq!(sum(&many, |stop| stop.periods), 50_000);
    }
}
