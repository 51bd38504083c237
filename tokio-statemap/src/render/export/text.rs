//! Names, as the exports write them.

use crate::trace::timeline::{StackFrame, Task, Timeline};
use crate::util::clean::clean;
use crate::util::source_path::shown;

/// Returns the name of a task: `task-7`, `api/task-7 "checkout"`, with invisible characters escaped.
pub(super) fn task(timeline: &Timeline, task: &Task) -> String {
    let mut name = timeline.task_name(task.key);
    if let Some(given) = &task.name {
        name.push_str(&format!(" \"{given}\""));
    }
    clean(&name).into_owned()
}

/// Returns the name of a function, with invisible characters escaped.
pub(super) fn function(frame: &StackFrame) -> String {
    clean(&frame.function).into_owned()
}

/// Returns the file of a function, from its package on, with invisible characters escaped.
pub(super) fn file(frame: &StackFrame) -> Option<String> {
    frame.file.as_ref().map(|file| clean(&shown(file)).into_owned())
}
