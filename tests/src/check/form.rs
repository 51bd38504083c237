//! The form of data that this workspace writes: compact lines, tags that are defined once and used, names of
//! entities, lives of tasks, and a last record that marks the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Transition;

/// The definitions and entities so far.
#[derive(Debug, Default)]
pub(super) struct Form {
    /// The length of the spawn location in each tag that is defined, by state and tag.
    defined: BTreeMap<(usize, String), usize>,
    used: BTreeSet<(usize, String)>,
    /// The first location of each task.
    locations: BTreeMap<String, Option<String>>,
    /// The entity of the last record.
    last: Option<String>,
    latest_ns: Option<u64>,
    previous_ns: Option<u64>,
}

impl Form {
    /// Checks that a line is compact, and has neither a key twice nor `null`.
    pub(super) fn line(&mut self, line: &[u8], record: &Value) -> Result<(), String> {
        self.last = None;
        let members = record.as_object().ok_or("a line is no object")?;
        if record.to_string().len() != line.len() || members.values().any(Value::is_null) {
            return Err(format!("a line isn't written as it must be: {record}"));
        }
        Ok(())
    }

    /// Checks the definition of a tag.
    pub(super) fn definition(&mut self, state: usize, record: &Value) -> Result<(), String> {
        let wrong = || format!("a definition is wrong: {record}");
        let known = ["state", "tag", "file", "location", "wait", "waitsAt"];
        let keys = record.as_object().into_iter().flat_map(|members| members.keys());
        if keys.into_iter().any(|key| !known.contains(&key.as_str())) {
            return Err(wrong());
        }
        let tag = record["tag"].as_str().ok_or_else(wrong)?;
        let location = match (record["file"].as_str(), record["location"].as_str()) {
            (Some(file), Some(place)) => format!("{file}:{place}"),
            (None, None) if record.get("wait").is_some() => String::new(),
            (None, None) => tag.to_owned(),
            _ => return Err(wrong()),
        };
        let known = self.defined.insert((state, tag.to_owned()), location.len());
        match tag.starts_with(&location) && known.is_none() {
            true => Ok(()),
            false => Err(wrong()),
        }
    }

    /// Checks a datum. `row` is what the entity did before.
    pub(super) fn datum(
        &mut self,
        entity: &str,
        datum: &Transition,
        states: &[String],
        row: &[Transition],
    ) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("`{entity}` at {}: {what}", datum.time_ns));
        let is_tasks = states[0] == "spawned";
        let name = entity.rsplit('/').next().unwrap_or_default();
        let number = |prefix| {
            let digits = name.strip_prefix(prefix).and_then(|digits: &str| digits.parse().ok());
            digits.is_some_and(|n: u64| name == format!("{prefix}{n}"))
        };
        let is_named = match is_tasks {
            true => name == "main" || number("main-") || number("task-"),
            false => number("worker-"),
        };
        if !is_named {
            return wrong("it isn't named as an entity is");
        }
        let state = states[datum.state].as_str();
        let mut location = None;
        if let Some(tag) = &datum.tag {
            let key = (datum.state, tag.clone());
            match self.defined.get(&key) {
                Some(&length) if is_tasks && state != "completed" => {
                    location = tag.get(..length).filter(|text| !text.is_empty()).map(str::to_owned);
                }
                _ => return wrong("its tag isn't defined before, or isn't that of a live state"),
            }
            self.used.insert(key);
        }
        if is_tasks && state != "completed" {
            let first = self.locations.entry(entity.to_owned()).or_insert_with(|| location.clone());
            if *first != location {
                return wrong("its location isn't that of the states before");
            }
        }
        let before = row.last().map(|last| states[last.state].as_str());
        let is_alive = match (before, state) {
            (None, _) => true,
            (Some("completed"), state) => state == "completed",
            (Some(before), "spawned") => before == "spawned",
            _ => true,
        };
        if is_tasks && !is_alive {
            return wrong("it is spawned twice, or goes on after its end");
        }
        self.latest_ns = self.latest_ns.max(self.previous_ns.replace(datum.time_ns));
        self.last = Some(entity.to_owned());
        Ok(())
    }

    /// Checks the end.
    pub(super) fn finish(self, entities: &BTreeMap<String, Vec<Transition>>) -> Result<(), String> {
        if let Some((key, _)) = self.defined.iter().find(|(key, _)| !self.used.contains(key)) {
            return Err(format!("the definition of {key:?} isn't used"));
        }
        if entities.is_empty() {
            return Ok(());
        }
        let row =
            self.last.as_ref().and_then(|last| entities.get(last)).map_or(&[][..], Vec::as_slice);
        match row {
            [.., a, b]
                if (a.state, &a.tag) == (b.state, &b.tag) && Some(b.time_ns) > self.latest_ns =>
            {
                Ok(())
            }
            _ => Err("the last record doesn't mark the end".to_owned()),
        }
    }
}
