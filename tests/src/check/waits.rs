//! Checks where tasks wait.
//!
//! Each place must have functions of the file, tags must agree with their places, and entries about single tasks
//! must name tasks that the file may have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::long_polls::{list, number};

/// The place of a task that nothing will wake. The numbers of other places are smaller.
pub const NOTHING: u16 = 16_383;

/// An entry of the list of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u64>,
    /// The origin: `program`, `dependency`, `std`, `runtime` or `system`.
    pub origin: String,
}

/// A node in the tree of functions in which a task waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The index of the function in the list.
    pub function: usize,
    /// The index of the node that awaits it, or `None` for an outermost one.
    pub parent: Option<usize>,
    /// The name that the program gave to the call.
    pub name: Option<String>,
    /// The index among the instrumented calls.
    pub call: Option<u16>,
}

/// Returns the texts by which a tag describes a place: where each innermost function is awaited.
pub fn lines(nodes: &[Node], functions: &[Function]) -> Vec<String> {
    let is_leaf = |at: &usize| nodes.iter().all(|node| node.parent != Some(*at));
    let line = |leaf| {
        let up = |&at: &usize| nodes[at].parent;
        let mut chain: Vec<_> = std::iter::successors(Some(leaf), up).collect();
        chain.reverse();
        let function = |at: usize| &functions[nodes[chain[at]].function];
        let innermost = |origin| (0..chain.len()).rev().find(|&at| function(at).origin == origin);
        let at = innermost("program").or_else(|| innermost("dependency")).unwrap_or(0);
        let Function { name, file, line, .. } = function(at);
        let mut text = name.clone();
        if let Some(file) = file {
            text += &format!(" at {file}");
            text += &line.map(|line| format!(":{line}")).unwrap_or_default();
        }
        if at + 1 < chain.len() {
            text += &format!(", for {}", function(at + 1).name.trim_start_matches("async "));
        }
        text
    };
    (0..nodes.len()).filter(is_leaf).map(line).collect()
}

/// Returns the end of the tag of a place with these texts.
pub fn tag_end(place: u16, lines: &[String]) -> String {
    let text = match lines {
        [] if place == NOTHING => "nothing took its waker".to_owned(),
        [] => "unknown".to_owned(),
        [line] => line.clone(),
        [first, more @ ..] => format!("{first}, and {} more", more.len()),
    };
    format!("waits ({place}): {text}")
}

/// The state of the check.
#[derive(Debug, Default)]
pub(super) struct Waits {
    end_ns: u64,
    functions: Vec<Function>,
    places: BTreeMap<u16, Vec<Node>>,
    /// The number of chains of functions whose names aren't known yet, and the last wait that has some.
    chains: usize,
    last_unnamed: u16,
    tags: Vec<Tag>,
    /// The states of each task, by its name.
    tasks: BTreeMap<String, Vec<String>>,
    /// The list and the name of each task that a part mentions.
    named: Vec<(&'static str, String)>,
    names: BTreeSet<String>,
    carried: BTreeSet<String>,
    local: BTreeSet<u64>,
    calls: Vec<(bool, u64)>,
}

#[derive(Debug)]
struct Tag {
    text: String,
    /// The spawn location, with a space after it.
    before: String,
    place: u16,
    at: String,
}

/// The numbers of entries of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitCounts {
    /// The number of places whose functions are known.
    pub places: usize,
    /// The number of tags that say where a task waits.
    pub tags: usize,
    /// The number of tasks with names.
    pub names: usize,
    /// The number of tasks that have waited since before the first data.
    pub carried: usize,
    /// The number of tasks of `LocalSet`s.
    pub local_tasks: usize,
    /// The number of tasks that wait in instrumented calls.
    pub calls: usize,
}

fn text(value: &Value, list: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{value} is no text, in `{list}`"))
}

fn text_or_null(value: &Value, list: &str) -> Result<Option<String>, String> {
    if value.is_null() { Ok(None) } else { text(value, list).map(Some) }
}

/// Reads an entry of `N` values.
fn entry<'a, const N: usize>(value: &'a Value, list: &str) -> Result<&'a [Value; N], String> {
    let values = value.as_array().and_then(|values| values.as_slice().try_into().ok());
    values.ok_or_else(|| format!("{value} must have {N} values, in `{list}`"))
}

