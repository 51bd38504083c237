//! Shows where the tasks of a section wait, by the tags that its rows have meanwhile.

use super::Tag;
use super::once::Once;
use crate::analysis::waits::{line_of, place_label};
use crate::analysis::{Report, WaitRow};
use crate::trace::state::TaskState;
use crate::trace::timeline::{AwaitFrame, StackFrame, Timeline, WaitId};
use crate::util::map::Map;

/// The places at which the tasks of a section wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Awaits {
    /// The frames that the other fields refer to by index.
    pub(crate) frames: Vec<StackFrame>,
    /// A place for each of the section's tags.
    pub(crate) places: Vec<AwaitPlace>,
    /// The lines at which tasks waited, as the report has them.
    pub(crate) lines: Vec<AwaitLine>,
    /// The tasks that still waited at the end, as the report has them.
    pub(crate) still: Vec<StillHere>,
    /// Sentences on what isn't known.
    pub(crate) notes: Vec<String>,
}

/// The functions of one place.
#[derive(Clone, Debug, Default)]
pub(crate) struct AwaitPlace {
    /// The functions, the outermost first, each after the one that awaits it.
    pub(crate) functions: Vec<AwaitFunction>,
    /// The lines for which a wait here counts, as indices.
    pub(crate) lines: Vec<u32>,
}

/// A function that a task is in while it waits.
#[derive(Clone, Debug)]
pub(crate) struct AwaitFunction {
    /// Its frame.
    pub(crate) frame: u32,
    /// The function of the same place that awaits it; `None` of an outermost one.
    pub(crate) awaited_by: Option<u32>,
    /// The name that the call was given.
    pub(crate) name: Option<String>,
}

/// A line at which tasks waited.
#[derive(Clone, Debug)]
pub(crate) struct AwaitLine {
    pub(crate) frame: u32,
    pub(crate) row: WaitRow,
}

/// A task of a `LocalSet` that still waited at the end.
#[derive(Clone, Debug)]
pub(crate) struct LocalHere {
    pub(crate) name: String,
    /// The source of its last wake; `None` if that isn't known, or if there are several such tasks.
    pub(crate) woken_by: Option<String>,
    /// The tag of its place.
    pub(crate) tag: Option<u32>,
}

/// Tasks that still waited at the end, at one place.
#[derive(Clone, Debug)]
pub(crate) struct StillHere {
    /// The row of the task that waited longest, or of the one in whose polls it is polled, as an index into the source.
    pub(crate) row: u32,
    /// The task, if it is one of a `LocalSet`: it has no row.
    pub(crate) local: Option<LocalHere>,
    pub(crate) tasks: usize,
    pub(crate) for_ns: u64,
    pub(crate) is_forgotten: bool,
}

impl Awaits {
    /// `report` is that of `timeline`. Returns `None` if nothing is known.
    pub(super) fn from_report(timeline: &Timeline, report: &Report) -> Option<Self> {
        let notes = report.waits.notes();
        if timeline.places.waits.is_empty() && report.still_waiting.is_empty() && notes.is_empty() {
            return None;
        }
        let mut frames = Once::default();
        let mut lines = Vec::new();
        let mut by_line: Map<_, u32> = Map::default();
        for row in &report.waits.lines {
            by_line.insert((&row.at, row.awaits.as_deref()), lines.len() as u32);
            lines.push(AwaitLine { frame: frames.index(row.at.clone()), row: row.clone() });
        }
        let mut places = Vec::new();
        for wait in &timeline.places.waits {
            let mut place = AwaitPlace::default();
            for frame in &wait.frames {
                add(frame, None, &mut place.functions, &mut frames);
            }
            for line in wait.lines() {
                place.lines.extend(by_line.get(&line_of(line)));
            }
            crate::util::sort::sort(&mut place.lines);
            place.lines.dedup();
            places.push(place);
        }
        // The last place is that of tasks whose waker nothing kept.
        places.push(AwaitPlace::default());
        let mut still = Vec::new();
        for group in &report.still_waiting {
            let Some(row) = timeline.tasks.position(group.key) else { continue };
            let local = group.local.as_ref().map(|local| LocalHere {
                name: group.longest.task.clone(),
                woken_by: group.longest.woken_by.clone().filter(|_| group.tasks == 1),
                tag: local.wait.and_then(|wait| tag_of(timeline, wait)),
            });
            still.push(StillHere {
                row: row as u32,
                local,
                tasks: group.tasks,
                for_ns: group.longest.for_ns,
                is_forgotten: group.longest.is_forgotten,
            });
        }
        Some(Self { still, frames: frames.all, places, lines, notes })
    }
}

/// Returns the tags of rows whose tasks wait, in the order of [`tag_of`].
pub(super) fn tags(timeline: &Timeline) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut add = |tag: String| {
        let state = u32::from(TaskState::Waiting.value());
        tags.push(Tag { state, tag, fields: Vec::new() });
    };
    for wait in &timeline.places.waits {
        add(place_label(wait));
    }
    add("nothing took its waker".to_owned());
    tags
}

/// Returns the tag of a wait, as an index; `None` if nothing is known of it.
pub(super) fn tag_of(timeline: &Timeline, wait: WaitId) -> Option<u32> {
    if wait == WaitId::NOTHING {
        return Some(timeline.places.waits.len() as u32);
    }
    timeline.wait(wait).map(|_| wait.index() as u32)
}

/// Adds a function, followed by the functions that it awaits.
fn add(
    function: &AwaitFrame,
    awaited_by: Option<u32>,
    functions: &mut Vec<AwaitFunction>,
    frames: &mut Once<StackFrame>,
) {
    let this = functions.len() as u32;
    let frame = frames.index(function.function.clone());
    let name = function.name.as_deref().map(str::to_owned);
    functions.push(AwaitFunction { frame, awaited_by, name });
    for next in &function.awaits {
        add(next, Some(this), functions, frames);
    }
}
