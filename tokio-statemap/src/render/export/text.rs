//! Names as exports write them.

use crate::trace::timeline::{StackFrame, Task, Timeline};
use crate::util::clean::clean;
use crate::util::source_path::shown;

/// What a task is called: `task-7`, `api/task-7 "checkout"`, with what is invisible escaped.
pub(super) fn task(timeline: &Timeline, task: &Task) -> String {
    let mut name = timeline.task_name(task.key);
    if let Some(given) = &task.name {
        name.push_str(&format!(" \"{given}\""));
    }
    clean(&name).into_owned()
}

/// A function's name, with what is invisible escaped.
pub(super) fn function(frame: &StackFrame) -> String {
    clean(&frame.function).into_owned()
}

/// A function's file, from its package on, with what is invisible escaped.
pub(super) fn file(frame: &StackFrame) -> Option<String> {
    frame.file.as_ref().map(|file| clean(&shown(file)).into_owned())
}
