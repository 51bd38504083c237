//! A set of tasks whose places of waiting are recorded.

use std::fmt;
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

use tokio::runtime::Handle;
use tokio::task::{self, AbortHandle, LocalSet};

use crate::recorder::waits::probe::Probe;

/// A [`tokio::task::JoinSet`] that records the places where its tasks wait.
///
/// It dereferences to Tokio's set, which provides the other methods. Without the feature `record` it
/// is Tokio's set itself.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut set = tokio_statemap::task::JoinSet::new();
/// for n in 0..3 {
///     set.spawn(async move { n });
/// }
/// let sum: i32 = set.join_all().await.into_iter().sum();
/// assert_eq!(sum, 3);
/// # }
/// ```
pub struct JoinSet<T>(task::JoinSet<T>);

impl<T> JoinSet<T> {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self(task::JoinSet::new())
    }

    /// Returns Tokio's set with the same tasks.
    pub fn into_inner(self) -> task::JoinSet<T> {
        self.0
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task on the current runtime and adds it.
    ///
    /// # Panics
    ///
    /// Panics outside of a runtime.
    #[track_caller]
    pub fn spawn<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn(Probe::new(task, Location::caller(), None))
    }

    /// Spawns a task on the runtime of `handle` and adds it.
    #[track_caller]
    pub fn spawn_on<F>(&mut self, task: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn_on(Probe::new(task, Location::caller(), None), handle)
    }

    /// Spawns a task that needn't be `Send` on the current `LocalSet` or `LocalRuntime`, and adds it.
    ///
    /// # Panics
    ///
    /// Panics outside of one.
    #[track_caller]
    pub fn spawn_local<F>(&mut self, task: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local(Probe::new(task, Location::caller(), None))
    }

    /// Spawns a task that needn't be `Send` on `local_set` and adds it.
    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, task: F, local_set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        self.0.spawn_local_on(Probe::new(task, Location::caller(), None), local_set)
    }

    /// Waits for all tasks and returns their outputs, in the order in which they complete.
    ///
    /// # Panics
    ///
    /// Panics if a task panicked, as Tokio's method does.
    pub async fn join_all(self) -> Vec<T> {
        self.0.join_all().await
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for JoinSet<T> {
    type Target = task::JoinSet<T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for JoinSet<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> fmt::Debug for JoinSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = F>>(tasks: I) -> Self {
        let mut set = Self::new();
        tasks.into_iter().for_each(|task| {
            set.spawn(task);
        });
        set
    }
}
