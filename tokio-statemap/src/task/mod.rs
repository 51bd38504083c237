//! Spawning tasks so that it is known where they wait.
//!
//! [`spawn`] is [`tokio::spawn`], and notes, each time the task begins to wait, the functions that it is
//! in, down to the line: the report, the data and `Collector::trees` have it.
//! [`Builder`] gives a task a name. [`JoinSet`] is Tokio's, with tasks spawned so.
//!
//! A task that is spawned otherwise, such as a library's, is recorded all the same, but for where it
//! waits. Root futures, such as the body of `main`, need nothing.
//!
//! Without the feature `record` all of it is Tokio's own.
//!
//! # How it is found
//!
//! What a task waits for takes a clone of the waker that the task is polled with. The task's future is
//! polled with a waker that notes the stack when it is cloned, and hands out the runtime's own. So nothing
//! is polled once more, and nothing has to be annotated. It needs the feature `stacks`, on Linux (x86-64,
//! aarch64); elsewhere only instrumented functions are known.
//!
//! Futures that have wakers of their own, such as those within a `FuturesUnordered`, end what is seen of
//! the task: its chain ends at the function that polls them.
//!
//! # Examples
//!
//! ```
//! # #[cfg(feature = "record")]
//! # async fn handle() {}
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! # async fn handle() {}
//! let task = tokio_statemap::spawn(handle());
//! let named = tokio_statemap::task::Builder::new().name("connection").spawn(handle())?;
//! # task.await.unwrap();
//! # named.await.unwrap();
//! # Ok(())
//! # }
//! ```

mod builder;
#[cfg(feature = "record")]
mod join_set;

#[cfg(not(feature = "record"))]
pub use tokio::{
    spawn,
    task::{JoinSet, spawn_local},
};

pub use builder::Builder;
#[cfg(feature = "record")]
pub use join_set::JoinSet;

#[cfg(feature = "record")]
use std::{future::Future, panic::Location};

#[cfg(feature = "record")]
use tokio::task::JoinHandle;

#[cfg(feature = "record")]
use crate::recorder::waits::probe::Probe;

/// Spawns a task as [`tokio::spawn`] does, so that it is known where it waits.
///
/// Without the feature `record` it is `tokio::spawn` itself.
///
/// # Panics
///
/// Panics outside of a runtime, as `tokio::spawn` does.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let answer = tokio_statemap::spawn(async { 42 });
/// assert_eq!(answer.await.unwrap(), 42);
/// # }
/// ```
#[cfg(feature = "record")]
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(Probe::new(future, Location::caller(), None))
}

/// Spawns a `!Send` task as [`tokio::task::spawn_local`] does, so that it is known where it waits.
///
/// The runtime has no hooks for the tasks of a [`LocalSet`](tokio::task::LocalSet), so that those have no
/// row in the pictures; [`Collector::trees`](crate::Collector::trees) has them, if they are spawned so.
///
/// # Panics
///
/// Panics outside of a `LocalSet` and a `LocalRuntime`, as Tokio's does.
#[cfg(feature = "record")]
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    tokio::task::spawn_local(Probe::new(future, Location::caller(), None))
}
