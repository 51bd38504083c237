//! A strict checker of the statemap data that this workspace writes.
//!
//! It shares no code with the library, neither with its writer nor with its reader. It is stricter
//! than the format: what the reference renderer merely survives (records across lines, tags that
//! are used before they are defined) is refused, too.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// What is in data that passed.
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

    /// How often `entity` came into the state of this name. The closing record repeats a state, so
    /// that it never counts.
    pub fn entries(&self, entity: &str, state: &str) -> usize {
        let states = self.states_of(entity);
        let changes = states.iter().enumerate();
        changes.filter(|&(i, &s)| s == state && (i == 0 || states[i - 1] != s)).count()
    }
}

const TASK_STATES: [(&str, &str); 5] = [
    ("spawned", "#FFB000"),
    ("running", "#DC267F"),
    ("waiting", "#FE6100"),
    ("completed", "#648FFF"),
    ("ready", "#785EF0"),
];
const WORKER_STATES: [(&str, &str); 3] =
    [("running", "#DC267F"), ("parked", "#FE6100"), ("stopped", "#648FFF")];
const SPAWNED: usize = 0;
const COMPLETED: usize = 3;

/// Checks a whole file.
///
/// # Errors
///
/// The first rule that is broken, with its line.
pub fn check(bytes: &[u8]) -> Result<Summary, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("not UTF-8: {e}"))?;
    if text.is_empty() {
        return Err("empty".to_owned());
    }
    let Some(text) = text.strip_suffix('\n') else {
        return Err("truncated: the last line has no newline".to_owned());
    };
    let mut checker: Option<Checker> = None;
    for (i, line) in text.split('\n').enumerate() {
        let result = record(line).and_then(|record| match &mut checker {
            None => metadata(record).map(|summary| checker = Some(Checker::new(summary))),
            Some(checker) => checker.record(record),
        });
        result.map_err(|problem| format!("line {}: {problem}: {line}", i + 1))?;
    }
    checker.ok_or("no metadata")?.finish()
}

/// One line as an object.
fn record(line: &str) -> Result<Map<String, Value>, String> {
    let value: Value = serde_json::from_str(line).map_err(|e| format!("no JSON: {e}"))?;
    // Any order of the keys has the same length; spaces and repeated keys don't.
    if value.to_string().len() != line.len() {
        return Err("a key stands there twice, or it isn't compact".to_owned());
    }
    match value {
        Value::Object(object) => Ok(object),
        _ => Err("no object".to_owned()),
    }
}

fn keys(object: &Map<String, Value>, must: &[&str], may: &[&str]) -> Result<(), String> {
    if let Some(key) = must.iter().find(|key| !object.contains_key(**key)) {
        return Err(format!("no `{key}`"));
    }
    let known = |key: &String| must.contains(&key.as_str()) || may.contains(&key.as_str());
    match object.keys().find(|key| !known(key)) {
        Some(key) => Err(format!("`{key}` doesn't belong there")),
        None => Ok(()),
    }
}

fn string(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    let value = &object[key];
    value.as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is no string"))
}

fn metadata(object: Map<String, Value>) -> Result<Summary, String> {
    keys(&object, &["start", "title", "states", "entityKind"], &["host"])?;
    let start: Option<Vec<u64>> =
        object["start"].as_array().and_then(|array| array.iter().map(Value::as_u64).collect());
    let start = match start.as_deref() {
        Some(&[seconds, ns]) if ns < 1_000_000_000 => (seconds, ns),
        _ => return Err("`start` isn't [seconds, ns]".to_owned()),
    };
    let entity_kind = string(&object, "entityKind")?;
    let ours: &[&[(&str, &str)]] = match entity_kind.as_str() {
        // `ready` is there with schedule latency only.
        "Task" => &[&TASK_STATES[..4], &TASK_STATES],
        "Worker" => &[&WORKER_STATES],
        _ => return Err("`entityKind` is neither Task nor Worker".to_owned()),
    };
    let states = states(&object["states"])?;
    if !ours.iter().any(|ours| {
        let ours = ours.iter().map(|&(name, colour)| (name, colour));
        ours.eq(states.iter().map(|(name, colour)| (name.as_str(), colour.as_str())))
    }) {
        return Err("the states aren't ours".to_owned());
    }
    Ok(Summary {
        title: string(&object, "title")?,
        start,
        host: object.contains_key("host").then(|| string(&object, "host")).transpose()?,
        entity_kind,
        states: states.into_iter().map(|(name, _)| name).collect(),
        tags: Vec::new(),
        entities: BTreeMap::new(),
        end_ns: 0,
    })
}

/// The names and colours by value.
fn states(value: &Value) -> Result<Vec<(String, String)>, String> {
    let object = value.as_object().ok_or("`states` is no object")?;
    let mut states = vec![None; object.len()];
    for (name, state) in object {
        let state = state.as_object().ok_or("a state is no object")?;
        keys(state, &["value", "color"], &[])?;
        let colour = string(state, "color")?;
        let digits = colour.strip_prefix('#').unwrap_or_default();
        if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(format!("the colour {colour} isn't #RRGGBB"));
        }
        let value = state["value"].as_u64().ok_or("a value is no whole number")?;
        let slot = states.get_mut(value as usize);
        let slot = slot.ok_or("the values of the states have a gap")?;
        if slot.is_some() {
            return Err("two states have the same value".to_owned());
        }
        *slot = Some((name.clone(), colour));
    }
    Ok(states.into_iter().flatten().collect())
}