/// Reads a task and returns its name in the rows, without the name of the runtime.
fn task(value: &Value, list: &str) -> Result<String, String> {
    match value.as_str() {
        Some(name) if name == "main" || name.starts_with("main-") => Ok(name.to_owned()),
        _ => number(value).map(|id| format!("task-{id}")).map_err(|e| format!("{e}, in `{list}`")),
    }
}

fn place(value: &Value, list: &str) -> Result<u16, String> {
    let number = value.as_u64().and_then(|number| u16::try_from(number).ok());
    number
        .filter(|number| (1..=NOTHING).contains(number))
        .ok_or(format!("{value} is no place, in `{list}`"))
}

impl Waits {
    /// Checks the facts of the run.
    pub(super) fn run(&mut self, record: &Value) -> Result<(), String> {
        self.end_ns = number(&record["endNs"])?;
        match record.get("waitsNotKept").map(number) {
            None | Some(Ok(1..)) => Ok(()),
            Some(_) => Err("`waitsNotKept` must be a number, or not there if it is 0".to_owned()),
        }
    }

    /// Checks the definition of a tag of `state`.
    pub(super) fn tag(&mut self, state: &str, record: &Value) -> Result<(), String> {
        let (Some(wait), at) = (record.get("wait"), record.get("waitsAt")) else {
            return match record.get("waitsAt") {
                Some(_) => Err("`waitsAt` without `wait`".to_owned()),
                None => Ok(()),
            };
        };
        if state != "waiting" {
            return Err(format!("a task that is {state} doesn't wait"));
        }
        let before = match (record["file"].as_str(), record["location"].as_str()) {
            (Some(file), Some(location)) => format!("{file}:{location} "),
            _ => String::new(),
        };
        let at = text(at.unwrap_or(&Value::Null), "waitsAt")?;
        self.tags.push(Tag {
            text: text(&record["tag"], "tag")?,
            before,
            place: place(wait, "wait")?,
            at,
        });
        Ok(())
    }

    pub(super) fn datum(&mut self, entity: &str, state: &str) {
        let name = entity.rsplit('/').next().unwrap_or_default();
        self.tasks.entry(name.to_owned()).or_default().push(state.to_owned());
    }

    /// Checks a part, which describes the data since the part before.
    pub(super) fn part(&mut self, record: &Value) -> Result<(), String> {
        for function in list(record, "functions") {
            let [name, file, line, origin] = entry(function, "functions")?;
            self.functions.push(Function {
                name: text(name, "functions")?,
                file: text_or_null(file, "functions")?,
                line: line.as_u64(),
                origin: text(origin, "functions")?,
            });
        }
        list(record, "waits").iter().try_for_each(|wait| self.wait(wait))?;
        list(record, "chains").iter().try_for_each(|chain| self.chain(chain))?;
        list(record, "unnamed").iter().try_for_each(|wait| self.unnamed(wait))?;
        for name in list(record, "names") {
            let [key, name] = entry(name, "names")?;
            text(name, "names")?;
            self.mention("names", task(key, "names")?, |waits| &mut waits.names)?;
        }
        for carried in list(record, "carried") {
            let [key, since] = entry(carried, "carried")?;
            self.time(since, "carried")?;
            self.mention("carried", task(key, "carried")?, |waits| &mut waits.carried)?;
        }
        list(record, "localTasks").iter().try_for_each(|local| self.local_task(local))?;
        list(record, "calls").iter().try_for_each(|calls| self.calls(calls))
    }

    /// Notes a task of `list`, which must not have it twice.
    fn mention(
        &mut self,
        list: &'static str,
        name: String,
        all: impl Fn(&mut Self) -> &mut BTreeSet<String>,
    ) -> Result<(), String> {
        self.named.push((list, name.clone()));
        match all(self).insert(name.clone()) {
            true => Ok(()),
            false => Err(format!("`{list}` has {name} twice")),
        }
    }

    fn time(&self, value: &Value, list: &str) -> Result<(), String> {
        match number(value)? {
            at if at <= self.end_ns => Ok(()),
            at => Err(format!("`{list}` has a time of {at}, after the end")),
        }
    }

