//! The records that statemap data is made of.

use std::io;

#[cfg(feature = "read")]
use crate::recorder::lost::Lost;
use crate::statemap::Labels;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::Timeline;
use crate::util::json;

/// The first object of statemap data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// UTC at time zero: seconds since the Unix epoch, and nanoseconds.
    pub start: [u64; 2],
    /// What the picture is called.
    pub title: String,
    /// The host that the data is from.
    pub host: Option<String>,
    /// What an entity is: `Task`, `Worker`, `CPU`, ….
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
pub struct Datum {
    /// When, in ns since [`Metadata::start`].
    pub time_ns: u64,
    /// The state from then on.
    pub state: u32,
    /// The tag from then on, as an index into the tag definitions.
    pub tag: Option<usize>,
}

/// What the entities of this crate's own data are.
#[cfg(feature = "read")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ours {
    Tasks { is_ready_known: bool },
    Workers,
}

/// What a tag of a state means. Tags split a state: here by the location of the spawn.
#[cfg(feature = "read")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDefinition {
    /// The value of the state.
    pub state: u32,
    /// The tag.
    pub tag: String,
    /// Whatever else its definition says, as `(key, value)`, the values in JSON.
    pub fields: Vec<(String, String)>,
    /// Whether there is a definition; if not, the tag was only used.
    pub is_defined: bool,
}

/// What a title says where the entities weren't to be recorded.
const NOT_RECORDED: &str = "not recorded";
/// What a title says where Tokio couldn't tell about tasks.
const WORKERS_ONLY: &str = "workers only";

/// Whether an entity of our own data is the future of `block_on`: `main`, or `main-1` ….
#[cfg(feature = "read")]
pub(crate) fn is_root(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name == "main" || name.starts_with("main-")
}

/// What was read.
#[cfg(feature = "read")]
impl Metadata {
    /// What the entities are, if this is metadata of this crate's own data: it says so, and has
    /// exactly its states.
    pub(crate) fn ours(&self) -> Option<Ours> {
        let names = self.states.iter().map(|state| state.name.as_str());
        let tasks = || TaskState::ALL.into_iter().map(TaskState::name);
        match self.entity_kind.as_deref()? {
            "Task" => {
                let is_ready_known = self.states.len() == TaskState::ALL.len();
                let are_ours = match is_ready_known {
                    true => names.eq(tasks()),
                    false => names.eq(tasks().filter(|&name| name != TaskState::Ready.name())),
                };
                are_ours.then_some(Ours::Tasks { is_ready_known })
            }
            "Worker" => names
                .eq(WorkerState::ALL.into_iter().map(WorkerState::name))
                .then_some(Ours::Workers),
            _ => None,
        }
    }

    /// What the data is called; of our own data only the program's name in it.
    pub(crate) fn stem(&self) -> &str {
        match self.ours() {
            Some(_) => self.title.rsplit_once(": Tokio ").map_or(&*self.title, |(stem, _)| stem),
            None => &self.title,
        }
    }

    /// What the title of our own data says in brackets, behind what the entities are.
    pub(crate) fn remarks(&self) -> Vec<&str> {
        let Some((_, rest)) = self.ours().and_then(|_| self.title.rsplit_once(": Tokio ")) else {
            return Vec::new();
        };
        let remarks = rest.split(" (").skip(1);
        remarks.map(|remark| remark.strip_suffix(')').unwrap_or(remark)).collect()
    }

    /// Whether Tokio's hooks could tell about tasks, as far as the data says.
    pub(crate) fn has_task_hooks(&self) -> bool {
        !self.remarks().contains(&WORKERS_ONLY)
    }

    /// Whether what the entities are was to be recorded, as far as the data says.
    pub(crate) fn is_recorded(&self) -> bool {
        !self.remarks().contains(&NOT_RECORDED)
    }

    /// Whether recording was stopped in between. When that was, the data doesn't say.
    pub(crate) fn has_gaps(&self) -> bool {
        self.remarks().iter().any(|&remark| remark == "1 gap" || remark.ends_with(" gaps"))
    }

    /// Whether events are missing, other than old ones that were dropped by design.
    pub(crate) fn is_partial(&self) -> bool {
        let causes = |remark: &str| -> Option<bool> {
            let (_, causes) = remark.split_once(" lost: ")?;
            Some(causes.split("; ").any(|cause| cause != Lost::OLDEST_DROPPED))
        };
        self.remarks().into_iter().filter_map(causes).any(|is_partial| is_partial)
    }
}

/// What is written.
impl Metadata {
    /// The metadata of a timeline's tasks.
    pub(crate) fn of_tasks(timeline: &Timeline, labels: &Labels) -> Self {
        let states = TaskState::ALL
            .into_iter()
            // The renderer wants values without gaps; `ready` is the highest for this reason.
            .filter(|state| timeline.schedule_latency || *state != TaskState::Ready)
            .map(|state| State::new(state.name(), state.colour()))
            .collect();
        let recorded = timeline.trace_target.tracks_tasks();
        Self::of(timeline, labels, "Task", "tasks", recorded, states)
    }

    /// The metadata of a timeline's workers.
    pub(crate) fn of_workers(timeline: &Timeline, labels: &Labels) -> Self {
        let states = WorkerState::ALL
            .into_iter()
            .map(|state| State::new(state.name(), state.colour()))
            .collect();
        let recorded = timeline.trace_target.tracks_workers();
        Self::of(timeline, labels, "Worker", "workers", recorded, states)
    }

    fn of(
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

    /// Writes it as one line.
    pub(crate) fn write(&self, w: &mut impl io::Write) -> io::Result<()> {
        let [seconds, ns] = self.start;
        write!(w, "{{\"start\":[{seconds},{ns}],\"title\":{}", json::string(&self.title))?;
        w.write_all(b",\"states\":{")?;
        for (value, state) in self.states.iter().enumerate() {
            let comma = if value > 0 { "," } else { "" };
            write!(w, "{comma}{}:{{\"value\":{value}", json::string(&state.name))?;
            if let Some(colour) = &state.colour {
                write!(w, ",\"color\":{}", json::string(colour))?;
            }
            w.write_all(b"}")?;
        }
        w.write_all(b"}")?;
        if let Some(host) = &self.host {
            write!(w, ",\"host\":{}", json::string(host))?;
        }
        if let Some(kind) = &self.entity_kind {
            write!(w, ",\"entityKind\":{}", json::string(kind))?;
        }
        w.write_all(b"}\n")
    }
}

impl State {
    fn new(name: &str, colour: &str) -> Self {
        Self { name: name.to_owned(), colour: Some(colour.to_owned()) }
    }
}

/// The title: `http: Tokio tasks`, and what one has to know not to be misled by the picture.
fn title(timeline: &Timeline, labels: &Labels, entities: &str, is_recorded: bool) -> String {
    let mut title = format!("{}: Tokio {entities}", labels.title);
    if !is_recorded {
        title.push_str(&format!(" ({NOT_RECORDED})"));
    }
    if !timeline.task_hooks {
        title.push_str(&format!(" ({WORKERS_ONLY})"));
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
