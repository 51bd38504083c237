//! Reads the statemap data that this workspace writes.
//!
//! The data passes the library's strict check, and is then read line by line without any code of
//! the library, so that tests don't depend on its reader.

mod long_polls;
pub mod waits;

use std::collections::BTreeMap;

use serde_json::Value;
use tokio_statemap::statemap::check::check_ours;

use long_polls::LongPolls;
use waits::{WaitCounts, Waits};

/// The content of valid data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The title.
    pub title: String,
    /// The start: seconds and nanoseconds since the Unix epoch.
    pub start: (u64, u64),
    /// The host, if it is named.
    pub host: Option<String>,
    /// `Task` or `Worker`.
    pub entity_kind: String,
    /// The names of the states, by value.
    pub states: Vec<String>,
    /// The pairs of state and tag that are defined, in the order of their definitions.
    pub tags: Vec<(usize, String)>,
    /// The transitions of each entity, the closing record included.
    pub entities: BTreeMap<String, Vec<Transition>>,
    /// The time of the last record.
    pub end_ns: u64,
    /// How many long polls have a known cause.
    pub causes: usize,
    /// How many samples there are of what threads did in long polls.
    pub samples: usize,
    /// What there is of where tasks wait.
    pub waits: WaitCounts,
}

/// A datum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When, in ns since the start.
    pub time_ns: u64,
    /// The value of the state.
    pub state: usize,
    /// The tag.
    pub tag: Option<String>,
}

impl Summary {
    /// How many data there are.
    pub fn transitions(&self) -> usize {
        self.entities.values().map(Vec::len).sum()
    }

    /// The names of the states that `entity` went through, the closing record included.
    pub fn states_of(&self, entity: &str) -> Vec<&str> {
        let transitions = self.entities.get(entity).map_or(&[][..], Vec::as_slice);
        transitions.iter().map(|t| self.states[t.state].as_str()).collect()
    }

    /// How often `entity` entered the state of this name. The closing record repeats a state, so it
    /// doesn't count.
    pub fn entries(&self, entity: &str, state: &str) -> usize {
        let states = self.states_of(entity);
        let changes = states.iter().enumerate();
        changes.filter(|&(i, &s)| s == state && (i == 0 || states[i - 1] != s)).count()
    }
}

/// Checks a whole file: it passes the library's strict check, and reads the same here.
///
/// # Errors
///
/// The first rule that is broken, with its line.
pub fn check(bytes: &[u8]) -> Result<Summary, String> {
    check_ours(bytes).map_err(|error| error.to_string())?;
    let mut lines = bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    let mut line = || Some(serde_json::from_slice::<Value>(lines.next()?).unwrap());
    let mut summary = metadata(&line().ok_or("no metadata")?);
    let (mut long_polls, mut waits) = (LongPolls::default(), Waits::default());
    while let Some(record) = line() {
        let string = |key: &str| record[key].as_str().map(str::to_owned);
        let state = record["state"].as_u64().ok_or("no state")? as usize;
        let Some(entity) = string("entity") else {
            let tag = string("tag").ok_or("no tag")?;
            // These say what the run was.
            match tag.strip_prefix("tokio-statemap") {
                Some("") => {
                    long_polls.run(&record)?;
                    waits.run(&record)?;
                }
                Some(rest) if rest.starts_with(' ') => {
                    long_polls.part(&record)?;
                    waits.part(&record)?;
                }
                _ => {
                    waits.tag(&summary.states[state], &record)?;
                    summary.tags.push((state, tag));
                }
            }
            continue;
        };
        let time_ns = string("time").and_then(|time| time.parse().ok()).ok_or("no time")?;
        summary.end_ns = time_ns;
        long_polls.datum(&entity, time_ns, &summary.states[state]);
        waits.datum(&entity, &summary.states[state]);
        let row = summary.entities.entry(entity).or_default();
        row.push(Transition { time_ns, state, tag: string("tag") });
    }
    (summary.causes, summary.samples) = long_polls.finish()?;
    summary.waits = waits.finish()?;
    Ok(summary)
}

fn metadata(record: &Value) -> Summary {
    let string = |key: &str| record[key].as_str().map(str::to_owned);
    let mut states: Vec<_> = record["states"].as_object().into_iter().flatten().collect();
    states.sort_by_key(|(_, state)| state["value"].as_u64());
    let start = |i: usize| record["start"][i].as_u64().unwrap_or_default();
    Summary {
        title: string("title").unwrap_or_default(),
        start: (start(0), start(1)),
        host: string("host"),
        entity_kind: string("entityKind").unwrap_or_default(),
        states: states.into_iter().map(|(name, _)| name.clone()).collect(),
        tags: Vec::new(),
        entities: BTreeMap::new(),
        end_ns: 0,
        causes: 0,
        samples: 0,
        waits: WaitCounts::default(),
    }
}
