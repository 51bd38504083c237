//! Plants where tasks wait into data of programs that doesn't have it.
//!
//! It follows the description of the format and shares no code with the library.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::{Value, json};

use crate::check::waits::{Function, NOTHING, Node, lines, tag_end};
use crate::mutate::Random;

/// Texts that need escaping, or look like something else.
const TEXTS: [&str; 5] =
    ["cart", "", "a \"b\" \\c\n", "\u{1b}[2J\u{202e}é</script>", "waits (7): x"];

/// Data of tasks that wait somewhere.
#[derive(Debug, Default)]
pub struct WithWaits {
    /// The file.
    pub data: String,
    /// The functions.
    pub functions: Vec<Function>,
    /// The places, by number.
    pub places: BTreeMap<u16, Vec<Node>>,
    /// Chains of addresses and the places that have them, in the form of the file.
    pub chains: (Vec<Value>, Vec<Value>),
    /// The place of each wait of a task, in order, by the task's name.
    pub waits: BTreeMap<String, Vec<Option<u16>>>,
    /// The names that the program gave to tasks.
    pub names: BTreeMap<String, String>,
    /// The tasks that wait all the time, and the start of that wait, in ns.
    pub carried: BTreeMap<String, u64>,
    /// The id, the polling task and the place of each task of a `LocalSet`.
    pub local_tasks: Vec<(u64, String, Option<u16>)>,
    /// The number of waits without a place.
    pub not_kept: u64,
}

/// Returns a task in the form of the lists.
fn key(name: &str) -> Value {
    match name.strip_prefix("task-") {
        Some(id) => json!(id.parse::<u64>().expect("a task has a number")),
        None => json!(name),
    }
}

/// A datum of the file that waits are planted into.
struct Datum<'a> {
    /// The text before its tag.
    begin: &'a str,
    entity: String,
    state: u64,
    tag: Option<String>,
}

impl<'a> Datum<'a> {
    fn parse(line: &'a str) -> Self {
        let record: Value = serde_json::from_str(line).expect("it is valid");
        let text = |key: &str| record[key].as_str().map(str::to_owned);
        Self {
            begin: line
                .split_once(",\"tag\":")
                .map_or(line.trim_end_matches('}'), |(begin, _)| begin),
            entity: text("entity").expect("it is a datum"),
            state: record["state"].as_u64().expect("it has a state"),
            tag: text("tag"),
        }
    }
}

const RUNNING: u64 = 1;
const WAITING: u64 = 2;

