//! Shows where each live task is: in which functions it waits, or which functions its thread runs.

mod fold;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

pub use fold::TreeGroup;

use crate::symbols::StackFrame;
use crate::trace::state::TaskState;
use crate::trace::timeline::{
    AwaitFrame, CallAtEnd, CutWait, FrameOrigin, LocalTask, PollSample, Shutdown, Task, TaskKey,
    Timeline, Wait, Waiting,
};
use crate::trace::woken_by::WokenBy;
use crate::util::map::Map;

/// A live task, its state, and the functions that it is in.
///
/// `Display` writes a few lines: the task, and the functions, the outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "read", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TaskTree {
    /// Its name in the pictures: `main`, `task-7`.
    pub task: String,
    /// Its id, as Tokio counts it; `None` for a root future.
    pub id: Option<u64>,
    /// The name that it was given.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub name: Option<String>,
    /// Its spawn location, as `file:line:column`; for `main` the location of the function.
    pub location: Option<String>,
    /// The task in whose polls it is polled, if it is a task of a `LocalSet`.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub polled_in: Option<String>,
    /// The source of its last wake, if it is a task of a `LocalSet` and that is known.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub woken_by: Option<String>,
    /// Its state.
    #[cfg_attr(feature = "read", serde(serialize_with = "state_name"))]
    pub state: TaskState,
    /// The time that it has been in that state, in ns. If [`is_older`](Self::is_older), it may be longer.
    pub for_ns: u64,
    /// `true` if it may have been in that state for longer than is known.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "std::ops::Not::not"))]
    pub is_older: bool,
    /// Its place, as far as that is known.
    pub place: TreePlace,
    /// `true` if it has waited for over 1 s and half of what was recorded, and nothing kept its waker. Whether a waker is
    /// ever used isn't known, so a task whose waker was kept isn't said to be forgotten.
    pub is_forgotten: bool,
}

/// The place of a task, as far as that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "read", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum TreePlace {
    /// It waits in these functions: one, with the functions that it awaits; or several if the stack could not be
    /// followed up to the task's own function.
    Waits(Vec<TreeFrame>),
    /// A long poll of it is in progress, in these functions, the outermost first.
    Polled(Vec<TreeFrame>),
    /// Nothing kept the waker that it was polled with, so nothing will wake it.
    NothingWakes,
    /// An unknown place. The waker of a task that waits was not seen, its stack could not be followed, or the task has
    /// waited since before the recording.
    Unknown,
}

/// A function that a task is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "read", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TreeFrame {
    /// The function, such as `async shop::checkout`.
    pub function: String,
    /// The source file; `None` if that isn't known, or the function is the runtime's.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub file: Option<String>,
    /// The line that it is at, counted from 1; `None` if that isn't known.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub line: Option<u32>,
    /// The name that the call was given.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub name: Option<String>,
    /// The time since the call began, in ns, if it is instrumented.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub for_ns: Option<u64>,
    /// Its arguments, if it is instrumented with any.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Option::is_none"))]
    pub fields: Option<String>,
    /// The futures that it awaits: several if it polls several at once.
    #[cfg_attr(feature = "read", serde(skip_serializing_if = "Vec::is_empty"))]
    pub awaits: Vec<Self>,
    /// `true` if it is the program's own, and not a library's.
    #[cfg_attr(feature = "read", serde(skip))]
    pub(crate) is_of_program: bool,
}

#[cfg(feature = "read")]
fn state_name<S: serde::Serializer>(state: &TaskState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.name())
}

/// Tasks of one spawn location that still waited at the end, at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StillWaiting {
    /// The task that waited longest.
    pub longest: TaskTree,
    /// The number of tasks.
    pub tasks: usize,
    /// The shortest wait of one of them, in ns.
    pub least_ns: u64,
    /// The task that waited longest, or the one in whose polls it is polled.
    pub(crate) key: TaskKey,
    /// The task that waited longest, if it is one of a `LocalSet`.
    pub(crate) local: Option<LocalTask>,
}

/// The least length of a wait that may last for ever, in ns. It must also be half of what was recorded.
const LONG_WAIT_NS: u64 = 1_000_000_000;

