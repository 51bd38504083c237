//! What the keys of the attribute say.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::{CollectorConfig, Keep, TraceTarget};
use crate::hooks::Hooks;

/// What the keys of the attribute say.
#[derive(Debug)]
pub struct Settings {
    /// Where the statemap data of the tasks goes.
    pub tasks: Option<PathBuf>,
    /// Where the statemap data of the workers goes.
    pub workers: Option<PathBuf>,
    /// Where the page goes.
    pub html: Option<PathBuf>,
    /// Where the SVG goes.
    pub svg: Option<PathBuf>,
    /// Where the report goes.
    pub report: Report,
    /// What is recorded.
    pub trace: TraceTarget,
    /// Whether it is recorded where each task was spawned.
    pub spawn_location: bool,
    /// Each thread's buffer, in records.
    pub buffer_capacity: usize,
    /// How many events are kept in all.
    pub max_events: usize,
    /// Which.
    pub keep: Keep,
    /// Whether it is recorded when tasks became ready.
    pub schedule_latency: bool,
    /// From when on a poll is called long.
    pub long_poll: Duration,
    /// How long after the start of the program recording starts.
    pub start_after: Option<Duration>,
    /// How long is recorded.
    pub duration: Option<Duration>,
    /// The runtime's name.
    pub runtime: Option<&'static str>,
    /// The user's own hooks.
    pub hooks: Option<Hooks>,
    /// The name of a test, with its modules; `None` for `main`.
    pub test: Option<&'static str>,
}

/// Where the report goes.
#[derive(Debug)]
pub enum Report {
    /// To stderr.
    Stderr,
    /// To a file.
    Path(PathBuf),
}

impl Settings {
    /// The defaults.
    pub fn main() -> Self {
        let config = CollectorConfig::default();
        Self {
            tasks: None,
            workers: None,
            html: None,
            svg: None,
            report: Report::Stderr,
            trace: config.trace_target,
            spawn_location: config.include_spawn_location,
            buffer_capacity: config.buffer_capacity,
            max_events: config.max_events,
            keep: config.keep,
            schedule_latency: config.schedule_latency,
            long_poll: config.long_poll,
            start_after: None,
            duration: None,
            runtime: None,
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
            long_poll: self.long_poll,
        }
    }
}
