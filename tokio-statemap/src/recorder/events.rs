//! What hooks say to an recorder, and what it makes of that.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::recorder::Recorder;
use crate::recorder::locations;
use crate::recorder::mode::{self, Common, Mode, WindowId};
use crate::recorder::record::{Kind, ROOT, Record, pack_ready, pack_spawn};
use crate::recorder::thread_recorder::{self, NotAtHand, ThreadRecorder};
use crate::recorder::worker;
use crate::sys::tsc;
use crate::util::sync::lock;

impl Recorder {
    /// What a hook does: `fast_path` if that is most likely a record and no more, `other` where more is
    /// to be done.
    ///
    /// All that is called here are to be functions of their own and the last thing that the hook
    /// does: so that none saves registers for another, and a hook with nothing to do saves none. What
    /// decides that is part of the hook: as a function of its own it takes 15 instructions more.
    #[inline(always)]
    pub(crate) fn hook(self: &Arc<Self>, fast_path: impl Fn(WindowId), other: impl FnOnce()) {
        match mode::common() {
            Common::FastPath(window) => fast_path(window),
            Common::Off => {}
            Common::Full => self.refuse_only(),
            Common::CheckEach => match self.mode.get_both() {
                (window, Mode::FastPath) => fast_path(window),
                (_, Mode::Off) => {}
                (_, Mode::Full) => self.refuse(),
                (_, Mode::On) => other(),
            },
        }
    }

    /// The same for a spawn, which is taken note of even while nothing is recorded.
    #[inline(always)]
    pub(crate) fn spawn_hook(&self, fast_path: impl Fn(WindowId), other: impl FnOnce()) {
        match mode::common() {
            Common::FastPath(window) => fast_path(window),
            _ => match self.mode.get_both() {
                (window, Mode::FastPath) => fast_path(window),
                _ => other(),
            },
        }
    }

    // What hooks do where they are plain, in the window that `hook` names: the same as the functions
    // further down, if that needs no more than a record. If it says no, nothing was done.

    /// See [`task_spawned`](Self::task_spawned).
    #[inline]
    pub(crate) fn add_spawn(
        window: WindowId,
        id: impl FnOnce() -> u64,
        location: impl FnOnce() -> &'static Location<'static>,
    ) -> bool {
        thread_recorder::push_spawn(
            window,
            || locations::address(location()),
            |number| {
                let payload = pack_spawn(id(), number)?;
                Some(Record::event(tsc::ticks(), Kind::SpawnAt, payload))
            },
        )
    }

    /// See [`poll_started`](Self::poll_started). Of a task that was spawned in the window.
    #[inline]
    pub(crate) fn add_poll_start(
        window: WindowId,
        id: impl FnOnce() -> u64,
        ready_for: impl FnOnce() -> Option<Duration>,
    ) -> bool {
        thread_recorder::push_poll_start(window, id, |id| poll_start(id, ready_for()))
    }

    /// The same of a task that lives since before the window. It is asked for anew, so that most hooks
    /// needn't keep it until they know that they don't come here.
    #[inline]
    pub(crate) fn add_late_poll_start(
        &self,
        id: impl FnOnce() -> u64,
        ready_for: impl FnOnce() -> Option<Duration>,
    ) -> bool {
        thread_recorder::push_late_poll_start(self.mode.window(), id, |id| {
            poll_start(id, ready_for())
        })
    }

    /// See [`poll_ended`](Self::poll_ended). Only the end of a poll whose start was not seen says which
    /// worker that was on, and then it isn't noted yet.
    #[inline]
    pub(crate) fn add_poll_end(window: WindowId, id: impl FnOnce() -> u64) -> bool {
        thread_recorder::push_of_worker(window, || Record::event(tsc::ticks(), Kind::PollEnd, id()))
    }

    /// See [`task_terminated`](Self::task_terminated).
    #[inline]
    pub(crate) fn add_end(window: WindowId, id: impl FnOnce() -> u64) -> bool {
        thread_recorder::push_end(window, || {
            let id = id();
            (Record::event(tsc::ticks(), Kind::Terminate, id), id)
        })
    }

    /// See [`record_worker`](Self::record_worker).
    #[inline]
    fn add_of_worker(window: WindowId, kind: Kind) -> bool {
        cfg!(tokio_unstable)
            && thread_recorder::push_of_worker(window, || Record::event(tsc::ticks(), kind, 0))
    }

