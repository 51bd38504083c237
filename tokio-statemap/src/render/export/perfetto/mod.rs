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
mod requests;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::tests::timeline;
    use crate::render::export::Run;
    use crate::statemap::Labels;
    use crate::symbols::{FrameOrigin, StackFrame};
    use crate::trace::event::SpawnLocation;
    use crate::trace::timeline::{AwaitFrame, Wait, WaitId};

    #[test]
    fn tasks_that_a_library_spawned_are_called_by_what_they_run() {
        let mut timeline = timeline(60, 3);
        let function = StackFrame {
            function: "async shop::invoice".into(),
            file: Some("src/shop.rs".into()),
            line: Some(7),
            origin: FrameOrigin::Program,
        };
        let frame = AwaitFrame { function, awaits: Vec::new(), name: None, call: None };
        timeline.places.waits = vec![Wait { frames: vec![frame] }];
        let file = "/home/me/.cargo/registry/src/index-1/axum-0.8.9/src/serve/mod.rs";
        for task in &mut timeline.tasks {
            task.location = Some(SpawnLocation { file, line: 389, column: 5 });
            for poll in &mut task.polls {
                *poll = poll.waits_at(WaitId::new(1));
            }
        }
        let labels = Labels { title: "shop".to_owned(), host: None };
        let run = Run::new(&timeline, &labels, None);
        let mut written = Vec::new();
        write(&[Source::Run(Box::new(run))], &mut written).unwrap();
        let name = b"async shop::invoice, axum-0.8.9/src/serve/mod.rs:389:5";
        assert!(written.windows(name.len()).any(|bytes| bytes == name));
    }
}