/// Plants waits, names and other facts of single tasks into the tasks file of a program. The file must be small enough to
/// have one part.
///
/// # Panics
///
/// If it has more parts, or isn't valid.
pub fn plant(tasks: &str, random: &mut Random) -> WithWaits {
    let all: Vec<&str> = tasks.lines().collect();
    let [metadata, header, rows @ .., part, last] = &all[..] else {
        return WithWaits { data: tasks.to_owned(), ..WithWaits::default() };
    };
    let mut planted = WithWaits::default();
    planted.make_places(random);
    planted.make_chains(random);
    planted.not_kept = if random.is(2) { random.any() } else { 0 };
    let not_kept = match planted.not_kept {
        0 => String::new(),
        n => format!(",\"waitsNotKept\":{}", number(n)),
    };
    let (definitions, data): (Vec<&str>, Vec<&str>) =
        rows.iter().partition(|line| !line.starts_with("{\"time\""));
    let mut file =
        File { written: BTreeSet::new(), locations: BTreeMap::new(), text: String::new() };
    let _ = writeln!(file.text, "{metadata}\n{}{not_kept}}}", header.trim_end_matches('}'));
    for definition in definitions {
        let record: Value = serde_json::from_str(definition).expect("it is valid");
        let tag = record["tag"].as_str().expect("it has a tag").to_owned();
        assert!(!tag.starts_with("tokio-statemap"), "it has one part");
        file.locations.insert(tag, (record["file"].clone(), record["location"].clone()));
    }
    let data: Vec<_> = data.into_iter().map(Datum::parse).collect();
    let polled: BTreeSet<&str> =
        data.iter().filter(|datum| datum.state == RUNNING).map(|datum| &*datum.entity).collect();
    let mut before: Option<(&str, u64)> = None;
    // The last datum of the first task, which the end repeats.
    let mut first: Option<(&str, Option<u16>)> = None;
    let begin_ns = time(header, "beginNs");
    for datum in &data {
        let entity = &*datum.entity;
        let since = before.filter(|(last, _)| *last == entity).map(|(_, state)| state);
        let place = match (datum.state, since) {
            (WAITING, Some(RUNNING)) => planted.any_place(random),
            (WAITING, None) if !polled.contains(entity) => planted.carry(entity, begin_ns, random),
            _ => None,
        };
        if datum.state == WAITING && since != Some(4) {
            planted.waits.entry(datum.entity.clone()).or_default().push(place);
        }
        file.datum(datum, place, &planted);
        before = Some((entity, datum.state));
        if first.is_none_or(|(first, _)| first == entity) {
            first = Some((entity, place));
        }
    }
    let mut names: Vec<String> = Vec::new();
    data.iter().for_each(|datum| {
        if names.last() != Some(&datum.entity) {
            names.push(datum.entity.clone());
        }
    });
    let quiet = if data.is_empty() { 0 } else { random.below(4) };
    names.extend(file.quiet(quiet, &mut planted, begin_ns, random));
    let end_ns = time(header, "endNs");
    let _ = writeln!(file.text, "{}", planted.part(part, quiet, &names, end_ns, random));
    file.datum(&Datum::parse(last), first.and_then(|(_, place)| place), &planted);
    planted.data = file.text;
    planted
}

/// Reads a number of the first definition.
fn time(header: &str, name: &str) -> u64 {
    let record: Value = serde_json::from_str(header).expect("it is valid");
    record[name].as_u64().expect("it is a number")
}

/// Writes a number, which is a string above 2^53.
fn number(n: u64) -> Value {
    if n > 1 << 53 { json!(n.to_string()) } else { json!(n) }
}

/// The file that is being written.
struct File {
    /// The pairs of state and tag that are already defined.
    written: BTreeSet<(u64, String)>,
    /// The `file` and `location` of tags that are spawn locations.
    locations: BTreeMap<String, (Value, Value)>,
    text: String,
}

impl File {
    /// Writes a datum, preceded by the definition of its tag if that is new.
    fn datum(&mut self, datum: &Datum<'_>, place: Option<u16>, planted: &WithWaits) {
        let mut members = String::new();
        if let Some((file, location)) = datum.tag.as_ref().and_then(|tag| self.locations.get(tag)) {
            members = format!(",\"file\":{file},\"location\":{location}");
        }
        let mut tag = datum.tag.clone();
        if let Some(place) = place {
            let lines = planted.places.get(&place).map(|nodes| lines(nodes, &planted.functions));
            let lines = lines.unwrap_or_default();
            let before = tag.map_or_else(String::new, |tag| tag + " ");
            tag = Some(before + &tag_end(place, &lines));
            let _ = write!(members, ",\"wait\":{place},\"waitsAt\":{}", json!(lines.join("; ")));
        }
        let Some(tag) = tag else {
            let _ = writeln!(self.text, "{}}}", datum.begin);
            return;
        };
        let json = json!(tag);
        if self.written.insert((datum.state, tag)) {
            let _ = writeln!(self.text, "{{\"state\":{},\"tag\":{json}{members}}}", datum.state);
        }
        let _ = writeln!(self.text, "{},\"tag\":{json}}}", datum.begin);
    }

