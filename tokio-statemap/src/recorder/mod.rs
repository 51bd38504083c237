//! The recorder: the path from a runtime hook to a record in memory, and retention at `max_events`.
//!
//! [`tokio_hooks`] adapts Tokio's hooks and [`events`] has what each of them records. [`mode`]
//! decides whether there is anything to do; [`record`] is the 16-byte record; [`thread_recorder`]
//! is what a thread writes it with. [`store`] takes full chunks, [`retention`] evicts the oldest,
//! [`live_tasks`] keeps what evicted records say about tasks that are still alive, and [`sums`] adds them up. [`windows`]
//! starts and stops recording; [`late_tasks`] are the tasks spawned before it started.

pub(crate) mod background;
mod boxed;
#[cfg(all(
    feature = "dwarf",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) mod cells;
pub(crate) mod clock;
mod events;
pub(crate) mod eviction;
pub(crate) mod functions;
pub(crate) mod id_map;
#[cfg(all(test, tokio_unstable))]
mod jump_tests;
mod late_tasks;
pub(crate) mod live_tasks;
pub(crate) mod locations;
pub(crate) mod lost;
pub(crate) mod mode;
#[cfg(all(test, statemap_loom))]
mod models;
pub(crate) mod pool;
pub(crate) mod record;
mod retention;
pub(crate) mod root_future;
mod roots;
pub(crate) mod runtimes;
mod steal;
pub(crate) mod stops;
pub(crate) mod store;
#[cfg(all(test, tokio_unstable, not(statemap_loom)))]
mod stress;
pub(crate) mod sums;
pub(crate) mod task_id;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod thread_recorder;
mod throttling;
#[cfg(all(test, tokio_unstable))]
mod toggle_tests;
mod tokio_hooks;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod unwind;
pub(crate) mod waits;
#[cfg_attr(
    not(all(
        feature = "stacks",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )),
    allow(dead_code, reason = "nothing is watched")
)]
pub(crate) mod watch;
mod windows;
mod windows_before;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use crate::config::CollectorConfig;
use crate::recorder::clock::Clock;
use crate::recorder::eviction::Eviction;
use crate::recorder::functions::Profiles;
pub use crate::recorder::functions::{Instrument, Instrumented};
use crate::recorder::late_tasks::LateTasks;
use crate::recorder::live_tasks::LiveTasks;
use crate::recorder::locations::Locations;
use crate::recorder::mode::RecorderMode;
use crate::recorder::record::Kind;
use crate::recorder::roots::Roots;
use crate::recorder::steal::StealCounts;
use crate::recorder::store::Store;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::rings::{ReaderEnd, ThreadEnd, rings};
use crate::recorder::store::segment::StreamId;
use crate::recorder::sums::Sums;
use crate::recorder::thread_recorder::ThreadRecorder;
pub use crate::recorder::throttling::CpuLimit;
use crate::recorder::throttling::ThrottlingSoFar;
pub(crate) use crate::recorder::tokio_hooks::TokioHooks;
use crate::recorder::watch::Samples;
use crate::recorder::watch::listeners::Listeners;
pub(crate) use crate::recorder::windows::{Window, Windows};
pub(crate) use crate::recorder::windows_before::WindowsBefore;
use crate::sys::sync::{self, Mutex};
use crate::util::sync::lock;

/// The state shared by all hooks of one runtime.
#[derive(Debug)]
pub(crate) struct Recorder {
    id: RecorderId,
    mode: Arc<RecorderMode>,
    /// What calls of instrumented functions took.
    pub(crate) functions: Arc<Profiles>,
    /// The late tasks of the current window.
    late: Mutex<Arc<LateTasks>>,
    /// Whether a hook ran while nothing was recorded.
    ran_while_off: AtomicBool,
    pub(crate) clock: Clock,
    pub(crate) config: CollectorConfig,
    pub(crate) locations: Locations,
    pub(crate) roots: Roots,
    pub(crate) store: Mutex<Store>,
    /// Also locked during eviction, so that a snapshot finds each record either still in the store
    /// or already applied here.
    pub(crate) live_tasks: Mutex<LiveTasks>,
    /// What was evicted, added up. Locked after `live_tasks`, and while that is.
    pub(crate) sums: Mutex<Sums>,
    /// What is being evicted, and what stays of that. Locked during an eviction.
    pub(crate) eviction: Mutex<Eviction>,
    pub(crate) windows: Mutex<Windows>,
    /// When the last window began, in ticks.
    window_from: AtomicU64,
    /// The runtime's name, if it has one, once known.
    pub(crate) runtime_name: OnceLock<String>,
    /// The program's version, if it was said.
    pub(crate) version: OnceLock<String>,
    /// Set by the first hook that runs inside the runtime.
    runtime: OnceLock<tokio::runtime::Id>,
    /// Whether the runtime has started its threads, as far as is known.
    is_built: AtomicBool,
    /// How many of the runtime's threads have started and not stopped, whether or not that is recorded.
    started_threads: AtomicU64,
    /// Whether tasks waited for a thread of the blocking pool when one looked last.
    has_queue: AtomicBool,
    buffers: Mutex<Vec<&'static Buffer>>,
    /// What the host took, as far as that is counted.
    steal: Mutex<StealCounts>,
    /// Thread recorders of threads that ended. Boxed, as they move between threads and are large.
    #[expect(clippy::vec_box)]
    idle_thread_recorders: Mutex<Vec<Box<ThreadRecorder>>>,
    /// Used by threads whose thread-local values are destroyed.
    fallback: Mutex<Option<Box<ThreadRecorder>>>,
    /// Whether any thread filled a chunk since full ones were last collected.
    has_full_chunks: AtomicBool,
    /// How many empty chunks threads [found](Self::find_writer) by themselves since full ones were last collected.
    found_chunks: AtomicUsize,
    streams: AtomicU32,
    dropped_events: AtomicU64,
    /// All events before were dropped, or are in an island, in ticks.
    pub(crate) dropped_until: AtomicU64,
    /// Events beyond `max_events` that a drain found, with `keep = "first"`.
    refused_at_drain: AtomicU64,
    reentrant_events: AtomicU64,
    /// Of the long polls.
    pub(crate) samples: Mutex<Samples>,
    pub(crate) listeners: Listeners,
    throttling: Mutex<ThrottlingSoFar>,
    #[cfg(all(
        feature = "dwarf",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub(crate) cells: cells::TaskCells,
    this: Weak<Self>,
}

