//! The files to mutate, which are valid or nearly so.

use std::fmt::Write;

use tokio_statemap::statemap::{Labels, write_tasks, write_workers};

use super::Random;
use crate::planted::{self, waits};

/// Data of another program, as the format's description allows it: metadata over many lines, white space, and tags that are
/// defined before or after their use, twice, with further members, or not at all.
const CPUS: &str = r##"{
    "start": [ 1544138397, 322335842 ], "title": "CPU activity", "host": "db-1", "entityKind": "CPU",
    "states": {
        "idle": { "value": 2, "color": "#e0e0e0" },
        "user thread": { "value": 0, "color": "#9BC362" },
        "interrupt": { "value": 1, "color": "teal" },
        "kernel <thread>": { "value": 3 }
    }
}
{ "time": "133694", "entity": "14", "state": 2 }
{ "state": 1, "tag": "mpt0", "driver": "mpt_sas", "instance": 0 }
{ "time": "140000", "entity": "0", "state": 1, "tag": "mpt0" }
{ "time": "141000", "entity": "0", "state": 0, "tag": "4a0e384" }
{ "time": "142000", "entity": "2", "state": 3, "tag": "nobody" }
{ "state": 0, "tag": "4a0e384", "pid": "50378", "execname": "node" }
{ "state": 1, "tag": "mpt0", "driver": "mpt_sas", "instance": 1 }
{ "entity": "14", "description": "the last one" }
{ "time": "150000", "entity": "14", "event": "wake", "target": "0" }
{ "time": "160000", "entity": "0", "state": 0, "tag": "nobody" }
{ "time": "173279", "entity": "2", "state": 2 }
"##;

