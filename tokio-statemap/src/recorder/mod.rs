//! The hot path: what a hook does, from the look whether anything is recorded to the record in the
//! thread's buffer; and how what is kept stays within its bounds.
//!
//! [`hooks`] is what they do. [`mode`] says whether there is anything to do, [`record`] is what they
//! write, [`buffer`] where, and [`thread`] how they find it; [`store`] is where full buffers go,
//! [`bounds`] drops what is too much, and [`live_tasks`] remembers it. [`windows`] says from when to when
//! all of this goes on, and [`late`] who was there before.

mod boxed;
pub(crate) mod clock;
mod events;
pub(crate) mod id_map;
mod late_tasks;
pub(crate) mod live_tasks;
pub(crate) mod locations;
pub(crate) mod lost;
pub(crate) mod mode;
pub(crate) mod record;
mod retention;
pub(crate) mod root_future;
mod roots;
pub(crate) mod runtimes;
pub(crate) mod store;
pub(crate) mod task_id;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod thread_recorder;
mod tokio_hooks;
mod windows;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::config::CollectorConfig;
use crate::recorder::clock::Clock;
use crate::recorder::late_tasks::LateTasks;
use crate::recorder::live_tasks::LiveTasks;
use crate::recorder::locations::Locations;
use crate::recorder::mode::RecorderMode;
use crate::recorder::record::Kind;
use crate::recorder::roots::Roots;
use crate::recorder::store::Store;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{Segment, StreamId};
use crate::recorder::thread_recorder::ThreadRecorder;
pub(crate) use crate::recorder::tokio_hooks::TokioHooks;
pub(crate) use crate::recorder::windows::{Window, Windows};
use crate::util::sync::lock;

/// All that the hooks of one runtime share.
#[derive(Debug)]
pub(crate) struct Recorder {
    id: RecorderId,
    mode: RecorderMode,
    /// Of the last window.
    late: Mutex<Arc<LateTasks>>,
    /// Whether a hook came while nothing was recorded.
    missed: AtomicBool,
    pub(crate) clock: Clock,
    pub(crate) config: CollectorConfig,
    pub(crate) locations: Locations,
    pub(crate) roots: Roots,
    pub(crate) store: Mutex<Store>,
    /// Also held while records are dropped, so that a snapshot finds each of them either still in
    /// the store or already here.
    pub(crate) live_tasks: Mutex<LiveTasks>,
    /// What is being dropped, by whoever has this; kept for its memory, as hooks do the dropping.
    dropping: Mutex<Vec<Segment>>,
    pub(crate) windows: Mutex<Windows>,
    /// Of the runtime, if it has one, as soon as that is known.
    pub(crate) runtime_name: OnceLock<String>,
    /// Set once a hook ran inside the runtime.
    is_known: OnceLock<()>,
    buffers: Mutex<Vec<&'static Buffer>>,
    /// Boxed, as they are handed on and a thread is a kilobyte.
    #[expect(clippy::vec_box)]
    idle_thread_recorders: Mutex<Vec<Box<ThreadRecorder>>>,
    /// For threads that are ending and have no thread-local values any more.
    orphans: Mutex<Option<Box<ThreadRecorder>>>,
    streams: AtomicU32,
    dropped_events: AtomicU64,
    /// What a drain found to be more than `max_events`, with `keep = "first"`.
    refused_at_drain: AtomicU64,
    reentrant_events: AtomicU64,
}

/// Never 0, and never used again.
type RecorderId = u64;

impl Recorder {
    pub(crate) fn new(config: CollectorConfig) -> Arc<Self> {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            mode: RecorderMode::new(),
            late: Mutex::new(Arc::new(LateTasks::new())),
            missed: AtomicBool::new(false),
            clock: Clock::new(),
            locations: Locations::default(),
            roots: Roots::default(),
            store: Mutex::new(Store::new(retention::chunk_records(&config), config.max_events)),
            live_tasks: Mutex::default(),
            dropping: Mutex::default(),
            windows: Mutex::default(),
            runtime_name: OnceLock::new(),
            is_known: OnceLock::new(),
            buffers: Mutex::default(),
            idle_thread_recorders: Mutex::default(),
            orphans: Mutex::default(),
            streams: AtomicU32::new(0),
            dropped_events: AtomicU64::new(0),
            refused_at_drain: AtomicU64::new(0),
            reentrant_events: AtomicU64::new(0),
            config,
        })
    }

    /// UTC at the first start, since the Unix epoch.
    pub(crate) fn utc_at_zero(&self) -> Duration {
        let first = lock(&self.windows).all.first().map(|window| window.from);
        let since_clock = first.map_or(0, |ticks| self.clock.scale().ns(ticks));
        self.clock.utc_at_start() + Duration::from_nanos(since_clock)
    }

    pub(crate) fn new_thread_recorder(&self) -> Box<ThreadRecorder> {
        if let Some(thread) = lock(&self.idle_thread_recorders).pop() {
            return thread;
        }
        let writer = lock(&self.store).take_writer();
        let buffer = Buffer::take(self.new_stream(), Arc::clone(writer.chunk()));
        lock(&self.buffers).push(buffer);
        ThreadRecorder::new(buffer, writer)
    }

    /// Takes back the thread of a thread that ends.
    pub(crate) fn retire(&self, mut thread: Box<ThreadRecorder>) {
        if thread.buffer.is_used() {
            // The live_tasks needn't remember the thread.
            thread.push(self, self.clock.ticks(), Kind::End, 0);
        }
        thread.hand_on(self.new_stream(), self);
        lock(&self.idle_thread_recorders).push(thread);
    }

    fn new_stream(&self) -> StreamId {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        Buffer::give_back(std::mem::take(&mut *lock(&self.buffers)));
    }
}
