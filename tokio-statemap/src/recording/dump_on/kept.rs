//! The pages of the last hour, and the files that are kept.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::values::Limits;

const HOUR: Duration = Duration::from_secs(3600);

/// The pages that were written.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The times at which those of the last hour began.
    begun: Vec<Instant>,
    /// The files that are kept with their sizes in bytes, the oldest first.
    files: Vec<(PathBuf, u64)>,
    removed: u64,
}

impl Kept {
    /// Returns whether one more page may begin now.
    pub(super) fn allows(&mut self, now: Instant, limits: &Limits) -> bool {
        self.begun.retain(|begun| now.saturating_duration_since(*begun) < HOUR);
        (self.begun.len() as u64) < limits.an_hour
    }

    /// Notes that a page begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.begun.push(now);
    }

    /// Adds files of earlier processes, the oldest first.
    pub(super) fn had_before(&mut self, files: Vec<(PathBuf, u64)>) {
        self.files.splice(0..0, files);
    }

    /// Adds a file. Returns the files to remove, the oldest ones, which may include it.
    pub(super) fn add(&mut self, path: PathBuf, bytes: u64, limits: &Limits) -> Vec<PathBuf> {
        self.files.push((path, bytes));
        let mut old = Vec::new();
        while self.files.len() as u64 > limits.files || self.bytes() > limits.bytes {
            old.push(self.files.remove(0).0);
        }
        self.removed += old.len() as u64;
        old
    }

    /// Returns the number of files to remove so far.
    pub(super) fn removed(&self) -> u64 {
        self.removed
    }

    fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }
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
    fn the_oldest_files_are_removed() {
        let mut kept = Kept::default();
        let limits = Limits { files: 3, bytes: 100, ..Limits::default() };
        let mut add = |name: &str, bytes| {
            let old = kept.add(name.into(), bytes, &limits);
            old.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        let removed = [add("a", 10), add("b", 10), add("c", 10), add("d", 10), add("e", 85)];
        assert_eq!(removed, ["", "", "", "a", "b c"]);
        assert_eq!([add("f", 100), add("g", 1)], ["d e", "f"]);
        assert_eq!(kept.removed(), 6);
    }
}