/// The file of a program with the feature `stacks`: causes of long polls, and stack samples.
const LONG_POLLS: &str = r##"{"start":[1544138397,322335842],"title":"api: Tokio tasks","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"},"ready":{"value":4,"color":"#785EF0"}},"host":"box","entityKind":"Task"}
{"tag":"tokio-statemap","state":3,"format":1,"program":"api","beginNs":0,"endNs":90000000,"longPollNs":1000000,"events":9,"refusedEvents":0,"droppedEvents":0,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":true,"cpuLimit":[1500,2,7000000],"clock":[1,50000000000,false,true],"stacks":"on","runDelayNs":4000000,"stolenNs":1,"droppedSamples":3,"noStacks":{"noProc":2,"signalTaken":1},"poolWork":[9,2,7,4,1],"exhaustedPool":[2,9,90,40,5,70,1,["src/main.rs",7,5]],"poolQueue":[[1000000,9],[40000000,0]]}
{"tag":"tokio-statemap 1","state":3,"causes":[[0,1000000,2000000,46000000,1000000,0,7,1000000]],"functions":[["nanosleep",null,null,"system"],["std::thread::sleep","/rustc/59807616e1fa/library/std/src/thread/mod.rs",21,"std"],["api::render","src/api.rs",88,"program"]],"samples":[[0,1000000,11000000,"clock_nanosleep",true,[0,1,2]],[0,1000000,21000000,null,false,[2]]]}
{"tag":"tokio-statemap 2","state":3,"functions":[["api::answer","src/api.rs",12,"program"]],"samples":[[1,61000000,71000000,"read of /dev/random",true,[0,3]]]}
{"time":"0","entity":"task-1","state":0}
{"time":"1000000","entity":"task-1","state":1}
{"time":"51000000","entity":"task-1","state":2}
{"time":"60000000","entity":"task-1","state":4}
{"time":"61000000","entity":"task-1","state":1}
{"tag":"tokio-statemap 3","state":3,"data":5,"ranOn":[[0,0],[1,1]],"polls":[0,1,1,1],"wokenBy":[[7,1],["runtime",1]],"parents":[[null,1]]}
{"time":"90000000","entity":"task-1","state":1}
"##;

/// The file of a run of which only a part is kept in detail, with the sums of the whole run.
const WHOLE_RUN: &str = r##"{"start":[1544138397,322335842],"title":"api: Tokio tasks","states":{"spawned":{"value":0,"color":"#FFB000"},"running":{"value":1,"color":"#DC267F"},"waiting":{"value":2,"color":"#FE6100"},"completed":{"value":3,"color":"#648FFF"}},"host":"box","entityKind":"Task"}
{"tag":"tokio-statemap","state":3,"format":1,"program":"api","beginNs":50000000,"endNs":90000000,"longPollNs":1000000,"events":3,"refusedEvents":0,"droppedEvents":70000,"reentrantEvents":0,"traceTarget":"both","taskHooks":true,"scheduleLatency":false,"stacks":"off","recentNs":60000000,"wholeRun":[0,90000000,90000000,41,30020,2,1,0,1048576]}
{"tag":"tokio-statemap 1","state":3,"gaps":[[55000000,60000000]],"runLocations":[[["src/api.rs",88,5],false,40,30000,60000000,0,12,24000000,0,[1200,20000,700,9988,1998100,12],[900,3]],[null,true,1,0,0,85000000,0,0,0,[85000000,20],[]]],"runLongest":[["main",1,2000000,85000000,null,1],[7,0,3000000,2000000,1,0],[1,0,70000000,1900000,0,0]],"runStretches":[[500000,90,85000000,1,40,2],[0,0,0,null,0,0],[2000000,1,2000000,0,0,39]],"runStopped":[[55000000,60000000]]}
{"time":"0","entity":"task-1","state":2}
{"time":"20000000","entity":"task-1","state":1}
{"tag":"tokio-statemap 2","state":3,"data":2,"ranOn":[[0,0]],"polls":[0,1],"parents":[[null,1]]}
{"time":"40000000","entity":"task-1","state":1}
"##;

/// The files to mutate.
#[derive(Debug)]
pub struct Seeds(Vec<Vec<u8>>);

impl Default for Seeds {
    fn default() -> Self {
        Self::new()
    }
}

impl Seeds {
    /// Generates this crate's own data of small runs, and data of other programs.
    pub fn new() -> Self {
        let mut seeds = vec![
            CPUS.into(),
            LONG_POLLS.into(),
            WHOLE_RUN.into(),
            br#"{"start":[0,0],"title":"","states":{}}"#.into(),
            b"".into(),
            br#"{"start":[18446744073709551615,18446744073709551615],"title":"t","states":{"a":{"value":0}}}
{"time":"0","entity":"e","state":0}
{"time":"18446744073709551615","entity":"e","state":0}
"#
            .into(),
        ];
        for (number, tasks) in [1, 3, 12, 40].into_iter().enumerate() {
            let timeline = planted::random(tasks, number as u64);
            let labels = Labels { title: "api".to_owned(), host: Some("box".to_owned()) };
            let (mut of_tasks, mut of_workers) = (Vec::new(), Vec::new());
            write_tasks(&timeline, &labels, &mut of_tasks).expect("memory takes all");
            write_workers(&timeline, &labels, &mut of_workers).expect("memory takes all");
            let [of_tasks, of_workers] = [of_tasks, of_workers].map(begin_at_a_known_time);
            let text = std::str::from_utf8(&of_tasks).expect("what is written is UTF-8");
            let with_waits = waits::plant(text, &mut Random::new(number as u64));
            seeds.extend([of_tasks, of_workers, with_waits.data.into()]);
        }
        Self(seeds)
    }

    /// Returns one of the seeds, or a made-up file.
    pub(super) fn any(&self, random: &mut Random) -> Vec<u8> {
        match random.is(4) {
            true => made_up(random).into_bytes(),
            false => self.0[random.below(self.0.len())].clone(),
        }
    }
}

/// Sets a fixed start time, so that the data is the same each time.
fn begin_at_a_known_time(data: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8(data).expect("what is written is UTF-8");
    let (_, rest) = text.split_once(']').expect("the start is a list");
    format!("{{\"start\":[1544138397,322335842]{rest}").into_bytes()
}

/// Returns a valid file with a random number of states, tags and entities, and times of any size.
fn made_up(random: &mut Random) -> String {
    let states = [1, 2, 5, 300][random.below(4)];
    let names: Vec<_> =
        (0..states).map(|state| format!("\"s{state}\":{{\"value\":{state}}}")).collect();
    let start = random.any() >> random.below(64);
    let kind =
        random.pick(&["", ",\"entityKind\":\"CPU\"", ",\"host\":\"h\",\"entityKind\":\"y\""]);
    let mut text = format!(
        "{{\"start\":[{start},{}],\"title\":\"t\",\"states\":{{{}}}{kind}}}\n",
        random.below(1_000_000_000),
        names.join(",")
    );
    let entities = [1, 4, 60][random.below(3)];
    let mut times = vec![None::<u64>; entities];
    // Pauses range from a few ns to half of the range of times.
    let pause = random.below(63);
    for _ in 0..random.below(300) {
        let entity = random.below(entities);
        let longer = (random.any() >> 1) >> pause;
        let time = match times[entity] {
            None => longer,
            Some(last) => match last.checked_add(longer.max(1)) {
                Some(time) => time,
                None => continue,
            },
        };
        times[entity] = Some(time);
        let state = random.below(states);
        let tag = random.is(3).then(|| random.below(5));
        let tag = tag.map_or_else(String::new, |tag| format!(",\"tag\":\"{tag}\""));
        if random.is(10) && !tag.is_empty() {
            let _ = writeln!(text, "{{\"state\":{state}{tag},\"about\":[1,{{}}]}}");
        }
        let _ = writeln!(
            text,
            "{{\"time\":\"{time}\",\"entity\":\"e{entity}\",\"state\":{state}{tag}}}"
        );
        if random.is(30) {
            let _ =
                writeln!(text, "{{\"time\":\"{time}\",\"entity\":\"e{entity}\",\"event\":\"w\"}}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    #[cfg(tokio_unstable)]
    use crate::check::waits::WaitCounts;

    #[test]
    fn a_file_with_causes_is_valid() {
        let read = check(LONG_POLLS.as_bytes()).unwrap();
        assert_eq!((read.causes, read.samples), (1, 3));
        for (old, new) in [
            ("[[0,1000000,2000000", "[[0,1000001,2000000"),
            ("[[0,1000000,2000000", "[[1,1000000,2000000"),
            ("[[0,1000000,2000000", "[[0,1000000,2000001"),
            ("true,[0,3]]", "true,[0,4]]"),
            ("\"stacks\":\"on\"", "\"stacks\":\"notBuilt\""),
        ] {
            let text = LONG_POLLS.replace(old, new);
            assert!(text != LONG_POLLS && check(text.as_bytes()).is_err(), "{new}");
        }
    }

    #[test]
    #[cfg(tokio_unstable)]
    fn some_files_have_all_kinds_of_entries_about_waits() {
        let seeds = Seeds::new();
        let counts: Vec<_> =
            seeds.0.iter().filter_map(|seed| Some(check(seed).ok()?.waits)).collect();
        let has = |count: fn(&WaitCounts) -> usize| counts.iter().any(|counts| count(counts) > 0);
        assert!(has(|c| c.places) && has(|c| c.tags) && has(|c| c.names), "{counts:?}");
        assert!(has(|c| c.carried) && has(|c| c.local_tasks) && has(|c| c.calls), "{counts:?}");
    }
}
