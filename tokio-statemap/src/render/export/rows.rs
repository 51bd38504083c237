//! The polls of a run, one row each, as the tables have them.

use std::io;

use super::Run;
use crate::analysis::polls::{PollFacts, Polls};
use crate::trace::timeline::{Poll, Task};

/// A poll, and what is known of it.
pub(super) struct PollRow<'a> {
    pub(super) task: &'a Task,
    /// Where it was spawned, as the report says it.
    pub(super) spawn_location: &'a str,
    pub(super) poll: &'a Poll,
    /// How long it is, in ns: up to the right edge if it still ran there.
    pub(super) length_ns: u64,
    pub(super) facts: PollFacts,
}

/// Calls `each` with every poll of `run`, task by task, and of each by time.
pub(super) fn for_each_poll(
    run: &Run<'_>,
    mut each: impl FnMut(&PollRow<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let timeline = run.timeline;
    let polls = Polls::of(timeline, &run.report);
    for (at, task) in timeline.tasks.seen().iter().enumerate() {
        if task.polls.is_empty() {
            continue;
        }
        let spawn_location = run.report.place_of(task).to_string();
        for (i, poll) in task.polls.iter().enumerate() {
            each(&PollRow {
                task,
                spawn_location: &spawn_location,
                poll,
                length_ns: poll.length_ns(timeline.end_ns),
                facts: polls.facts(at, i),
            })?;
        }
    }
    Ok(())
}
