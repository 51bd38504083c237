//! The pages of the last hour, and the files that are kept.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::values::Limits;

const HOUR: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);

/// The pages that were written.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The times at which those of the last hour began, each with the time for which it counts.
    begun: Vec<(Instant, Duration)>,
    /// The number of files that were removed so far.
    pub(super) removed: u64,
}

impl Kept {
    /// Returns whether one more page may begin now.
    pub(super) fn allows(&mut self, now: Instant, limits: &Limits) -> bool {
        self.begun.retain(|(begun, counts)| now.saturating_duration_since(*begun) < *counts);
        (self.begun.len() as u64) < limits.an_hour
    }

    /// Notes that a page begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.begun.push((now, HOUR));
    }

    /// Notes that the page which began then could not be written: it counts for a minute only, as each try takes a snapshot.
    pub(super) fn failed(&mut self, then: Instant) {
        for (begun, counts) in &mut self.begun {
            if *begun == then {
                *counts = MINUTE;
            }
        }
    }
}

/// Returns which of the files to remove, the oldest ones. `files` has the oldest first, each with its size in bytes.
pub(super) fn over_limits(files: Vec<(PathBuf, u64)>, limits: &Limits) -> Vec<PathBuf> {
    let mut bytes = files.iter().fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let mut left = files.len() as u64;
    let mut old = Vec::new();
    for (path, size) in files {
        if left <= limits.files && bytes <= limits.bytes {
            break;
        }
        (left, bytes) = (left - 1, bytes.saturating_sub(size));
        old.push(path);
    }
    old
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_begin_in_any_hour() {
        let (mut kept, began) = (Kept::default(), Instant::now());
        let limits = Limits { an_hour: 2, ..Limits::default() };
        let mut begins = Vec::new();
        for minute in 0..150 {
            let now = began + Duration::from_secs(60 * minute);
            if minute % 10 == 0 && kept.allows(now, &limits) {
                kept.begin(now);
                begins.push(minute);
            }
        }
        assert_eq!(begins, [0, 10, 60, 70, 120, 130]);
    }

    #[test]
    fn one_that_failed_counts_for_a_minute() {
        let (mut kept, began) = (Kept::default(), Instant::now());
        let limits = Limits { an_hour: 2, ..Limits::default() };
        let at = |s| began + Duration::from_secs(s);
        kept.begin(at(0));
        kept.begin(at(1));
        kept.failed(at(0));
        assert_eq!([59, 60, 61].map(|s| kept.allows(at(s), &limits)), [false, true, true]);
        kept.begin(at(61));
        assert!(!kept.allows(at(3600), &limits) && kept.allows(at(3601), &limits));
    }

    #[test]
    fn the_oldest_files_are_removed() {
        let limits = Limits { files: 3, bytes: 100, ..Limits::default() };
        let old = |files: &[(&str, u64)]| {
            let files = files.iter().map(|(name, bytes)| (PathBuf::from(name), *bytes)).collect();
            let old = over_limits(files, &limits);
            old.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(old(&[("a", 10), ("b", 10), ("c", 80)]), "");
        assert_eq!(old(&[("a", 10), ("b", 10), ("c", 10), ("d", 10)]), "a");
        assert_eq!(old(&[("b", 10), ("c", 10), ("d", 10), ("e", 85)]), "b c");
        assert_eq!(old(&[("d", 10), ("e", 85), ("f", u64::MAX)]), "d e f");
    }
}
