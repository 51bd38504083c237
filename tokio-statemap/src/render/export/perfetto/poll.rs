//! The arguments of the slice of a poll, on the tracks of its task and its worker.

use std::io::Write;

use super::context::Context;
use super::trace::{Event, Text, Trace};
use crate::render::export::text;

/// The numbers of the arguments.
pub(super) struct Arguments {
    task: u64,
    location: u64,
    worker: u64,
    ready_ns: u64,
    woken_by: u64,
    own_ns: u64,
    cause: u64,
    on_cpu_ns: u64,
    blocked_ns: u64,
    taken_ns: u64,
    unknown_ns: u64,
    function: u64,
    line: u64,
    blocking_cause: u64,
    is_unattributed: u64,
}

impl Arguments {
    pub(super) fn new(trace: &mut Trace<impl Write>) -> Self {
        let mut of = |name| trace.argument(name);
        Self {
            task: of("task"),
            location: of("location"),
            worker: of("worker"),
            ready_ns: of("ready_ns"),
            woken_by: of("woken_by"),
            own_ns: of("own_ns"),
            cause: of("cause"),
            on_cpu_ns: of("on_cpu_ns"),
            blocked_ns: of("blocked_ns"),
            taken_ns: of("taken_ns"),
            unknown_ns: of("unknown_ns"),
            function: of("blamed_function"),
            line: of("blamed_line"),
            blocking_cause: of("blocking_cause"),
            is_unattributed: of("is_unattributed"),
        }
    }
}

/// The category and the arguments of a poll.
pub(super) struct PollArguments {
    /// `long poll`, or `poll`.
    pub(super) category: &'static str,
    numbers: Vec<(u64, u64)>,
    texts: Vec<(u64, Text)>,
    is_unattributed: Option<u64>,
}

/// Returns the arguments of a poll, given the indices of a task that was seen and of its poll.
pub(super) fn poll_arguments(
    context: &Context<'_>,
    arguments: &Arguments,
    (task, poll): (usize, usize),
    location: Text,
    trace: &mut Trace<impl Write>,
) -> PollArguments {
    let facts = context.polls.facts(task, poll);
    let timeline = context.timeline();
    let poll = &timeline.tasks.seen()[task].polls[poll];
    let is_long = poll.worker().is_some()
        && u128::from(facts.held_ns) > timeline.settings.long_poll.as_nanos();
    let mut texts = vec![(arguments.task, context.names[task]), (arguments.location, location)];
    texts.extend(poll.woken_by().map(|by| (arguments.woken_by, trace.string(&by.to_string()))));
    let mut numbers = Vec::new();
    numbers.extend(poll.worker().map(|worker| (arguments.worker, worker.into())));
    numbers.extend(facts.ready_ns.map(|ns| (arguments.ready_ns, ns)));
    if is_long || facts.cause.is_some() {
        numbers.push((arguments.own_ns, facts.own_ns));
    }
    if let Some(cause) = &facts.cause {
        numbers.extend([
            (arguments.on_cpu_ns, cause.on_cpu_ns),
            (arguments.blocked_ns, cause.blocked_ns),
            (arguments.taken_ns, cause.taken_ns()),
            (arguments.unknown_ns, cause.unknown_ns),
        ]);
        texts.push((arguments.cause, trace.string(cause.most())));
    }
    if let Some(blame) = &facts.blame {
        if let Some(frame) = &blame.frame {
            texts.push((arguments.function, trace.string(&text::function(frame))));
            if let (Some(file), Some(line)) = (text::file(frame), frame.line) {
                texts.push((arguments.line, trace.string(&format!("{file}:{line}"))));
            }
        }
        if !blame.blocking_cause.is_empty() {
            texts.push((arguments.blocking_cause, trace.string(&blame.blocking_cause)));
        }
    }
    PollArguments {
        category: if is_long { "long poll" } else { "poll" },
        numbers,
        texts,
        is_unattributed: facts.is_unattributed.then_some(arguments.is_unattributed),
    }
}

impl PollArguments {
    pub(super) fn fill(&self, event: &mut Event<'_>) {
        self.texts.iter().for_each(|&(argument, text)| event.text(argument, text));
        self.numbers.iter().for_each(|&(argument, number)| event.number(argument, number));
        if let Some(argument) = self.is_unattributed {
            event.bool(argument, true);
        }
    }
}
