//! The effect of the CPU limit of the program's control group while recording was started.

use crate::sys::cgroup::LimitedGroup;

/// A limit of processor time, and its effect while recording was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CpuLimit {
    /// The processor time that the program may use, in thousandths of a processor.
    pub millis: u64,
    /// The number of times it stopped the program.
    pub stops: u64,
    /// The time for which it stopped the program, in ns, as the system counts it: summed over processors.
    pub stopped_ns: u64,
}

/// The effect of the limit so far.
#[derive(Debug, Default)]
pub(super) struct ThrottlingSoFar {
    /// The effect up to the last stop.
    until_stop: Option<CpuLimit>,
    /// The limit when recording was started; `None` while it is stopped.
    at_start: Option<Option<LimitedGroup>>,
}

impl ThrottlingSoFar {
    pub(super) fn start(&mut self, now: Option<LimitedGroup>) {
        self.at_start = Some(now);
    }

    pub(super) fn stop(&mut self, now: Option<LimitedGroup>) {
        self.until_stop = self.until(now);
        self.at_start = None;
    }

    pub(super) fn until(&self, now: Option<LimitedGroup>) -> Option<CpuLimit> {
        let (Some(at_start), Some(now)) = (&self.at_start, now) else { return self.until_stop };
        let before = self.until_stop.unwrap_or_default();
        // It isn't known what another limit did before, so none of it counts.
        let same = at_start.as_ref().filter(|at_start| at_start.folder == now.folder);
        let added = |now: u64, at_start: Option<u64>| now.saturating_sub(at_start.unwrap_or(now));
        Some(CpuLimit {
            millis: now.millis,
            stops: before.stops + added(now.stops, same.map(|group| group.stops)),
            stopped_ns: before.stopped_ns
                + added(now.stopped_ns, same.map(|group| group.stopped_ns)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(folder: &str, stops: u64, stopped_ns: u64) -> Option<LimitedGroup> {
        Some(LimitedGroup { folder: folder.into(), millis: 1500, stops, stopped_ns })
    }

    fn throttling(stops: u64, stopped_ns: u64) -> Option<CpuLimit> {
        Some(CpuLimit { millis: 1500, stops, stopped_ns })
    }

    #[test]
    fn only_what_happened_between_start_and_stop_counts() {
        let mut so_far = ThrottlingSoFar::default();
        so_far.start(group("a", 5, 100));
        assert_eq!(so_far.until(group("a", 7, 130)), throttling(2, 30));
        so_far.stop(group("a", 8, 150));
        assert_eq!(so_far.until(group("a", 99, 999)), throttling(3, 50));
        so_far.start(group("a", 100, 1000));
        assert_eq!(so_far.until(group("a", 101, 1001)), throttling(4, 51));
        // This is another group, of which it isn't known what it did before.
        assert_eq!(so_far.until(group("b", 500, 5000)), throttling(3, 50));
        assert_eq!(so_far.until(None), throttling(3, 50));
    }

    #[test]
    fn without_a_limit_there_is_none() {
        let mut so_far = ThrottlingSoFar::default();
        assert_eq!(so_far.until(group("a", 5, 100)), None);
        so_far.start(None);
        assert_eq!(so_far.until(None), None);
        assert_eq!(so_far.until(group("a", 5, 100)), throttling(0, 0));
        so_far.stop(None);
        assert_eq!(so_far.until(None), None);
    }
}
