//! The await trees of tasks as text.

#[cfg(test)]
mod tests;

use std::fmt;

pub use crate::analysis::{TaskTree, TreeFrame, TreeGroup, TreePlace};
use crate::symbols::without_async;
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
        let mut text = count(trees.len() as u64, "task").to_string();
        let mut separator = ": ";
        for (state, name) in [
            (TaskState::Running, "polled"),
            (TaskState::Ready, "ready"),
            (TaskState::Spawned, "not polled yet"),
            (TaskState::Waiting, "waiting"),
        ] {
            let tasks = number_of(trees, &|tree| tree.state == state);
            if tasks > 0 {
                text += &format!("{separator}{tasks} {name}");
                separator = ", ";
            }
        }
        text.push('.');
        let is_unknown =
            |tree: &TaskTree| tree.state == TaskState::Waiting && tree.place == TreePlace::Unknown;
        match number_of(trees, &is_unknown) {
            0 => {}
            1 => text.push_str(
                " 1 task waits at an unknown place: its waker wasn't seen, or the \
                 program has no symbols.",
            ),
            n => {
                text += &format!(
                    " {n} tasks wait at unknown places: their wakers weren't seen, or \
                     the program has no symbols."
                );
            }
        }
        for group in TreeGroup::fold(trees) {
            text.push_str("\n\n");
            add_group(&mut text, &group);
        }
        f.write_str(&text)
    }
}

fn number_of(trees: &[TaskTree], is_it: &dyn Fn(&TaskTree) -> bool) -> usize {
    trees.iter().filter(|tree| is_it(tree)).count()
}

impl fmt::Display for TaskTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        add_group(&mut text, &TreeGroup { first: self, tasks: 1, least_ns: self.for_ns });
        f.write_str(&text)
    }
}

fn add_group(text: &mut String, group: &TreeGroup<'_>) {
    let tree = group.first;
    *text += &tree.task.to_string();
    if let Some(name) = &tree.name {
        *text += &format!(" \"{}\"", clean(name));
    }
    if group.tasks > 1 {
        *text += &format!(" and {}", count(group.tasks as u64 - 1, "other task"));
    }
    if let Some(location) = &tree.location {
        let spawned = if tree.id.is_some() { "spawned at " } else { "" };
        *text += &format!(" ({spawned}{})", clean(&shown(location)));
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
    let [shortest, longest] = [group.least_ns, tree.for_ns].map(human);
    *text += &match shortest == longest {
        true => format!(" {verb} for {least}{longest}"),
        false => format!(" {verb} for {shortest} to {least}{longest}"),
    };
    if tree.is_forgotten {
        text.push_str(", forgotten");
    }
    if let Some(outer) = &tree.polled_in {
        *text += &format!(", polled in {outer}");
    }
    if let (Some(by), 1) = (&tree.woken_by, group.tasks) {
        *text += &format!(", last woken by {by}");
    }
    match &tree.place {
        TreePlace::Waits(frames) | TreePlace::Polled(frames) => {
            let mut indent = Indent { text: "  ".to_owned(), is_one: group.tasks == 1 };
            for frame in frames {
                add_frame(text, frame, &mut indent, ["", ""]);
            }
        }
        TreePlace::NothingWakes => {
            text.push_str("\n  for a future that took no waker: nothing will wake the task");
        }
        TreePlace::Unknown => {}
    }
}

/// The text before a function.
struct Indent {
    text: String,
    /// `true` if the tree is of a single task.
    is_one: bool,
}

/// Adds a function on one line and what it awaits below it. A single awaited function has the same
/// indentation, so that deep chains stay readable. `mark` is before the function, `below` before the others.
fn add_frame(text: &mut String, frame: &TreeFrame, indent: &mut Indent, [mark, below]: [&str; 2]) {
    *text += &format!("\n{}{mark}", indent.text);
    if let Some(name) = &frame.name {
        *text += &format!("{}: ", clean(name));
    }
    *text += &clean(without_async(&frame.function));
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => *text += &format!(" at {}:{line}", clean(&shown(file))),
        (Some(file), None) => *text += &format!(" in {}", clean(&shown(file))),
        (None, _) => {}
    }
    let mut notes = Vec::new();
    if let Some(ns) = frame.for_ns {
        notes.push(format!("for {}", human(ns)));
    }
    if let Some(fields) = &frame.fields {
        // For several tasks, these are those of the first.
        let others = if indent.is_one { "" } else { ", …" };
        notes.push(format!("{fields}{others}"));
    }
    if !notes.is_empty() {
        *text += &format!(" ({})", clean(&notes.join("; ")));
    }
    let length = indent.text.len();
    indent.text.push_str(below);
    for (at, awaited) in frame.awaits.iter().enumerate() {
        let is_last = at + 1 == frame.awaits.len();
        add_frame(text, awaited, indent, if is_last { ["└ ", "  "] } else { ["├ ", "│ "] });
    }
    indent.text.truncate(length);
}
