//! Synthetic programs with known properties.

pub mod crowd;
pub mod issues;
pub mod many;
pub mod verdicts;
pub mod waits;

use std::sync::Arc;

use tokio_statemap::{Collector, CollectorConfig, Event, SpawnLocation, Timeline, register_hooks};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// The location of the tasks that answer requests.
pub const ANSWERS: SpawnLocation = SpawnLocation { file: "src/api.rs", line: 12, column: 9 };
/// The location of the task that blocks.
pub const BLOCKS: SpawnLocation = SpawnLocation { file: "src/api.rs", line: 88, column: 20 };
/// How long it blocks.
pub const BLOCKS_NS: u64 = 51_200_000;
/// How many tasks are ready meanwhile.
pub const READY_MEANWHILE: u64 = 37;

/// The timeline of `events`, as a collector would build it.
pub fn timeline(events: &[Event]) -> Timeline {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let collector: Arc<Collector> =
        register_hooks(&mut builder, CollectorConfig::default()).expect("hooks");
    collector.events_to_data(events).timeline().clone()
}

/// Events of a runtime with two workers.
#[derive(Debug, Default)]
struct Script {
    events: Vec<Event>,
}

impl Script {
    fn workers(&mut self, time_ns: u64) {
        for thread in 0..2 {
            self.events.push(Event::WorkerStart { time_ns, thread, worker: Some(thread) });
        }
    }

    fn park(&mut self, thread: u32, from: u64, to: u64) {
        let worker = Some(thread);
        self.events.push(Event::WorkerPark { time_ns: from, thread, worker });
        self.events.push(Event::WorkerUnpark { time_ns: to, thread, worker });
    }

    fn spawn(&mut self, task_id: u64, time_ns: u64, location: SpawnLocation) {
        let location = Some(location);
        self.events.push(Event::TaskSpawn { task_id, time_ns, thread: 2, location });
    }

    fn poll(&mut self, task_id: u64, worker: u32, from: u64, to: u64, ready_ns: Option<u64>) {
        let (thread, worker) = (worker, Some(worker));
        self.events.push(Event::TaskPollStart { task_id, time_ns: from, thread, worker, ready_ns });
        self.events.push(Event::TaskPollEnd { task_id, time_ns: to, thread, worker });
    }
}

/// 40 tasks that answer requests, one that blocks worker-1 for [`BLOCKS_NS`], and
/// [`READY_MEANWHILE`] tasks that are ready meanwhile.
pub fn blocked() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    let root = Event::ROOT;
    let (thread, worker) = (2, None);
    let start = Event::TaskPollStart { task_id: root, time_ns: MS, thread, worker, ready_ns: None };
    script.events.push(start);
    for task in 1..=40 {
        script.spawn(task, MS + task * 10 * US, ANSWERS);
    }
    script.spawn(41, MS + 500 * US, BLOCKS);
    script.events.push(Event::TaskPollEnd { task_id: root, time_ns: 2 * MS, thread, worker });
    for task in 1..=40 {
        let at = 2 * MS + task * 30 * US;
        script.poll(task, 0, at, at + 20 * US, None);
    }
    script.poll(41, 1, 2 * MS, 2 * MS + 5 * US, None);
    script.park(1, 2 * MS + 10 * US, 10 * MS - US);
    script.poll(41, 1, 10 * MS, 10 * MS + BLOCKS_NS, Some(10 * MS - 5 * US));
    script.park(0, 5 * MS, 62 * MS);
    for task in 1..=READY_MEANWHILE {
        let at = 62 * MS + task * 100 * US;
        script.poll(task, 0, at, at + 60 * US, Some(20 * MS + task * 400 * US));
    }
    for task in 1..=30 {
        let at = 70 * MS + task * 200 * US;
        script.events.push(Event::TaskPollStart {
            task_id: task,
            time_ns: at,
            thread: 0,
            worker: Some(0),
            ready_ns: Some(at - 50 * US),
        });
        let ended = at + 90 * US;
        script.events.push(Event::TaskTerminate { task_id: task, time_ns: ended, thread: 0 });
        script.events.push(Event::TaskPollEnd {
            task_id: task,
            time_ns: ended,
            thread: 0,
            worker: Some(0),
        });
    }
    script.park(1, 62 * MS, 99 * MS);
    script.poll(41, 1, 99 * MS, 100 * MS, Some(98 * MS));
    timeline(&script.events)
}

/// The longest poll, of 12 ms, is of one location; the largest sum, 50 ms, is of another.
pub fn two_culprits() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    script.spawn(1, MS, BLOCKS);
    script.spawn(2, MS, ANSWERS);
    script.poll(1, 0, 2 * MS, 14 * MS, None);
    for round in 0..10 {
        let at = (20 + round * 10) * MS;
        script.poll(2, 1, at, at + 5 * MS, (round > 0).then_some(at - US));
    }
    timeline(&script.events)
}

