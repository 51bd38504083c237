//! The values of the attribute's keys.

use std::time::Duration;

use super::output::OutputPaths;
use crate::config::CollectorConfig;
use crate::hooks::Hooks;

/// The values of the attribute's keys, one field each. A new key is a field here or of
/// [`CollectorConfig`], and a row in the table of `tokio-statemap-macros`.
#[derive(Debug, Default)]
pub struct Settings {
    /// The files to write.
    pub outputs: OutputPaths,
    /// The configuration of the collector.
    pub config: CollectorConfig,
    /// The age at which a poll is printed while it is running.
    pub warn_after: Option<Duration>,
    /// The name of the signal on which the trees of all tasks are printed.
    pub dump_signal: Option<&'static str>,
    /// `true` to show source in the page.
    pub source: bool,
    /// The folder of the program's package at compile time, if source is shown.
    pub package: Option<&'static str>,
    /// The delay from the start of the program to the start of recording.
    pub start_after: Option<Duration>,
    /// The length of the recording.
    pub duration: Option<Duration>,
    /// The maximum time for which a poll may hold a worker, in a test.
    pub max_poll: Option<Duration>,
    /// The maximum time for which a task may be ready before it is polled, in a test.
    pub max_ready: Option<Duration>,
    /// The runtime's name.
    pub runtime: Option<&'static str>,
    /// The program's version.
    pub version: Option<&'static str>,
    /// The program's own hooks.
    pub hooks: Option<Hooks>,
    /// The name of a test, with its modules; `None` for `main`.
    pub test: Option<&'static str>,
}

impl Settings {
    /// Returns the defaults of a program.
    pub fn main() -> Self {
        Self { source: cfg!(debug_assertions), ..Self::default() }
    }

    /// Returns the defaults of a test with the path `name`.
    pub fn test(name: &'static str) -> Self {
        Self { test: Some(name), ..Self::main() }
    }

    /// Returns the configuration of the collector, with long polls as short as the limit of a test:
    /// the time taken by the machine is known only for those.
    pub(super) fn collector_config(&self) -> CollectorConfig {
        let mut config = self.config.clone();
        config.long_poll = self.max_poll.map_or(config.long_poll, |max| max.min(config.long_poll));
        config
    }
}
