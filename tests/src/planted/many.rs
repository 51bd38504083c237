//! A service with very many tasks.
//!
//! Some tasks accept requests and spawn a task for each. Every second one of these spawns a task that asks a database.

use tokio_statemap::{Event, SpawnLocation, Timeline};

use super::{ANSWERS, MS, Script, timeline};

/// The number of tasks that accept.
const ACCEPTORS: u64 = 10;
/// The length of the shortest poll of a request, in ns.
const POLL_NS: u64 = 300;

/// Returns a program with about `tasks` tasks, and their numbers at each depth: tasks that accept, answer and ask.
pub fn many(tasks: u64) -> (Timeline, [u64; 3]) {
    let requests = tasks.saturating_sub(ACCEPTORS) * 2 / 3 / ACCEPTORS * ACCEPTORS;
    let at = |line| SpawnLocation { line, ..ANSWERS };
    let mut script = Script::default();
    script.workers(0);
    script.root_poll(2, MS, MS + 100, |script| {
        for task in 1..=ACCEPTORS {
            script.spawn(task, MS + task, at(12));
        }
    });
    let each = requests / ACCEPTORS;
    let mut now = 2 * MS;
    for acceptor in 1..=ACCEPTORS {
        script.start(acceptor, 0, now, None);
        for n in 0..each {
            let request = ACCEPTORS + (acceptor - 1) * each + n + 1;
            spawn_within(&mut script, request, 0, now + 1 + n, at(30));
        }
        now += each + 10;
        script.end(acceptor, 0, now);
        now += 10;
    }
    let mut asks = 0;
    for n in 0..requests {
        let request = ACCEPTORS + 1 + n;
        script.start(request, 1, now, None);
        let asked = (n % 2 == 0).then_some(ACCEPTORS + requests + n + 1);
        if let Some(asked) = asked {
            asks += 1;
            spawn_within(&mut script, asked, 1, now + 1, at(50));
        }
        // The lengths vary, in no order of time or number.
        let end = now + POLL_NS + n * 7 % 1009;
        if n % 100 != 0 {
            script.terminate(request, 1, end - 1);
        }
        script.end(request, 1, end);
        if let Some(asked) = asked {
            script.start(asked, 0, end + 10, None);
            script.terminate(asked, 0, end + 109);
            script.end(asked, 0, end + 110);
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
