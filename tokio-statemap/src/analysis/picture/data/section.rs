//! The section of a file.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::rows::{Rows, changes};
use crate::analysis::picture::{Group, Kind, Role, RowEvent, Section, State, Tag, pack};
use crate::render::report::source_order;
use crate::statemap::read::{Entity, EntityEvent, Statemap};
use crate::statemap::{Ours, is_root};
use crate::trace::state::{TaskState, WorkerState};
use crate::util::clean::clean;

/// By how much two files of one recording may differ in their ends, in ns: where two changes bear
/// one time, the later one is written as 1 ns later.
const SLACK_NS: u64 = 1_000;

/// The section of `file`, one of `files`, that begins `shift_ns` after the left edge of a picture of
/// `length_ns`.
pub(super) fn of<'a>(
    file: &'a Statemap,
    shift_ns: u64,
    length_ns: u64,
    files: &[Statemap],
) -> Section<'a> {
    let ours = file.metadata.ours();
    let mut states = states(file, ours);
    let over = is_over_early(file, shift_ns, length_ns).then(|| {
        // A row that ends so is blank from there on, which is what is known.
        let (name, role) = ("not recorded".to_owned(), Role::Stopped);
        states.push(State { name, colour: None, role });
        states.len() as u32 - 1
    });
    let ends = states.iter().position(|state| state.role.is_end() && ours.is_some());
    let drawn = match ours {
        Some(Ours::Tasks { .. }) => tasks(file),
        Some(Ours::Workers) => one_lane_each(file, "workers".to_owned(), false),
        None => {
            let kind = file.metadata.entity_kind.clone();
            one_lane_each(file, kind.unwrap_or_else(|| "entities".to_owned()), true)
        }
    };
    let has_tags = ours.is_none();
    Section {
        title: title(file, files),
        kind: match ours {
            Some(Ours::Tasks { .. }) => Kind::Tasks,
            Some(Ours::Workers) => Kind::Workers,
            None => Kind::Other,
        },
        states,
        groups: drawn.groups,
        rows: drawn.rows,
        lanes: drawn.lanes,
        tags: if has_tags { tags(file) } else { Vec::new() },
        events: events(file, shift_ns, length_ns),
        source: Box::new(Rows {
            file,
            shift_ns,
            has_tags,
            over,
            ends: ends.map(|state| state as u32),
            are_workers: matches!(ours, Some(Ours::Workers)),
        }),
    }
}

/// Whether a file ends before the picture does, so that what its entities do then isn't known.
pub(super) fn is_over_early(file: &Statemap, shift_ns: u64, length_ns: u64) -> bool {
    let left_ns = length_ns - (shift_ns + file.end_ns).min(length_ns);
    let slack_ns = if file.metadata.ours().is_some() { SLACK_NS } else { 0 };
    left_ns > slack_ns
}

fn title(file: &Statemap, files: &[Statemap]) -> String {
    let ours = |file: &Statemap| file.metadata.ours().map(|ours| ours == Ours::Workers);
    let is_only = files.iter().filter(|other| ours(other) == ours(file)).count() == 1;
    let kind = match ours(file) {
        Some(true) => "Workers",
        Some(false) => "Tasks",
        None if file.metadata.title.is_empty() => return "Entities".to_owned(),
        None => return file.metadata.title.clone(),
    };
    if is_only { kind.to_owned() } else { format!("{kind} of {}", file.metadata.stem()) }
}

fn states(file: &Statemap, ours: Option<Ours>) -> Vec<State> {
    let states = file.metadata.states.iter().enumerate();
    states
        .map(|(value, state)| State {
            name: state.name.clone(),
            colour: state.colour.clone(),
            role: match ours {
                Some(Ours::Tasks { .. }) => TaskState::ALL[value].into(),
                Some(Ours::Workers) => WorkerState::ALL[value].into(),
                None => Role::Other,
            },
        })
        .collect()
}

fn tags(file: &Statemap) -> Vec<Tag> {
    let tags = file.tags.iter();
    tags.map(|tag| Tag { state: tag.state, tag: tag.tag.clone(), fields: tag.fields.clone() })
        .collect()
}

fn events(file: &Statemap, shift_ns: u64, length_ns: u64) -> Vec<RowEvent> {
    let events = file.events.iter();
    events
        .filter(|event| is_shown(file, event))
        .map(|event| RowEvent {
            time_ns: event.time_ns.saturating_add(shift_ns).min(length_ns),
            row: event.entity as u32,
            event: event.event.clone(),
            target: event.target.clone(),
        })
        .collect()
}

