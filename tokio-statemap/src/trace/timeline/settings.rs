//! The settings of a recording.

use std::time::Duration;

use crate::config::{CollectorConfig, TraceTarget};

/// The settings of a recording, which decide what its timeline can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordSettings {
    /// The kinds of entities that were recorded.
    pub trace_target: TraceTarget,
    /// `true` if Tokio was built with `tokio_unstable` and so has task hooks. Without them the only
    /// task is `main`.
    pub task_hooks: bool,
    /// `true` if the times at which tasks became ready were recorded.
    pub schedule_latency: bool,
    /// The minimum length of a long poll.
    pub long_poll: Duration,
}

impl RecordSettings {
    /// Returns the settings of a recording by this build with `config`.
    pub(super) fn from_config(config: &CollectorConfig) -> Self {
        Self {
            trace_target: config.trace_target,
            task_hooks: cfg!(tokio_unstable),
            schedule_latency: config.knows_ready(),
            long_poll: config.long_poll,
        }
    }
}

impl Default for RecordSettings {
    /// Returns the settings of a recording with all defaults and task hooks.
    fn default() -> Self {
        let CollectorConfig { trace_target, schedule_latency, long_poll, .. } =
            CollectorConfig::default();
        Self { trace_target, task_hooks: true, schedule_latency, long_poll }
    }
}
