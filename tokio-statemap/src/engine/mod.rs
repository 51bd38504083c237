//! The hot path: what a hook does, from the look whether anything is recorded to the record in the
//! thread's ring; and how what is kept stays within its bounds.
//!
//! [`record`] is what is written, [`ring`] where, [`lane`] how a hook finds its thread's ring;
//! [`store`] is what rings are emptied into, and [`roster`] remembers what the store drops.

pub(crate) mod lane;
pub(crate) mod locations;
pub(crate) mod record;
pub(crate) mod ring;
pub(crate) mod roots;
pub(crate) mod roster;
pub(crate) mod store;

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::time::Duration;

use crate::clock::Clock;
use crate::config::{CollectorConfig, Keep};
use crate::engine::lane::{Lane, NoLane};
use crate::engine::locations::Locations;
use crate::engine::record::{Kind, ROOT, Record, pack_ready};
use crate::engine::ring::Ring;
use crate::engine::roots::Roots;
use crate::engine::roster::Roster;
use crate::engine::store::{Segment, Store, StreamId, new_buffer};
use crate::lost::Lost;
use crate::sync::lock;
use crate::sys::tsc;

/// Nothing is recorded.
const OFF: u8 = 0;
/// Everything is.
const ON: u8 = 1;
/// `max_events` are there, and `keep = "first"`: events are only counted.
const FULL: u8 = 2;
/// Everything is, by the TSC, and no task lives whose spawn was not recorded: most hooks need to do
/// no more than to add a record to their thread's ring.
const PLAIN: u8 = 3;

