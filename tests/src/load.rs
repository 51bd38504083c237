//! What programs do to have events.

use tokio::task::yield_now;

/// Spawns so many tasks, each of which is polled so many times, and waits for them.
pub async fn yields(tasks: usize, polls: usize) {
    let yields = |_| {
        tokio::spawn(async move {
            for _ in 1..polls {
                yield_now().await;
            }
        })
    };
    for task in (0..tasks).map(yields).collect::<Vec<_>>() {
        task.await.expect("it only yields");
    }
}
