//! The hot path: what a hook does, from the look whether anything is recorded to the record in the
//! thread's buffer; and how what is kept stays within its bounds.
//!
//! [`mode`] says what hooks have to do, [`record`] is what they write, [`buffer`] where, and [`lane`]
//! how they find it; [`store`] is where full buffers go, and [`roster`] remembers what the store
//! drops.

mod blocks;
pub(crate) mod buffer;
pub(crate) mod lane;
pub(crate) mod locations;
pub(crate) mod mode;
pub(crate) mod record;
pub(crate) mod roots;
pub(crate) mod roster;
pub(crate) mod segment;
mod shared;
pub(crate) mod store;

use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use crate::clock::Clock;
use crate::config::{CollectorConfig, Keep};
use crate::engine::buffer::Buffer;
use crate::engine::lane::{Lane, NoLane};
use crate::engine::locations::Locations;
use crate::engine::mode::{Common, EngineId, EngineMode, Mode};
use crate::engine::record::{Kind, ROOT, Record, pack_ready, pack_spawn};
use crate::engine::roots::Roots;
use crate::engine::roster::Roster;
use crate::engine::segment::{Segment, StreamId};
use crate::engine::store::Store;
use crate::lost::Lost;
use crate::sync::{lock, try_lock};
use crate::sys::tsc;

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
            store: Mutex::new(Store::new(chunk_records(&config), config.max_events)),
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

    // ---- what the hooks say -------------------------------------------------------------------

    /// What a hook does: `plain` if that is most likely a record and no more, `other` where more is
    /// to be done.
    ///
    /// All that is called here are to be functions of their own and the last thing that the hook
    /// does: so that none saves registers for another, and a hook with nothing to do saves none.
    #[inline]
    pub(crate) fn hook(self: &Arc<Self>, plain: impl Fn(EngineId), other: impl FnOnce()) {
        match mode::common() {
            Common::Plain(id) => plain(id),
            Common::Off => {}
            Common::Full => self.refuse_only(),
            Common::Each => match self.mode.get() {
                Mode::Plain => plain(self.id),
                Mode::Off => {}
                Mode::Full => self.refuse(),
                Mode::On => other(),
            },
        }
    }

    /// The same for a spawn, which is taken note of even while nothing is recorded.
    #[inline]
    pub(crate) fn spawn_hook(&self, plain: impl Fn(EngineId), other: impl FnOnce()) {
        match mode::common() {
            Common::Plain(id) => plain(id),
            _ if self.mode.get() == Mode::Plain => plain(self.id),
            _ => other(),
        }
    }

    // What hooks do where they are plain, of the engine that `hook` names: the same as the functions
    // further down, if that needs no more than a record. If it says no, nothing was done.

    /// See [`task_spawned`](Self::task_spawned).
    #[inline]
    pub(crate) fn add_spawn(
        engine: EngineId,
        id: impl FnOnce() -> u64,
        location: impl FnOnce() -> &'static Location<'static>,
    ) -> bool {
        lane::push_spawn(
            engine,
            || locations::address(location()),
            |number| {
                let payload = pack_spawn(id(), number)?;
                Some(Record::event(tsc::ticks(), Kind::SpawnAt, payload))
            },
        )
    }

    /// See [`poll_started`](Self::poll_started).
    #[inline]
    pub(crate) fn add_poll_start(
        engine: EngineId,
        poll: impl FnOnce() -> (u64, Option<Duration>),
    ) -> bool {
        lane::push_poll_start(engine, || {
            let (id, ready_for) = poll();
            let (kind, payload) = match ready_for {
                None => (Kind::PollStart, id),
                Some(ready_for) => {
                    (Kind::PollStartReady, pack_ready(id, ready_for.as_nanos() as u64)?)
                }
            };
            Some((Record::event(tsc::ticks(), kind, payload), id))
        })
    }

    /// See [`poll_ended`](Self::poll_ended).
    #[inline]
    pub(crate) fn add_poll_end(engine: EngineId, id: impl FnOnce() -> u64) -> bool {
        lane::push(engine, || Record::event(tsc::ticks(), Kind::PollEnd, id()))
    }

    /// See [`task_terminated`](Self::task_terminated).
    #[inline]
    pub(crate) fn add_end(engine: EngineId, id: impl FnOnce() -> u64) -> bool {
        lane::push_end(engine, || {
            let id = id();
            (Record::event(tsc::ticks(), Kind::Terminate, id), id)
        })
    }

    /// See [`record_worker`](Self::record_worker). Without task hooks nobody says that a thread
    /// ceased to be a worker: then it is asked each time.
    #[inline]
    fn add_of_worker(engine: EngineId, kind: Kind) -> bool {
        cfg!(tokio_unstable)
            && lane::push_of_worker(engine, || Record::event(tsc::ticks(), kind, 0))
    }

    /// When it is, if anything is to be recorded.
    fn ticks(self: &Arc<Self>) -> Option<u64> {
        match self.mode.get() {
            Mode::Off => None,
            Mode::Full => {
                self.refuse();
                None
            }
            Mode::On | Mode::Plain => Some(self.clock.ticks()),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_spawned(
        self: &Arc<Self>,
        id: u64,
        location: Option<&'static Location<'static>>,
    ) {
        if self.mode.get() == Mode::Off && !self.missed.load(Ordering::Relaxed) {
            self.missed.store(true, Ordering::Relaxed);
        }
        self.record(|lane, ticks| {
            self.note_location(lane, ticks, location);
            lane.push(self, ticks, Kind::Spawn, id);
        });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn poll_started(
        self: &Arc<Self>,
        id: u64,
        ready_for: Option<Duration>,
        location: impl FnOnce() -> Option<&'static Location<'static>> + Copy,
    ) {
        self.record(|lane, ticks| {
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
    pub(crate) fn poll_ended(self: &Arc<Self>, id: u64) {
        self.record(|lane, ticks| lane.push(self, ticks, Kind::PollEnd, id));
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_terminated(self: &Arc<Self>, id: u64) {
        self.record(|lane, ticks| {
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
        self.hook(|engine| self.add_park(engine), || self.record_worker(Kind::Park));
    }

    #[inline]
    pub(crate) fn unparked(self: &Arc<Self>) {
        self.hook(|engine| self.add_unpark(engine), || self.record_worker(Kind::Unpark));
    }

    #[inline(never)]
    fn add_park(self: &Arc<Self>, engine: EngineId) {
        if !Self::add_of_worker(engine, Kind::Park) {
            self.record_worker(Kind::Park);
        }
    }

    #[inline(never)]
    fn add_unpark(self: &Arc<Self>, engine: EngineId) {
        if !Self::add_of_worker(engine, Kind::Unpark) {
            self.record_worker(Kind::Unpark);
        }
    }

    #[inline(never)]
    fn record_worker(self: &Arc<Self>, kind: Kind) {
        self.record(|lane, ticks| {
            // As `add_of_worker` has it.
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
            if let Err(why) = lane::with(self, |lane| write(lane, ticks)) {
                // Later, as others may have been there first.
                self.record_elsewhere(why, |lane| write(lane, self.clock.ticks()));
            }
        }
    }

    /// Counts an event that is not kept, of the only engine there is.
    #[inline(never)]
    fn refuse_only(self: &Arc<Self>) {
        if !lane::refuse_if(mode::is_only_and_full) {
            self.refuse();
        }
    }

    /// Counts an event that is not kept.
    #[inline(never)]
    fn refuse(self: &Arc<Self>) {
        if lane::refuse_if(|engine| engine == self.id) {
            return;
        }
        if let Err(why) = lane::with(self, |lane| lane.buffer.refuse()) {
            self.record_elsewhere(why, |lane| lane.buffer.refuse());
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

    // ---- the bounds -----------------------------------------------------------------------------

    /// Sees to the bounds after `moved_events` came into the store.
    pub(crate) fn after_drain(&self, moved_events: u64) {
        match self.config.keep {
            Keep::First => {
                let before = self.drained_events.fetch_add(moved_events, Ordering::Relaxed);
                if before + moved_events >= self.config.max_events as u64 {
                    self.is_full.store(true, Ordering::Relaxed);
                    // Unless it was stopped.
                    self.mode.change(|mode| (mode != Mode::Off).then_some(Mode::Full));
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
        // hook doesn't wait for a snapshot, and for another that drops only if that one has been
        // interrupted for so long that memory would grow without bound.
        let dropping = try_lock(&self.dropping).or_else(|| {
            let much = (max_events / 256).max(2 * chunk_records(&self.config) as u64);
            let is_far_above = lock(&self.store).events() > max_events.saturating_add(much);
            is_far_above.then(|| lock(&self.dropping))
        });
        let Some(mut taken) = dropping else { return };
        let Some(mut roster) = try_lock(&self.roster) else { return };
        let Some(until_ticks) = lock(&self.store).surplus(max_events) else { return };
        // Threads that seldom emit have older records that fill no block yet. They come first, as
        // their buffers may just be handed over, as blocks that are as old.
        let mut events = 0;
        for buffer in lock(&self.buffers).iter() {
            events += buffer.take_until(until_ticks, &mut taken);
        }
        events += lock(&self.store).take_until(until_ticks, &mut taken);
        taken.sort_unstable_by_key(Segment::order);
        roster.absorb(&taken, &lock(&self.windows));
        self.dropped_events.fetch_add(events, Ordering::Relaxed);
        let mut store = lock(&self.store);
        taken.drain(..).for_each(|segment| store.recycle(segment.into_chunk()));
    }

    /// The address of the records that are dropped next, if any are.
    pub(crate) fn dropped_next(&self) -> Option<usize> {
        match self.config.keep {
            Keep::First => None,
            Keep::Last => lock(&self.store).oldest_address(),
        }
    }

    /// Moves all that is in buffers to the store.
    pub(crate) fn flush(&self) {
        let buffers = lock(&self.buffers).clone();
        let moved = buffers.iter().map(|buffer| buffer.flush(&self.store)).sum();
        self.after_drain(moved);
    }

    /// What is not kept, if the store holds `stored_events`.
    pub(crate) fn lost(&self, stored_events: u64) -> Lost {
        let refused: u64 = lock(&self.buffers).iter().map(|buffer| buffer.refused()).sum();
        let (refused_surplus, dropped_surplus) = self.surplus(stored_events);
        Lost {
            refused_events: refused
                + refused_surplus
                + self.refused_at_drain.load(Ordering::Relaxed),
            dropped_events: self.dropped_events.load(Ordering::Relaxed) + dropped_surplus,
            reentrant_events: self.reentrant_events.load(Ordering::Relaxed),
        }
    }

    /// Of so many events that the store holds, those that are too many: refused, and dropped.
    fn surplus(&self, stored_events: u64) -> (u64, u64) {
        let surplus = stored_events.saturating_sub(self.config.max_events as u64);
        match self.config.keep {
            Keep::First => (surplus, 0),
            Keep::Last => (0, surplus),
        }
    }

    /// Takes note that the `stored_events` that were kept up to now were given away; `left_events`
    /// came since.
    pub(crate) fn was_drained(&self, stored_events: u64, left_events: u64) {
        // What hooks refuse meanwhile is counted where they do, and not looked at here.
        let (refused, dropped) = self.surplus(stored_events);
        self.refused_at_drain.fetch_add(refused, Ordering::Relaxed);
        self.dropped_events.fetch_add(dropped, Ordering::Relaxed);
        self.drained_events.store(left_events, Ordering::Relaxed);
        self.is_full.store(false, Ordering::Relaxed);
        self.mode.change(|mode| (mode == Mode::Full).then(|| self.on()));
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        Buffer::give_back(std::mem::take(&mut *lock(&self.buffers)));
    }
}

/// How many records a chunk holds. What is kept beyond `max_events` are some chunks, as the oldest
/// are dropped chunk by chunk: so they are small beside `max_events`, but not so small that to hand
/// one over would cost more than to fill it.
fn chunk_records(config: &CollectorConfig) -> usize {
    const LEAST: usize = 64;
    const WORTHWHILE: usize = 1024;
    let most = (config.max_events / 512).max(WORTHWHILE).min(config.max_events / 16);
    config.buffer_capacity.clamp(LEAST, most.max(LEAST))
}
