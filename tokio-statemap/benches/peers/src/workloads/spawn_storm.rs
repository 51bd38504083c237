//! Tasks that end immediately.

use crate::variants::Spawner;

/// The number of tasks alive at a time.
const BATCH: u64 = 64;

pub(super) async fn storm(spawner: &Spawner, tasks: u64) {
    // A task is used because the future of `block_on` isn't on a worker of a multi-thread runtime.
    let inner = spawner.clone();
    let spawns = spawner.spawn(async move {
        for _ in 0..tasks / BATCH {
            let batch = (0..BATCH).map(|_| inner.spawn(async {})).collect::<Vec<_>>();
            for task in batch {
                task.await.expect("it does nothing");
            }
        }
    });
    spawns.await.expect("it only spawns");
}
