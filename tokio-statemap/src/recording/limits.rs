//! The limits of a test, which fails with a panic if they are exceeded.

use std::sync::Mutex;
use std::time::Duration;

use super::settings::Settings;
use crate::analysis::limits::{Limits, judge};
use crate::trace::timeline::Timeline;
use crate::util::sync::lock;

/// The limits of a test and the result of checking them.
#[derive(Debug)]
pub(super) struct TestLimits {
    max_poll: Option<Duration>,
    max_ready: Option<Duration>,
    /// The reason why the test fails, if it does.
    failure: Mutex<Option<String>>,
}

impl TestLimits {
    /// Returns the limits that are set; `None` if there are none.
    pub(super) fn from_settings(settings: &Settings) -> Option<Self> {
        let &Settings { max_poll, max_ready, .. } = settings;
        let failure = Mutex::new(None);
        (max_poll.or(max_ready).is_some()).then_some(Self { max_poll, max_ready, failure })
    }

    /// Checks what was recorded against the limits.
    pub(super) fn judge(&self, timelines: &mut [Timeline]) {
        let Self { max_poll, max_ready, .. } = *self;
        let mut sentences = Vec::new();
        for timeline in timelines {
            let judgement = judge(timeline, &Limits { max_poll, max_ready, ..Limits::default() });
            sentences.extend(judgement.exceeded.iter().map(ToString::to_string));
            sentences.extend(judgement.unknown.iter().map(unjudged));
        }
        if !sentences.is_empty() {
            self.fail(sentences.join("\n"));
        }
    }

    /// Makes the test fail with this message.
    pub(super) fn fail(&self, message: String) {
        *lock(&self.failure) = Some(message);
    }

    /// Takes the reason why the test fails, if it does.
    pub(super) fn failure(&self) -> Option<String> {
        lock(&self.failure).take()
    }
}

/// Returns the message for a limit that can't be checked, which must not count as kept.
pub(super) fn unjudged(why: impl std::fmt::Display) -> String {
    format!("The test's `max_poll` or `max_ready` can't be checked: {why}.")
}