    /// Writes `count` tasks that wait since before the first datum and are never polled. Returns their names.
    fn quiet(
        &mut self,
        count: usize,
        planted: &mut WithWaits,
        begin_ns: u64,
        random: &mut Random,
    ) -> Vec<String> {
        let mut names = Vec::new();
        for n in 0..count {
            let entity = format!("task-{}", 1_000_000 + n);
            let begin = format!("{{\"time\":\"0\",\"entity\":\"{entity}\",\"state\":{WAITING}");
            let tag = random.is(2).then(|| {
                let file = random.pick(&["src/quiet.rs", "waits (1): x.rs", "a waits (3): b.rs"]);
                let tag = format!("{file}:7:5");
                self.locations.insert(tag.clone(), (json!(file), json!("7:5")));
                tag
            });
            let place = planted.carry(&entity, begin_ns, random);
            planted.waits.insert(entity.clone(), vec![place]);
            let datum = Datum { begin: &begin, entity: entity.clone(), state: WAITING, tag };
            self.datum(&datum, place, planted);
            names.push(entity);
        }
        names
    }
}

impl WithWaits {
    /// Makes places of random functions. The list has each function once, in the order of the places.
    fn make_places(&mut self, random: &mut Random) {
        let mut place = 0;
        for _ in 0..random.below(6) {
            let far = if random.is(8) { 1 << 14 } else { 4 };
            place += 1 + random.below(far) as u16;
            if place >= NOTHING {
                break;
            }
            let mut nodes: Vec<Node> = Vec::new();
            let mut path: Vec<usize> = Vec::new();
            for at in 0..1 + random.below(12) {
                path.truncate(random.below(path.len() + 1).max(path.len().saturating_sub(2)));
                nodes.push(Node {
                    function: self.any_function(random),
                    parent: path.last().copied(),
                    name: random.is(4).then(|| random.pick(&TEXTS).to_owned()),
                    call: random.is(4).then(|| random.below(3) as u16),
                });
                path.push(at);
            }
            self.places.insert(place, nodes);
        }
    }

    fn make_chains(&mut self, random: &mut Random) {
        let count = random.below(4);
        for _ in 0..count {
            let mut place = |_| {
                let mut place = vec![random.below(9)];
                for _ in 0..random.below(3) {
                    place.push(self.any_function(random));
                }
                place
            };
            let places: Vec<_> = (0..5).map(&mut place).collect();
            let call = || json!([random.pick(&TEXTS), "src/shop.rs", 7]);
            let calls: Vec<_> = std::iter::repeat_with(call).take(count / 2).collect();
            self.chains.0.push(json!([places, calls]));
        }
        let places = (1..NOTHING).step_by(3).take(count);
        let unnamed = |id| json!([id, (0..1 + random.below(count)).collect::<Vec<_>>()]);
        self.chains.1 = places.map(unnamed).collect();
    }

    fn any_function(&mut self, random: &mut Random) -> usize {
        let origin = random.pick(&["program", "dependency", "std", "runtime", "system"]);
        let function = Function {
            name: format!(
                "{}{}",
                random.pick(&["", "async ", "async async "]),
                random.pick(&TEXTS)
            ),
            file: random.is(2).then(|| random.pick(&["src/shop.rs", "a \"b\".rs"]).to_owned()),
            line: random.is(2).then(|| [1, 88, u64::from(u32::MAX)][random.below(3)]),
            origin: origin.to_owned(),
        };
        self.functions.iter().position(|known| *known == function).unwrap_or_else(|| {
            self.functions.push(function);
            self.functions.len() - 1
        })
    }

    /// Returns a planted place, an unknown one, [`NOTHING`] or `None`.
    fn any_place(&self, random: &mut Random) -> Option<u16> {
        let places: Vec<u16> = self.places.keys().copied().collect();
        match random.below(6) {
            0 => None,
            1 => Some(NOTHING),
            2 => Some(1 + random.below(9) as u16),
            _ if places.is_empty() => None,
            _ => Some(places[random.below(places.len())]),
        }
    }

    /// Chooses the place of a task that isn't polled, and since when it waits there.
    fn carry(&mut self, task: &str, begin_ns: u64, random: &mut Random) -> Option<u16> {
        if random.is(4) {
            return None;
        }
        let since_ns = if random.is(2) { begin_ns } else { random.any() % (begin_ns + 1) };
        self.carried.insert(task.to_owned(), since_ns);
        self.any_place(random)
    }

