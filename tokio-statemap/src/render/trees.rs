//! The await trees of tasks as text.

#[cfg(test)]
mod tests;

use std::fmt;

pub use crate::analysis::{TaskTree, TreeFrame, TreeGroup, TreePlace};
use crate::trace::state::TaskState;
use crate::util::clean::clean;
use crate::util::quantity::{count, human};
use crate::util::source_path::shown;

/// The trees of a runtime, as [`Collector::trees`](crate::Collector::trees) returns them, as text. Equal
/// trees are shown once.
///
/// # Examples
///
/// ```no_run
/// # fn dump(collector: &tokio_statemap::Collector) {
/// let trees = collector.trees();
/// eprintln!("{}", tokio_statemap::trees::Folded(&trees));
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Folded<'a>(pub &'a [TaskTree]);

impl fmt::Display for Folded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trees = self.0;
        let of_state = |state| trees.iter().filter(|tree| tree.state == state).count() as u64;
        let states = [
            (TaskState::Running, "polled"),
            (TaskState::Ready, "ready"),
            (TaskState::Spawned, "not polled yet"),
            (TaskState::Waiting, "waiting"),
        ];
        let states = states.map(|(state, name)| (of_state(state), name));
        let states: Vec<_> = states
            .iter()
            .filter(|(tasks, _)| *tasks > 0)
            .map(|(tasks, name)| format!("{tasks} {name}"))
            .collect();
        write!(f, "{}", count(trees.len() as u64, "task"))?;
        if !states.is_empty() {
            write!(f, ": {}", states.join(", "))?;
        }
        f.write_str(".")?;
        let is_unknown =
            |tree: &&TaskTree| tree.state == TaskState::Waiting && tree.place == TreePlace::Unknown;
        match trees.iter().filter(is_unknown).count() as u64 {
            0 => {}
            1 => f.write_str(
                " 1 task waits at an unknown place: it wasn't spawned through tokio_statemap, or the \
                 program has no symbols.",
            )?,
            n => write!(
                f,
                " {n} tasks wait at unknown places: they weren't spawned through tokio_statemap, or the \
                 program has no symbols."
            )?,
        }
        for group in TreeGroup::fold(trees) {
            f.write_str("\n\n")?;
            write_group(f, &group)?;
        }
        Ok(())
    }
}

impl fmt::Display for TaskTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_group(f, &TreeGroup { first: self, tasks: 1, least_ns: self.for_ns })
    }
}

fn write_group(f: &mut fmt::Formatter<'_>, group: &TreeGroup<'_>) -> fmt::Result {
    let tree = group.first;
    write!(f, "{}", tree.task)?;
    if let Some(name) = &tree.name {
        write!(f, " \"{}\"", clean(name))?;
    }
    if group.tasks > 1 {
        write!(f, " and {}", count(group.tasks as u64 - 1, "other task"))?;
    }
    if let Some(location) = &tree.location {
        let spawned = if tree.id.is_some() { "spawned at " } else { "" };
        write!(f, " ({spawned}{})", clean(&shown(location)))?;
    }
    let verb = match (tree.state, group.tasks) {
        (TaskState::Waiting, 1) => "waits",
        (TaskState::Waiting, _) => "wait",
        (TaskState::Running, _) => "is polled",
        (TaskState::Ready, 1) => "is ready",
        (TaskState::Ready, _) => "are ready",
        (_, 1) => "was not polled yet,",
        _ => "were not polled yet,",
    };
    let least = if tree.is_older { "at least " } else { "" };
    match group.tasks {
        1 => write!(f, " {verb} for {least}{}", human(tree.for_ns))?,
        _ => write!(f, " {verb} for {} to {least}{}", human(group.least_ns), human(tree.for_ns))?,
    }
    if tree.is_maybe_forgotten {
        f.write_str(", maybe forgotten")?;
    }
    if let Some(outer) = &tree.polled_in {
        write!(f, ", polled in {outer}")?;
    }
    match &tree.place {
        TreePlace::Waits(frames) | TreePlace::Polled(frames) => {
            let is_one = group.tasks == 1;
            frames.iter().try_for_each(|frame| {
                write_frame(f, frame, &mut Indent { text: "  ".to_owned(), is_one }, "")
            })
        }
        TreePlace::NothingWakes => {
            f.write_str("\n  for a future that took no waker: nothing will wake the task")
        }
        TreePlace::Unknown => Ok(()),
    }
}

/// The text before a function.
struct Indent {
    text: String,
    /// `true` if the tree is of a single task.
    is_one: bool,
}

/// Writes a function on one line and what it awaits below it. A single awaited function has the same
/// indentation, so that deep chains stay readable.
fn write_frame(
    f: &mut fmt::Formatter<'_>,
    frame: &TreeFrame,
    indent: &mut Indent,
    mark: &str,
) -> fmt::Result {
    write!(f, "\n{}{mark}", indent.text)?;
    if let Some(name) = &frame.name {
        write!(f, "{}: ", clean(name))?;
    }
    f.write_str(&clean(frame.function.trim_start_matches("async ")))?;
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => write!(f, " at {}:{line}", clean(&shown(file)))?,
        (Some(file), None) => write!(f, " in {}", clean(&shown(file)))?,
        (None, _) => {}
    }
    // For several tasks, the fields are those of the first.
    let others = if indent.is_one { "" } else { ", …" };
    let fields = frame.fields.as_ref().map(|fields| format!("{fields}{others}"));
    let notes = [frame.for_ns.map(|ns| format!("for {}", human(ns))), fields];
    let notes: Vec<_> = notes.into_iter().flatten().collect();
    if !notes.is_empty() {
        write!(f, " ({})", clean(&notes.join("; ")))?;
    }
    let length = indent.text.len();
    match mark {
        "├ " => indent.text.push_str("│ "),
        "└ " => indent.text.push_str("  "),
        _ => {}
    }
    match &frame.awaits[..] {
        [] => {}
        [one] => write_frame(f, one, indent, "└ ")?,
        [all @ .., last] => {
            all.iter().try_for_each(|frame| write_frame(f, frame, indent, "├ "))?;
            write_frame(f, last, indent, "└ ")?;
        }
    }
    indent.text.truncate(length);
    Ok(())
}
