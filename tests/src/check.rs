//! Checks and reads the statemap data that this workspace writes.
//!
//! The data must pass the library's strict check. It is then read line by line, without any code of the library, so
//! that tests don't depend on its reader.

mod form;
mod long_polls;
pub mod waits;

use std::collections::BTreeMap;

use serde_json::Value;
use tokio_statemap::statemap::check::check_ours;

use form::Form;
use long_polls::LongPolls;
use waits::{WaitCounts, Waits};

/// The content of valid data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The title.
    pub title: String,
    /// The start, in seconds and nanoseconds since the Unix epoch.
    pub start: (u64, u64),
    /// The host, if the file names it.
    pub host: Option<String>,
    /// `Task` or `Worker`.
    pub entity_kind: String,
    /// The names of the states, by value.
    pub states: Vec<String>,
    /// The defined pairs of state and tag, in the order of their definitions.
    pub tags: Vec<(usize, String)>,
    /// The transitions of each entity, the closing record included.
    pub entities: BTreeMap<String, Vec<Transition>>,
    /// The time of the last record.
    pub end_ns: u64,
    /// The number of long polls with a known cause.
    pub causes: usize,
    /// The number of stack samples of long polls.
    pub samples: usize,
    /// The numbers of entries about where tasks wait.
    pub waits: WaitCounts,
}

/// A state change of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The time, in ns since the start.
    pub time_ns: u64,
    /// The value of the state.
    pub state: usize,
    /// The tag.
    pub tag: Option<String>,
}

impl Summary {
    /// Returns the number of transitions of all entities.
    pub fn transitions(&self) -> usize {
        self.entities.values().map(Vec::len).sum()
    }

    /// Returns the names of the states that `entity` went through, the closing record included.
    pub fn states_of(&self, entity: &str) -> Vec<&str> {
        let transitions = self.entities.get(entity).map_or(&[][..], Vec::as_slice);
        transitions.iter().map(|t| self.states[t.state].as_str()).collect()
    }

    /// Returns how often `entity` entered the state of this name. The closing record repeats a state, so it
    /// doesn't count.
    pub fn entries(&self, entity: &str, state: &str) -> usize {
        let states = self.states_of(entity);
        let changes = states.iter().enumerate();
        changes.filter(|&(i, &s)| s == state && (i == 0 || states[i - 1] != s)).count()
    }
}

/// Checks a whole file: it passes the library's check, has the form of data that this workspace writes, and reads the
/// same here. Returns its content.
///
/// # Errors
///
/// The first broken rule, with its line.
pub fn check(bytes: &[u8]) -> Result<Summary, String> {
    check_ours(bytes).map_err(|error| error.to_string())?;
    let lines = bytes.strip_suffix(b"\n").ok_or("the last line has no newline")?;
    let mut lines = lines.split(|&b| b == b'\n');
    let mut form = Form::default();
    let mut line = |form: &mut Form| -> Result<Option<Value>, String> {
        let Some(line) = lines.next() else { return Ok(None) };
        let record = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        form.line(line, &record)?;
        Ok(Some(record))
    };
    let mut summary = metadata(&line(&mut form)?.ok_or("no metadata")?);
    let (mut long_polls, mut waits) = (LongPolls::default(), Waits::default());
    while let Some(record) = line(&mut form)? {
        let string = |key: &str| record[key].as_str().map(str::to_owned);
        let state = record["state"].as_u64().ok_or("no state")? as usize;
        let Some(entity) = string("entity") else {
            let tag = string("tag").ok_or("no tag")?;
            // Tags with this prefix are facts of the run.
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
                    form.definition(state, &record)?;
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
        let row = summary.entities.entry(entity.clone()).or_default();
        let datum = Transition { time_ns, state, tag: string("tag") };
        form.datum(&entity, &datum, &summary.states, row)?;
        row.push(datum);
    }
    form.finish(&summary.entities)?;
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
