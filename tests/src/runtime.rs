//! Runtimes that are recorded from their start, and hooks that count.

use std::sync::Arc;
#[cfg(tokio_unstable)]
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::runtime::{Builder, Runtime};
use tokio::task::Id;
#[cfg(tokio_unstable)]
use tokio_statemap::Hooks;
use tokio_statemap::timeline::TaskKey;
use tokio_statemap::{Collector, CollectorConfig, register_hooks};

/// Returns a builder of a runtime with this number of workers, or of a `current_thread` runtime if it is 0.
pub fn builder(workers: usize) -> Builder {
    if workers == 0 {
        return Builder::new_current_thread();
    }
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers);
    builder
}

/// Builds a runtime with all drivers, and starts to record before it starts.
///
/// # Panics
///
/// If the configuration is invalid, or the runtime can't be built.
pub fn recorded(mut builder: Builder, config: CollectorConfig) -> (Arc<Collector>, Runtime) {
    let collector = register_hooks(builder.enable_all(), config).unwrap();
    collector.start();
    (collector, builder.build().unwrap())
}

/// Returns the key of the task with this id.
///
/// # Panics
///
/// If an id doesn't display a number.
pub fn key(id: Id) -> TaskKey {
    TaskKey::Spawned(id.to_string().parse().unwrap())
}

/// Returns hooks that count the events of a runtime, and their counter.
///
/// A root future has no hooks, so its polls aren't counted.
#[cfg(tokio_unstable)]
pub fn counting_hooks() -> (Hooks, Arc<AtomicU64>) {
    let counter = Arc::new(AtomicU64::new(0));
    macro_rules! count {
        ($($hook:ident($($meta:ident)?)),+) => {
            Hooks::new()$(.$hook({
                let counter = Arc::clone(&counter);
                move |$($meta)?| {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
            }))+
        };
    }
    let hooks = count!(
        on_thread_start(),
        on_thread_stop(),
        on_thread_park(),
        on_thread_unpark(),
        on_task_spawn(_meta),
        on_before_task_poll(_meta),
        on_after_task_poll(_meta),
        on_task_terminate(_meta)
    );
    (hooks, counter)
}
