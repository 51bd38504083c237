//! Stands in for the watcher without the feature `stacks`, and on systems that lack what it needs.

use std::time::Duration;

use crate::recorder::hot::Shared;
use crate::recorder::watch::{BETWEEN_LOOKS, Sample};

/// Nothing is known of polls that go on.
pub(super) fn stalled_since(_: &Shared, _: Duration) -> Option<u64> {
    None
}

/// No stack is known.
pub(super) fn sample_pool(_: &Shared, _: u64) -> Vec<Sample> {
    Vec::new()
}

/// A watcher that looks at nothing.
#[derive(Default)]
pub(super) struct Watcher(());

impl Watcher {
    pub(super) fn is_idle(&self) -> bool {
        true
    }

    pub(super) fn rest(&self) -> Option<Duration> {
        None
    }

    /// Waits until full chunks are to be collected, but no longer than `most` if given.
    pub(super) fn wait_or_look(&mut self, most: Option<Duration>) {
        std::thread::sleep(most.unwrap_or(BETWEEN_LOOKS));
    }

    pub(super) fn leave_all(self) {}
}
