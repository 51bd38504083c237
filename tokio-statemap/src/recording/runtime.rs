//! A further runtime of a recording.

use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Weak};

use tokio::runtime::Runtime;

use super::active::{self, Active};
use crate::collector::Collector;

/// A runtime that was added to a [`Recording`](crate::Recording), to show its root future. It may be dropped at any
/// time: the runtime is recorded in any case.
///
/// Without the feature `record` this type exists and does nothing.
///
/// # Examples
///
/// ```no_run
/// # fn add(recording: &tokio_statemap::Recording) -> std::io::Result<()> {
/// let mut builder = tokio::runtime::Builder::new_current_thread();
/// let recorded = recording.runtime(builder.enable_all());
/// let runtime = builder.build()?;
/// recorded.block_on(&runtime, async { /* … */ });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RecordedRuntime(Option<(Weak<Active>, Arc<Collector>)>);

impl RecordedRuntime {
    pub(super) fn new(active: &Arc<Active>, collector: Arc<Collector>) -> Self {
        Self(Some((Arc::downgrade(active), collector)))
    }

    pub(super) fn not_recorded() -> Self {
        Self(None)
    }

    /// Runs `future` with [`Runtime::block_on`], and shows it as a root future of this runtime.
    ///
    /// # Panics
    ///
    /// Panics where [`Runtime::block_on`] does.
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        runtime.block_on(self.root(future))
    }

    /// Wraps a root future of this runtime.
    #[track_caller]
    pub fn root<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let location = Location::caller();
        let recorded = self.0.as_ref().and_then(|(active, of)| Some((active.upgrade()?, of)));
        match recorded {
            Some((active, collector)) => active.root(collector, future, location),
            None => active::unrecorded_root(future, location),
        }
    }
}