impl Timeline {
    /// Returns the place of each task that is alive at the right edge: the root futures (`main` first), then spawned
    /// tasks by id. Tasks of a `LocalSet` follow the task in whose polls they are polled.
    ///
    /// The place of a waiting task is known for all tasks with the feature `wakes`, and otherwise for root futures and
    /// for tasks spawned through this crate ([`task`](crate::task)).
    pub fn trees(&self) -> Vec<TaskTree> {
        let mut trees = Vec::new();
        // There may be many tasks and many local tasks.
        let mut local_tasks: Map<TaskKey, Vec<&LocalTask>> = Map::default();
        for local in &self.local_tasks {
            local_tasks.get_or_default(local.polled_in).push(local);
        }
        for task in self.tasks.one_by_one() {
            if task.terminated_ns.is_some() {
                continue;
            }
            trees.push(self.tree(&task));
            if let Some(local_tasks) = local_tasks.get(&task.key) {
                for local in local_tasks {
                    trees.push(self.local_tree(local));
                }
            }
        }
        trees
    }

    /// Returns the tasks that still waited at the end at a known place, grouped by spawn location and place; none if
    /// only root futures did. The end is the right edge, or the end of the runtime.
    pub(super) fn still_waiting(&self) -> Vec<StillWaiting> {
        // There may be a million tasks, so only the properties that tell groups apart are kept.
        let mut groups: Map<_, (Task, u64, usize, u64)> = Map::default();
        let shutdown = Shutdown::from_timeline(self);
        for task in self.tasks.one_by_one() {
            let cut = shutdown.cut_wait(&task);
            let waiting = match cut {
                Some(cut) => self.waiting(cut.wait),
                None => self.waiting_at_end(&task),
            };
            let id = match waiting {
                Waiting::At(wait) => Some(std::ptr::from_ref(wait)),
                Waiting::Nothing => None,
                Waiting::Unknown => continue,
            };
            let for_ns = match cut {
                Some(cut) => cut.for_ns(),
                None => match self.state_at_end(&task) {
                    (TaskState::Waiting, since_ns, _) => self.end_ns.saturating_sub(since_ns),
                    _ => continue,
                },
            };
            let is_root = matches!(task.key, TaskKey::Root(_));
            let key = (task.location, is_root, id);
            match groups.get_mut(&key) {
                Some((first, longest_ns, tasks, least_ns)) => {
                    *tasks += 1;
                    *least_ns = for_ns.min(*least_ns);
                    // If two are equal, the first stays, whatever the order of the map.
                    if for_ns > *longest_ns {
                        (*first, *longest_ns) = (task.into_owned(), for_ns);
                    }
                }
                None => {
                    groups.insert(key, (task.into_owned(), for_ns, 1, for_ns));
                }
            }
        }
        let mut found = self.locals_still_waiting();
        if found.is_empty() && groups.iter().all(|((_, is_root, _), _)| *is_root) {
            return found;
        }
        for (_, (task, _, tasks, least_ns)) in groups {
            let longest = match shutdown.cut_wait(&task) {
                Some(cut) => self.cut_tree(&task, cut),
                None => self.tree(&task),
            };
            found.push(StillWaiting { longest, tasks, least_ns, key: task.key, local: None });
        }
        let local = |group: &StillWaiting| group.local.as_ref().map(|local| local.id);
        let key = |group: &StillWaiting| (Reverse(group.longest.for_ns), group.key, local(group));
        crate::util::sort::by_key(&mut found, key);
        found
    }

    /// Returns the same of the tasks of `LocalSet`s, if they are polled in tasks that live. They are grouped by these
    /// tasks, too.
    fn locals_still_waiting(&self) -> Vec<StillWaiting> {
        let mut groups: Map<_, (&LocalTask, usize, u64)> = Map::default();
        for local in &self.local_tasks {
            let id = match self.waiting_of_local(local) {
                Waiting::At(wait) => Some(std::ptr::from_ref(wait)),
                Waiting::Nothing => None,
                Waiting::Unknown => continue,
            };
            if !self.tasks.lives(local.polled_in) {
                continue;
            }
            let since = local.waits_since_ns;
            let group = groups
                .get_or_insert_with((local.location, local.polled_in, id), || (local, 0, since));
            group.1 += 1;
            group.2 = group.2.max(since);
            // The tasks are sorted by id.
            if since < group.0.waits_since_ns {
                group.0 = local;
            }
        }
        let mut found = Vec::new();
        for (_, (longest, tasks, latest_ns)) in groups {
            found.push(StillWaiting {
                longest: self.local_tree(longest),
                tasks,
                least_ns: self.end_ns.saturating_sub(latest_ns),
                key: longest.polled_in,
                local: Some(longest.clone()),
            });
        }
        found
    }

