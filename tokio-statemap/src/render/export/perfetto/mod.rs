//! Writes traces for Perfetto (<https://ui.perfetto.dev>): track events in its protobuf format.
//!
//! Each run has a track with the verdict, counters, its workers, and its tasks by spawn location. The guide describes
//! the tracks.

mod context;
mod counters;
mod fields;
mod other;
mod poll;
mod proto;
mod run;
mod tasks;
mod trace;
mod workers;

use std::io::{self, Write};
use std::time::Duration;

use super::Source;
use trace::Trace;

/// Writes all of `sources` as one trace, through a buffer. Times count from the start of the earliest one.
///
/// The trace is written as a stream, task by task and worker by worker. Beyond the input this takes some 20 bytes per
/// poll of the busiest worker for a moment.
///
/// # Errors
///
/// If `w` fails.
pub fn write(sources: &[Source<'_>], w: impl Write) -> io::Result<()> {
    let start = sources.iter().map(start_of).min().unwrap_or_default();
    let mut trace = Trace::begin(w, start)?;
    for source in sources {
        let later = start_of(source).saturating_sub(start);
        let later_ns = u64::try_from(later.as_nanos()).unwrap_or(u64::MAX);
        match source {
            Source::Run(run) => run::write(run, later_ns, &mut trace)?,
            Source::Other(data) => other::write(data, later_ns, &mut trace)?,
        }
    }
    trace.finish()
}

/// Returns the UTC time at time zero.
fn start_of(source: &Source<'_>) -> Duration {
    match source {
        Source::Run(run) => run.timeline.utc_at_zero,
        Source::Other(data) => {
            let [seconds, ns] = data.metadata.start;
            Duration::from_secs(seconds).saturating_add(Duration::from_nanos(ns))
        }
    }
}
