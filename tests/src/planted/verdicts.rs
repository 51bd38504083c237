//! Programs of which each figure of the verdict is known.

use tokio_statemap::{Event, SpawnLocation, Timeline};

use super::{ANSWERS, BLOCKS, MS, Script, US, timeline};

/// How many tasks [`woken_then_blocked`] keeps waiting.
pub const WAITING: u64 = 30;
/// For how long it blocks.
pub const BLOCKS_FOR_NS: u64 = 150 * MS;

/// A task wakes [`WAITING`] tasks and then blocks the only worker that isn't parked, once in a second.
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

/// So many tasks of one location on two workers that never park: each is polled so many times, for so long, and is
/// ready all the rest of the time.
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
            let (task_id, thread) = (task, worker);
            let (worker, ready_ns) = (Some(worker), ready_ns.filter(|_| round > 0));
            let time_ns = from;
            script.events.push(Event::TaskPollStart { task_id, time_ns, thread, worker, ready_ns });
            if round + 1 == polls {
                script.events.push(Event::TaskTerminate { task_id, time_ns: to, thread });
            }
            script.events.push(Event::TaskPollEnd { task_id, time_ns: to, thread, worker });
        }
    }
    timeline(&script.events)
}
