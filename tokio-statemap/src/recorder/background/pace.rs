//! The time between two collections of full chunks.

use std::time::Duration;

use crate::recorder::kept::Filled;
use crate::recorder::watch::BETWEEN_LOOKS;

/// The time gets shorter if a thread filled more than 1/`MUCH` of the chunks that it may be given ahead. The other
/// chunks are a reserve in case the background thread has to wait for a processor.
const MUCH: usize = 4;
/// The time gets longer if a thread filled less than 1/`LITTLE` of them.
const LITTLE: usize = 16;

/// The shortest time: under the most load that two workers make, a collection takes about half of that.
const SHORTEST: Duration = Duration::from_micros(500);
/// The longest time, other than that between two looks of the watcher.
const LONGEST: Duration = Duration::from_millis(4);

/// The number of chunks that a thread fills between two collections where looks are rare. If these were later, threads would
/// have to find chunks by themselves.
const SOME_CHUNKS: u32 = 2;

/// The time between two collections.
///
/// Usually this is the time between two looks of the watcher. It is shorter if a thread might fill all that it is given
/// ahead.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The time if a thread fills much of what it is given ahead.
    short: Option<Duration>,
    /// The time in which a thread fills [`SOME_CHUNKS`], or that between two usual looks if that is longer.
    most: Option<Duration>,
}

impl Pace {
    /// Returns the time until the next collection, unless the watcher looks before.
    pub(super) fn time(&self) -> Option<Duration> {
        self.short.or(self.most)
    }

    /// Adapts the time to the chunks that were filled in `since`.
    pub(super) fn adapt(&mut self, filled: Filled, since: Duration) {
        let Filled { chunks, of } = filled;
        self.most = u32::try_from(chunks).ok().and_then(|chunks| {
            let some = since.saturating_mul(SOME_CHUNKS).checked_div(chunks)?;
            Some(some.max(BETWEEN_LOOKS))
        });
        if chunks * MUCH > of {
            let half = self.short.map_or(LONGEST, |time| time / 2);
            self.short = Some(half.max(SHORTEST));
        } else if chunks * LITTLE < of {
            self.short = match self.short {
                Some(time) if time * 2 <= LONGEST => Some(time * 2),
                _ => None,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_what_is_filled() {
        let mut pace = Pace::default();
        let mut times = |chunks, n| {
            let times = (0..n).map(|_| {
                pace.adapt(Filled { chunks, of: 32 }, Duration::from_millis(40));
                pace.short.map(|time| time.as_micros())
            });
            times.collect::<Vec<_>>()
        };
        assert_eq!(times(8, 3), [None; 3]);
        assert_eq!(times(9, 5), [4000, 2000, 1000, 500, 500].map(Some));
        assert_eq!(times(2, 2), [Some(500); 2]);
        assert_eq!(times(1, 5), [Some(1000), Some(2000), Some(4000), None, None]);
    }

    #[test]
    fn where_looks_are_rare_some_chunks_are_filled_in_between() {
        let mut pace = Pace::default();
        let mut time = |chunks, ms| {
            pace.adapt(Filled { chunks, of: 32 }, Duration::from_millis(ms));
            pace.time().map(|time| time.as_millis())
        };
        assert_eq!(
            [time(0, 40), time(1, 40), time(4, 40), time(8, 5)],
            [None, Some(80), Some(20), Some(5)]
        );
    }
}
