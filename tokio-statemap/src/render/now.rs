//! Says what workers do at the end of a timeline, in a line each, and what they did lately.

use std::fmt::Write as _;

use crate::analysis::recent::Recent;
use crate::symbols::StackFrame;
use crate::trace::state::WorkerState;
use crate::trace::timeline::{Poll, Task, Timeline, Worker};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, percent};
use crate::util::source_path::shown;

/// Returns a line for each worker: what it polls and for how long, in which function as far as that was sampled, or that
/// it has nothing to do.
pub fn workers_now(timeline: &Timeline) -> Vec<String> {
    let mut lines = Vec::new();
    for worker in &timeline.workers {
        lines.push(format!("worker-{} {}", worker.index, does(timeline, worker)));
    }
    lines
}

/// Returns a line on the polls of the last second, and one on the poll that held a worker longest in the last minute; as
/// far as that time is recorded in detail.
pub fn lately(timeline: &Timeline) -> Vec<String> {
    let recent = Recent::from_timeline(timeline);
    if recent.second_ns == 0 {
        return Vec::new();
    }
    let mut text = format!(
        "in the last {}: {} a second",
        human(recent.second_ns),
        count(recent.polls_a_second(), "poll")
    );
    if let Some(held) = recent.held {
        _ = write!(text, ", which held the workers for {} of the time", percent(held));
    }
    if let Some(longest_ns) = recent.longest_ns {
        _ = write!(text, ", the longest for {}", human(longest_ns));
    }
    if let Some(ready_ns) = recent.ready_p99_ns {
        _ = write!(text, "; 99 % began within {} of their tasks being ready", human(ready_ns));
    }
    let mut lines = vec![text];
    if let Some((task, poll)) = recent.longest {
        let mut text = format!(
            "in the last {}: {}{} held a worker longest, for {}",
            human(recent.minute_ns),
            task.key,
            spawned_at(task),
            human(timeline.held_ns(poll)),
        );
        if poll.end_ns().is_none() {
            text += " so far";
        }
        text += &sampled_in(timeline, poll);
        lines.push(text);
    }
    lines
}

fn does(timeline: &Timeline, worker: &Worker) -> String {
    let end_ns = timeline.end_ns;
    if let Some((task, poll)) = polled(timeline, worker.index) {
        return polls(timeline, task, poll);
    }
    let Some(&(since_ns, state)) = worker.transitions.last() else { return String::new() };
    let for_ns = human(end_ns.saturating_sub(since_ns));
    match state {
        WorkerState::Running => format!("is between polls, or starts, for {for_ns} now"),
        WorkerState::Parked => format!("has had nothing to do for {for_ns}"),
        WorkerState::Stopped => format!("ended {for_ns} ago"),
    }
}

/// Returns the poll that goes on on a worker, the innermost.
fn polled(timeline: &Timeline, worker: u32) -> Option<(&Task, &Poll)> {
    let mut found: Option<(&Task, &Poll)> = None;
    for task in timeline.tasks.seen() {
        let Some(poll) = task.polls.last() else { continue };
        let goes_on = poll.end_ns().is_none() && poll.worker() == Some(worker);
        if goes_on && found.is_none_or(|(_, other)| other.start_ns() < poll.start_ns()) {
            found = Some((task, poll));
        }
    }
    found
}

fn polls(timeline: &Timeline, task: &Task, poll: &Poll) -> String {
    let for_ns = human(poll.length_ns(timeline.end_ns));
    let mut text = format!("polls {}{} for {for_ns} now", task.key, spawned_at(task));
    text += &sampled_in(timeline, poll);
    text
}

/// Returns where a task was spawned, in commas; nothing if that isn't known.
fn spawned_at(task: &Task) -> String {
    let Some(location) = &task.location else { return String::new() };
    let file = shown(location.file);
    format!(", spawned at {}:{}:{},", clean(&file), location.line, location.column)
}

/// Returns what the last sample of a poll shows, after a colon; nothing if there is none.
fn sampled_in(timeline: &Timeline, poll: &Poll) -> String {
    let mut text = String::new();
    let samples = &timeline.long_polls.samples;
    let of_poll = |thread, start_ns| (thread, start_ns) == (poll.thread(), poll.start_ns());
    let last = samples.iter().rfind(|sample| of_poll(sample.thread, sample.poll_start_ns));
    let Some(sample) = last else { return text };
    if let Some(call) = &sample.blocked_in {
        _ = write!(text, ": blocked in {}", clean(call));
    }
    if let Some(frame) = sample.blamed().or(sample.frames.first()) {
        let separator = if sample.blocked_in.is_some() { " in" } else { ": in" };
        _ = write!(text, "{separator} {}", function(frame));
    }
    text
}

fn function(frame: &StackFrame) -> String {
    let mut text = clean(&frame.function).into_owned();
    if let (Some(file), Some(line)) = (&frame.file, frame.line) {
        _ = write!(text, " at {}:{line}", clean(&shown(file)));
    }
    text
}