/// All that the hooks of one runtime share.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) id: u64,
    state: AtomicU8,
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
    /// What is being dropped; kept for its memory, as hooks do the dropping.
    taken: Mutex<Vec<Segment>>,
    pub(crate) windows: Mutex<Vec<Window>>,
    /// Of the runtime, if it has one, as soon as that is known.
    pub(crate) runtime_name: OnceLock<String>,
    /// Set once a hook ran inside the runtime.
    is_known: OnceLock<()>,
    rings: Mutex<Vec<&'static Ring>>,
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
        // 0 is none.
        static IDS: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            state: AtomicU8::new(OFF),
            late: AtomicBool::new(false),
            missed: AtomicBool::new(false),
            clock: Clock::new(),
            locations: Locations::default(),
            roots: Roots::default(),
            store: Mutex::new(Store::new(block_records(&config), config.max_events)),
            roster: Mutex::default(),
            taken: Mutex::default(),
            windows: Mutex::default(),
            runtime_name: OnceLock::new(),
            is_known: OnceLock::new(),
            rings: Mutex::default(),
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
        self.state.store(if is_full { FULL } else { self.on() }, Ordering::Release);
    }

    /// What the state is while everything is recorded.
    fn on(&self) -> u8 {
        let is_plain = self.clock.is_tsc() && !self.late.load(Ordering::Relaxed);
        if is_plain { PLAIN } else { ON }
    }

    /// Says that tasks may live before the first start.
    pub(crate) fn expect_late_start(&self) {
        self.missed.store(true, Ordering::Relaxed);
    }

    /// Ceases to record. Without effect unless it does.
    pub(crate) fn stop(&self) {
        let mut windows = lock(&self.windows);
        if let Some(window @ Window { to: None, .. }) = windows.last_mut() {
            self.state.store(OFF, Ordering::Release);
            window.to = Some(self.clock.ticks());
        }
    }

    pub(crate) fn is_recording(&self) -> bool {
        self.state.load(Ordering::Relaxed) != OFF
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

    // ---- what the hooks say -------------------------------------------------------------------

    #[cold]
    #[inline(never)]
    pub(crate) fn task_spawned(
        self: &Arc<Self>,
        ticks: Option<u64>,
        id: u64,
        location: Option<&'static Location<'static>>,
    ) {
        if self.state.load(Ordering::Relaxed) == OFF && !self.missed.load(Ordering::Relaxed) {
            self.missed.store(true, Ordering::Relaxed);
        }
        let Some(ticks) = ticks.or_else(|| self.ticks()) else { return };
        self.write(|lane| {
            self.note_location(lane, ticks, location);
            lane.push(self, ticks, Kind::Spawn, id);
        });
    }

    /// The same as [`task_spawned`](Self::task_spawned), if that needs no more than a record.
    #[inline]
    pub(crate) fn add_spawn(
        &self,
        ticks: u64,
        id: u64,
        location: &'static Location<'static>,
    ) -> bool {
        lane::push_spawn(self.id, ticks, id, locations::address(location))
    }

    /// When it is, if most hooks need to know no more. They ask this first, and everything else
    /// only if it says nothing: so there is no call in their common case, and nothing that would
    /// have to outlive one.
    #[inline]
    pub(crate) fn plain_ticks(&self) -> Option<u64> {
        (self.state.load(Ordering::Relaxed) == PLAIN).then(tsc::ticks)
    }

    /// Whether there is nothing to do: nothing is recorded, or what is refused is counted now. To be
    /// asked before anything else that costs more than a record.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        match self.state.load(Ordering::Relaxed) {
            OFF => true,
            FULL => lane::refuse(self.id),
            _ => false,
        }
    }

    /// When it is, if anything is to be recorded.
    fn ticks(self: &Arc<Self>) -> Option<u64> {
        match self.state.load(Ordering::Relaxed) {
            OFF => None,
            FULL => {
                self.refuse();
                None
            }
            _ => Some(self.clock.ticks()),
        }
    }

    /// The same as [`poll_started`](Self::poll_started), if that needs no more than a record.
    #[inline]
    pub(crate) fn add_poll_start(&self, ticks: u64, id: u64, ready_for: Option<Duration>) -> bool {
        let record = match ready_for {
            None => Some(Record::event(ticks, Kind::PollStart, id)),
            Some(ready_for) => pack_ready(id, ready_for.as_nanos() as u64)
                .map(|payload| Record::event(ticks, Kind::PollStartReady, payload)),
        };
        record.is_some_and(|record| lane::push_poll_start(self.id, id, record))
    }

    /// The same as [`poll_ended`](Self::poll_ended), if that needs no more than a record.
    #[inline]
    pub(crate) fn add_poll_end(&self, ticks: u64, id: u64) -> bool {
        lane::push(self.id, Record::event(ticks, Kind::PollEnd, id))
    }

    /// The same as [`task_terminated`](Self::task_terminated), if that needs no more than a record.
    #[inline]
    pub(crate) fn add_end(&self, ticks: u64, id: u64) -> bool {
        lane::push_end(self.id, id, Record::event(ticks, Kind::Terminate, id))
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn poll_started(
        self: &Arc<Self>,
        ticks: Option<u64>,
        id: u64,
        ready_for: Option<Duration>,
        location: impl FnOnce() -> Option<&'static Location<'static>> + Copy,
    ) {
        let Some(ticks) = ticks.or_else(|| self.ticks()) else { return };
        self.write(|lane| {
            self.note_worker(lane, ticks);
            lane.polled = id;
            if self.late.load(Ordering::Relaxed) {
                self.introduce(lane, ticks, id, location());
            }
            let Some(ready_for) = ready_for else {
                return lane.push(self, ticks, Kind::PollStart, id);
            };
            let ready_for_ns = ready_for.as_nanos() as u64;
            match pack_ready(id, ready_for_ns) {
                Some(payload) => lane.push(self, ticks, Kind::PollStartReady, payload),
                None => {
                    lane.push(self, ticks, Kind::Ready, ready_for_ns);
                    lane.push(self, ticks, Kind::PollStart, id);
                }
            }
        });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn poll_ended(self: &Arc<Self>, ticks: Option<u64>, id: u64) {
        let Some(ticks) = ticks.or_else(|| self.ticks()) else { return };
        self.write(|lane| lane.push(self, ticks, Kind::PollEnd, id));
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_terminated(self: &Arc<Self>, ticks: Option<u64>, id: u64) {
        let Some(ticks) = ticks.or_else(|| self.ticks()) else { return };
        self.write(|lane| {
            // As `lane::push_end` has it.
            lane.worker_is_stale |= lane.polled != id;
            lane.push(self, ticks, Kind::Terminate, id);
        });
    }

    pub(crate) fn thread_started(self: &Arc<Self>) {
        if !self.is_recording() {
            self.missed.store(true, Ordering::Relaxed);
        }
        if self.config.trace_target.tracks_workers() {
            self.record(|lane, ticks| lane.push(self, ticks, Kind::ThreadStart, 0));
        }
    }

    pub(crate) fn thread_stopped(self: &Arc<Self>) {
        if self.config.trace_target.tracks_workers() {
            self.record(|lane, ticks| lane.push(self, ticks, Kind::ThreadStop, 0));
        }
        lane::give_back(self);
    }

    #[inline]
    pub(crate) fn parked(self: &Arc<Self>) {
        self.record_worker(Kind::Park);
    }

    #[inline]
    pub(crate) fn unparked(self: &Arc<Self>) {
        self.record_worker(Kind::Unpark);
    }

    #[inline]
    fn record_worker(self: &Arc<Self>, kind: Kind) {
        self.record(|lane, ticks| {
            // Without task hooks nobody says that a thread ceased to be a worker: ask each time.
            lane.worker_is_stale |= !cfg!(tokio_unstable);
            self.note_worker(lane, ticks);
            lane.push(self, ticks, kind, 0);
        });
    }

    /// Where not only a record is to be written: finds out whether to record, when it is and where
    /// to.
    #[inline]
    fn record(self: &Arc<Self>, write: impl FnOnce(&mut Lane, u64) + Copy) {
        if let Some(ticks) = self.ticks() {
            self.write(|lane| write(lane, ticks));
        }
    }

    /// Lets `write` write to this thread's lane.
    #[inline]
    fn write(self: &Arc<Self>, write: impl FnOnce(&mut Lane) + Copy) {
        if let Err(why) = lane::with(self, write) {
            self.record_elsewhere(why, write);
        }
    }

    /// Counts an event that is not kept.
    #[inline(never)]
    fn refuse(self: &Arc<Self>) {
        if let Err(why) = lane::with(self, |lane| lane.ring.refuse()) {
            self.record_elsewhere(why, |lane| lane.ring.refuse());
        }
    }

    #[cold]
    #[inline(never)]
    fn record_elsewhere(&self, why: NoLane, write: impl FnOnce(&mut Lane)) {
        match why {
            NoLane::Gone => {
                let mut lane = lock(&self.orphans);
                write(lane.get_or_insert_with(|| self.new_lane()));
            }
            NoLane::Busy => {
                self.reentrant_events.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[inline]
    fn note_location(&self, lane: &mut Lane, ticks: u64, at: Option<&'static Location<'static>>) {
        if let Some(location) = at {
            let id = lane.locations.id(location, &self.locations);
            lane.location = (locations::address(location), id);
            lane.push(self, ticks, Kind::Location, u64::from(id));
        }
    }

    /// Notes which worker the thread is, where that may have changed.
    #[inline]
    fn note_worker(self: &Arc<Self>, lane: &mut Lane, ticks: u64) {
        if lane.worker_is_stale {
            self.ask_worker(lane, ticks);
        }
    }

    #[inline(never)]
    fn ask_worker(self: &Arc<Self>, lane: &mut Lane, ticks: u64) {
        let worker = tokio::runtime::worker_index().and_then(|index| u32::try_from(index).ok());
        // On a thread that is no worker it may be one next time.
        lane.worker_is_stale = worker.is_none();
        if worker != lane.worker {
            lane.worker = worker;
            let payload = worker.map_or(0, |index| u64::from(index) + 1);
            lane.push(self, ticks, Kind::Role, payload);
        }
        if self.is_known.get().is_none() {
            if let Ok(handle) = tokio::runtime::Handle::try_current() {
                self.belongs_to(&handle);
            }
        }
    }

    /// Learns which runtime this is the engine of.
    pub(crate) fn belongs_to(self: &Arc<Self>, handle: &tokio::runtime::Handle) {
        if self.is_known.set(()).is_ok() {
            if let Some(name) = handle.name() {
                self.is_named(name);
            }
            crate::current::register(handle.id(), self);
        }
    }

    /// Learns what its runtime is called.
    pub(crate) fn is_named(&self, name: &str) {
        self.runtime_name.get_or_init(|| name.to_owned());
    }

    /// Notes where a task was spawned whose spawn was not recorded.
    fn introduce(
        &self,
        lane: &mut Lane,
        ticks: u64,
        id: u64,
        location: Option<&'static Location<'static>>,
    ) {
        let window = self.windows_started.load(Ordering::Relaxed);
        if std::mem::replace(&mut lane.introduced_in, window) != window {
            lane.introduced = [u64::MAX; Lane::INTRODUCED];
        }
        let place = &mut lane.introduced[id as usize % Lane::INTRODUCED];
        if location.is_some() && std::mem::replace(place, id) != id && id & ROOT == 0 {
            self.note_location(lane, ticks, location);
            lane.push(self, ticks, Kind::Who, id);
        }
    }

    // ---- threads that come and go -------------------------------------------------------------

    pub(crate) fn new_lane(&self) -> Box<Lane> {
        if let Some(lane) = lock(&self.idle_lanes).pop() {
            return lane;
        }
        let buffer = new_buffer(block_records(&self.config));
        let ring = Ring::take(self.config.buffer_capacity, self.new_stream(), buffer);
        lock(&self.rings).push(ring);
        Lane::new(ring)
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

    // ---- the bounds -----------------------------------------------------------------------------

    /// Sees to the bounds after `moved_events` came into the store.
    pub(crate) fn after_drain(&self, moved_events: u64) {
        match self.config.keep {
            Keep::First => {
                let before = self.drained_events.fetch_add(moved_events, Ordering::Relaxed);
                if before + moved_events >= self.config.max_events as u64 {
                    self.is_full.store(true, Ordering::Relaxed);
                    // Unless it was stopped.
                    for on in [PLAIN, ON] {
                        let (set, get) = (Ordering::Release, Ordering::Relaxed);
                        let _ = self.state.compare_exchange(on, FULL, set, get);
                    }
                }
            }
            Keep::Last => self.drop_surplus(),
        }
    }

    /// Drops the oldest blocks while the newer ones alone hold `max_events`. What they said about
    /// tasks that still live goes to the roster.
    fn drop_surplus(&self) {
        let max_events = self.config.max_events as u64;
        // Most times there is nothing to do, and whoever comes next does what this one can't: a
        // hook doesn't wait for a snapshot.
        let mut roster = match self.roster.try_lock() {
            Ok(roster) => roster,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let Some(until_ticks) = lock(&self.store).surplus(max_events) else {
            return;
        };
        let mut taken = lock(&self.taken);
        // Threads that seldom emit have older records that fill no block yet. They come first, as
        // what their rings hold may just fill blocks that are as old.
        let mut events = 0;
        for ring in lock(&self.rings).iter() {
            events += ring.take_until(until_ticks, &self.store, &mut taken);
        }
        events += lock(&self.store).take_until(until_ticks, &mut taken);
        taken.sort_unstable_by_key(Segment::order);
        roster.absorb(&taken, &lock(&self.windows));
        self.dropped_events.fetch_add(events, Ordering::Relaxed);
        lock(&self.store).recycle(&mut taken);
    }

    /// Moves all that is in rings to the store.
    pub(crate) fn flush(&self) {
        let rings = lock(&self.rings).clone();
        let moved = rings.iter().map(|ring| ring.flush(&self.store)).sum();
        self.after_drain(moved);
    }

    /// What is not kept, if the store holds `stored_events`.
    pub(crate) fn lost(&self, stored_events: u64) -> Lost {
        let surplus = stored_events.saturating_sub(self.config.max_events as u64);
        let refused: u64 = lock(&self.rings).iter().map(|ring| ring.refused()).sum();
        let (refused_surplus, dropped_surplus) = match self.config.keep {
            Keep::First => (surplus, 0),
            Keep::Last => (0, surplus),
        };
        Lost {
            refused_events: refused
                + refused_surplus
                + self.refused_at_drain.load(Ordering::Relaxed),
            dropped_events: self.dropped_events.load(Ordering::Relaxed) + dropped_surplus,
            reentrant_events: self.reentrant_events.load(Ordering::Relaxed),
        }
    }

    /// Takes note that what was kept up to now was given away; `left_events` came since. Of what
    /// was there, as much as `lost` says was too much.
    pub(crate) fn was_drained(&self, left_events: u64, lost: &Lost) {
        self.dropped_events.store(lost.dropped_events, Ordering::Relaxed);
        let refused = lock(&self.rings).iter().map(|ring| ring.refused()).sum();
        self.refused_at_drain.store(lost.refused_events.saturating_sub(refused), Ordering::Relaxed);
        self.drained_events.store(left_events, Ordering::Relaxed);
        self.is_full.store(false, Ordering::Relaxed);
        let (set, get) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.state.compare_exchange(FULL, self.on(), set, get);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        Ring::give_back(std::mem::take(&mut *lock(&self.rings)));
    }
}

/// How many records a block holds: as many as a ring by default, and few enough that `max_events`
/// are many blocks, as the oldest are dropped block by block.
fn block_records(config: &CollectorConfig) -> usize {
    (config.max_events / 16).clamp(64, 4096)
}
