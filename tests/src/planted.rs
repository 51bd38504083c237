//! Timelines of made-up programs with known properties.

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
/// The time for which it blocks, in ns.
pub const BLOCKS_NS: u64 = 51_200_000;
/// The number of tasks that are ready meanwhile.
pub const READY_MEANWHILE: u64 = 37;

/// Returns the timeline of `events`, as a collector would build it.
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

    fn start(&mut self, task_id: u64, worker: u32, time_ns: u64, ready_ns: Option<u64>) {
        let (thread, worker) = (worker, Some(worker));
        self.events.push(Event::TaskPollStart {
            task_id,
            time_ns,
            thread,
            worker,
            ready_ns,
            woken_by: None,
        });
    }

    fn end(&mut self, task_id: u64, worker: u32, time_ns: u64) {
        let (thread, worker) = (worker, Some(worker));
        self.events.push(Event::TaskPollEnd { task_id, time_ns, thread, worker });
    }

    fn terminate(&mut self, task_id: u64, thread: u32, time_ns: u64) {
        self.events.push(Event::TaskTerminate { task_id, time_ns, thread });
    }

    fn poll(&mut self, task_id: u64, worker: u32, from: u64, to: u64, ready_ns: Option<u64>) {
        self.start(task_id, worker, from, ready_ns);
        self.end(task_id, worker, to);
    }

    /// Adds a poll of the root future on a thread that isn't a worker. What it spawns comes in between.
    fn root_poll(&mut self, thread: u32, from: u64, to: u64, spawn: impl FnOnce(&mut Self)) {
        let (task_id, time_ns, worker, ready_ns) = (Event::ROOT, from, None, None);
        self.events.push(Event::TaskPollStart {
            task_id,
            time_ns,
            thread,
            worker,
            ready_ns,
            woken_by: None,
        });
        spawn(self);
        self.events.push(Event::TaskPollEnd { task_id, time_ns: to, thread, worker });
    }
}

/// Returns a program with 40 tasks that answer requests, of which [`READY_MEANWHILE`] are ready while another task
/// blocks worker-1 for [`BLOCKS_NS`].
pub fn blocked() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    script.root_poll(2, MS, 2 * MS, |script| {
        for task in 1..=40 {
            script.spawn(task, MS + task * 10 * US, ANSWERS);
        }
        script.spawn(41, MS + 500 * US, BLOCKS);
    });
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
        script.start(task, 0, at, Some(at - 50 * US));
        script.terminate(task, 0, at + 90 * US);
        script.end(task, 0, at + 90 * US);
    }
    script.park(1, 62 * MS, 99 * MS);
    script.poll(41, 1, 99 * MS, 100 * MS, Some(98 * MS));
    timeline(&script.events)
}

/// Returns a program in which one location has the longest poll, 12 ms, and another the largest sum, 50 ms.
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

/// Returns a program with polls of the same length on two workers at the same times, of two locations with the same
/// sums. The second task polls first, and many transitions have the same time.
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

/// Returns a program that is nearly unhealthy.
///
/// Polls on workers are just not long, and `main` has a long one on a thread of its own. A task terminates in a poll
/// without a recorded end, and another waits until the end.
pub fn nearly() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    script.root_poll(2, MS, 50 * MS, |script| {
        for task in 1..=3 {
            script.spawn(task, MS + task, BLOCKS);
        }
    });
    script.poll(1, 0, 2 * MS, 3 * MS, None);
    script.poll(1, 0, 60 * MS, 61 * MS, Some(59 * MS));
    script.start(2, 1, 4 * MS, None);
    script.terminate(2, 1, 4 * MS + US);
    script.park(0, 61 * MS, 90 * MS);
    timeline(&script.events)
}

/// Returns a healthy program, without a poll over 20 µs.
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

/// Returns a random program with `tasks` tasks of five locations on two workers, most of which terminate.
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
            script.spawn(spawned, now, location);
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
        script.start(task_id, thread, start, (!is_first).then_some(since));
        if below(6) == 0 {
            script.terminate(task_id, thread, end);
            live.swap_remove(index);
        } else {
            live[index] = (task_id, end + below(200_000), false);
        }
        script.end(task_id, thread, end);
        free[worker] = end + 1;
    }
    timeline(&script.events)
}