    /// Returns the part with everything that was planted. `tasks` are the tasks of the rows; `quiet` of them are new to the
    /// part.
    fn part(
        &mut self,
        part: &str,
        quiet: usize,
        tasks: &[String],
        end_ns: u64,
        random: &mut Random,
    ) -> String {
        let mut part: Value = serde_json::from_str(part).expect("it is valid");
        if quiet > 0 {
            part["data"] = json!(part["data"].as_u64().unwrap_or_default() + quiet as u64);
            let mut parents = part["parents"].as_array().cloned().unwrap_or_default();
            match parents.last_mut().filter(|last| last[0].is_null()) {
                Some(last) => last[1] = json!(last[1].as_u64().unwrap_or_default() + quiet as u64),
                None => parents.push(json!([null, quiet])),
            }
            part["parents"] = json!(parents);
        }
        let functions = self.functions.iter().map(|f| json!([f.name, f.file, f.line, f.origin]));
        part["functions"] = functions.collect();
        let node = |node: &Node| json!([node.function, node.parent, node.name, node.call]);
        let place =
            |(id, nodes): (_, &Vec<Node>)| json!([id, nodes.iter().map(node).collect::<Value>()]);
        part["waits"] = self.places.iter().map(place).collect();
        part["chains"] = json!(self.chains.0);
        part["unnamed"] = json!(self.chains.1);
        let (mut names, mut carried, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        let mut call = || {
            let fields = random.is(2).then(|| random.pick(&TEXTS));
            json!([number(random.any() >> random.below(64)), fields])
        };
        let mut any_calls = |key: Value| {
            let count = 1 + key.as_u64().unwrap_or_default() % 3;
            calls.push(json!([key, (0..count).map(|_| call()).collect::<Value>()]));
        };
        tasks.iter().step_by(3).for_each(|name| any_calls(key(name)));
        let local: Vec<u64> = (2_000_000..).take(tasks.len() % 4).collect();
        local.iter().step_by(2).for_each(|&id| any_calls(json!(id)));
        for name in tasks {
            if random.is(3) {
                let given = random.pick(&TEXTS);
                names.push(json!([key(name), given]));
                self.names.insert(name.clone(), given.to_owned());
            }
            if let Some(&since_ns) = self.carried.get(name) {
                carried.push(json!([key(name), number(since_ns)]));
            }
        }
        let mut local_tasks = Vec::new();
        for id in local {
            let polled_in = &tasks[random.below(tasks.len())];
            let (wait, name) = (self.any_place(random), random.is(2).then(|| random.pick(&TEXTS)));
            let since_ns = number(random.any() % (end_ns + 1));
            let location = json!([random.pick(&["src/local.rs", "a\\b.rs"]), 3, 9]);
            let location = if random.is(2) { location } else { Value::Null };
            let woken_by = match random.below(4) {
                0 => json!("runtime"),
                1 => json!("thread"),
                2 => key(polled_in),
                _ => Value::Null,
            };
            local_tasks.push(json!([id, key(polled_in), location, name, since_ns, wait, woken_by]));
            self.local_tasks.push((id, polled_in.clone(), wait));
        }
        part["names"] = json!(names);
        part["carried"] = json!(carried);
        part["localTasks"] = json!(local_tasks);
        part["calls"] = json!(calls);
        in_order(&part)
    }
}

/// Writes a part: its members in their order, without empty lists.
fn in_order(part: &Value) -> String {
    const MEMBERS: [&str; 23] = [
        "tag",
        "state",
        "data",
        "gaps",
        "handovers",
        "blockingThreads",
        "parks",
        "apart",
        "ranOn",
        "polls",
        "cut",
        "parents",
        "causes",
        "functions",
        "samples",
        "profile",
        "waits",
        "chains",
        "unnamed",
        "names",
        "carried",
        "localTasks",
        "calls",
    ];
    let is_there = |name: &&str| {
        part.get(name).is_some_and(|value| value.as_array().is_none_or(|l| !l.is_empty()))
    };
    let member = |name: &str| format!("\"{name}\":{}", part[name]);
    let members: Vec<_> =
        MEMBERS.iter().filter(|name| is_there(name)).map(|name| member(name)).collect();
    format!("{{{}}}", members.join(","))
}
