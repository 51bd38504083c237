//! Random data, of this crate and of other programs, with its content.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::binary::{TASKS, WORKERS, definition, part_of, run_of};
use super::page::Totals;

/// A pseudo-random sequence (xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }

    fn is(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A file of data, and its content.
#[derive(Debug, Default)]
pub(super) struct Data {
    pub(super) text: String,
    states: Vec<String>,
    /// Time, state and tag of each change, by entity.
    changes: BTreeMap<String, Vec<(u64, usize, Option<String>)>>,
    pub(super) is_ours: bool,
}

impl Data {
    /// Returns the time of each entity in each state. The tags of this crate's data aren't told apart.
    pub(super) fn totals(&self) -> Totals {
        let last = |changes: &Vec<(u64, usize, Option<String>)>| changes.last().map(|c| c.0);
        let end_ns = self.changes.values().filter_map(last).max().unwrap_or_default();
        let mut totals = Totals::new();
        for (entity, changes) in &self.changes {
            let ends = changes.iter().skip(1).map(|change| change.0).chain([end_ns]);
            for ((time, state, tag), end) in changes.iter().zip(ends) {
                let tag = tag.clone().filter(|_| !self.is_ours);
                let key = (entity.clone(), self.states[*state].clone(), tag);
                *totals.entry(key).or_default() += end - time;
            }
        }
        totals
    }

    fn change(
        &mut self,
        random: &mut Random,
        time: u64,
        entity: &str,
        state: usize,
        tag: Option<&str>,
    ) {
        let mut fields = vec![
            format!("\"time\":\"{time}\""),
            format!("\"entity\":{}", Value::from(entity)),
            format!("\"state\":{state}"),
        ];
        fields.extend(tag.map(|tag| format!("\"tag\":{}", Value::from(tag))));
        if self.is_ours {
            let _ = writeln!(self.text, "{{{}}}", fields.join(","));
        } else {
            let turn = random.below(3) as usize;
            fields.rotate_left(turn);
            let [a, b, c] = [(); 3].map(|()| random.pick(&["", "", " ", "\n\t"]));
            let separator = format!("{a},{b}");
            let _ = write!(self.text, "{{{b}{}{c}}}{a}{c}", fields.join(&separator));
        }
        let changes = self.changes.entry(entity.to_owned()).or_default();
        changes.push((time, state, tag.map(str::to_owned)));
    }
}

/// Returns data of another program: any names, states, tags, in any order and form.
pub(super) fn others(random: &mut Random) -> Data {
    const NAMES: [&str; 9] = [
        "0",
        "10",
        "2",
        "sd-007",
        "]]></script>",
        "a \"b\" \\c",
        "\u{202e}é\u{2028}",
        "",
        "x-18446744073709551615",
    ];
    const TAGS: [&str; 3] = ["t", "<&", "ffffd0c4f8f52000"];
    let mut data = Data::default();
    let count = 1 + random.below(12) as usize;
    data.states = (0..count).map(|state| format!("s <{state}>")).collect();
    let states: Vec<_> = (0..count)
        .map(|state| {
            let colour = random.pick(&["", ",\"color\":\"red\"", ",\"color\": \"#9BC362\""]);
            format!("{}:{{\"value\":{state}{colour}}}", Value::from(data.states[state].as_str()))
        })
        .rev()
        .collect();
    let start = 1_000 + random.below(3);
    data.text = format!(
        "{{\"start\": [ {start}, 5 ],\n\t\"title\": \"t\", \"states\": {{ {} }} }}\n",
        states.join(", ")
    );
    let mut times: BTreeMap<&str, u64> = BTreeMap::new();
    for _ in 0..random.below(300) {
        let entity = random.pick(&NAMES);
        let pause = random.below(5) * random.below(1_000_000_000);
        let time = times.entry(entity).and_modify(|time| *time += 1 + pause).or_insert(pause);
        let time = *time;
        let state = random.below(count as u64) as usize;
        let tag = random.is(3).then(|| random.pick(&TAGS));
        data.change(random, time, entity, state, tag);
        if random.is(40) {
            let _ = write!(data.text, "{{\"state\":{state},\"tag\":\"t\",\"n\":[1,{{}}]}}");
        }
        if random.is(40) {
            let event = "{\"time\":\"7\",\"entity\":\"0\",\"event\":\"e\",\"target\":\"10\"}\n";
            data.text.push_str(event);
        }
        if random.is(40) {
            let _ = write!(data.text, "{{\"entity\":\"sd-007\",\"description\":\"é\\u0041\"}}");
        }
    }
    data
}

/// Returns data of tasks as this crate writes it.
pub(super) fn tasks(random: &mut Random) -> Data {
    let mut data = ours(TASKS, &["spawned", "running", "waiting", "completed", "ready"]);
    let locations = ["src/main.rs:1:2", "src/\"api\".rs:88:20"];
    for (file, place) in [("src/main.rs", "1:2"), ("src/\"api\".rs", "88:20")] {
        for state in [0, 1, 2, 4] {
            data.text += &definition(state, file, place);
        }
    }
    for task in 0..random.below(12) {
        let (name, tag) = match task {
            0 => ("main".to_owned(), None),
            id => (format!("task-{id}"), Some(random.pick(&locations))),
        };
        let mut time = random.below(1_000_000_000);
        data.change(random, time, &name, 0, tag);
        for _ in 0..random.below(30) {
            for state in [1, 2, 4] {
                time += 1 + random.below(3_000_000);
                data.change(random, time, &name, state, tag);
            }
        }
        if random.is(2) {
            data.change(random, time + 2, &name, 3, None);
        }
    }
    close(random, data, None)
}

/// Returns data of workers as this crate writes it.
pub(super) fn workers(random: &mut Random) -> Data {
    let mut data = ours(WORKERS, &["running", "parked", "stopped"]);
    for worker in 0..random.below(12) {
        let name = format!("api/worker-{worker}");
        let mut time = random.below(1_000_000);
        for _ in 0..random.below(50) {
            for state in [0, 1] {
                time += 1 + random.below(3_000_000);
                data.change(random, time, &name, state, None);
            }
        }
        if random.is(2) {
            data.change(random, time + 2, &name, 2, None);
        }
    }
    close(random, data, Some("api"))
}

fn ours(metadata: &str, states: &[&str]) -> Data {
    let states = states.iter().map(|&state| state.to_owned()).collect();
    Data { text: metadata.to_owned(), states, changes: BTreeMap::new(), is_ours: true }
}

/// Adds the record that marks the end, and the description of the run.
fn close(random: &mut Random, mut data: Data, runtime: Option<&str>) -> Data {
    let changes = || data.changes.values().flatten();
    let (count, polls) = (changes().count(), changes().filter(|change| change.1 == 1).count());
    let entities = data.changes.len();
    if count > 0 {
        let lists = match runtime {
            None => {
                format!("\"ranOn\":[[0,0]],\"polls\":[0,{polls}],\"parents\":[[null,{entities}]]")
            }
            Some(_) => format!("\"parks\":[{}]", vec!["1"; entities].join(",")),
        };
        data.text += &part_of(count, &lists);
    }
    let ends = data.changes.values().filter_map(|changes| changes.last());
    let end = ends.map(|last| last.0).max().unwrap_or_default();
    let first = data.changes.iter().next();
    if let Some((entity, (_, state, tag))) =
        first.and_then(|(e, c)| Some((e.clone(), c.last()?.clone())))
    {
        let after = 2 + random.below(1_000);
        data.change(random, end + after, &entity, state, tag.as_deref());
    }
    let last = data.changes.values().filter_map(|changes| changes.last()).map(|last| last.0).max();
    let behind_the_metadata = data.text.find('\n').unwrap() + 1;
    data.text.insert_str(behind_the_metadata, &run_of(runtime, last.unwrap_or_default()));
    data
}
