//! The tracks of tasks, by spawn location.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use super::context::{Context, Flows, rank};
use super::poll::{Arguments, poll_arguments};
use super::trace::{Children, Kind, Text, Trace, Track};
use crate::analysis::{Place, place_label};
use crate::render::export::text;
use crate::trace::state::TaskState;
use crate::trace::timeline::{Poll, Task, TaskKey, WaitId};
use crate::trace::woken_by::WokenBy;

/// Writes all tasks, and notes what their polls refer to.
pub(super) fn write(context: &mut Context<'_>, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = context.timeline();
    if timeline.tasks.is_empty() {
        return Ok(());
    }
    let seen = timeline.tasks.seen();
    let polls: usize = seen.iter().map(|task| task.polls.len()).sum();
    let (first, is_begun) = (trace.reserve_flows(polls as u64), vec![false; polls]);
    let mut flows = Flows { first, before: Vec::with_capacity(seen.len()), is_begun };
    let mut before = 0;
    for task in seen {
        flows.before.push(before);
        before += task.polls.len();
        context.names.push(trace.string_once(&text::task(timeline, task)));
    }
    let all = trace.track("Tasks", Some(context.track), rank::TASKS, Children::Ranked)?;
    let mut writer = Writer {
        context,
        flows,
        arguments: Arguments::new(trace),
        at: trace.argument("at"),
        first: trace.reserve_tracks(timeline.tasks.len() as u64),
        all,
        places: HashMap::new(),
        waits: HashMap::new(),
    };
    // In the order of the report: locations that held workers longest come first.
    for (index, row) in context.run.report.locations.iter().enumerate() {
        let label = row.place.to_string();
        let track = match row.place.is_root {
            true => all,
            false => {
                let runs = context.run.report.runs.iter().find(|runs| runs.place == row.place);
                let name = runs.map(|runs| format!("{}, {label}", runs.name()));
                let name = name.as_ref().unwrap_or(&label);
                trace.track(name, Some(all), index as u64 + 1, Children::ByTime)?
            }
        };
        writer.places.insert(row.place, (track, trace.string(&label)));
    }
    let mut seen = 0;
    for (index, task) in timeline.tasks.one_by_one().enumerate() {
        let of_seen = match &task {
            Cow::Borrowed(_) => Some(seen),
            // A task without records has no polls.
            Cow::Owned(_) => None,
        };
        seen += usize::from(of_seen.is_some());
        writer.task(index as u64, of_seen, &task, trace)?;
    }
    context.flows = writer.flows;
    Ok(())
}

struct Writer<'a> {
    context: &'a Context<'a>,
    flows: Flows,
    arguments: Arguments,
    at: u64,
    /// The number of the first task's track.
    first: u64,
    /// The track that contains all tasks.
    all: Track,
    places: HashMap<Place, (Track, Text)>,
    waits: HashMap<WaitId, Option<Text>>,
}

