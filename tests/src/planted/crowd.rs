//! More tasks than a picture has room for.

use tokio_statemap::{SpawnLocation, Timeline};

use super::{ANSWERS, BLOCKS, BLOCKS_NS, MS, Script, US, timeline};

/// The location of the tasks that only wait.
pub const IDLES: SpawnLocation = SpawnLocation { file: "src/idle.rs", line: 7, column: 5 };
/// The start of the long poll, in ns.
pub const BLOCKS_AT_NS: u64 = 40 * MS;

/// Returns a program with `tasks` tasks each of [`ANSWERS`], [`IDLES`] and [`BLOCKS`] on two workers. All are alive at the
/// end. The task in the middle of [`BLOCKS`] blocks its worker for [`BLOCKS_NS`].
pub fn crowd(tasks: u64) -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    let locations = [ANSWERS, IDLES, BLOCKS];
    for (kind, location) in locations.into_iter().enumerate() {
        for task in 0..tasks {
            script.spawn(1 + kind as u64 * tasks + task, MS + task * 10, location);
        }
    }
    let blocks = 1 + 2 * tasks + tasks / 2;
    script.poll(blocks, 1, BLOCKS_AT_NS, BLOCKS_AT_NS + BLOCKS_NS, Some(BLOCKS_AT_NS - US));
    // Each of the others is ready for a while, and then polled once by the free worker.
    let each = 50 * MS / (3 * tasks);
    for task in (1..=3 * tasks).filter(|&task| task != blocks) {
        let at = BLOCKS_AT_NS + task * each;
        let ready = if task <= tasks { BLOCKS_AT_NS } else { at - each / 2 };
        script.poll(task, 0, at, at + each / 3, Some(ready));
    }
    timeline(&script.events)
}

/// Returns a program with four tasks of hundreds of polls each, on two workers that park in between.
pub fn busy() -> Timeline {
    let mut script = Script::default();
    script.workers(0);
    for task in 1..=4 {
        script.spawn(task, task * US, ANSWERS);
    }
    for round in 1..=300 {
        for task in 1..=4 {
            let at = round * 200 * US + task * 20 * US;
            let worker = (task + round) as u32 % 2;
            script.poll(task, worker, at, at + 15 * US, (round > 1).then_some(at - 5 * US));
        }
        for worker in 0..2 {
            script.park(worker, round * 200 * US + 110 * US, round * 200 * US + 200 * US);
        }
    }
    timeline(&script.events)
}
