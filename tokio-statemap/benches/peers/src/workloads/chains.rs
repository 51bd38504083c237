//! Tasks whose polls go through a chain of async functions.

use crate::functions::Functions;
use crate::variants::Spawner;

/// The number of tasks.
const TASKS: u64 = 16;

/// Calls `depth` functions once per task, which are polled `polls` times in all. Without functions
/// the tasks yield themselves.
pub(super) async fn wait(spawner: &Spawner, functions: Functions, depth: u8, polls: u64) {
    if depth == 0 {
        return super::storm(spawner, TASKS, polls).await;
    }
    super::join(spawner, TASKS, || functions.call(depth, polls / TASKS - 1)).await;
}

/// Calls `depth` functions `calls` times in all. Each call waits once.
pub(super) async fn call(spawner: &Spawner, functions: Functions, depth: u8, calls: u64) {
    let caller = || async move {
        for _ in 0..calls / TASKS {
            functions.call(depth, 1).await;
        }
    };
    super::join(spawner, TASKS, caller).await;
}
