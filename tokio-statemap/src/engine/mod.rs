//! The hot path: what a hook does, from the look whether anything is recorded to the record in the
//! thread's buffer; and how what is kept stays within its bounds.
//!
//! [`hooks`] is what they do. [`mode`] says whether there is anything to do, [`record`] is what they
//! write, [`buffer`] where, and [`lane`] how they find it; [`store`] is where full buffers go,
//! [`bounds`] drops what is too much, and [`roster`] remembers it. [`windows`] says from when to when
//! all of this goes on, and [`late`] who was there before.

mod blocks;
mod bounds;
mod boxed;
pub(crate) mod buffer;
mod hooks;
pub(crate) mod id_map;
pub(crate) mod lane;
mod late;
pub(crate) mod locations;
pub(crate) mod mode;
pub(crate) mod record;
pub(crate) mod roots;
pub(crate) mod roster;
pub(crate) mod segment;
mod shared;
pub(crate) mod store;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod windows;
pub(crate) mod worker;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::clock::Clock;
use crate::config::CollectorConfig;
use crate::engine::buffer::Buffer;
use crate::engine::lane::Lane;
use crate::engine::late::Late;
use crate::engine::locations::Locations;
use crate::engine::mode::EngineMode;
use crate::engine::record::Kind;
use crate::engine::roots::Roots;
use crate::engine::roster::Roster;
use crate::engine::segment::{Segment, StreamId};
use crate::engine::store::Store;
pub(crate) use crate::engine::windows::{Window, Windows};
use crate::sync::lock;

/// All that the hooks of one runtime share.
#[derive(Debug)]
pub(crate) struct Engine {
    id: EngineId,
    mode: EngineMode,
    /// Of the last window.
    late: Mutex<Arc<Late>>,
    /// Whether a hook came while nothing was recorded.
    missed: AtomicBool,
    pub(crate) clock: Clock,
    pub(crate) config: CollectorConfig,
    pub(crate) locations: Locations,
    pub(crate) roots: Roots,
    pub(crate) store: Mutex<Store>,
    /// Also held while records are dropped, so that a snapshot finds each of them either still in
    /// the store or already here.
    pub(crate) roster: Mutex<Roster>,
    /// What is being dropped, by whoever has this; kept for its memory, as hooks do the dropping.
    dropping: Mutex<Vec<Segment>>,
    pub(crate) windows: Mutex<Windows>,
    /// Of the runtime, if it has one, as soon as that is known.
    pub(crate) runtime_name: OnceLock<String>,
    /// Set once a hook ran inside the runtime.
    is_known: OnceLock<()>,
    buffers: Mutex<Vec<&'static Buffer>>,
    /// Boxed, as they are handed on and a lane is a kilobyte.
    #[expect(clippy::vec_box)]
    idle_lanes: Mutex<Vec<Box<Lane>>>,
    /// For threads that are ending and have no thread-local values any more.
    orphans: Mutex<Option<Box<Lane>>>,
    streams: AtomicU32,
    dropped_events: AtomicU64,
    /// What a drain found to be more than `max_events`, with `keep = "first"`.
    refused_at_drain: AtomicU64,
    reentrant_events: AtomicU64,
}

/// Never 0, and never used again.
type EngineId = u64;

impl Engine {
    pub(crate) fn new(config: CollectorConfig) -> Arc<Self> {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            mode: EngineMode::new(),
            late: Mutex::new(Arc::new(Late::new())),
            missed: AtomicBool::new(false),
            clock: Clock::new(),
            locations: Locations::default(),
            roots: Roots::default(),
            store: Mutex::new(Store::new(bounds::chunk_records(&config), config.max_events)),
            roster: Mutex::default(),
            dropping: Mutex::default(),
            windows: Mutex::default(),
            runtime_name: OnceLock::new(),
            is_known: OnceLock::new(),
            buffers: Mutex::default(),
            idle_lanes: Mutex::default(),
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

    pub(crate) fn new_lane(&self) -> Box<Lane> {
        if let Some(lane) = lock(&self.idle_lanes).pop() {
            return lane;
        }
        let writer = lock(&self.store).take_writer();
        let buffer = Buffer::take(self.new_stream(), Arc::clone(writer.chunk()));
        lock(&self.buffers).push(buffer);
        Lane::new(buffer, writer)
    }

    /// Takes back the lane of a thread that ends.
    pub(crate) fn retire(&self, mut lane: Box<Lane>) {
        if lane.buffer.is_used() {
            // The roster needn't remember the thread.
            lane.push(self, self.clock.ticks(), Kind::End, 0);
        }
        lane.hand_on(self.new_stream(), self);
        lock(&self.idle_lanes).push(lane);
    }

    fn new_stream(&self) -> StreamId {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        Buffer::give_back(std::mem::take(&mut *lock(&self.buffers)));
    }
}
