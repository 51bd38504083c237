//! The polls of a run, as the tables have them: one row for each.

use std::io;

use super::{Run, text};
use crate::analysis::polls::{PollFacts, Polls};
use crate::trace::timeline::{Poll, Task};

/// A column of a table: its name, and the type of its values. Any value may be missing if it isn't known.
pub(super) type Column = (&'static str, Kind);

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text, with invisible characters escaped.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Bool,
    /// A moment in UTC, in µs since the Unix epoch.
    #[cfg(feature = "parquet")]
    Moment,
}

/// A value of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Text(Option<&'a str>),
    Number(Option<u64>),
    Bool(bool),
}

/// The columns of a table of polls. Times are in ns, and `start_ns` counts from the start of recording, as in the
/// report.
pub(super) const POLL_COLUMNS: [Column; 25] = [
    ("run", Kind::Text),
    ("task", Kind::Text),
    ("name", Kind::Text),
    ("spawn_location", Kind::Text),
    ("worker", Kind::Number),
    ("thread", Kind::Number),
    ("start_ns", Kind::Number),
    ("length_ns", Kind::Number),
    ("held_ns", Kind::Number),
    ("ready_ns", Kind::Number),
    ("woken_by", Kind::Text),
    ("is_running", Kind::Bool),
    ("is_cut", Kind::Bool),
    ("own_ns", Kind::Number),
    ("on_cpu_ns", Kind::Number),
    ("blocked_ns", Kind::Number),
    ("run_delay_ns", Kind::Number),
    ("stolen_ns", Kind::Number),
    ("unknown_ns", Kind::Number),
    ("major_faults", Kind::Number),
    ("is_unattributed", Kind::Bool),
    ("blamed_function", Kind::Text),
    ("blamed_file", Kind::Text),
    ("blamed_line", Kind::Number),
    ("blocking_cause", Kind::Text),
];

/// A poll, and the facts about it.
pub(super) struct PollRow<'a> {
    task: &'a Task,
    /// The spawn location of the task, as the report shows it.
    pub(super) spawn_location: &'a str,
    pub(super) poll: &'a Poll,
    pub(super) facts: PollFacts,
    /// The length, in ns; up to the right edge if the poll was still running there.
    length_ns: u64,
}

impl PollRow<'_> {
    /// Calls `write` with the cells of [`POLL_COLUMNS`], the first of which is `run`.
    pub(super) fn cells<R>(&self, run: &str, write: impl FnOnce(&[Cell<'_>; 25]) -> R) -> R {
        let Self { task, spawn_location, poll, facts, length_ns } = self;
        let cause = facts.cause.as_ref();
        let frame = facts.blame.as_ref().and_then(|blame| blame.frame.as_ref());
        let act = facts.blame.as_ref().map(|blame| blame.blocking_cause.as_str());
        let function = frame.map(text::function);
        let file = frame.and_then(text::file);
        let woken_by = poll.woken_by().map(|by| by.to_string());
        write(&[
            Cell::Text(Some(run)),
            Cell::Text(Some(&task.key.to_string())),
            Cell::Text(task.name.as_deref()),
            Cell::Text(Some(spawn_location)),
            Cell::Number(poll.worker().map(u64::from)),
            Cell::Number(Some(poll.thread().into())),
            Cell::Number(Some(poll.start_ns())),
            Cell::Number(Some(*length_ns)),
            Cell::Number(Some(facts.held_ns)),
            Cell::Number(facts.ready_ns),
            Cell::Text(woken_by.as_deref()),
            Cell::Bool(poll.end_ns().is_none()),
            Cell::Bool(poll.is_cut_left() || poll.is_cut_right()),
            Cell::Number(Some(facts.own_ns)),
            Cell::Number(cause.map(|cause| cause.on_cpu_ns)),
            Cell::Number(cause.map(|cause| cause.blocked_ns)),
            Cell::Number(cause.map(|cause| cause.run_delay_ns)),
            Cell::Number(cause.map(|cause| cause.stolen_ns)),
            Cell::Number(cause.map(|cause| cause.unknown_ns)),
            Cell::Number(cause.map(|cause| cause.major_faults)),
            Cell::Bool(facts.is_unattributed),
            Cell::Text(function.as_deref()),
            Cell::Text(file.as_deref()),
            Cell::Number(frame.and_then(|frame| frame.line).map(u64::from)),
            Cell::Text(act.filter(|act| !act.is_empty())),
        ])
    }
}

/// Calls `each` with every poll of `run`, task by task, in the order of time.
pub(super) fn for_each_poll(
    run: &Run<'_>,
    mut each: impl FnMut(&PollRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let timeline = run.timeline;
    let polls = Polls::new(timeline, &run.report);
    for (at, task) in timeline.tasks.seen().iter().enumerate() {
        if task.polls.is_empty() {
            continue;
        }
        let spawn_location = run.report.place_of(task).to_string();
        for (i, poll) in task.polls.iter().enumerate() {
            let (length_ns, facts) = (poll.length_ns(timeline.end_ns), polls.facts(at, i));
            each(&PollRow { task, spawn_location: &spawn_location, poll, facts, length_ns })?;
        }
    }
    Ok(())
}