struct Checker {
    summary: Summary,
    defined: BTreeSet<(usize, String)>,
    used: BTreeSet<(usize, String)>,
    /// The latest time before the last record.
    latest_ns: Option<u64>,
    /// The time of the last record, if that is a datum.
    last_ns: Option<u64>,
    /// The entity of the last record.
    last_entity: String,
}

impl Checker {
    fn new(summary: Summary) -> Self {
        Self {
            summary,
            defined: BTreeSet::new(),
            used: BTreeSet::new(),
            latest_ns: None,
            last_ns: None,
            last_entity: String::new(),
        }
    }

    fn record(&mut self, object: Map<String, Value>) -> Result<(), String> {
        self.latest_ns = self.latest_ns.max(self.last_ns.take());
        match object.contains_key("time") || object.contains_key("entity") {
            true => self.datum(object),
            false => self.definition(object),
        }
    }

    fn state(&self, object: &Map<String, Value>) -> Result<usize, String> {
        let state = object["state"].as_u64().ok_or("`state` is no whole number")?;
        if state >= self.summary.states.len() as u64 {
            return Err(format!("there is no state {state}"));
        }
        Ok(state as usize)
    }

    fn definition(&mut self, object: Map<String, Value>) -> Result<(), String> {
        keys(&object, &["state", "tag"], &[])?;
        let pair = (self.state(&object)?, string(&object, "tag")?);
        self.summary.tags.push(pair.clone());
        match self.defined.insert(pair) {
            true => Ok(()),
            false => Err("it is defined twice".to_owned()),
        }
    }

    fn datum(&mut self, object: Map<String, Value>) -> Result<(), String> {
        keys(&object, &["time", "entity", "state"], &["tag"])?;
        let time = string(&object, "time")?;
        let digits = time.bytes().all(|b| b.is_ascii_digit());
        let time_ns = match time.parse::<u64>() {
            Ok(time_ns) if digits && time_ns.to_string() == time => time_ns,
            _ => return Err("`time` isn't whole ns".to_owned()),
        };
        let state = self.state(&object)?;
        let entity = string(&object, "entity")?;
        let is_task = self.summary.entity_kind == "Task";
        is_name(&entity, is_task)?;
        let tag = object.contains_key("tag").then(|| string(&object, "tag")).transpose()?;
        if let Some(tag) = &tag {
            let pair = (state, tag.clone());
            if !self.defined.contains(&pair) {
                return Err("its pair of state and tag isn't defined before".to_owned());
            }
            if !is_task || state == COMPLETED {
                return Err("only the live states of tasks bear a tag".to_owned());
            }
            self.used.insert(pair);
        }

        let row = self.summary.entities.entry(entity.clone()).or_default();
        if row.last().is_some_and(|last| time_ns <= last.time_ns) {
            return Err("the time isn't greater than its entity's last".to_owned());
        }
        if is_task {
            let previous = row.last().map(|last| last.state);
            if state == SPAWNED && previous.is_some_and(|p| p != SPAWNED) {
                return Err("it was spawned again".to_owned());
            }
            if previous == Some(COMPLETED) && state != COMPLETED {
                return Err("it lives on after it completed".to_owned());
            }
            let mut live = row.iter().filter(|t| t.state != COMPLETED);
            if state != COMPLETED && live.next().is_some_and(|first| first.tag != tag) {
                return Err("its tag isn't that of the states before".to_owned());
            }
        }
        row.push(Transition { time_ns, state, tag });
        self.last_ns = Some(time_ns);
        self.last_entity = entity;
        Ok(())
    }

    fn finish(self) -> Result<Summary, String> {
        let mut summary = self.summary;
        if let Some(unused) = self.defined.difference(&self.used).next() {
            return Err(format!("the definition of {unused:?} isn't used"));
        }
        if !summary.entities.is_empty() {
            let Some(last_ns) = self.last_ns else {
                return Err("the last record is no datum".to_owned());
            };
            // What begins at the time of the last record isn't seen.
            if Some(last_ns) <= self.latest_ns {
                return Err("the last record isn't the latest".to_owned());
            }
            let row = &summary.entities[&self.last_entity];
            if !matches!(row[..], [.., ref a, ref b] if (a.state, &a.tag) == (b.state, &b.tag)) {
                return Err("the last record doesn't repeat a state to close the data".to_owned());
            }
            summary.end_ns = last_ns;
        }
        Ok(summary)
    }
}

/// Whether an entity is named as ours are: perhaps `<runtime>/`, then what it is.
fn is_name(entity: &str, is_task: bool) -> Result<(), String> {
    let name = entity.rsplit('/').next().unwrap_or_default();
    let number = |prefix| {
        let digits: Option<&str> = name.strip_prefix(prefix);
        digits.is_some_and(|d| d.parse::<u64>().is_ok_and(|n| n.to_string() == d))
    };
    let is_right = match is_task {
        true => name == "main" || number("main-") || number("task-"),
        false => number("worker-"),
    };
    match is_right {
        true => Ok(()),
        false => Err(format!("`{entity}` isn't how an entity is named")),
    }
}

#[cfg(test)]
mod tests;
