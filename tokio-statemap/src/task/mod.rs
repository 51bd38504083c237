//! Spawns tasks whose places of waiting are recorded.
//!
//! [`spawn`] works as [`tokio::spawn`] does, and also records the functions and lines that the task
//! is in each time it begins to wait. The report, the data and `Collector::trees` show them.
//! [`Builder`] gives a task a name. [`JoinSet`] is Tokio's, with tasks spawned in this way.
//!
//! A task spawned otherwise, for example by a library, is recorded without its places of waiting.
//! Root futures, such as the body of `main`, are always recorded with theirs.
//!
//! Without the feature `record` all items are Tokio's own.
//!
//! # How it works
//!
//! A future that waits clones the waker that its task is polled with. The task is polled with a waker
//! that records the stack when it is cloned, and then hands out the runtime's own waker. So nothing is
//! polled twice, and nothing has to be annotated. This requires the feature `stacks` on Linux (x86-64,
//! aarch64); elsewhere only instrumented functions are known.
//!
//! Futures that use their own wakers, such as those in a `FuturesUnordered`, hide what they await: the
//! chain of functions ends at the one that polls them.
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

/// Spawns a task as [`tokio::spawn`] does, and records the places where it waits.
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

/// Spawns a `!Send` task as [`tokio::task::spawn_local`] does, and records the places where it waits.
///
/// The runtime calls no hooks for the tasks of a [`LocalSet`](tokio::task::LocalSet), so they have no
/// row in the pictures. [`Collector::trees`](crate::Collector::trees) has those that wait; of those spawned in this way it
/// has the spawn location, and has them also where their wakers aren't seen.
///
/// # Panics
///
/// Panics outside of a `LocalSet` and a `LocalRuntime`, as Tokio's function does.
#[cfg(feature = "record")]
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    tokio::task::spawn_local(Probe::new(future, Location::caller(), None))
}
