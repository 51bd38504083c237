//! Programs whose verdicts have known figures.

use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Labels, Recording, StatemapData, recordings};
use tokio_statemap::{SpawnLocation, Timeline};

use super::{ANSWERS, BLOCKS, MS, Script, US, timeline};

/// The number of tasks that [`woken_then_blocked`] keeps waiting.
pub const WAITING: u64 = 30;
/// The time for which it blocks, in ns.
pub const BLOCKS_FOR_NS: u64 = 150 * MS;

/// Returns a run of one second in which a task wakes [`WAITING`] tasks and then blocks the only worker that isn't
/// parked.
pub fn woken_then_blocked() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    for task in 1..=WAITING {
        script.spawn(task, MS, ANSWERS);
        let at = 2 * MS + task * 10 * US;
        script.poll(task, 0, at, at + 5 * US, None);
    }
    let blocks = WAITING + 1;
    script.spawn(blocks, 3 * MS, BLOCKS);
    let (from, to) = (100 * MS, 100 * MS + BLOCKS_FOR_NS);
    script.park(1, 3 * MS, 1_000 * MS);
    script.poll(blocks, 0, from, to, Some(from));
    for task in 1..=WAITING {
        let at = to + task * 10 * US;
        script.poll(task, 0, at, at + 5 * US, Some(from));
    }
    script.park(0, to + MS, 1_000 * MS);
    timeline(&script.events)
}

/// Returns a program with `tasks` tasks of one location on two workers that never park.
///
/// Each task has `polls` polls of `length_ns`, and is ready in between.
pub fn saturated(tasks: u64, polls: u64, length_ns: u64) -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    let location = SpawnLocation { line: 31, ..ANSWERS };
    for task in 1..=tasks {
        script.spawn(task, 0, location);
    }
    let round_ns = tasks / 2 * length_ns;
    for round in 0..polls {
        for task in 1..=tasks {
            let worker = (task % 2) as u32;
            let from = round * round_ns + (task - 1) / 2 * length_ns;
            let (to, ready_ns) = (from + length_ns, from.checked_sub(round_ns - length_ns));
            script.start(task, worker, from, ready_ns.filter(|_| round > 0));
            if round + 1 == polls {
                script.terminate(task, worker, to);
            }
            script.end(task, worker, to);
        }
    }
    timeline(&script.events)
}

/// The number of polls in which [`partly_taken`] sleeps.
pub const SLEEPS: usize = 12;
/// The poll with the longest own time: its index, its own time, and the time for which it held its worker.
pub const LONGEST: (usize, u64, u64) = (7, 15_200 * US, 17_000 * US);
/// The poll that held its worker longest, most of which the machine took, in the same form.
pub const MOSTLY_TAKEN: (usize, u64, u64) = (3, 8_400 * US, 23_400 * US);

/// Returns a program in which a task sleeps in each of its [`SLEEPS`] polls and keeps another task waiting. The machine
/// took a part of two of these polls.
///
/// Events have no causes and no stacks, so these are planted into the data.
pub fn partly_taken() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    script.spawn(1, MS, BLOCKS);
    script.spawn(2, MS, ANSWERS);
    let (mut causes, mut samples) = (Vec::new(), Vec::new());
    for n in 0..SLEEPS {
        let from = (20 + 50 * n as u64) * MS;
        let known = [LONGEST, MOSTLY_TAKEN].into_iter().find(|(index, ..)| *index == n);
        let (_, own_ns, length_ns) = known.unwrap_or((n, 5 * MS, 5 * MS));
        script.poll(1, 0, from, from + length_ns, Some(from));
        script.poll(2, 1, from + length_ns, from + length_ns + US, Some(from));
        causes.push(format!("[0,{from},0,{own_ns},{},0,0]", length_ns - own_ns));
        samples.push(format!("[0,{from},{},\"clock_nanosleep\",true,[1,0]]", from + 2 * MS));
    }
    let labels = Labels { title: "sleeps".to_owned(), host: None };
    let data = StatemapData::new(timeline(&script.events), labels);
    let tasks = String::from_utf8(data.tasks_to_bytes().expect("memory")).expect("text");
    let functions =
        r#"["shop::nap","src/shop.rs",21,"program"],["std::thread::sleep",null,null,"std"]"#;
    let lists = format!(
        "\"causes\":[{}],\"functions\":[{functions}],\"samples\":[{}],\"polls\":[",
        causes.join(","),
        samples.join(","),
    );
    let sampled = "\"scheduleLatency\":true,\"stacks\":\"on\"";
    assert!(tasks.contains("\"scheduleLatency\":true") && tasks.contains("\"polls\":["), "{tasks}");
    let tasks =
        tasks.replacen("\"scheduleLatency\":true", sampled, 1).replacen("\"polls\":[", &lists, 1);
    let workers = String::from_utf8(data.workers_to_bytes().expect("memory")).expect("text");
    let workers = workers.replacen("\"scheduleLatency\":true", sampled, 1);
    let files = [tasks, workers].map(|text| read(text.as_bytes()).expect("it is data"));
    match recordings(&files).remove(0) {
        Recording::Run { timeline, .. } => *timeline,
        other => panic!("it is of one run: {other:?}"),
    }
}
