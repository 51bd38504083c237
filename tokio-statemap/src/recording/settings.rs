//! The values of the keys.

#[cfg(feature = "recover")]
use std::path::PathBuf;
use std::time::Duration;

use super::dump_on;
use super::env;
use super::outputs::OutputPaths;
use crate::config::CollectorConfig;
use crate::error::Error;
use crate::hooks::Hooks;

/// The values of the keys, one field each. A new key is a field here or of [`CollectorConfig`], a method in
/// [`keys`](super::keys), and a row in the table of `tokio-statemap-macros`.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// The files to write.
    pub(super) outputs: OutputPaths,
    /// The configuration of the collector.
    pub(super) config: CollectorConfig,
    /// The age at which a poll is printed while it is running.
    pub(super) warn_after: Option<Duration>,
    /// The name of the signal on which the trees of all tasks are printed.
    pub(super) dump_signal: Option<&'static str>,
    /// The events on which a page is written, as in the attribute.
    #[cfg(feature = "html")]
    pub(super) dump_on: Option<&'static str>,
    /// The limits of these pages, as in the attribute.
    #[cfg(feature = "html")]
    pub(super) dump_limit: Option<&'static str>,
    /// The time from the event to the page.
    #[cfg(feature = "html")]
    pub(super) dump_after: Option<Duration>,
    /// The page of an earlier process that left a black box.
    #[cfg(feature = "recover")]
    #[cfg_attr(not(has_recover), allow(dead_code, reason = "no other system has black boxes"))]
    pub(super) recover: Option<PathBuf>,
    /// `true` to show source in the page.
    pub(super) source: bool,
    /// The folder of the program's package at compile time, if source is shown.
    pub(super) package: Option<&'static str>,
    /// The delay from the start of the first runtime to the start of recording.
    pub(super) start_after: Option<Duration>,
    /// The length of the recording.
    pub(super) duration: Option<Duration>,
    /// The maximum time for which a poll may hold a worker, in a test.
    pub(super) max_poll: Option<Duration>,
    /// The maximum time for which a task may be ready before it is polled, in a test.
    pub(super) max_ready: Option<Duration>,
    /// The runtime's name.
    pub(super) runtime: Option<&'static str>,
    /// The program's version.
    pub(super) version: Option<&'static str>,
    /// The program's own hooks.
    pub(super) hooks: Option<Hooks>,
    /// The name of a test, with its modules; `None` for a program.
    pub(super) test: Option<&'static str>,
    /// `true` if it records unless the environment says otherwise.
    pub(super) is_on_by_default: bool,
}

impl Settings {
    /// Returns the defaults of a program.
    pub(super) fn main() -> Self {
        Self { source: cfg!(debug_assertions), is_on_by_default: true, ..Self::default() }
    }

    /// Checks the values that have limits.
    pub(super) fn check(&self) -> Result<(), Error> {
        const SIGNALS: [&str; 4] = ["SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGIO"];
        if self.dump_signal.is_some_and(|name| !SIGNALS.contains(&name)) {
            let reason = "it must be SIGUSR1, SIGUSR2, SIGQUIT or SIGIO".into();
            return Err(Error::InvalidConfig { field: "dump_signal", reason });
        }
        dump_on::check(self)?;
        self.config.check()
    }

    /// Returns the configuration of the collector, with long polls as short as the limit of a test:
    /// the time taken by the machine is known only for those.
    pub(super) fn collector_config(&self) -> CollectorConfig {
        let mut config = self.config.clone();
        config.black_box = env::black_box(config.black_box);
        config.long_poll = self.max_poll.map_or(config.long_poll, |max| max.min(config.long_poll));
        config
    }
}
