//! The values of the attribute's keys.

use std::time::Duration;

use super::output::OutputPaths;
use crate::config::{CollectorConfig, Keep, TraceTarget};
use crate::hooks::Hooks;

/// The values of the attribute's keys: a field each. A new key is a field here, with its default in
/// [`main`](Self::main), and a row in the table of `tokio-statemap-macros`.
#[derive(Debug)]
pub struct Settings {
    /// The files that are written.
    pub outputs: OutputPaths,
    /// What is recorded.
    pub trace: TraceTarget,
    /// Whether the spawn locations of tasks are recorded.
    pub spawn_location: bool,
    /// Each thread's buffer, in records.
    pub buffer_capacity: usize,
    /// How many events are kept in all.
    pub max_events: usize,
    /// Which events are kept.
    pub keep: Keep,
    /// Whether it is recorded when tasks became ready.
    pub schedule_latency: bool,
    /// The shortest poll that is called long.
    pub long_poll: Duration,
    /// Whether long polls are watched.
    pub stacks: bool,
    /// How long a poll goes on before it is printed.
    pub warn_after: Option<Duration>,
    /// The name of the signal on which the trees of all tasks are printed.
    pub dump_signal: Option<&'static str>,
    /// Whether the page shows source.
    pub source: bool,
    /// Where the program's package was when it was compiled, if source is shown.
    pub package: Option<&'static str>,
    /// How long after the start of the program recording starts.
    pub start_after: Option<Duration>,
    /// How long recording goes on.
    pub duration: Option<Duration>,
    /// How long a poll may hold a worker in a test.
    pub max_poll: Option<Duration>,
    /// How long a task may be ready before it is polled in a test.
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
    /// The defaults.
    pub fn main() -> Self {
        let config = CollectorConfig::default();
        Self {
            outputs: OutputPaths::default(),
            trace: config.trace_target,
            spawn_location: config.include_spawn_location,
            buffer_capacity: config.buffer_capacity,
            max_events: config.max_events,
            keep: config.keep,
            schedule_latency: config.schedule_latency,
            long_poll: config.long_poll,
            stacks: config.stacks,
            warn_after: None,
            dump_signal: None,
            source: cfg!(debug_assertions),
            package: None,
            start_after: None,
            duration: None,
            max_poll: None,
            max_ready: None,
            runtime: None,
            version: None,
            hooks: None,
            test: None,
        }
    }

    /// The defaults in a test, `name` being its path.
    pub fn test(name: &'static str) -> Self {
        Self { test: Some(name), ..Self::main() }
    }

    pub(super) fn config(&self) -> CollectorConfig {
        CollectorConfig {
            buffer_capacity: self.buffer_capacity,
            max_events: self.max_events,
            keep: self.keep,
            trace_target: self.trace,
            include_spawn_location: self.spawn_location,
            schedule_latency: self.schedule_latency,
            // Of shorter polls it isn't known what the machine took.
            long_poll: self.max_poll.map_or(self.long_poll, |most| most.min(self.long_poll)),
            stacks: self.stacks,
            ..CollectorConfig::default()
        }
    }
}