/// Whether an event is where something is drawn: of a row, and not after the last change of state.
pub(super) fn is_shown(file: &Statemap, event: &EntityEvent) -> bool {
    !file.entities[event.entity].data.is_empty() && event.time_ns <= file.end_ns
}

/// How the rows of a section are arranged.
#[derive(Default)]
struct Drawn {
    groups: Vec<Group>,
    rows: Vec<u32>,
    lanes: Vec<u32>,
}

/// The entities that there is anything to draw of.
fn entities(file: &Statemap) -> impl Iterator<Item = (u32, &Entity)> {
    let entities = (0..).zip(&file.entities);
    entities.filter(|(_, entity)| !entity.data.is_empty())
}

fn one_lane_each(file: &Statemap, label: String, is_sorted: bool) -> Drawn {
    let mut rows: Vec<u32> = entities(file).map(|(row, _)| row).collect();
    if is_sorted {
        // What comes first in a file that goes by time is chance.
        rows.sort_by_cached_key(|&row| natural(&file.entities[row as usize].name));
    }
    let count = rows.len();
    Drawn {
        groups: vec![Group { label, lanes: 0..count }],
        lanes: (0..=count as u32).collect(),
        rows,
    }
}

/// Sorts `cpu-2` before `cpu-10`.
fn natural(name: &str) -> (&str, u64, &str) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = name[prefix.len()..].parse().unwrap_or(u64::MAX);
    (prefix, number, name)
}

/// The tasks by spawn location, which is their tag: `main` first, then that which ran longest.
fn tasks(file: &Statemap) -> Drawn {
    let mut indices: HashMap<(bool, Option<&str>), usize> = HashMap::new();
    let mut groups: Vec<TaskGroup<'_>> = Vec::new();
    for (row, entity) in entities(file) {
        let tag = entity.data.iter().find_map(|datum| datum.tag);
        let key = (is_root(&entity.name), tag.map(|tag| file.tags[tag].tag.as_str()));
        let index = *indices.entry(key).or_insert_with(|| {
            groups.push(TaskGroup { key, running_ns: 0, rows: Vec::new() });
            groups.len() - 1
        });
        let group = &mut groups[index];
        let (life, running_ns) = life(file, entity);
        group.rows.push((life.0, life.1, row));
        group.running_ns += u128::from(running_ns);
    }
    groups.sort_by(|a, b| a.rank().cmp(&b.rank()));
    let mut drawn = Drawn::default();
    for mut group in groups {
        let first = drawn.lanes.len();
        pack(&mut group.rows, &mut drawn.rows, &mut drawn.lanes);
        let label = match group.key {
            (true, Some(tag)) => format!("{} (main)", clean(tag)),
            (true, None) => "main".to_owned(),
            (false, Some(tag)) => clean(tag).into_owned(),
            (false, None) => "location unknown".to_owned(),
        };
        drawn.groups.push(Group { label, lanes: first..drawn.lanes.len() });
    }
    drawn.lanes.push(drawn.rows.len() as u32);
    drawn
}

/// The tasks of one spawn location.
struct TaskGroup<'a> {
    /// Whether they are futures of `block_on`, and where they were spawned.
    key: (bool, Option<&'a str>),
    running_ns: u128,
    rows: Vec<(u64, Option<u64>, u32)>,
}

impl<'a> TaskGroup<'a> {
    /// The least is the first: of equals the first in the source, as in the report of a run.
    fn rank(&self) -> impl Ord + use<'a> {
        let (is_root, tag) = self.key;
        (!is_root, Reverse(self.running_ns), tag.map(source_order))
    }
}

/// From when to when a task has its lane, and how long it ran.
fn life(file: &Statemap, entity: &Entity) -> ((u64, Option<u64>), u64) {
    let is = |state: TaskState| u32::from(state.value());
    let data = changes(file, entity, true);
    let begin_ns = data.first().map_or(0, |datum| datum.time_ns);
    let mut running_ns = 0;
    for (index, datum) in data.iter().enumerate() {
        if datum.state == is(TaskState::Running) {
            let end_ns = data.get(index + 1).map_or(file.end_ns, |next| next.time_ns);
            running_ns += end_ns.saturating_sub(datum.time_ns);
        }
    }
    let last = data.last().filter(|last| last.state == is(TaskState::Completed));
    // From its first completion on: it may be repeated.
    let first = data.iter().find(|datum| datum.state == is(TaskState::Completed));
    ((begin_ns, last.and(first).map(|datum| datum.time_ns)), running_ns)
}
