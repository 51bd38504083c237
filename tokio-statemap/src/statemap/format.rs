//! The records that statemap data is made of.

use crate::statemap::Labels;
#[cfg(feature = "read")]
use crate::trace::state::TaskState;
use crate::trace::state::WorkerState;
use crate::trace::timeline::Timeline;
use crate::util::json::Object;

/// The first object of statemap data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// UTC at time zero: seconds since the Unix epoch, and nanoseconds.
    pub start: [u64; 2],
    /// The title of the picture.
    pub title: String,
    /// The host that the data is from.
    pub host: Option<String>,
    /// The kind of entities: `Task`, `Worker`, `CPU`, ….
    pub entity_kind: Option<String>,
    /// The states, by value: the one at index 0 has value 0, and so on.
    pub states: Vec<State>,
}

/// A state that an entity can be in. Its value is its index in [`Metadata::states`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Its colour, as `#RRGGBB` or as the name of one; `None` leaves it to the renderer.
    pub colour: Option<String>,
}

/// One change of state of an entity.
#[cfg(feature = "read")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Datum {
    /// The time, in ns since [`Metadata::start`].
    pub time_ns: u64,
    /// The state from then on.
    pub state: u32,
    /// The tag from then on, as an index into the tag definitions.
    pub tag: Option<usize>,
    /// Further facts from a run's data.
    pub(crate) mark: Mark,
    /// The source of the wake for the poll that begins, packed; 0 if that isn't known.
    pub(crate) woken_by: u64,
}

/// Further facts about a datum of this crate's own data, packed into the padding of [`Datum`].
#[cfg(feature = "read")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark(u32);

#[cfg(feature = "read")]
impl Mark {
    /// The most pairs of thread and worker on which polls ran: 22 bits.
    pub(crate) const MOST_RAN_ON: usize = 1 << 22;

    /// `apart_ns` is the real distance to the previous datum, if it is written as 1 ns. A poll also has the sides on
    /// which it was cut (the sum of left 1 and right 2), and the index of its thread and worker.
    pub(crate) fn new(apart_ns: u8, cuts: u8, ran_on: u32) -> Self {
        Self(ran_on << 10 | u32::from(cuts & 3) << 8 | u32::from(apart_ns))
    }

    pub(crate) fn apart_ns(self) -> u64 {
        u64::from(self.0 & 0xff)
    }

    pub(crate) fn cuts(self) -> u16 {
        (self.0 >> 8 & 3) as u16
    }

    pub(crate) fn ran_on(self) -> usize {
        (self.0 >> 10) as usize
    }

    /// Returns the mark, cut on the left.
    pub(crate) fn cut_left(self) -> Self {
        Self(self.0 | 1 << 8)
    }

    /// Returns the mark, cut on the right.
    pub(crate) fn cut_right(self) -> Self {
        Self(self.0 | 2 << 8)
    }
}

/// The kind of entities in this crate's own data.
#[cfg(feature = "read")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Native {
    Tasks { is_ready_known: bool },
    Workers,
}

/// The meaning of a tag of a state. Tags split a state, in this crate's data by the spawn location.
#[cfg(feature = "read")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDefinition {
    /// The value of the state.
    pub state: u32,
    /// The tag.
    pub tag: String,
    /// The other members of its definition: keys, and values in JSON.
    pub fields: Vec<(String, String)>,
    /// `false` if the tag is only used, without a definition.
    pub is_defined: bool,
}

/// Metadata that was read.
#[cfg(feature = "read")]
impl Metadata {
    /// Returns the kind of entities if this is metadata of this crate's own data: its kind of entities and
    /// exactly its states.
    pub(crate) fn native(&self) -> Option<Native> {
        let names = self.states.iter().map(|state| state.name.as_str());
        let tasks = || TaskState::ALL.into_iter().map(TaskState::name);
        match self.entity_kind.as_deref()? {
            "Task" => {
                let is_ready_known = self.states.len() == TaskState::ALL.len();
                let are_ours = match is_ready_known {
                    true => names.eq(tasks()),
                    false => names.eq(tasks().filter(|&name| name != TaskState::Ready.name())),
                };
                are_ours.then_some(Native::Tasks { is_ready_known })
            }
            "Worker" => names
                .eq(WorkerState::ALL.into_iter().map(WorkerState::name))
                .then_some(Native::Workers),
            _ => None,
        }
    }
}

/// Metadata to be written.
impl Metadata {
    /// Returns the metadata of a timeline's tasks.
    pub(crate) fn of_tasks(timeline: &Timeline, labels: &Labels) -> Self {
        let mut states = Vec::new();
        for state in timeline.task_states() {
            states.push(State::new(state.name(), state.colour()));
        }
        let recorded = timeline.settings.trace_target.tracks_tasks();
        Self::new(timeline, labels, "Task", "tasks", recorded, states)
    }

    /// Returns the metadata of a timeline's workers.
    pub(crate) fn of_workers(timeline: &Timeline, labels: &Labels) -> Self {
        let mut states = Vec::new();
        for state in &WorkerState::ALL {
            states.push(State::new(state.name(), state.colour()));
        }
        let recorded = timeline.settings.trace_target.tracks_workers();
        Self::new(timeline, labels, "Worker", "workers", recorded, states)
    }

    fn new(
        timeline: &Timeline,
        labels: &Labels,
        entity_kind: &str,
        entities: &str,
        is_recorded: bool,
        states: Vec<State>,
    ) -> Self {
        let begin = timeline.utc_at_zero + std::time::Duration::from_nanos(timeline.begin_ns);
        Self {
            start: [begin.as_secs(), u64::from(begin.subsec_nanos())],
            title: title(timeline, labels, entities, is_recorded),
            host: labels.host.clone(),
            entity_kind: Some(entity_kind.to_owned()),
            states,
        }
    }

    /// Returns the metadata as one line.
    pub(crate) fn to_line(&self) -> String {
        let mut states = Object::default();
        for (value, state) in self.states.iter().enumerate() {
            let mut of_state = Object::default();
            of_state.add("value", &value);
            if let Some(colour) = &state.colour {
                of_state.add("color", colour);
            }
            states.add(&state.name, &of_state.end());
        }
        let mut metadata = Object::default();
        metadata.add("start", &self.start);
        metadata.add("title", &self.title);
        metadata.add("states", &states.end());
        if let Some(host) = &self.host {
            metadata.add("host", host);
        }
        if let Some(kind) = &self.entity_kind {
            metadata.add("entityKind", kind);
        }
        metadata.end().into_string() + "\n"
    }
}

impl State {
    fn new(name: &str, colour: &str) -> Self {
        Self { name: name.to_owned(), colour: Some(colour.to_owned()) }
    }
}

/// Returns the title: `http: Tokio tasks`, and facts that readers of the picture need.
fn title(timeline: &Timeline, labels: &Labels, entities: &str, is_recorded: bool) -> String {
    let mut title = format!("{}: Tokio {entities}", labels.title);
    if !is_recorded {
        title.push_str(" (not recorded)");
    }
    if !timeline.settings.task_hooks {
        title.push_str(" (workers only)");
    }
    if timeline.lost.total() > 0 {
        title.push_str(&format!(" ({})", timeline.lost));
    }
    match timeline.gaps.len() {
        0 => {}
        1 => title.push_str(" (1 gap)"),
        n => title.push_str(&format!(" ({n} gaps)")),
    }
    title
}
