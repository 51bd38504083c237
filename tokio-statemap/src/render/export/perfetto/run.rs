//! Writes the tracks of a run.

use std::io::{self, Write};

use super::context::{Context, Flows};
use super::trace::{Children, Kind, Trace};
use super::{counters, requests, tasks, workers};
use crate::analysis::polls::Polls;
use crate::recorder::lost::Lost;
use crate::render::export::Run;

/// Writes a run that begins `later_ns` after the trace.
pub(super) fn write(run: &Run<'_>, later_ns: u64, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = run.timeline;
    let name = match &timeline.runtime {
        Some(runtime) => format!("{}, runtime {runtime}", run.title),
        None => run.title.to_owned(),
    };
    let track = trace.track(&name, None, 0, Children::Ranked)?;
    let mut context = Context {
        run,
        polls: Polls::new(timeline, &run.report),
        later_ns,
        track,
        flows: Flows::default(),
        names: Vec::new(),
    };
    whole(&context, trace)?;
    counters::write(&context, trace)?;
    requests::write(&context, trace)?;
    // A flow goes from a task to a worker; at equal times, the order in the file counts.
    tasks::write(&mut context, trace)?;
    workers::write(&context, trace)
}

/// Writes the slice of the whole run, with the gaps in the recording.
fn whole(context: &Context<'_>, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let (timeline, report) = (context.timeline(), &context.run.report);
    let host = context.run.labels.host.as_deref().unwrap_or_default();
    let [verdict, host] = [&*report.verdict.to_string(), host].map(|text| trace.string(text));
    let arguments = [
        "verdict",
        "host",
        "long_poll_ns",
        "recorded_ns",
        "detail_ns",
        "events",
        "dropped_events",
        "lost_events",
    ];
    let arguments = arguments.map(|name| trace.argument(name));
    let lost = Lost { dropped_events: 0, ..timeline.lost }.total();
    let [begin_ns, end_ns] = [timeline.begin_ns, timeline.end_ns].map(|ns| context.at(ns));
    let name = Some(("recorded", "run"));
    trace.event(Kind::Begin, context.track, begin_ns, name, |event| {
        let [of_verdict, of_host, long_poll, recorded, detail, events, dropped, of_lost] =
            arguments;
        event.text(of_verdict, verdict);
        event.text(of_host, host);
        let long_poll_ns =
            u64::try_from(timeline.settings.long_poll.as_nanos()).unwrap_or(u64::MAX);
        event.number(long_poll, long_poll_ns);
        event.number(recorded, report.recording.recorded_ns);
        event.number(detail, report.recording.kept_ns());
        event.number(events, timeline.events);
        event.number(dropped, timeline.lost.dropped_events);
        event.number(of_lost, lost);
    })?;
    for &(from_ns, to_ns) in &timeline.gaps {
        let gap = (context.at(from_ns), context.at(to_ns));
        trace.slice(context.track, gap, "not recorded", "run")?;
    }
    trace.end(context.track, end_ns)
}
