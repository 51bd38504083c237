//! The records of each hook.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::recorder::chains::table::WaitId;
use crate::recorder::chains::{capture, waking};
use crate::recorder::hot::Shared;
use crate::recorder::hot::locations;
use crate::recorder::hot::thread_recorder::{self, ThreadRecorder, Unavailable};
use crate::recorder::hot::worker;
use crate::recorder::record::{Kind, ROOT, Record, pack_ready, pack_spawn, pack_wait};
use crate::recorder::wakes::Wake;
use crate::recorder::window::mode::{self, GlobalMode, Mode, WindowId};
use crate::sys::tsc;

impl Shared {
    /// Runs the body of a hook: `fast_path` if a single record is most likely enough, `slow_path` if more is to be
    /// done.
    ///
    /// Every function called here is `#[inline(never)]` and is called last: so the hook saves no
    /// registers for the call, and none at all if it has nothing to do. The branch itself is
    /// inlined into the hook: as a function of its own it takes 15 more instructions per poll
    /// (`cargo bench -p tokio-statemap --bench hooks -- check`).
    #[inline(always)]
    pub(crate) fn hook(self: &Arc<Self>, fast_path: impl Fn(WindowId), slow_path: impl FnOnce()) {
        let global = mode::encoded();
        if let Some(window) = global.fast_path() {
            return fast_path(window);
        }
        if global.is_off() {
            return;
        }
        if !global.is_check_each() {
            return self.refuse_global();
        }
        match self.kept.mode.get_both() {
            (window, Mode::FastPath) => fast_path(window),
            (_, Mode::Off) => {}
            (_, Mode::Full) => self.refuse(),
            (_, Mode::On) => slow_path(),
        }
    }

    /// Runs the body of the spawn hook. A spawn has to be noticed even while nothing is recorded.
    #[inline(always)]
    pub(crate) fn spawn_hook(&self, fast_path: impl Fn(WindowId), slow_path: impl FnOnce()) {
        match mode::global() {
            GlobalMode::FastPath(window) => fast_path(window),
            _ => match self.kept.mode.get_both() {
                (window, Mode::FastPath) => fast_path(window),
                _ => slow_path(),
            },
        }
    }

    // The fast path of each hook, in the window that `hook` passes: the same as the slow path
    // below, if a single record is enough. Returns `false`, without any effect, if it is not.

    /// Fast path of [`task_spawned`](Self::task_spawned).
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

    /// Fast path of [`poll_started`](Self::poll_started), for a task spawned in this window.
    #[inline]
    pub(crate) fn add_poll_start(
        window: WindowId,
        id: impl FnOnce() -> u64,
        ready_for: impl FnOnce(u64) -> Option<Duration>,
        woken_by: u64,
    ) -> bool {
        thread_recorder::push_poll_start(window, id, |id| poll_start(id, ready_for), woken_by)
    }

    /// Fast path of [`poll_started`](Self::poll_started), for a task that was spawned before the window. Takes the id
    /// and the latency as closures again, so that the common case doesn't have to keep their values.
    #[inline]
    pub(crate) fn add_late_poll_start(
        &self,
        id: impl FnOnce() -> u64,
        ready_for: impl FnOnce(u64) -> Option<Duration>,
        woken_by: u64,
    ) -> bool {
        let window = self.kept.mode.window();
        let start = |id| poll_start(id, ready_for);
        thread_recorder::push_late_poll_start(window, id, start, woken_by)
    }

    /// Fast path of [`poll_ended`](Self::poll_ended). The worker is only unknown at the end of a
    /// poll if its start was not recorded, and that case is left to the slow path.
    #[inline]
    pub(crate) fn add_poll_end(window: WindowId, id: impl FnOnce() -> u64) -> bool {
        thread_recorder::push_if_worker_known(window, || {
            Record::event(tsc::ticks(), Kind::PollEnd, id())
        })
    }

