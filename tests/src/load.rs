//! Work that causes events, and threads that take the processors from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::{JoinSet, yield_now};

/// Spins for `time`, as wall time.
pub fn spin(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Spawns `tasks` tasks of `polls` polls each, and waits for them.
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

/// Waits, without causing an event, until each worker has started.
///
/// Workers are started by the blocking pool, and on a busy machine they are in its queue for a while.
///
/// # Panics
///
/// If it isn't called within a runtime.
#[cfg(tokio_unstable)]
pub fn wait_for_workers() {
    while tokio::runtime::Handle::current().metrics().blocking_queue_depth() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Threads that spin until this is dropped.
#[derive(Debug)]
pub struct BusyLoops(Arc<AtomicBool>);

impl BusyLoops {
    /// Starts two threads for each processor.
    pub fn for_all_processors() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, |n| n.get());
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..2 * processors {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(stop)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Spawns 200 tasks that wait for some ms and then compute for 5 µs, over and over.
pub fn healthy(tasks: &mut JoinSet<()>) {
    for number in 0..200 {
        tasks.spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(5 + number % 7)).await;
                spin(Duration::from_micros(5));
            }
        });
    }
}
