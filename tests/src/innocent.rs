//! Healthy tasks, and others that take the processors from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

/// Threads that take as many processors as they get, while it lives.
#[derive(Debug)]
pub struct BusyLoops(Arc<AtomicBool>);

impl BusyLoops {
    /// Starts two for each processor.
    pub fn for_all_processors() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, |n| n.get());
        Self::start(2 * processors)
    }

    fn start(threads: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        for _ in 0..threads {
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

/// Spawns 200 tasks that wait for some ms, and then compute for some µs, over and over.
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

fn spin(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