    /// Fast path of [`poll_ended`](Self::poll_ended), for a poll that ends in waiting.
    #[inline]
    pub(crate) fn add_poll_end_at(
        window: WindowId,
        wait: WaitId,
        id: impl FnOnce() -> u64,
    ) -> bool {
        thread_recorder::push_if_known(window, || {
            Some(Record::event(tsc::ticks(), Kind::PollEndAt, pack_wait(id(), wait)?))
        })
    }

    /// Fast path of [`task_terminated`](Self::task_terminated).
    #[inline]
    pub(crate) fn add_end(window: WindowId, id: impl FnOnce() -> u64) -> bool {
        thread_recorder::push_end(window, || {
            let id = id();
            (Record::event(tsc::ticks(), Kind::Terminate, id), id)
        })
    }

    /// Fast path of [`record_worker_event`](Self::record_worker_event).
    #[inline]
    fn add_worker_event(window: WindowId, kind: Kind) -> bool {
        cfg!(tokio_unstable)
            && thread_recorder::push_if_worker_known(window, || {
                Record::event(tsc::ticks(), kind, 0)
            })
    }

    /// Returns the current time in ticks, or `None` if nothing is to be recorded.
    pub(crate) fn ticks(self: &Arc<Self>) -> Option<u64> {
        match self.kept.mode.get() {
            Mode::Off => None,
            Mode::Full => {
                self.refuse();
                None
            }
            Mode::On | Mode::FastPath => Some(self.kept.clock.ticks()),
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_spawned(
        self: &Arc<Self>,
        id: u64,
        location: Option<&'static Location<'static>>,
    ) {
        if self.kept.mode.get() == Mode::Off {
            self.kept.current.mark_ran_while_off();
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
        ready_for: &dyn Fn(u64) -> Option<Duration>,
        woken_by: u64,
        location: impl FnOnce() -> Option<&'static Location<'static>> + Copy,
    ) {
        self.record(|thread, ticks| {
            self.note_worker(thread, ticks);
            thread.polled = id;
            self.record_origin(thread, ticks, id, location);
            self.push_poll_start(thread, ticks, id, (ready_for(ticks), woken_by));
        });
    }

    /// `woken_by` is that of a note; 0 if there is none. Inlined, as the stack of a hook is bounded.
    #[inline(always)]
    fn push_poll_start(
        &self,
        thread: &mut ThreadRecorder,
        ticks: u64,
        id: u64,
        (ready_for, woken_by): (Option<Duration>, u64),
    ) {
        if woken_by != 0 {
            thread.push(self, ticks, Kind::WokenBy, woken_by);
        }
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
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn poll_ended(
        self: &Arc<Self>,
        id: u64,
        wait: Option<WaitId>,
        location: impl FnOnce() -> Option<&'static Location<'static>> + Copy,
    ) {
        self.record(|thread, ticks| {
            if thread.worker_is_stale {
                self.note_role(thread, ticks, worker::after_poll());
            }
            self.record_origin(thread, ticks, id, location);
            match wait.map(|wait| (wait, pack_wait(id, wait))) {
                None => thread.push(self, ticks, Kind::PollEnd, id),
                Some((_, Some(payload))) => thread.push(self, ticks, Kind::PollEndAt, payload),
                Some((wait, None)) => {
                    thread.push(self, ticks, Kind::Waits, u64::from(wait));
                    thread.push(self, ticks, Kind::PollEnd, id);
                }
            }
        });
    }

    /// Records the start of a poll of a root future by `worker`. `wake` made the future ready, if that is known.
    #[inline(never)]
    pub(crate) fn root_poll_started(
        self: &Arc<Self>,
        id: u64,
        worker: Option<usize>,
        wake: Option<Wake>,
    ) {
        self.record(|thread, ticks| {
            self.note_role(thread, ticks, worker);
            thread.polled = id;
            let ready_for = wake.map(|wake| wake.ready_for(ticks, &self.kept.clock));
            let woken_by = wake.map_or(0, |wake| wake.by(self.kept.id));
            self.push_poll_start(thread, ticks, id, (ready_for, woken_by));
        });
    }

    /// Records the end of a poll of a root future by `worker`.
    #[inline(never)]
    pub(crate) fn root_poll_ended(self: &Arc<Self>, id: u64, worker: Option<usize>) {
        self.record(|thread, ticks| {
            self.note_role(thread, ticks, worker);
            thread.push(self, ticks, Kind::PollEnd, id);
        });
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn task_terminated(
        self: &Arc<Self>,
        id: u64,
        location: impl FnOnce() -> Option<&'static Location<'static>> + Copy,
    ) {
        self.record(|thread, ticks| {
            let is_polled = thread.polled == id;
            if is_polled {
                capture::task_ends();
            }
            // A thread that is no worker ends a task that it doesn't poll: most likely one of the blocking pool. Only
            // the events of all threads tell for sure.
            if !is_polled && id & ROOT == 0 && (thread.worker.is_none() || thread.worker_is_stale) {
                self.note_queue(thread, ticks, Some(location()));
            }
            // It may be a worker's run loop, which ends after `block_in_place` moved the worker to another thread. Then
            // it isn't known whether this thread is a worker.
            thread.worker_is_stale |= !is_polled;
            thread.push(self, ticks, Kind::Terminate, id);
        });
    }

    pub(crate) fn thread_started(self: &Arc<Self>) {
        waking::thread_starts();
        let threads = self.runtime.started_threads.fetch_add(1, Ordering::Relaxed) + 1;
        self.runtime.is_hooked.store(true, Ordering::Relaxed);
        self.runtime_may_be_built(threads);
        if !self.kept.is_recording() {
            self.kept.current.mark_ran_while_off();
        }
        if self.kept.config.trace_target.tracks_workers() {
            self.record(|thread, ticks| thread.push(self, ticks, Kind::ThreadStart, 0));
        }
    }

    pub(crate) fn thread_stopped(self: &Arc<Self>) {
        self.runtime.started_threads.fetch_sub(1, Ordering::Relaxed);
        if self.kept.config.trace_target.tracks_workers() {
            self.record(|thread, ticks| {
                if thread.worker_is_from_earlier {
                    // The thread was no worker in this window.
                    self.note_role(thread, ticks, None);
                }
                thread.push(self, ticks, Kind::ThreadStop, 0);
            });
        }
        thread_recorder::give_back(self);
    }

    #[inline]
    pub(crate) fn parked(self: &Arc<Self>) {
        self.hook(|window| self.add_park(window), || self.record_worker_event(Kind::Park));
    }

    #[inline]
    pub(crate) fn unparked(self: &Arc<Self>) {
        self.hook(|window| self.add_unpark(window), || self.record_worker_event(Kind::Unpark));
    }

    #[inline(never)]
    fn add_park(self: &Arc<Self>, window: WindowId) {
        if !Self::add_worker_event(window, Kind::Park) {
            self.record_worker_event(Kind::Park);
        }
    }

    #[inline(never)]
    fn add_unpark(self: &Arc<Self>, window: WindowId) {
        if !Self::add_worker_event(window, Kind::Unpark) {
            self.record_worker_event(Kind::Unpark);
        }
    }

    #[inline(never)]
    fn record_worker_event(self: &Arc<Self>, kind: Kind) {
        self.record(|thread, ticks| {
            self.note_worker(thread, ticks);
            thread.push(self, ticks, kind, 0);
        });
    }

    /// Slow path: checks the mode, reads the clock and finds the thread recorder, then calls
    /// `write`.
    #[inline]
    fn record(self: &Arc<Self>, write: impl FnOnce(&mut ThreadRecorder, u64) + Copy) {
        if let Some(ticks) = self.ticks() {
            if let Err(why) = thread_recorder::with(self, |thread| write(thread, ticks)) {
                // Reads the time anew, as other threads may have written to the fallback since.
                self.record_without_thread(why, &|thread| write(thread, self.kept.clock.ticks()));
            }
        }
    }

    /// Counts a refused event, if there is a single recorder.
    #[inline(never)]
    fn refuse_global(self: &Arc<Self>) {
        if !thread_recorder::refuse_if(mode::is_only_and_full) {
            self.refuse();
        }
    }

    /// Counts a refused event.
    #[inline(never)]
    fn refuse(self: &Arc<Self>) {
        if thread_recorder::refuse_if(|window| window == self.kept.mode.window()) {
            return;
        }
        if let Err(why) = thread_recorder::with(self, |thread| thread.buffer.refuse()) {
            self.record_without_thread(why, &|thread| thread.buffer.refuse());
        }
    }

    #[cold]
    #[inline(never)]
    fn record_without_thread(&self, why: Unavailable, write: &dyn Fn(&mut ThreadRecorder)) {
        match why {
            Unavailable::Destroyed => {
                self.with_fallback(write);
            }
            Unavailable::Reentrant => {
                self.kept.lost_so_far.count_reentrant();
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

    /// Records which worker the thread is, if that may have changed. Only called where the thread
    /// holds the worker's core: before it polls a task, and before it parks.
    #[inline]
    fn note_worker(self: &Arc<Self>, thread: &mut ThreadRecorder, ticks: u64) {
        if thread.worker_is_stale {
            self.lookup_worker(thread, ticks);
        }
    }

    #[inline(never)]
    fn lookup_worker(self: &Arc<Self>, thread: &mut ThreadRecorder, ticks: u64) {
        self.runtime.is_hooked.store(true, Ordering::Relaxed);
        let worker = tokio::runtime::worker_index();
        if worker.is_some() {
            waking::is_worker();
        }
        self.note_role(thread, ticks, worker);
        if !self.runtime.is_known() {
            if let Ok(handle) = tokio::runtime::Handle::try_current() {
                self.set_runtime(&handle);
            }
        }
    }

    /// Records that the thread is the worker `worker`, or that it is none.
    fn note_role(&self, thread: &mut ThreadRecorder, ticks: u64, worker: Option<usize>) {
        let worker = worker.and_then(|index| u32::try_from(index).ok());
        // Only task hooks show that `block_in_place` moved the worker to another thread. A thread that is no worker may
        // become one.
        let is_tracked = cfg!(tokio_unstable) && self.kept.config.trace_target.tracks_tasks();
        thread.worker_is_stale = worker.is_none() || !is_tracked;
        thread.worker_is_from_earlier = false;
        if worker != thread.worker {
            thread.worker = worker;
            thread.buffer.watched.set_worker(worker);
            worker.inspect(|&worker| self.functions.has_worker(worker));
            let payload = worker.map_or(0, |index| u64::from(index) + 1);
            thread.push(self, ticks, Kind::Role, payload);
        }
    }

    /// Records the spawn location of a task whose spawn was not recorded.
    #[inline]
    fn record_origin(
        &self,
        thread: &mut ThreadRecorder,
        ticks: u64,
        id: u64,
        location: impl FnOnce() -> Option<&'static Location<'static>>,
    ) {
        // Claimed even if there is no location to record, so that this is tried only once.
        if id & ROOT == 0 && thread.claim_origin(id) {
            if let Some(location) = location() {
                self.note_location(thread, ticks, Some(location));
                thread.push(self, ticks, Kind::LateOrigin, id);
            }
        }
    }
}

/// Returns the record for the start of a task's poll; `None` if it doesn't fit into one record. `ready_for` is passed
/// the time in ticks, and returns how long the task has been ready.
#[inline]
fn poll_start(id: u64, ready_for: impl FnOnce(u64) -> Option<Duration>) -> Option<Record> {
    let ticks = tsc::ticks();
    let (kind, payload) = match ready_for(ticks) {
        None => (Kind::PollStart, id),
        Some(ready_for) => (Kind::PollStartReady, pack_ready(id, ready_for.as_nanos() as u64)?),
    };
    Some(Record::event(ticks, kind, payload))
}
