//! A service with very many tasks: some accept, each of these spawns a task per request, and every second of those a task
//! that asks a database.

use tokio_statemap::{Event, SpawnLocation, Timeline};

use super::{ANSWERS, MS, Script, timeline};

/// How many tasks accept.
const ACCEPTORS: u64 = 10;
/// How long a request is polled, from which on each of them takes a little longer, in ns.
const POLL_NS: u64 = 300;

/// About `tasks` tasks, and how many of them there are at each depth: those that accept, that answer, that ask.
pub fn many(tasks: u64) -> (Timeline, [u64; 3]) {
    let requests = tasks.saturating_sub(ACCEPTORS) * 2 / 3 / ACCEPTORS * ACCEPTORS;
    let at = |line| SpawnLocation { line, ..ANSWERS };
    let mut script = Script::default();
    script.workers(0);
    let (thread, worker) = (2, None);
    let task_id = Event::ROOT;
    let start = Event::TaskPollStart { task_id, time_ns: MS, thread, worker, ready_ns: None };
    script.events.push(start);
    for task in 1..=ACCEPTORS {
        script.spawn(task, MS + task, at(12));
    }
    script.events.push(Event::TaskPollEnd { task_id, time_ns: MS + 100, thread, worker });
    let each = requests / ACCEPTORS;
    let mut now = 2 * MS;
    for acceptor in 1..=ACCEPTORS {
        start_poll(&mut script, acceptor, 0, now);
        for n in 0..each {
            let request = ACCEPTORS + (acceptor - 1) * each + n + 1;
            spawn_within(&mut script, request, 0, now + 1 + n, at(30));
        }
        now += each + 10;
        end_poll(&mut script, acceptor, 0, now, false);
        now += 10;
    }
    let mut asks = 0;
    for n in 0..requests {
        let request = ACCEPTORS + 1 + n;
        start_poll(&mut script, request, 1, now);
        let asked = (n % 2 == 0).then_some(ACCEPTORS + requests + n + 1);
        if let Some(asked) = asked {
            asks += 1;
            spawn_within(&mut script, asked, 1, now + 1, at(50));
        }
        // Of many lengths, in no order of time or number.
        let end = now + POLL_NS + n * 7 % 1009;
        end_poll(&mut script, request, 1, end, n % 100 != 0);
        if let Some(asked) = asked {
            start_poll(&mut script, asked, 0, end + 10);
            end_poll(&mut script, asked, 0, end + 110, true);
        }
        now = end + 200;
    }
    (timeline(&script.events), [ACCEPTORS, requests, asks])
}

fn spawn_within(
    script: &mut Script,
    task_id: u64,
    thread: u32,
    time_ns: u64,
    location: SpawnLocation,
) {
    let location = Some(location);
    script.events.push(Event::TaskSpawn { task_id, time_ns, thread, location });
}

fn start_poll(script: &mut Script, task_id: u64, thread: u32, time_ns: u64) {
    let worker = Some(thread);
    script.events.push(Event::TaskPollStart { task_id, time_ns, thread, worker, ready_ns: None });
}

fn end_poll(script: &mut Script, task_id: u64, thread: u32, time_ns: u64, is_last: bool) {
    if is_last {
        script.events.push(Event::TaskTerminate { task_id, time_ns: time_ns - 1, thread });
    }
    script.events.push(Event::TaskPollEnd { task_id, time_ns, thread, worker: Some(thread) });
}