    fn wait(&mut self, wait: &Value) -> Result<(), String> {
        let [id, nodes] = entry(wait, "waits")?;
        let id = place(id, "waits")?;
        if id == NOTHING || self.places.last_key_value().is_some_and(|(&last, _)| last >= id) {
            return Err(format!("`waits` has the number {id}, which isn't the next of a place"));
        }
        let mut all: Vec<Node> = Vec::new();
        // The nodes from an outermost one down to the last one.
        let mut path: Vec<usize> = Vec::new();
        for node in
            nodes.as_array().filter(|nodes| !nodes.is_empty()).ok_or("a wait without functions")?
        {
            let [function, parent, name, call] = entry(node, "waits")?;
            let index = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
            let function = index(function).filter(|&index| index < self.functions.len());
            let parent =
                if parent.is_null() { None } else { Some(index(parent).ok_or("no parent")?) };
            // Each node directly follows the one that awaits it, or others that the same one awaits.
            match parent {
                None => path.clear(),
                Some(parent) => {
                    let up = path.iter().position(|&at| at == parent);
                    path.truncate(
                        1 + up.ok_or(format!("{parent} isn't above {node}, in `waits`"))?,
                    );
                }
            }
            path.push(all.len());
            let call = match call {
                Value::Null => None,
                call => Some(call.as_u64().and_then(|n| u16::try_from(n).ok()).ok_or("no call")?),
            };
            let function = function.ok_or(format!("{node} has a function that isn't there"))?;
            all.push(Node { function, parent, name: text_or_null(name, "waits")?, call });
        }
        self.places.insert(id, all);
        Ok(())
    }

    fn chain(&mut self, chain: &Value) -> Result<(), String> {
        let [places, calls] = entry(chain, "chains")?;
        for place in places.as_array().ok_or("a chain without addresses")? {
            let place = place.as_array().and_then(|place| place.split_first());
            let (address, functions) = place.ok_or("an address without a number, in `chains`")?;
            number(address)?;
            let is_there =
                |index: &Value| index.as_u64().is_some_and(|n| n < self.functions.len() as u64);
            if !functions.iter().all(is_there) {
                return Err(format!("{chain} has a function that isn't there"));
            }
        }
        for call in calls.as_array().ok_or("a chain without calls")? {
            let [name, file, line] = entry(call, "chains")?;
            text(name, "chains")?;
            text(file, "chains")?;
            number(line)?;
        }
        self.chains += 1;
        Ok(())
    }

    fn unnamed(&mut self, wait: &Value) -> Result<(), String> {
        let [id, chains] = entry(wait, "unnamed")?;
        let id = place(id, "unnamed")?;
        if id <= self.last_unnamed || id == NOTHING {
            return Err(format!("`unnamed` has the number {id}, which isn't the next one"));
        }
        self.last_unnamed = id;
        let chains = chains.as_array().ok_or("no chains")?;
        let is_there = |chain: &Value| chain.as_u64().is_some_and(|n| n < self.chains as u64);
        match chains.iter().all(is_there) {
            true => Ok(()),
            false => Err(format!("{wait} has a chain that isn't there")),
        }
    }

    fn local_task(&mut self, local: &Value) -> Result<(), String> {
        const LIST: &str = "localTasks";
        let [id, polled_in, location, name, since, wait, woken_by] = entry(local, LIST)?;
        task(polled_in, LIST)?;
        if !location.is_null() {
            let [file, line, column] = entry(location, LIST)?;
            text(file, LIST)?;
            number(line)?;
            number(column)?;
        }
        if !matches!(woken_by.as_str(), Some("runtime" | "blocking" | "thread"))
            && !woken_by.is_null()
        {
            task(woken_by, LIST)?;
        }
        text_or_null(name, LIST)?;
        self.time(since, LIST)?;
        if !wait.is_null() {
            place(wait, LIST)?;
        }
        match self.local.insert(number(id)?) {
            true => Ok(()),
            false => Err(format!("`localTasks` has {id} twice")),
        }
    }

