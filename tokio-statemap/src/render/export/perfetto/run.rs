//! The tracks of a run.

use std::io::{self, Write};

use super::trace::{Children, Kind, Text, Trace, Track};
use super::{counters, tasks, workers};
use crate::analysis::polls::Polls;
use crate::recorder::lost::Lost;
use crate::render::export::Run;
use crate::trace::timeline::Timeline;

/// What all parts of a run refer to.
pub(super) struct Context<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) polls: Polls<'a>,
    /// How much later than the trace it began, in ns.
    pub(super) later_ns: u64,
    /// The run's own track.
    pub(super) track: Track,
    pub(super) flows: Flows,
    /// The name of each task that was seen.
    pub(super) names: Vec<Text>,
}

/// The flows into polls, from when their tasks became ready.
#[derive(Default)]
pub(super) struct Flows {
    /// The number of the first of them.
    pub(super) first: u64,
    /// How many polls the tasks before each have, of those that were seen.
    pub(super) before: Vec<usize>,
    /// Of each poll, whether its flow begins anywhere.
    pub(super) is_begun: Vec<bool>,
}

impl Flows {
    /// The flow into a poll, which begins here.
    pub(super) fn begin(&mut self, (task, poll): (usize, usize)) -> u64 {
        let at = self.before[task] + poll;
        self.is_begun[at] = true;
        self.first + at as u64
    }

    /// The flow into a poll, if it began.
    pub(super) fn ending(&self, (task, poll): (usize, usize)) -> Option<u64> {
        let at = self.before[task] + poll;
        self.is_begun[at].then_some(self.first + at as u64)
    }
}

impl<'a> Context<'a> {
    pub(super) fn timeline(&self) -> &'a Timeline {
        self.run.timeline
    }

    /// A time of the timeline as one of the trace.
    pub(super) fn at(&self, time_ns: u64) -> u64 {
        let timeline = self.timeline();
        time_ns.clamp(timeline.begin_ns, timeline.end_ns).saturating_add(self.later_ns)
    }
}

/// Where the parts of a run stand.
pub(super) mod rank {
    pub(in super::super) const TASKS_READY: u64 = 1;
    pub(in super::super) const WORKERS_BUSY: u64 = 2;
    pub(in super::super) const TASKS_ALIVE: u64 = 3;
    pub(in super::super) const WORKERS: u64 = 4;
    pub(in super::super) const BLOCKING_THREADS: u64 = 5;
    pub(in super::super) const TASKS: u64 = 6;
}

/// Writes a run that began `later_ns` after the trace.
pub(super) fn write(run: &Run<'_>, later_ns: u64, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = run.timeline;
    let name = match &timeline.runtime {
        Some(runtime) => format!("{}, runtime {runtime}", run.title),
        None => run.title.to_owned(),
    };
    let track = trace.track(&name, None, 0, Children::Ranked)?;
    let mut context = Context {
        run,
        polls: Polls::of(timeline, &run.report),
        later_ns,
        track,
        flows: Flows::default(),
        names: Vec::new(),
    };
    whole(&context, trace)?;
    counters::write(&context, trace)?;
    // A flow goes from a task to a worker, and those of one time go as they are written.
    tasks::write(&mut context, trace)?;
    workers::write(&context, trace)
}

/// The slice of the whole run, with the gaps in the recording.
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
        let long_poll_ns = u64::try_from(timeline.long_poll.as_nanos()).unwrap_or(u64::MAX);
        event.number(long_poll, long_poll_ns);
        event.number(recorded, report.recorded_ns);
        event.number(detail, report.kept_ns());
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
