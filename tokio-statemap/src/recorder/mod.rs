//! The recorder: the path from a runtime hook to a record in memory, the records that are kept, and captures of them.
//!
//! A [`Recorder`] composes the parts, and nothing below knows it. The parts are the fields of [`Shared`]. One of them,
//! [`Kept`], has the records. Each line imports only from those above it. `tests/tests/repository/layers.rs` checks that:
//!
//! - [`locks`]: the locks, and their order.
//! - [`record`]: records of 16 bytes. [`clock`]: ticks, and how they relate to time.
//! - [`window`]: whether anything is recorded, and when it was.
//! - [`store`]: the chunks that threads fill, and full ones in memory, by time.
//! - [`memory`]: what evicted records leave behind.
//! - [`kept`]: all of that for one recorder, behind locks. It evicts, and collects full chunks.
//! - [`calls`], [`machine`], [`watch`], `spans`: what is recorded beside events.
//! - [`wakes`]: when tasks became ready, and who woke them. [`chains`]: the functions that a thread is in when a waker
//!   is cloned.
//! - [`black_box`]: files that have what was recorded, however the process ends.
//! - [`hot`]: what hooks do.
//! - [`waits`]: where tasks wait. [`root_waker`]: the waker of a root future.
//! - [`functions`]: futures of instrumented calls. [`root_future`]: that of `block_on`.
//! - [`background`]: the thread that collects, evicts, and watches long polls.
//! - [`capture`]: what is known at one moment, as plain data.

#![cfg_attr(not(has_stacks), allow(dead_code, reason = "nothing is sampled"))]

pub(crate) mod background;
#[cfg(has_black_box)]
pub(crate) mod black_box;
mod boxed;
pub(crate) mod calls;
pub(crate) mod capture;
pub(crate) mod chains;
pub(crate) mod clock;
pub(crate) mod functions;
pub(crate) mod hot;
pub(crate) mod id_map;
#[cfg(all(test, tokio_unstable))]
mod jump_tests;
mod kept;
pub(crate) mod locks;
pub(crate) mod lost;
mod machine;
pub(crate) mod memory;
#[cfg(all(test, statemap_loom))]
mod models;
mod process;
pub(crate) mod record;
pub(crate) mod root_future;
mod root_waker;
#[cfg(feature = "tracing")]
pub(crate) mod spans;
pub(crate) mod store;
#[cfg(all(test, tokio_unstable, not(statemap_loom)))]
mod stress;
pub(crate) mod task_id;
#[cfg(all(test, tokio_unstable))]
mod tests;
#[cfg(all(test, tokio_unstable))]
mod toggle_tests;
#[cfg(has_stacks)]
mod unwind;
pub(crate) mod waits;
pub(crate) mod wakes;
pub(crate) mod watch;
pub(crate) mod window;

use std::ops::Deref;
use std::sync::Arc;

use crate::config::CollectorConfig;
#[cfg(has_black_box)]
pub(crate) use crate::recorder::background::close_box;
use crate::recorder::capture::{Calls, Capture, Then};
use crate::recorder::clock::Clock;
pub use crate::recorder::functions::{Instrument, Instrumented};
use crate::recorder::hot::Shared;
use crate::recorder::hot::runtimes;
pub(crate) use crate::recorder::hot::tokio_hooks::TokioHooks;
use crate::recorder::kept::Kept;
pub use crate::recorder::machine::CpuLimit;

/// Records one runtime. A clone is the same recorder.
#[derive(Clone, Debug)]
pub(crate) struct Recorder(Arc<Shared>);

impl Recorder {
    pub(crate) fn new(config: CollectorConfig) -> Self {
        Self::with_clock(config, Clock::new())
    }

    pub(crate) fn with_clock(config: CollectorConfig, clock: Clock) -> Self {
        Self(Shared::new(Kept::new(config, clock), background::start_thread))
    }

    /// Returns the recorder of the runtime that the current thread is in, if it is recorded.
    pub(crate) fn current() -> Option<Self> {
        runtimes::current().map(Self)
    }

    /// Starts recording. Has no effect if it is started.
    pub(crate) fn start(&self) {
        // Its lock is waited for before those of what is kept.
        #[cfg(has_black_box)]
        background::open_box(self);
        self.kept.start(|| {
            // Hooks are to find out no more than whether that has changed.
            crate::sys::filter::allows_all();
            #[cfg(feature = "tracing")]
            self.spans.start(self.kept.clock.ticks());
            self.machine.start();
            self.machine.note_steal(&self.kept.clock);
            background::recorder_started(self);
            if self.kept.config.trace_target.tracks_tasks() {
                chains::prepare();
                chains::locals::prepare(hot::thread_recorder::recorder_here);
                if self.kept.config.wakes {
                    self.wakers.watch();
                }
            }
        });
    }

    /// Stops recording. Has no effect if it is stopped.
    pub(crate) fn stop(&self) {
        self.kept.take_anchor();
        let was_started = self.kept.stop(|| {
            background::recorder_stopped(self);
            self.wakers.leave();
            self.machine.stop();
        });
        if was_started {
            self.kept.clock.check_source();
            if !process::is_forked() {
                #[cfg(has_black_box)]
                background::write_box(self, true);
                // Nobody looks any more whether threads need them.
                self.kept.take_back(0);
            }
        }
    }

    /// Captures what is known now.
    pub(crate) fn capture(&self, then: Then) -> Capture {
        Capture::take(self, then)
    }

    /// Returns what calls of instrumented functions took so far.
    pub(crate) fn calls(&self) -> Calls {
        Calls::of_recorder(self)
    }

    /// Has the watcher look at all threads that have recorded so far.
    pub(crate) fn watch_all(&self) {
        background::watch_all(self);
    }
}

impl Deref for Recorder {
    type Target = Arc<Shared>;

    fn deref(&self) -> &Arc<Shared> {
        &self.0
    }
}
