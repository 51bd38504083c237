//! Tests of trees, with constructed timelines.

mod fold;
mod forgotten;
mod local;
#[cfg(feature = "read")]
mod serialized;
mod states;

use std::num::NonZeroU64;
use std::time::Duration;

use super::{StillWaiting, TaskTree, TreeFrame, TreePlace};
use crate::config::CollectorConfig;
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{
    AwaitFrame, CallAtEnd, CarriedWait, LocalTask, Poll, Task, TaskKey, Timeline, Wait, WaitId,
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// The length of all these recordings.
const END_NS: u64 = 10 * S;

const SPAWNED_AT: SpawnLocation = SpawnLocation { file: "src/shop.rs", line: 7, column: 5 };

fn timeline(tasks: Vec<Task>) -> Timeline {
    let mut timeline =
        Timeline::from_events(&[], &CollectorConfig::default(), Duration::from_secs(1));
    (timeline.begin_ns, timeline.end_ns) = (0, END_NS);
    timeline.settings.schedule_latency = true;
    timeline.tasks = tasks.into();
    timeline
}

/// A task that was spawned at 1 s, with these polls.
fn task(id: u64, polls: Vec<Poll>) -> Task {
    Task { location: Some(SPAWNED_AT), ..Task::planted(TaskKey::Spawned(id), S, polls) }
}

/// A task from before the left edge that has no polls.
fn quiet(id: u64, wait: Option<CarriedWait>) -> Task {
    let first_state = TaskState::Waiting;
    Task { spawned_ns: None, first_ns: 0, first_state, carried_wait: wait, ..task(id, Vec::new()) }
}

fn poll(start_ns: u64, end_ns: u64, wait: u16) -> Poll {
    Poll::open(start_ns, 0, Some(0)).ended(end_ns).waits_at(WaitId::new(wait))
}

/// A function of the program at a line. A name with a capital letter stands for one of Tokio's functions.
fn function(name: &str, line: u32) -> StackFrame {
    let is_own = line > 0;
    StackFrame {
        function: name.into(),
        file: is_own.then(|| "src/shop.rs".into()),
        line: is_own.then_some(line),
        origin: if is_own { FrameOrigin::Program } else { FrameOrigin::Runtime },
    }
}

fn awaits(name: &str, line: u32, awaits: Vec<AwaitFrame>) -> AwaitFrame {
    AwaitFrame { function: function(name, line), awaits, name: None, call: None }
}

/// Functions each of which awaits the next. Those of the program have a line, the others 0.
fn chain(functions: &[(&str, u32)]) -> Wait {
    let inner =
        |inner: Vec<AwaitFrame>, &(name, line): &(&str, u32)| vec![awaits(name, line, inner)];
    Wait { frames: functions.iter().rev().fold(Vec::new(), inner) }
}

/// A tree in one line: `async shop::pay:12(Sleep)`.
fn show(frames: &[TreeFrame]) -> String {
    let show = |frame: &TreeFrame| {
        let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
        let inner = match &frame.awaits[..] {
            [] => String::new(),
            awaits => format!("({})", show(awaits)),
        };
        format!("{}{line}{inner}", frame.function)
    };
    frames.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn waits(tree: &TaskTree) -> String {
    match &tree.place {
        TreePlace::Waits(frames) => show(frames),
        other => panic!("{other:?}"),
    }
}
