//! The tracks of the workers, with their states and the polls that they ran, and those of the threads of the
//! blocking pool.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use super::context::{Context, rank};
use super::poll::{Arguments, poll_arguments};
use super::trace::{Children, Kind, Text, Trace, Track};
use crate::analysis::Place;
use crate::trace::state::WorkerState;
use crate::trace::timeline::Worker;

/// A poll on a worker: its start and end in ns of the timeline, and the indices of its task and itself.
type OnWorker = (u64, Reverse<u64>, u32, u32);

/// Writes all workers, and the threads of the blocking pool.
pub(super) fn write(context: &Context<'_>, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = context.timeline();
    let mut workers: BTreeMap<u32, Option<&Worker>> = BTreeMap::new();
    let polls = timeline.tasks.seen().iter().flat_map(|task| &task.polls);
    workers.extend(polls.filter_map(|poll| Some((poll.worker()?, None))));
    workers.extend(timeline.workers.iter().map(|worker| (worker.index, Some(worker))));
    if !workers.is_empty() {
        let all = trace.track("Workers", Some(context.track), rank::WORKERS, Children::Ranked)?;
        let mut writer =
            Writer { context, arguments: Arguments::new(trace), places: HashMap::new() };
        for (index, worker) in workers {
            let name = timeline.worker_name(index);
            let track = trace.track(&name, Some(all), index.into(), Children::Ranked)?;
            if let Some(worker) = worker {
                states(context, worker, track, trace)?;
            }
            let polls = trace.track(&format!("polls on {name}"), Some(track), 0, Children::None)?;
            writer.polls(index, polls, trace)?;
        }
    }
    blocking_threads(context, trace)
}

fn states(
    context: &Context<'_>,
    worker: &Worker,
    track: Track,
    trace: &mut Trace<impl Write>,
) -> io::Result<()> {
    for span in worker.spans(context.timeline().end_ns) {
        if span.state != WorkerState::Stopped {
            let time = (context.at(span.start_ns), context.at(span.end_ns));
            trace.slice(track, time, span.state.name(), "worker")?;
        }
    }
    Ok(())
}

struct Writer<'a> {
    context: &'a Context<'a>,
    arguments: Arguments,
    places: HashMap<Place, (String, Text)>,
}

impl Writer<'_> {
    /// Writes the polls that held a worker.
    fn polls(
        &mut self,
        worker: u32,
        track: Track,
        trace: &mut Trace<impl Write>,
    ) -> io::Result<()> {
        let context = self.context;
        let mut open: Vec<u64> = Vec::new();
        for (from_ns, Reverse(to_ns), task, poll) in on_worker(context, worker) {
            let (from_ns, mut to_ns) = (context.at(from_ns), context.at(to_ns));
            while let Some(&end_ns) = open.last().filter(|end_ns| **end_ns <= from_ns) {
                trace.end(track, end_ns)?;
                open.pop();
            }
            // A poll within another one ends no later than that.
            if let Some(&outer_ns) = open.last() {
                to_ns = to_ns.min(outer_ns);
            }
            let (task, poll) = (task as usize, poll as usize);
            let place = context.run.report.place_of(&context.timeline().tasks.seen()[task]);
            let (name, location) = self.places.entry(place).or_insert_with(|| {
                let name = place.to_string();
                let text = trace.string(&name);
                (name, text)
            });
            let arguments =
                poll_arguments(context, &self.arguments, (task, poll), *location, trace);
            let (name, flow) =
                (Some((name.as_str(), arguments.category)), context.flows.ending((task, poll)));
            trace.event(Kind::Begin, track, from_ns, name, |event| {
                arguments.fill(event);
                flow.into_iter().for_each(|flow| event.end_flow(flow));
            })?;
            open.push(to_ns);
        }
        while let Some(end_ns) = open.pop() {
            trace.end(track, end_ns)?;
        }
        Ok(())
    }
}

/// Returns the polls that held a worker, by time; outer polls come before those within them.
fn on_worker(context: &Context<'_>, worker: u32) -> Vec<OnWorker> {
    let timeline = context.timeline();
    let mut found: Vec<OnWorker> = Vec::new();
    for (task, of) in (0..).zip(timeline.tasks.seen()) {
        let on_it = (0..).zip(&of.polls).filter(|(_, poll)| poll.worker() == Some(worker));
        found.extend(on_it.map(|(i, poll)| {
            let to_ns = poll.start_ns().saturating_add(timeline.held_ns(poll));
            (poll.start_ns(), Reverse(to_ns), task, i)
        }));
    }
    found.sort_unstable();
    found
}

fn blocking_threads(context: &Context<'_>, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = context.timeline();
    if timeline.pool.threads.is_empty() {
        return Ok(());
    }
    let (name, rank) = ("Blocking threads", rank::BLOCKING_THREADS);
    let all = trace.track(name, Some(context.track), rank, Children::Ranked)?;
    for thread in &timeline.pool.threads {
        let name = format!("thread-{}", thread.thread);
        let track = trace.track(&name, Some(all), thread.thread.into(), Children::None)?;
        let from_ns = context.at(thread.started_ns);
        let to_ns = context.at(thread.stopped_ns.unwrap_or(timeline.end_ns)).max(from_ns);
        trace.slice(track, (from_ns, to_ns), "blocking thread", "worker")?;
    }
    Ok(())
}
