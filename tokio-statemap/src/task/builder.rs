//! Tasks with names.

use std::future::Future;
use std::io;

use tokio::runtime::Handle;
use tokio::task::{JoinHandle, LocalSet};

#[cfg(feature = "record")]
use {crate::recorder::waits::probe::Probe, std::panic::Location};

/// Spawns tasks with names, as `tokio::task::Builder` does.
///
/// The report, the pictures, the data and the trees show the name. Several tasks may share one. Names
/// beyond the first 65 536 different ones are ignored.
///
/// The methods return a `Result` as Tokio's do, but never fail.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let name = format!("connection of {}", "10.0.0.7");
/// let task = tokio_statemap::task::Builder::new().name(&name).spawn(async { 42 })?;
/// assert_eq!(task.await.unwrap(), 42);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(not(feature = "record"), allow(dead_code, reason = "Tokio's tasks have no names"))]
pub struct Builder<'a> {
    name: Option<&'a str>,
}

impl<'a> Builder<'a> {
    /// Creates a builder for a task without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name.
    #[must_use]
    pub fn name(&self, name: &'a str) -> Self {
        Self { name: Some(name) }
    }

    /// Spawns the task on the current runtime.
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// # Panics
    ///
    /// Panics outside of a runtime, as [`tokio::spawn`] does.
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(tokio::spawn(self.task(future)))
    }

    /// Spawns the task on the runtime of `handle`.
    ///
    /// # Errors
    ///
    /// None.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Ok(handle.spawn(self.task(future)))
    }

    /// Spawns the task, which needn't be `Send`, on the current `LocalSet` or `LocalRuntime`.
    ///
    /// # Errors
    ///
    /// None.
    ///
    /// # Panics
    ///
    /// Panics outside of one, as [`tokio::task::spawn_local`] does.
    #[track_caller]
    pub fn spawn_local<F>(self, future: F) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(tokio::task::spawn_local(self.task(future)))
    }

    /// Spawns the task, which needn't be `Send`, on `local_set`.
    ///
    /// # Errors
    ///
    /// None.
    #[track_caller]
    pub fn spawn_local_on<F>(
        self,
        future: F,
        local_set: &LocalSet,
    ) -> io::Result<JoinHandle<F::Output>>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        Ok(local_set.spawn_local(self.task(future)))
    }

    #[cfg(feature = "record")]
    #[track_caller]
    fn task<F>(self, future: F) -> Probe<F> {
        Probe::new(future, Location::caller(), self.name)
    }

    #[cfg(not(feature = "record"))]
    fn task<F>(self, future: F) -> F {
        future
    }
}
