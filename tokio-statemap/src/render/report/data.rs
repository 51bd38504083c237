//! The report of statemap data: where the time went, as far as the data tells.

mod scan;
mod text;
mod verdict;

use crate::statemap::read::Statemap;
use crate::statemap::{Ours, is_root};
use crate::trace::state::TaskState;
use crate::util::quantity::{human, moment};

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
    /// Of tasks: the label of the location that the verdict names.
    pub(crate) culprit: Option<String>,
    /// What the data is called.
    pub title: String,
    /// What an entity is: `task`, `worker`, `CPU`, ….
    pub entity_kind: String,
    /// How many entities there are. Of this crate's own data those that are there in its window, if it
    /// was cut.
    pub entities: u64,
    /// How many of them are futures of `block_on`.
    roots: u64,
    /// Of tasks: how many of those that were spawned still lived at the end.
    pub live_tasks: u64,
    /// Of tasks: how many polls still ran at the end.
    pub running_polls: u64,
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
    /// What else there is to know of the data, a sentence each.
    remarks: Vec<String>,
    kind: Option<Ours>,
}

/// How long the entities were in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateTime {
    /// The state.
    pub name: String,
    /// For how long, all entities and times together: of many tasks that wait for days, this is more
    /// than 64 bits hold.
    pub total_ns: u128,
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
    pub total_ns: u128,
    /// How long they ran at most without a change.
    pub longest_ns: u64,
    /// How often they ran longer than 1 ms.
    pub long_spans: u64,
    /// How long these took.
    pub long_spans_ns: u128,
    /// How long they were ready in all: woken or spawned, and not yet polled.
    pub ready_ns: u128,
    /// How long they were ready at most; `None` if they never were.
    pub longest_ready_ns: Option<u64>,
    /// The longest time that one of them ran: since when, and as an index into the entities, and of
    /// its data there.
    longest_at: Option<(u64, usize, usize)>,
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
    /// Of a poll: whether it was there when the data begins, so that it may have been longer.
    pub is_cut: bool,
}

impl Statemap {
    /// Works out where the time went.
    pub fn report(&self) -> DataReport {
        let kind = self.metadata.ours();
        let mut report = DataReport {
            verdict: None,
            culprit: None,
            title: self.metadata.title.clone(),
            entity_kind: match kind {
                Some(Ours::Tasks { .. }) => "task".to_owned(),
                Some(Ours::Workers) => "worker".to_owned(),
                None => self.metadata.entity_kind.clone().unwrap_or_else(|| "entity".to_owned()),
            },
            entities: 0,
            roots: 0,
            live_tasks: 0,
            running_polls: 0,
            changes: self.entities.iter().map(|entity| entity.data.len() as u64).sum(),
            length_ns: self.end_ns,
            states: Vec::new(),
            groups: Vec::new(),
            longest: Vec::new(),
            remarks: Vec::new(),
            kind,
        };
        count(self, &mut report);
        scan::scan(self, &mut report);
        (report.verdict, report.culprit) = verdict::of(self, &report);
        report.remarks = remarks(self);
        report
    }
}

/// Counts the entities, and which of them were still there at the end.
fn count(file: &Statemap, report: &mut DataReport) {
    let Some(kind) = report.kind else {
        report.entities = file.entities.len() as u64;
        return;
    };
    for entity in &file.entities {
        // One that had ended before the window has no data in it.
        let Some(last) = entity.data.last() else { continue };
        report.entities += 1;
        if matches!(kind, Ours::Tasks { .. }) {
            let (is, is_root) =
                (|state: TaskState| u32::from(state.value()), is_root(&entity.name));
            report.roots += u64::from(is_root);
            report.live_tasks += u64::from(!is_root && last.state != is(TaskState::Completed));
            report.running_polls += u64::from(last.state == is(TaskState::Running));
        }
    }
}

/// What isn't to be seen in the numbers.
fn remarks(file: &Statemap) -> Vec<String> {
    let mut remarks: Vec<String> = file.part().into_iter().collect();
    if file.metadata.has_gaps() {
        remarks.push(
            "Where recording was stopped isn't known: each state lasts until the next here, and a \
             poll that was stopped in may have been longer."
                .to_owned(),
        );
    }
    remarks
}

impl Statemap {
    /// Says which part of the data this is, if it was cut.
    pub(crate) fn part(&self) -> Option<String> {
        let (begin_ns, length_ns) = self.window?;
        Some(format!("A part of the data: {}, from {} on.", human(length_ns), moment(begin_ns)))
    }
}

/// The order of places in the source, as [`Place`] has it, by their names: that of a place that isn't
/// known is the first.
pub(crate) fn source_order(name: &str) -> (Option<(&str, u64, u64)>, bool) {
    let (path, is_root) = match name.strip_suffix(" (main)") {
        Some(path) => (path, true),
        None => (name, name == "main"),
    };
    let mut parts = path.rsplitn(3, ':');
    let mut number = || parts.next()?.parse().ok();
    let (column, line) = (number(), number());
    let location = parts.next().zip(line).zip(column);
    (location.map(|((file, line), column)| (file, line, column)), is_root)
}