/// Never 0, and never reused.
type RecorderId = u64;

impl Recorder {
    pub(crate) fn new(config: CollectorConfig) -> Arc<Self> {
        Self::with_clock(config, Clock::new())
    }

    pub(crate) fn with_clock(config: CollectorConfig, clock: Clock) -> Arc<Self> {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let (id, mode) = (IDS.fetch_add(1, Ordering::Relaxed), Arc::new(RecorderMode::new()));
        Arc::new_cyclic(|this| Self {
            id,
            functions: Profiles::new(id, Arc::clone(&mode)),
            mode,
            late: Mutex::new(Arc::new(LateTasks::new())),
            ran_while_off: AtomicBool::new(false),
            clock,
            locations: Locations::default(),
            roots: Roots::default(),
            store: Mutex::new(Store::new(retention::chunk_records(&config), config.max_events)),
            live_tasks: Mutex::default(),
            sums: Mutex::default(),
            eviction: Mutex::new(Eviction::new(retention::island_events(&config))),
            windows: Mutex::default(),
            window_from: AtomicU64::new(0),
            runtime_name: OnceLock::new(),
            version: OnceLock::new(),
            runtime: OnceLock::new(),
            is_built: AtomicBool::new(false),
            started_threads: AtomicU64::new(0),
            has_queue: AtomicBool::new(false),
            buffers: Mutex::default(),
            steal: Mutex::default(),
            idle_thread_recorders: Mutex::default(),
            fallback: Mutex::default(),
            has_full_chunks: AtomicBool::new(false),
            found_chunks: AtomicUsize::new(0),
            streams: AtomicU32::new(0),
            dropped_events: AtomicU64::new(0),
            dropped_until: AtomicU64::new(0),
            refused_at_drain: AtomicU64::new(0),
            reentrant_events: AtomicU64::new(0),
            samples: Mutex::default(),
            listeners: Listeners::default(),
            throttling: Mutex::default(),
            #[cfg(all(
                feature = "dwarf",
                target_os = "linux",
                any(target_arch = "x86_64", target_arch = "aarch64")
            ))]
            cells: cells::TaskCells::default(),
            this: Weak::clone(this),
            config,
        })
    }

    /// UTC at the start of the first window, since the Unix epoch.
    pub(crate) fn utc_at_zero(&self) -> Duration {
        let first = lock(&self.windows).first();
        let since_clock = first.map_or(0, |ticks| self.clock.ns(ticks));
        self.clock.utc_at_start() + Duration::from_nanos(since_clock)
    }

    /// The tasks that have waited and not ended, of those of which it is found where they wait.
    pub(crate) fn waiting_tasks(&self) -> Vec<waits::cell::TaskSeen> {
        waits::cell::of(self.id)
    }

    pub(crate) fn new_thread_recorder(&self) -> Box<ThreadRecorder> {
        let idle = lock(&self.idle_thread_recorders).pop();
        if let Some(mut thread) = idle {
            thread.begin(lock(&self.store).take_unused());
            return thread;
        }
        self.with_rings(rings(retention::spare_chunks(&self.config)))
    }

    /// Never inlined: a hook comes here, and what makes the rings needs much stack, too.
    #[inline(never)]
    fn with_rings(&self, (rings, reader): (ThreadEnd, ReaderEnd)) -> Box<ThreadRecorder> {
        let writer = lock(&self.store).take_unused();
        let buffer = Buffer::take(self.new_stream(), sync::Arc::clone(writer.chunk()), reader);
        lock(&self.buffers).push(buffer);
        ThreadRecorder::new(buffer, writer, rings)
    }

    /// Takes back the recorder of a thread that ends.
    pub(crate) fn retire(&self, mut thread: Box<ThreadRecorder>) {
        // The watcher may have looked at its buffer when the process was forked.
        if background::is_forked() {
            return std::mem::forget(thread);
        }
        if thread.buffer.is_used() {
            // `LiveTasks` can forget the thread.
            thread.push(self, self.clock.ticks(), Kind::End, 0);
        }
        thread.buffer.watched.set_thread(0);
        thread.reassign(self.new_stream(), self);
        lock(&self.idle_thread_recorders).push(thread);
    }

    fn new_stream(&self) -> StreamId {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop_without_a_look();
        // The watcher may have looked at a buffer when the process was forked.
        if !background::is_forked() {
            Buffer::give_back(std::mem::take(&mut *lock(&self.buffers)));
        }
    }
}
