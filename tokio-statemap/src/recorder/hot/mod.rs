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
pub(crate) mod woken;
pub(crate) mod worker;

use std::sync::{Arc, OnceLock, Weak};

#[cfg(has_black_box)]
use crate::recorder::black_box::{WhenLeft, journal::Journal};
use crate::recorder::calls::profile::Profiles;
use crate::recorder::chains::wakers::Wakers;
use crate::recorder::hot::locations::Locations;
use crate::recorder::hot::roots::Roots;
use crate::recorder::hot::runtime::RecordedRuntime;
use crate::recorder::hot::thread_recorder::ThreadRecorder;
use crate::recorder::kept::Kept;
#[cfg(has_black_box)]
use crate::recorder::locks::BLACK_BOX;
use crate::recorder::locks::{FALLBACK, LAST, Lock, lock};
use crate::recorder::machine::Machine;
use crate::recorder::process;
use crate::recorder::record::Kind;
#[cfg(feature = "tracing")]
use crate::recorder::spans::Spans;
use crate::recorder::watch::Samples;
use crate::recorder::watch::cpu::CpuSamples;
use crate::recorder::watch::listeners::Listeners;
#[cfg(feature = "html")]
use crate::recorder::watch::listeners::PageListeners;

/// The state shared by all hooks of one runtime and the background thread.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) kept: Kept,
    /// The counts of calls of instrumented functions.
    pub(crate) functions: Arc<Profiles>,
    /// The spans of `tracing`.
    #[cfg(feature = "tracing")]
    pub(crate) spans: Arc<Spans>,
    pub(crate) locations: Locations,
    pub(crate) roots: Roots,
    pub(crate) runtime: RecordedRuntime,
    /// The program's version, if it was set.
    pub(crate) version: OnceLock<String>,
    pub(crate) machine: Machine,
    /// The samples of the long polls.
    pub(crate) samples: Lock<Samples, LAST>,
    /// The samples of what polls computed.
    pub(crate) cpu: Lock<CpuSamples, LAST>,
    pub(crate) listeners: Listeners,
    #[cfg(feature = "html")]
    pub(crate) page_listeners: PageListeners,
    pub(crate) wakers: Wakers,
    #[cfg(has_black_box)]
    pub(crate) black_box: Lock<Option<Journal>, BLACK_BOX>,
    /// Called with each box that an earlier process of this program has left.
    #[cfg(has_black_box)]
    pub(crate) when_left: OnceLock<WhenLeft>,
    /// Thread recorders of threads that ended. Boxed, as they move between threads and are large.
    #[expect(clippy::vec_box)]
    idle: Lock<Vec<Box<ThreadRecorder>>, LAST>,
    /// Used by threads whose thread-local values are destroyed.
    fallback: Lock<Option<Box<ThreadRecorder>>, FALLBACK>,
    /// Called once the runtime has started its threads.
    when_built: fn(&Self),
    this: Weak<Self>,
}

impl Shared {
    /// Creates the state. `when_built` is called once the runtime has started its threads.
    pub(crate) fn new(kept: Kept, when_built: fn(&Self)) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            functions: Profiles::new(kept.id, Arc::clone(&kept.mode)),
            #[cfg(feature = "tracing")]
            spans: Spans::new(kept.id, Arc::clone(&kept.mode), kept.config.max_events),
            locations: Locations::default(),
            roots: Roots::default(),
            runtime: RecordedRuntime::default(),
            version: OnceLock::new(),
            machine: Machine::new(kept.config.stacks),
            samples: Lock::default(),
            cpu: Lock::default(),
            listeners: Listeners::default(),
            #[cfg(feature = "html")]
            page_listeners: PageListeners::default(),
            wakers: Wakers::default(),
            #[cfg(has_black_box)]
            black_box: Lock::default(),
            #[cfg(has_black_box)]
            when_left: OnceLock::new(),
            idle: Lock::default(),
            fallback: Lock::default(),
            when_built,
            this: Weak::clone(this),
            kept,
        })
    }

    /// Returns a weak reference to this.
    pub(crate) fn this(&self) -> Weak<Self> {
        Weak::clone(&self.this)
    }

    pub(crate) fn new_thread_recorder(&self) -> Box<ThreadRecorder> {
        let idle = lock(&self.idle).pop();
        if let Some(mut thread) = idle {
            thread.begin(self.kept.take_unused());
            return thread;
        }
        let (buffer, writer, rings) = self.kept.new_buffer();
        ThreadRecorder::new(buffer, writer, rings)
    }

    /// Takes back the recorder of a thread that ends.
    pub(crate) fn retire(&self, mut thread: Box<ThreadRecorder>) {
        // The watcher may have looked at the thread's buffer when the process was forked.
        if process::is_forked() {
            return std::mem::forget(thread);
        }
        if thread.buffer.is_used() {
            // This lets `LiveTasks` forget the thread.
            thread.push(self, self.kept.clock.ticks(), Kind::End, 0);
        }
        thread.buffer.watched.set_thread(0);
        thread.reassign(&self.kept);
        lock(&self.idle).push(thread);
    }

    /// Returns how many idle thread recorders wait for a thread.
    #[cfg(all(test, statemap_loom))]
    pub(crate) fn idle_thread_recorders(&self) -> usize {
        lock(&self.idle).len()
    }
}