    fn calls(&mut self, calls: &Value) -> Result<(), String> {
        let [key, calls] = entry(calls, "calls")?;
        let name = task(key, "calls")?;
        let number_of = |name: &str, prefix| name.strip_prefix(prefix)?.parse().ok();
        // Root futures come first.
        let key = match number_of(&name, "task-") {
            Some(id) => (true, id),
            None => (false, number_of(&name, "main-").unwrap_or(1)),
        };
        if self.calls.last().is_some_and(|&last| last >= key) {
            return Err("`calls` must be by task".to_owned());
        }
        self.calls.push(key);
        for call in calls.as_array().filter(|calls| !calls.is_empty()).ok_or("no calls")? {
            let [entered, fields] = entry(call, "calls")?;
            number(entered)?;
            text_or_null(fields, "calls")?;
        }
        Ok(())
    }

    /// Checks what depends on the whole file, and returns the numbers of entries.
    pub(super) fn finish(self) -> Result<WaitCounts, String> {
        for Tag { text, before, place, at } in &self.tags {
            let lines = self.places.get(place).map(|nodes| lines(nodes, &self.functions));
            let lines = lines.unwrap_or_default();
            if *text != format!("{before}{}", tag_end(*place, &lines)) || *at != lines.join("; ") {
                return Err(format!("tag {text:?} at {at:?} doesn't say what place {place} says"));
            }
        }
        for (list, name) in &self.named {
            let states =
                self.tasks.get(name).ok_or(format!("`{list}` has {name}, which isn't there"))?;
            // It waited all the time, or its last polls may have been dropped.
            let waits = states.iter().all(|state| state != "running") && states[0] == "waiting";
            let last = states.iter().rfind(|state| *state != "completed");
            if *list == "carried" && !waits && last.is_none_or(|last| last != "waiting") {
                return Err(format!("`carried` has {name}, which doesn't wait at the end"));
            }
        }
        Ok(WaitCounts {
            places: self.places.len(),
            tags: self.tags.len(),
            names: self.names.len(),
            carried: self.carried.len(),
            local_tasks: self.local.len(),
            calls: self.calls.len(),
        })
    }
}

#[cfg(all(test, tokio_unstable))]
mod tests {
    use crate::check::check;
    use crate::mutate::Random;
    use crate::planted;
    use crate::planted::waits::plant;

    /// The library accepts these entries; only this check finds that they contradict the rest of the file.
    #[test]
    fn contradictions_within_a_file_are_found() {
        let data = planted::random(12, 3).to_data().tasks_to_bytes().unwrap();
        let planted = (0..1_000)
            .map(|seed| plant(std::str::from_utf8(&data).unwrap(), &mut Random::new(seed)));
        let is_full = |planted: &planted::waits::WithWaits| {
            let is_named = planted
                .waits
                .values()
                .flatten()
                .flatten()
                .any(|id| planted.places.contains_key(id));
            is_named && !planted.carried.is_empty() && planted.local_tasks.len() > 1
        };
        let text = planted.into_iter().find(is_full).expect("some have all kinds of entries").data;
        check(text.as_bytes()).unwrap();
        let part = text.lines().find(|line| line.contains("\"waits\":[")).unwrap();
        let first = |name: &str| {
            let (_, list) = part.split_once(&format!("\"{name}\":[")).unwrap();
            list[..=list.find(']').unwrap()].to_owned()
        };
        for (list, changed, problem) in [
            ("names", first("names").replacen('[', "[99", 1), "which isn't there"),
            ("names", first("names") + "," + &first("names"), "twice"),
            ("carried", first("carried").replacen('[', "[99", 1), "which isn't there"),
            ("functions", first("functions").replacen("[\"", "[\"x", 1), "doesn't say what place"),
            ("waits", first("waits").replacen("[[0,", "[[1,", 1), "doesn't say what place"),
        ] {
            let old = first(list);
            let text =
                text.replace(&format!("\"{list}\":[{old}"), &format!("\"{list}\":[{changed}"));
            let found = check(text.as_bytes()).expect_err(list);
            assert!(found.contains(problem), "{list}: {found}");
        }
        for (old, new) in [("\"waitsAt\":\"", "\"waitsAt\":\"x"), (": unknown\"", ": known\"")] {
            let found = check(text.replace(old, new).as_bytes()).expect_err(new);
            assert!(found.contains("doesn't say what place"), "{new}: {found}");
        }
    }
}
