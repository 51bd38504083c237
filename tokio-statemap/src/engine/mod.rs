//! The hot path: what a hook does, from the look whether anything is recorded to the record in the
//! thread's buffer; and how what is kept stays within its bounds.
//!
//! [`hooks`] is what they do. [`mode`] says whether there is anything to do, [`record`] is what they
//! write, [`buffer`] where, and [`lane`] how they find it; [`store`] is where full buffers go,
//! [`bounds`] drops what is too much, and [`roster`] remembers it.

mod blocks;
mod bounds;
mod boxed;
pub(crate) mod buffer;
mod hooks;
pub(crate) mod id_map;
pub(crate) mod lane;
pub(crate) mod locations;
pub(crate) mod mode;
pub(crate) mod record;
pub(crate) mod roots;
pub(crate) mod roster;
pub(crate) mod segment;
mod shared;
pub(crate) mod store;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::clock::Clock;
use crate::config::{CollectorConfig, Keep};
use crate::engine::buffer::Buffer;
use crate::engine::lane::Lane;
use crate::engine::locations::Locations;
use crate::engine::mode::{EngineId, EngineMode, Mode};
use crate::engine::record::Kind;
use crate::engine::roots::Roots;
use crate::engine::roster::Roster;
use crate::engine::segment::{Segment, StreamId};
use crate::engine::store::Store;
use crate::sync::lock;

/// All that the hooks of one runtime share.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) id: EngineId,
    mode: EngineMode,
    /// Whether tasks may live whose spawn was not recorded.
    late: AtomicBool,
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
    pub(crate) windows: Mutex<Vec<Window>>,
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
    /// What came into the store; only with `keep = "first"`.
    drained_events: AtomicU64,
    is_full: AtomicBool,
    /// How often recording was started.
    windows_started: AtomicU32,
    dropped_events: AtomicU64,
    /// What a drain found to be more than `max_events`, with `keep = "first"`.
    refused_at_drain: AtomicU64,
    reentrant_events: AtomicU64,
}

/// A stretch of time in which was recorded, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    /// `None` while it lasts.
    pub(crate) to: Option<u64>,
}

impl Engine {
    pub(crate) fn new(config: CollectorConfig) -> Arc<Self> {
        let mode = EngineMode::new();
        Arc::new(Self {
            id: mode.engine_id(),
            mode,
            late: AtomicBool::new(false),
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
            drained_events: AtomicU64::new(0),
            is_full: AtomicBool::new(false),
            windows_started: AtomicU32::new(0),
            dropped_events: AtomicU64::new(0),
            refused_at_drain: AtomicU64::new(0),
            reentrant_events: AtomicU64::new(0),
            config,
        })
    }

    /// Begins to record. Without effect while it does.
    pub(crate) fn start(&self) {
        let mut windows = lock(&self.windows);
        if windows.last().is_some_and(|window| window.to.is_none()) {
            return;
        }
        if !windows.is_empty() || self.missed.load(Ordering::Relaxed) {
            self.late.store(true, Ordering::Relaxed);
        }
        windows.push(Window { from: self.clock.ticks(), to: None });
        self.windows_started.fetch_add(1, Ordering::Relaxed);
        let is_full = self.is_full.load(Ordering::Relaxed);
        self.mode.change(|_| Some(if is_full { Mode::Full } else { self.on() }));
    }

    /// The mode while everything is recorded.
    fn on(&self) -> Mode {
        let is_plain = self.clock.is_tsc() && !self.late.load(Ordering::Relaxed);
        if is_plain { Mode::Plain } else { Mode::On }
    }

    /// Says that tasks may live before the first start.
    pub(crate) fn expect_late_start(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }

    /// Ceases to record. Without effect unless it does.
    pub(crate) fn stop(&self) {
        let mut windows = lock(&self.windows);
        if let Some(window @ Window { to: None, .. }) = windows.last_mut() {
            self.mode.change(|_| Some(Mode::Off));
            window.to = Some(self.clock.ticks());
        }
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.mode.get() != Mode::Off
    }

    /// UTC at the first start, since the Unix epoch.
    pub(crate) fn utc_at_zero(&self) -> Duration {
        let first = lock(&self.windows).first().map(|window| window.from);
        let since_clock = first.map_or(0, |ticks| self.clock.scale().ns(ticks));
        self.clock.utc_at_start() + Duration::from_nanos(since_clock)
    }

    /// Whether events are refused, with `keep = "first"`.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
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
        if self.config.keep == Keep::Last {
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
