//! The time between two collections of full chunks.

use std::time::Duration;

use crate::recorder::kept::Filled;

/// The time gets shorter if a thread filled more than 1/`MUCH` of the chunks that it may be given ahead. The other
/// chunks are a reserve in case the background thread has to wait for a processor.
const MUCH: usize = 4;
/// The time gets longer if a thread filled less than 1/`LITTLE` of them.
const LITTLE: usize = 16;

/// The shortest time: under the most load that two workers make, a collection takes about half of that.
const SHORTEST: Duration = Duration::from_micros(500);
/// The longest time, other than that between two looks of the watcher.
const LONGEST: Duration = Duration::from_millis(4);

/// The time between two collections.
///
/// Usually this is the time between two looks of the watcher. It is shorter if a thread might fill all that it is given
/// ahead.
#[derive(Debug, Default)]
pub(super) struct Pace(Option<Duration>);

impl Pace {
    /// Returns the time until the next collection, unless the watcher looks before.
    pub(super) fn time(&self) -> Option<Duration> {
        self.0
    }

    /// Adapts the time to the chunks that were filled in it.
    pub(super) fn adapt(&mut self, filled: Filled) {
        let Filled { chunks, of } = filled;
        if chunks * MUCH > of {
            let half = self.0.map_or(LONGEST, |time| time / 2);
            self.0 = Some(half.max(SHORTEST));
        } else if chunks * LITTLE < of {
            self.0 = match self.0 {
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
                pace.adapt(Filled { chunks, of: 32 });
                pace.time().map(|time| time.as_micros())
            });
            times.collect::<Vec<_>>()
        };
        assert_eq!(times(8, 3), [None; 3]);
        assert_eq!(times(9, 5), [4000, 2000, 1000, 500, 500].map(Some));
        assert_eq!(times(2, 2), [Some(500); 2]);
        assert_eq!(times(1, 5), [Some(1000), Some(2000), Some(4000), None, None]);
    }
}