    /// When it is, if anything is to be recorded.
    fn ticks(self: &Arc<Self>) -> Option<u64> {
        match self.mode.get() {
            Mode::Off => None,
            Mode::Full => {
                self.refuse();
                None
            }
            Mode::On | Mode::FastPath => Some(self.clock.ticks()),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_spawned(
        self: &Arc<Self>,
        id: u64,
        location: Option<&'static Location<'static>>,
    ) {
        if self.mode.get() == Mode::Off {
            self.miss();
        }
        self.record(|thread, ticks| {
            self.note_location(thread, ticks, location);
            thread.push(self, ticks, Kind::Spawn, id);
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
        self.record(|thread, ticks| {
            self.note_worker(thread, ticks);
            thread.polled = id;
            self.record_origin(thread, ticks, id, location);
            let Some(ready_for) = ready_for else {
                return thread.push(self, ticks, Kind::PollStart, id);
            };
            let ready_for_ns = ready_for.as_nanos() as u64;
            match pack_ready(id, ready_for_ns) {
                Some(payload) => thread.push(self, ticks, Kind::PollStartReady, payload),
                None => {
                    thread.push(self, ticks, Kind::Ready, ready_for_ns);
                    thread.push(self, ticks, Kind::PollStart, id);
                }
            }
        });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn poll_ended(
        self: &Arc<Self>,
        id: u64,
        location: impl FnOnce() -> Option<&'static Location<'static>> + Copy,
    ) {
        self.record(|thread, ticks| {
            if thread.worker_is_stale {
                self.note_role(thread, ticks, worker::after_poll());
            }
            self.record_origin(thread, ticks, id, location);
            thread.push(self, ticks, Kind::PollEnd, id);
        });
    }

    /// The same of a root future, whose thread is that worker.
    #[inline(never)]
    pub(crate) fn root_poll_started(self: &Arc<Self>, id: u64, worker: Option<usize>) {
        self.record(|thread, ticks| {
            self.note_role(thread, ticks, worker);
            thread.polled = id;
            thread.push(self, ticks, Kind::PollStart, id);
        });
    }

    /// The same of a root future, whose thread is that worker.
    #[inline(never)]
    pub(crate) fn root_poll_ended(self: &Arc<Self>, id: u64, worker: Option<usize>) {
        self.record(|thread, ticks| {
            self.note_role(thread, ticks, worker);
            thread.push(self, ticks, Kind::PollEnd, id);
        });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_terminated(self: &Arc<Self>, id: u64) {
        self.record(|thread, ticks| {
            // As `thread_recorder::push_end` has it.
            thread.worker_is_stale |= thread.polled != id;
            thread.push(self, ticks, Kind::Terminate, id);
        });
    }

    pub(crate) fn thread_started(self: &Arc<Self>) {
        if !self.is_recording() {
            self.miss();
        }
        if self.config.trace_target.tracks_workers() {
            self.record(|thread, ticks| thread.push(self, ticks, Kind::ThreadStart, 0));
        }
    }

    pub(crate) fn thread_stopped(self: &Arc<Self>) {
        if self.config.trace_target.tracks_workers() {
            self.record(|thread, ticks| {
                if thread.worker_is_of_before {
                    // In this window it never was any.
                    self.note_role(thread, ticks, None);
                }
                thread.push(self, ticks, Kind::ThreadStop, 0);
            });
        }
        thread_recorder::give_back(self);
    }

    #[inline]
    pub(crate) fn parked(self: &Arc<Self>) {
        self.hook(|window| self.add_park(window), || self.record_worker(Kind::Park));
    }

    #[inline]
    pub(crate) fn unparked(self: &Arc<Self>) {
        self.hook(|window| self.add_unpark(window), || self.record_worker(Kind::Unpark));
    }

    #[inline(never)]
    fn add_park(self: &Arc<Self>, window: WindowId) {
        if !Self::add_of_worker(window, Kind::Park) {
            self.record_worker(Kind::Park);
        }
    }

    #[inline(never)]
    fn add_unpark(self: &Arc<Self>, window: WindowId) {
        if !Self::add_of_worker(window, Kind::Unpark) {
            self.record_worker(Kind::Unpark);
        }
    }

    #[inline(never)]
    fn record_worker(self: &Arc<Self>, kind: Kind) {
        self.record(|thread, ticks| {
            self.note_worker(thread, ticks);
            thread.push(self, ticks, kind, 0);
        });
    }

    /// Where not only a record is to be written: finds out whether to record, when it is and where
    /// to.
    #[inline]
    fn record(self: &Arc<Self>, write: impl FnOnce(&mut ThreadRecorder, u64) + Copy) {
        if let Some(ticks) = self.ticks() {
            if let Err(why) = thread_recorder::with(self, |thread| write(thread, ticks)) {
                // Later, as others may have been there first.
                self.record_elsewhere(why, |thread| write(thread, self.clock.ticks()));
            }
        }
    }

    /// Counts an event that is not kept, of the only recorder there is.
    #[inline(never)]
    fn refuse_only(self: &Arc<Self>) {
        if !thread_recorder::refuse_if(mode::is_only_and_full) {
            self.refuse();
        }
    }

    /// Counts an event that is not kept.
    #[inline(never)]
    fn refuse(self: &Arc<Self>) {
        if thread_recorder::refuse_if(|window| window == self.mode.window()) {
            return;
        }
        if let Err(why) = thread_recorder::with(self, |thread| thread.buffer.refuse()) {
            self.record_elsewhere(why, |thread| thread.buffer.refuse());
        }
    }

    #[cold]
    #[inline(never)]
    fn record_elsewhere(&self, why: NotAtHand, write: impl FnOnce(&mut ThreadRecorder)) {
        match why {
            NotAtHand::TerminatedIds => {
                let mut thread = lock(&self.orphans);
                let thread = thread.get_or_insert_with(|| self.new_thread_recorder());
                // It may be another thread's each time.
                thread.worker_is_stale = true;
                write(thread);
            }
            NotAtHand::Busy => {
                self.reentrant_events.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[inline]
    fn note_location(
        &self,
        thread: &mut ThreadRecorder,
        ticks: u64,
        at: Option<&'static Location<'static>>,
    ) {
        if let Some(location) = at {
            let id = thread.locations.id(location, &self.locations);
            thread.location = (locations::address(location), id);
            thread.push(self, ticks, Kind::Location, u64::from(id));
        }
    }

    /// Notes which worker the thread is, where that may have changed. It has the worker's core, if it is
    /// one: it is about to poll a task with it, or to park.
    #[inline]
    fn note_worker(self: &Arc<Self>, thread: &mut ThreadRecorder, ticks: u64) {
        if thread.worker_is_stale {
            self.ask_worker(thread, ticks);
        }
    }

    #[inline(never)]
    fn ask_worker(self: &Arc<Self>, thread: &mut ThreadRecorder, ticks: u64) {
        self.note_role(thread, ticks, tokio::runtime::worker_index());
        if self.is_known.get().is_none() {
            if let Ok(handle) = tokio::runtime::Handle::try_current() {
                self.belongs_to(&handle);
            }
        }
    }

    /// Notes that the thread is this worker, or none.
    fn note_role(&self, thread: &mut ThreadRecorder, ticks: u64, worker: Option<usize>) {
        let worker = worker.and_then(|index| u32::try_from(index).ok());
        // Only a hook of tasks tells that `block_in_place` took a thread's worker away. On a thread that
        // is no worker it may be one next time.
        let is_told = cfg!(tokio_unstable) && self.config.trace_target.tracks_tasks();
        thread.worker_is_stale = worker.is_none() || !is_told;
        thread.worker_is_of_before = false;
        if worker != thread.worker {
            thread.worker = worker;
            let payload = worker.map_or(0, |index| u64::from(index) + 1);
            thread.push(self, ticks, Kind::Role, payload);
        }
    }

    /// Learns which runtime this is the recorder of.
    pub(crate) fn belongs_to(self: &Arc<Self>, handle: &tokio::runtime::Handle) {
        if self.is_known.set(()).is_ok() {
            if let Some(name) = handle.name() {
                self.is_named(name);
            }
            crate::recorder::runtimes::register(handle.id(), self);
        }
    }

    /// Learns what its runtime is called.
    pub(crate) fn is_named(&self, name: &str) {
        self.runtime_name.get_or_init(|| name.to_owned());
    }

    /// Notes where a task was spawned whose spawn was not recorded.
    #[inline]
    fn record_origin(
        &self,
        thread: &mut ThreadRecorder,
        ticks: u64,
        id: u64,
        location: impl FnOnce() -> Option<&'static Location<'static>>,
    ) {
        // Also where there is no location to note: so that nobody asks again.
        if id & ROOT == 0 && thread.records_origin_of(id) {
            if let Some(location) = location() {
                self.note_location(thread, ticks, Some(location));
                thread.push(self, ticks, Kind::LateOrigin, id);
            }
        }
    }
}

/// The start of a task's poll; `None` if that doesn't fit into a record.
#[inline]
fn poll_start(id: u64, ready_for: Option<Duration>) -> Option<Record> {
    let (kind, payload) = match ready_for {
        None => (Kind::PollStart, id),
        Some(ready_for) => (Kind::PollStartReady, pack_ready(id, ready_for.as_nanos() as u64)?),
    };
    Some(Record::event(tsc::ticks(), kind, payload))
}
