//! The workers' activity, for an issue that isn't about it.

use std::fmt;
use std::time::Duration;

use super::Facts;
use crate::analysis::culprits::Unattributed;
use crate::analysis::statement::no_long_poll;
use crate::analysis::workers;
use crate::util::quantity::percent;

/// The activity of the workers, which `Display` puts into a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Meanwhile {
    /// The share of the workers' time that they were running, from 0 to 1; `None` if workers were not recorded.
    busy_share: Option<f64>,
    /// `true` if there were long polls, which are issues of their own.
    has_long_polls: bool,
    /// The polls that were long, but are blamed on nobody.
    unattributed: Unattributed,
    long_poll: Duration,
}

impl Meanwhile {
    pub(super) fn new(facts: &Facts<'_>, has_long_polls: bool) -> Self {
        Self {
            busy_share: workers::busy_share(facts.workers),
            has_long_polls,
            unattributed: facts.blame.unattributed,
            long_poll: facts.recording.long_poll,
        }
    }
}

impl fmt::Display for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let no_long_poll = no_long_poll(&self.unattributed, self.long_poll);
        match (self.busy_share.map(percent), self.has_long_polls) {
            (Some(busy), true) => write!(f, "The workers were busy {busy} of the time."),
            (Some(busy), false) => {
                write!(f, "No poll {no_long_poll}, and the workers were busy {busy} of the time.")
            }
            (None, true) => Ok(()),
            (None, false) => write!(f, "No poll {no_long_poll}."),
        }
    }
}
