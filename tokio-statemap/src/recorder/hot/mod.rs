//! The work of hooks: from a call by Tokio to records in a chunk of the calling thread.
//!
//! [`tokio_hooks`] adapts Tokio's hooks, and [`events`] has what each of them records, on a fast path (one record, the
//! usual case) and a slow path. [`thread_recorder`] is the state of a thread. [`Shared`] is the state that hooks share.

mod events;
pub(crate) mod locations;
pub(crate) mod profile;
mod queue;
#[cfg_attr(not(has_stacks), path = "no_reading.rs")]
mod reading;
pub(crate) mod roots;
mod runtime;
pub(crate) mod runtimes;
#[cfg(feature = "tracing")]
pub(crate) mod spans;
pub(crate) mod thread_recorder;
pub(crate) mod tokio_hooks;
mod unowned;
pub(crate) mod woken;
pub(crate) mod worker;

use std::sync::{Arc, Weak};

#[cfg(has_black_box)]
use crate::recorder::black_box::OwnBox;
use crate::recorder::calls::profile::Profiles;
use crate::recorder::chains::wakers::Wakers;
use crate::recorder::hot::locations::Locations;
use crate::recorder::hot::runtime::RecordedRuntime;
use crate::recorder::hot::unowned::Unowned;
use crate::recorder::kept::Kept;
use crate::recorder::machine::Machine;
#[cfg(feature = "tracing")]
use crate::recorder::spans::Spans;
use crate::recorder::watch::Watch;

/// The state shared by all hooks of one runtime and the background thread.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Everything that is recorded as records, and what decides whether that is done.
    pub(crate) kept: Kept,
    /// The runtime, and the version of the program that runs it.
    pub(crate) runtime: RecordedRuntime,
    /// The spawn locations of tasks.
    pub(crate) locations: Locations,
    /// The counts of calls of instrumented functions.
    pub(crate) functions: Arc<Profiles>,
    /// The spans of `tracing`.
    #[cfg(feature = "tracing")]
    pub(crate) spans: Arc<Spans>,
    /// The time that the host took, and the CPU limit.
    pub(crate) machine: Machine,
    /// The samples of polls, and the listeners for long ones.
    pub(crate) watch: Watch,
    /// The watch over the wakers of tasks.
    pub(crate) wakers: Wakers,
    /// The file that survives the process.
    #[cfg(has_black_box)]
    pub(crate) black_box: OwnBox,
    /// The thread recorders that belong to no thread.
    unowned: Unowned,
    /// The start of the background thread, which is above this module.
    when_built: fn(&Self),
    /// The reference from which others get theirs.
    this: Weak<Self>,
}

impl Shared {
    /// Creates the state. `when_built` is called once the runtime has started its threads.
    pub(crate) fn new(kept: Kept, when_built: fn(&Self)) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            runtime: RecordedRuntime::default(),
            locations: Locations::default(),
            functions: Profiles::new(kept.id, Arc::clone(&kept.mode)),
            #[cfg(feature = "tracing")]
            spans: Spans::new(kept.id, Arc::clone(&kept.mode), kept.config.max_events),
            machine: Machine::new(kept.config.stacks),
            watch: Watch::default(),
            wakers: Wakers::default(),
            #[cfg(has_black_box)]
            black_box: OwnBox::default(),
            unowned: Unowned::default(),
            when_built,
            this: Weak::clone(this),
            kept,
        })
    }

    /// Returns a weak reference to this.
    pub(crate) fn this(&self) -> Weak<Self> {
        Weak::clone(&self.this)
    }
}
