//! The report of statemap data: where the time went, as far as the data tells.

mod scan;
mod text;
mod verdict;

use crate::statemap::Ours;
use crate::statemap::read::Statemap;

/// From when on a poll is called long: data doesn't say what was set.
const LONG_POLL_NS: u64 = 1_000_000;

/// What statemap data says about where the time went.
///
/// Its `Display` is the text, without a newline at its end. All times are in ns.
///
/// # Examples
///
/// ```
/// use tokio_statemap::statemap::read::read;
///
/// let data = br#"{"start":[0,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
/// {"time":"0","entity":"cpu-0","state":0}
/// {"time":"70","entity":"cpu-0","state":1}
/// {"time":"90","entity":"cpu-0","state":0}
/// "#;
/// let report = read(&data[..])?.report();
/// assert_eq!((report.states[1].total_ns, report.states[1].longest_ns), (20, 20));
/// # Ok::<(), tokio_statemap::statemap::read::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DataReport {
    /// Of this crate's own data: who ran longest, in a few sentences.
    pub verdict: Option<String>,
    /// What the data is called.
    pub title: String,
    /// What an entity is: `task`, `worker`, `CPU`, ….
    pub entity_kind: String,
    /// How many entities there are.
    pub entities: u64,
    /// How many changes of state there are, the record that marks the end among them.
    pub changes: u64,
    /// How long all of it is.
    pub length_ns: u64,
    /// The states, by value.
    pub states: Vec<StateTime>,
    /// Of tasks the spawn locations, of workers each of them, of other data the tags: that which ran
    /// longest first.
    pub groups: Vec<GroupTime>,
    /// The ten longest times in a state, the longest first; of tasks only their polls.
    pub longest: Vec<Span>,
    kind: Option<Ours>,
}

/// How long the entities were in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateTime {
    /// The state.
    pub name: String,
    /// For how long, all entities and times together.
    pub total_ns: u64,
    /// For how long at most without a change.
    pub longest_ns: u64,
    /// How often they came into it.
    pub times: u64,
    /// Whether an entity of it is over: a task that completed, a worker that stopped.
    pub is_end: bool,
}

/// How long the entities of a group ran.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupTime {
    /// Which group: a spawn location, a worker, a state and its tag.
    pub label: String,
    /// Whether these are futures of `block_on`.
    pub is_root: bool,
    /// How many entities it has.
    pub entities: u64,
    /// How often they ran.
    pub spans: u64,
    /// How long they ran in all.
    pub total_ns: u64,
    /// How long they ran at most without a change.
    pub longest_ns: u64,
    /// How often they ran longer than 1 ms.
    pub long_spans: u64,
    /// How long these took.
    pub long_spans_ns: u64,
    /// How long they were ready in all.
    pub ready_ns: u64,
    /// How long they were ready at most.
    pub longest_ready_ns: u64,
    /// The longest time that one of them ran, as an index into the entities, and of its data there.
    longest_at: Option<(usize, usize)>,
}

/// A time in one state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// Who was in it.
    pub entity: String,
    /// Of tasks where it was spawned, of other data the state, and the tag.
    pub label: String,
    /// Since when.
    pub start_ns: u64,
    /// For how long.
    pub length_ns: u64,
    /// Whether it was still in it at the end.
    pub is_open: bool,
}

impl Statemap {
    /// Works out where the time went.
    pub fn report(&self) -> DataReport {
        let kind = self.metadata.ours();
        let mut report = DataReport {
            verdict: None,
            title: self.metadata.title.clone(),
            entity_kind: match kind {
                Some(Ours::Tasks { .. }) => "task".to_owned(),
                Some(Ours::Workers) => "worker".to_owned(),
                None => self.metadata.entity_kind.clone().unwrap_or_else(|| "entity".to_owned()),
            },
            entities: self.entities.len() as u64,
            changes: self.entities.iter().map(|entity| entity.data.len() as u64).sum(),
            length_ns: self.end_ns,
            states: Vec::new(),
            groups: Vec::new(),
            longest: Vec::new(),
            kind,
        };
        scan::scan(self, &mut report);
        report.verdict = verdict::of(self, &report);
        report
    }
}
