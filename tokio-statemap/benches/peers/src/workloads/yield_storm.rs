//! Tasks that do nothing but yield: the worst case for observers of polls.

use tokio::task::yield_now;

use crate::variants::Spawner;

/// Lets `tasks` tasks be polled `polls` times in all.
pub(crate) async fn storm(spawner: &Spawner, tasks: u64, polls: u64) {
    let yields = || async move {
        for _ in 1..polls / tasks {
            yield_now().await;
        }
    };
    super::join(spawner, tasks, yields).await;
}