    fn tree(&self, task: &Task) -> TaskTree {
        let (state, since_ns, is_older) = self.state_at_end(task);
        let place = match state {
            TaskState::Waiting => self.place_of(self.waiting_at_end(task), task.key),
            TaskState::Running => self.place_of_poll(task),
            _ => TreePlace::Unknown,
        };
        let for_ns = self.end_ns.saturating_sub(since_ns);
        TaskTree {
            task: self.task_name(task.key),
            id: match task.key {
                TaskKey::Spawned(id) => Some(id),
                TaskKey::Root(_) => None,
            },
            name: task.name.as_deref().map(str::to_owned),
            location: task.location.map(|location| location.to_string()),
            polled_in: None,
            woken_by: None,
            state,
            for_ns,
            is_older,
            is_forgotten: self.is_forgotten(state, for_ns, &place),
            place,
        }
    }

    /// Returns the tree of a task just before it was dropped.
    fn cut_tree(&self, task: &Task, cut: CutWait) -> TaskTree {
        let (state, for_ns) = (TaskState::Waiting, cut.for_ns());
        let place = self.place_of(self.waiting(cut.wait), task.key);
        let is_forgotten = self.is_forgotten(state, for_ns, &place);
        TaskTree { state, for_ns, is_older: false, is_forgotten, place, ..self.tree(task) }
    }

    fn local_tree(&self, task: &LocalTask) -> TaskTree {
        let key = TaskKey::Spawned(task.id);
        let place = self.place_of(self.waiting_of_local(task), key);
        let for_ns = self.end_ns.saturating_sub(task.waits_since_ns);
        TaskTree {
            task: self.task_name(key),
            id: Some(task.id),
            name: task.name.as_deref().map(str::to_owned),
            location: task.location.map(|location| location.to_string()),
            polled_in: Some(self.task_name(task.polled_in)),
            woken_by: task.woken_by.map(|by| match by {
                WokenBy::Task(key) => self.task_name(key),
                by => by.to_string(),
            }),
            state: TaskState::Waiting,
            for_ns,
            is_older: false,
            is_forgotten: self.is_forgotten(TaskState::Waiting, for_ns, &place),
            place,
        }
    }

    fn place_of(&self, waiting: Waiting<'_>, key: TaskKey) -> TreePlace {
        match waiting {
            Waiting::At(Wait { frames, .. }) => {
                let calls = self.calls_at_end(key);
                TreePlace::Waits(self.frames(frames, calls))
            }
            Waiting::Nothing => TreePlace::NothingWakes,
            Waiting::Unknown => TreePlace::Unknown,
        }
    }

    fn frames(&self, frames: &[AwaitFrame], calls: &[CallAtEnd]) -> Vec<TreeFrame> {
        let mut all = Vec::with_capacity(frames.len());
        for frame in frames {
            let call = frame.call.and_then(|index| calls.get(usize::from(index)));
            all.push(TreeFrame {
                name: frame.name.as_deref().map(str::to_owned),
                for_ns: call.map(|call| self.end_ns.saturating_sub(call.entered_ns)),
                fields: call.and_then(|call| call.fields.clone()),
                awaits: self.frames(&frame.awaits, calls),
                ..TreeFrame::from_frame(&frame.function)
            });
        }
        all
    }

    /// Returns the functions in the last sample of the poll in progress.
    fn place_of_poll(&self, task: &Task) -> TreePlace {
        let sample = match task.polls.last() {
            Some(open) if open.end_ns().is_none() => self.samples(open).last(),
            _ => None,
        };
        let Some(PollSample { frames, blocked_in, .. }) = sample else { return TreePlace::Unknown };
        // The innermost frame is the first.
        let mut inner = Vec::new();
        if let Some(call) = blocked_in {
            let function = format!("blocked in {call}");
            inner.push(TreeFrame { function, ..TreeFrame::default() });
        }
        for frame in frames {
            inner = vec![TreeFrame { awaits: inner, ..TreeFrame::from_frame(frame) }];
        }
        TreePlace::Polled(inner)
    }

    fn is_forgotten(&self, state: TaskState, for_ns: u64, place: &TreePlace) -> bool {
        let waits_for_long =
            state == TaskState::Waiting && for_ns >= LONG_WAIT_NS.max(self.length_ns() / 2);
        waits_for_long && *place == TreePlace::NothingWakes
    }
}

impl TreeFrame {
    fn from_frame(frame: &StackFrame) -> Self {
        Self {
            function: frame.function.to_string(),
            file: frame.file.as_deref().map(str::to_owned),
            line: frame.line,
            is_of_program: frame.origin == FrameOrigin::Program,
            ..Self::default()
        }
    }
}