/// Polls of the same length on two workers at the same times, of two locations with the same sums;
/// the second task of all polls first. Many transitions have the same time.
pub fn ties() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    for task in 1..=4 {
        let line = if task % 2 == 0 { 9 } else { 88 };
        script.spawn(task, task, SpawnLocation { line, ..ANSWERS });
    }
    for round in 0..4 {
        let at = (2 + round * 20) * MS;
        let ready = (round > 0).then_some(at - 100);
        script.poll(2, 0, at, at + 5 * MS, ready);
        script.poll(3, 1, at, at + 5 * MS, ready);
        script.poll(4, 0, at + 5 * MS, at + 10 * MS, ready);
        script.poll(1, 1, at + 5 * MS, at + 10 * MS, ready);
    }
    timeline(&script.events)
}

/// Polls that are just not long on a worker, and a long one of `main`, which has a thread of its
/// own; a task that terminates in a poll without a recorded end, and one that waits until the end.
pub fn nearly() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    let (task_id, thread, worker) = (Event::ROOT, 2, None);
    let start = Event::TaskPollStart { task_id, time_ns: MS, thread, worker, ready_ns: None };
    script.events.push(start);
    for task in 1..=3 {
        script.spawn(task, MS + task, BLOCKS);
    }
    script.events.push(Event::TaskPollEnd { task_id, time_ns: 50 * MS, thread, worker });
    script.poll(1, 0, 2 * MS, 3 * MS, None);
    script.poll(1, 0, 60 * MS, 61 * MS, Some(59 * MS));
    let (task_id, thread, worker) = (2, 1, Some(1));
    let start = Event::TaskPollStart { task_id, time_ns: 4 * MS, thread, worker, ready_ns: None };
    script.events.push(start);
    script.events.push(Event::TaskTerminate { task_id, time_ns: 4 * MS + US, thread });
    script.park(0, 61 * MS, 90 * MS);
    timeline(&script.events)
}

/// A healthy program: no poll over 20 us.
pub fn healthy() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    for task in 1..=20 {
        script.spawn(task, task * US, ANSWERS);
    }
    for round in 0..10 {
        for task in 1..=20 {
            let at = (round + 1) * MS + task * 30 * US;
            script.poll(task, (task % 2) as u32, at, at + 20 * US, (round > 0).then_some(at - US));
        }
    }
    timeline(&script.events)
}

/// A random program: `tasks` tasks of five locations on two workers, most of which terminate.
pub fn random(tasks: u64, seed: u64) -> Timeline {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    // xorshift64*.
    let mut below = |n: u64| {
        seed ^= seed >> 12;
        seed ^= seed << 25;
        seed ^= seed >> 27;
        (seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    };
    let mut script = Script::default();
    script.workers(3);
    let mut free = [10_000, 10_000];
    let mut live: Vec<(u64, u64, bool)> = Vec::new();
    let mut spawned = 0;
    while spawned < tasks || !live.is_empty() {
        let worker = usize::from(free[1] < free[0]);
        let thread = worker as u32;
        let now = free[worker];
        if spawned < tasks && (live.len() < 4 || below(3) == 0) {
            spawned += 1;
            let location = SpawnLocation { line: 10 + below(5) as u32, ..ANSWERS };
            script.events.push(Event::TaskSpawn {
                task_id: spawned,
                time_ns: now,
                thread: 2,
                location: Some(location),
            });
            live.push((spawned, now, true));
        }
        let index = below(live.len() as u64) as usize;
        let (task_id, since, is_first) = live[index];
        let start = now.max(since) + below(3_000);
        let most = if below(50) == 0 { 4 * MS } else { 30 * US };
        let end = start + 1 + below(most);
        if below(3) == 0 && start > now + 2 {
            script.park(thread, now + 1, start - 1);
        }
        script.events.push(Event::TaskPollStart {
            task_id,
            time_ns: start,
            thread,
            worker: Some(thread),
            ready_ns: (!is_first).then_some(since),
        });
        if below(6) == 0 {
            script.events.push(Event::TaskTerminate { task_id, time_ns: end, thread });
            live.swap_remove(index);
        } else {
            live[index] = (task_id, end + below(200_000), false);
        }
        let worker_index = Some(thread);
        script.events.push(Event::TaskPollEnd {
            task_id,
            time_ns: end,
            thread,
            worker: worker_index,
        });
        free[worker] = end + 1;
    }
    timeline(&script.events)
}
