//! What hooks say to an engine, and what it makes of that.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::engine::Engine;
use crate::engine::lane::{self, Lane, NoLane};
use crate::engine::locations;
use crate::engine::mode::{self, Common, EngineId, Mode};
use crate::engine::record::{Kind, ROOT, Record, pack_ready, pack_spawn};
use crate::sync::lock;
use crate::sys::tsc;

impl Engine {
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
            lane.introduced.fill(u64::MAX);
        }
        let place = &mut lane.introduced[id as usize % Lane::INTRODUCED];
        if location.is_some() && std::mem::replace(place, id) != id && id & ROOT == 0 {
            self.note_location(lane, ticks, location);
            lane.push(self, ticks, Kind::Who, id);
        }
    }
}