impl Writer<'_> {
    /// Writes a task, given its index among all tasks and among those that were seen.
    fn task(
        &mut self,
        index: u64,
        seen: Option<usize>,
        task: &Task,
        trace: &mut Trace<impl Write>,
    ) -> io::Result<()> {
        let (context, timeline) = (self.context, self.context.timeline());
        let place = context.run.report.place_of(task);
        // All places are in the report.
        let known = self.places.get(&place).copied();
        let (parent, location) =
            known.unwrap_or_else(|| (self.all, trace.string(&place.to_string())));
        let number = self.first + index;
        let name = text::task(timeline, task);
        let track = trace.reserved_track(number, &name, Some(parent), 0, Children::None)?;
        let mut spawned_by = self.spawn(task, trace)?;
        let mut polls = (0..).zip(&task.polls).peekable();
        let mut wait = task.carried_wait.and_then(|carried| carried.wait);
        let mut transitions = timeline.transitions(task).peekable();
        while let Some((from_ns, state)) = transitions.next() {
            let next_ns = transitions.peek().map(|&(next_ns, _)| next_ns);
            let to_ns = context.at(next_ns.unwrap_or(timeline.end_ns));
            let from_ns = (from_ns, context.at(from_ns));
            let mut flow_in = spawned_by.take();
            match state {
                TaskState::Completed => {}
                TaskState::Running => {
                    let poll = polls.next_if(|(_, poll)| poll.start_ns() <= from_ns.0);
                    let Some(((i, poll), seen)) = poll.zip(seen) else {
                        trace.slice(track, (from_ns.1, to_ns), "poll", "poll")?;
                        continue;
                    };
                    wait = poll.wait();
                    let arguments =
                        poll_arguments(context, &self.arguments, (seen, i), location, trace);
                    if poll.worker().is_none() {
                        flow_in = self.flows.ending((seen, i));
                    }
                    let name = Some(("poll", arguments.category));
                    trace.event(Kind::Begin, track, from_ns.1, name, |event| {
                        arguments.fill(event);
                        flow_in.into_iter().for_each(|flow| event.end_flow(flow));
                    })?;
                    trace.end(track, to_ns)?;
                }
                TaskState::Spawned | TaskState::Ready => {
                    let next = polls.peek().zip(seen);
                    if state == TaskState::Ready {
                        if let Some(((_, poll), _)) = next {
                            flow_in = self.wake(poll, trace)?;
                        }
                    }
                    let flow = next.map(|(&(i, _), seen)| self.flows.begin((seen, i)));
                    let name = Some((state.name(), "ready"));
                    trace.event(Kind::Begin, track, from_ns.1, name, |event| {
                        flow.into_iter().for_each(|flow| event.flow(flow));
                        flow_in.into_iter().for_each(|flow| event.end_flow(flow));
                    })?;
                    trace.end(track, to_ns)?;
                }
                TaskState::Waiting => {
                    let at = wait.and_then(|wait| self.wait(wait, trace));
                    let name = Some((state.name(), "waiting"));
                    trace.event(Kind::Begin, track, from_ns.1, name, |event| {
                        at.into_iter().for_each(|at| event.text(self.at, at));
                        flow_in.into_iter().for_each(|flow| event.end_flow(flow));
                    })?;
                    trace.end(track, to_ns)?;
                }
            }
        }
        Ok(())
    }

    /// Marks the spawn of a task on its parent's track, and returns the flow from there, if both are known.
    fn spawn(&self, task: &Task, trace: &mut Trace<impl Write>) -> io::Result<Option<u64>> {
        let timeline = self.context.timeline();
        let parent = task.parent.and_then(|parent| timeline.tasks.position(parent));
        let Some((parent, spawned_ns)) = parent.zip(task.spawned_ns) else { return Ok(None) };
        let is_spawned =
            task.first_state == TaskState::Spawned && matches!(task.key, TaskKey::Spawned(_));
        if !is_spawned {
            return Ok(None);
        }
        let flow = trace.reserve_flows(1);
        let (track, at_ns) = (Track::new(self.first + parent as u64), self.context.at(spawned_ns));
        let name = Some(("spawn", "spawn"));
        trace.event(Kind::Instant, track, at_ns, name, |event| event.flow(flow))?;
        Ok(Some(flow))
    }

    /// Marks the wake for a poll on the track of the task that woke the other, and returns the flow from there, if the
    /// poll and the time of the wake are known.
    fn wake(&self, poll: &Poll, trace: &mut Trace<impl Write>) -> io::Result<Option<u64>> {
        let tasks = &self.context.timeline().tasks;
        let by = match poll.woken_by() {
            Some(WokenBy::Task(by)) => tasks.position(by),
            _ => None,
        };
        let wake = by.and_then(|by| Some((by, wake_within(poll, &tasks.at(by).polls)?)));
        let Some((by, at_ns)) = wake else { return Ok(None) };
        let (flow, track) = (trace.reserve_flows(1), Track::new(self.first + by as u64));
        let (at_ns, name) = (self.context.at(at_ns), Some(("wake", "wake")));
        trace.event(Kind::Instant, track, at_ns, name, |event| event.flow(flow))?;
        Ok(Some(flow))
    }

    /// Returns where a task waits.
    fn wait(&mut self, wait: WaitId, trace: &mut Trace<impl Write>) -> Option<Text> {
        let timeline = self.context.timeline();
        *self.waits.entry(wait).or_insert_with(|| {
            let wait = timeline.wait(wait)?;
            Some(trace.string(&place_label(wait)))
        })
    }
}

/// Returns when the task of `poll` was woken for it, in ns, if that was in one of `polls`. The time isn't known for a
/// task that is woken in its own poll, as it is only ready from the end of that poll on.
fn wake_within(poll: &Poll, polls: &[Poll]) -> Option<u64> {
    let within = &polls[poll.woken_in(polls)?];
    Some(poll.ready_ns()?.clamp(within.start_ns(), within.end_ns().unwrap_or(u64::MAX)))
}
