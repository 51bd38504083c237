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

/// Waits, without an event, until each worker has begun: they are the blocking pool's threads, too, and on a busy machine
/// count in its queue until then.
///
/// # Panics
///
/// If it isn't called within a runtime.
#[cfg(tokio_unstable)]
pub fn wait_for_workers() {
    while tokio::runtime::Handle::current().metrics().blocking_queue_depth() > 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
