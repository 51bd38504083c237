//! The adapter from Tokio's hooks to the recorder.

#[cfg(all(test, tokio_unstable, target_os = "linux"))]
mod stack_tests;

#[cfg(tokio_unstable)]
use std::panic::Location;
use std::sync::Arc;
#[cfg(tokio_unstable)]
use std::time::Duration;

#[cfg(tokio_unstable)]
use tokio::runtime::TaskMeta;

#[cfg(tokio_unstable)]
use crate::recorder::chains::table::{NOTHING, WaitId};
#[cfg(tokio_unstable)]
use crate::recorder::chains::{StackEnd, capture, seen, wakers, waking};
use crate::recorder::hot::Shared;
#[cfg(tokio_unstable)]
use crate::recorder::task_id::number;
#[cfg(tokio_unstable)]
use crate::recorder::wakes::{self, UsedUp, Wake};
#[cfg(tokio_unstable)]
use crate::recorder::window::mode::WindowId;
use crate::sys::trace_points;

/// The recorder's side of each runtime hook.
#[derive(Clone)]
pub(crate) struct TokioHooks {
    recorder: Arc<Shared>,
    /// `true` if the wakes of tasks tell when they became ready, instead of Tokio.
    takes_ready_times: bool,
}

/// A method for each hook. They are inherent methods on purpose: what an inline method of a trait calls may be called
/// by other crates too, so rustc looks such functions and statics up in a table (the GOT). The next poll of a task that
/// does any work evicts that cache line and the prediction of the indirect jump. A function that only this crate can
/// call is called directly.
impl TokioHooks {
    pub(crate) fn new(recorder: &Arc<Shared>) -> Self {
        let config = &recorder.kept.config;
        // A trace point tells ready times even while nothing is recorded.
        let are_wanted = config.wakes && config.knows_ready() && !cfg!(feature = "sdt");
        Self {
            takes_ready_times: are_wanted && recorder.wakers.take_ready_times(),
            recorder: Arc::clone(recorder),
        }
    }

    /// Returns `true` if Tokio is to tell when tasks became ready.
    #[cfg(all(tokio_unstable, feature = "schedule-latency"))]
    pub(crate) fn needs_schedule_latency(&self) -> bool {
        self.recorder.kept.config.knows_ready() && !self.takes_ready_times
    }

    /// Returns `true` if the wakers of tasks are to be seen.
    pub(crate) fn sees_wakers(&self) -> bool {
        cfg!(has_wakes) && self.recorder.kept.config.wakes
    }

    /// Returns whether task hooks, and whether park hooks, are needed.
    pub(crate) fn wants(&self) -> (bool, bool) {
        let target = self.recorder.kept.config.trace_target;
        (target.tracks_tasks(), target.tracks_workers())
    }

    pub(crate) fn thread_start(&self) {
        self.recorder.thread_started();
    }

    pub(crate) fn thread_stop(&self) {
        self.recorder.thread_stopped();
    }

    #[inline]
    pub(crate) fn thread_park(&self) {
        trace_points::worker_park();
        self.recorder.parked();
    }

    #[inline]
    pub(crate) fn thread_unpark(&self) {
        trace_points::worker_unpark();
        self.recorder.unparked();
    }

    #[cfg(tokio_unstable)]
    #[inline]
    pub(crate) fn task_spawn(&self, meta: &TaskMeta<'_>) {
        if cfg!(feature = "sdt") {
            trace_points::task_spawn(number(meta.id()), meta.spawned_at());
        }
        if self.takes_ready_times && wakers::are_watched() {
            // A task has no wakers before its first poll.
            let used_up = if seen::are_wakes_seen() { UsedUp::LAST } else { UsedUp::NOTHING };
            wakes::woken(number(meta.id()), used_up, waking::who_wakes);
        }
        self.recorder.spawn_hook(|window| self.add_spawn(meta, window), || self.task_spawned(meta));
    }

    #[cfg(tokio_unstable)]
    #[inline]
    pub(crate) fn before_task_poll(&self, meta: &TaskMeta<'_>) {
        self.before_poll(meta, AsTokioSays);
    }

    #[cfg(tokio_unstable)]
    #[inline]
    fn before_poll(&self, meta: &TaskMeta<'_>, ready: impl Ready) {
        if cfg!(feature = "sdt") {
            let id = number(meta.id());
            if let Some(ready_for) = ready_for(meta) {
                trace_points::task_ready(id, ready_for.as_nanos() as u64);
            }
            trace_points::poll_start(id, meta.spawned_at());
        }
        self.recorder.hook(
            |window| self.add_poll_start(meta, window, ready),
            || self.poll_started(meta, ready),
        );
    }

    /// Does the same as [`before_task_poll`](Self::before_task_poll), where the wakers of tasks are seen.
    #[cfg(tokio_unstable)]
    #[inline(always)]
    pub(crate) fn before_seen_task_poll(&self, meta: &TaskMeta<'_>) {
        // The function that calls this one polls the task. The poll's functions may take less of the stack than the hook's
        // do, so the end is taken before there are any of these.
        self.before_poll_up_to(StackEnd::here(), meta);
    }

    #[cfg(tokio_unstable)]
    #[inline(never)]
    fn before_poll_up_to(&self, end: StackEnd, meta: &TaskMeta<'_>) {
        if wakers::are_watched() {
            capture::task_poll_starts(number(meta.id()), end);
        }
        // Called once, as this forgets the wake. The wake is kept for all that follows, as the fast path may have no
        // effect.
        let wake = self.takes_ready_times.then(|| wakes::poll_starts(number(meta.id()))).flatten();
        let used_up = match wake {
            Some(wake) if wake.used_up == UsedUp::LAST && !wakes::are_all_seen() => UsedUp::ONE,
            Some(wake) => wake.used_up,
            None => UsedUp::NOTHING,
        };
        capture::task_was_woken(used_up);
        match wake {
            None => self.before_task_poll(meta),
            Some(wake) => self.before_poll(meta, wake),
        }
    }

    #[cfg(tokio_unstable)]
    #[inline]
    pub(crate) fn after_task_poll(&self, meta: &TaskMeta<'_>) {
        if cfg!(feature = "sdt") {
            trace_points::poll_end(number(meta.id()));
        }
        self.recorder
            .hook(|window| self.add_poll_end(meta, window), || self.poll_ended(meta, None));
    }

    /// Does the same as [`after_task_poll`](Self::after_task_poll), where the wakers of tasks are seen.
    #[cfg(tokio_unstable)]
    #[inline]
    pub(crate) fn after_seen_task_poll(&self, meta: &TaskMeta<'_>) {
        if self.takes_ready_times {
            wakes::poll_ends(number(meta.id()));
        }
        match capture::task_poll_ends() {
            None => self.after_task_poll(meta),
            Some(wait) => {
                if wait == NOTHING {
                    wakes::nothing_wakes(number(meta.id()));
                }
                self.ended_in_wait(meta, wait);
            }
        }
    }

    #[cfg(tokio_unstable)]
    #[inline(never)]
    fn ended_in_wait(&self, meta: &TaskMeta<'_>, wait: WaitId) {
        if cfg!(feature = "sdt") {
            trace_points::poll_end(number(meta.id()));
        }
        self.recorder
            .hook(|window| self.add_wait(meta, window, wait), || self.poll_ended(meta, Some(wait)));
    }

    #[cfg(tokio_unstable)]
    #[inline]
    pub(crate) fn task_terminate(&self, meta: &TaskMeta<'_>) {
        if cfg!(feature = "sdt") {
            trace_points::task_terminate(number(meta.id()));
        }
        if self.takes_ready_times {
            wakes::task_ends(number(meta.id()));
        }
        self.recorder.hook(|window| self.add_end(meta, window), || self.task_terminated(meta));
    }
}

/// The fast and the slow path of the task hooks, each in a function of its own (see
/// [`Shared::hook`]).
#[cfg(tokio_unstable)]
impl TokioHooks {
    #[inline(never)]
    fn add_spawn(&self, meta: &TaskMeta<'_>, window: WindowId) {
        let is_added = self.recorder.kept.config.include_spawn_location
            && Shared::add_spawn(window, || number(meta.id()), || meta.spawned_at());
        if !is_added {
            self.task_spawned(meta);
        }
    }

    #[cold]
    #[inline(never)]
    fn task_spawned(&self, meta: &TaskMeta<'_>) {
        self.recorder.task_spawned(number(meta.id()), self.location(meta));
    }

    #[inline(never)]
    fn add_poll_start(&self, meta: &TaskMeta<'_>, window: WindowId, ready: impl Ready) {
        let ready_for = |ticks| ready.until(ticks, &self.recorder, meta);
        if !Shared::add_poll_start(
            window,
            || number(meta.id()),
            ready_for,
            ready.woken_by(&self.recorder),
        ) {
            self.add_late_poll_start(meta, ready);
        }
    }

    #[inline(never)]
    fn add_late_poll_start(&self, meta: &TaskMeta<'_>, ready: impl Ready) {
        let ready_for = |ticks| ready.until(ticks, &self.recorder, meta);
        if !self.recorder.add_late_poll_start(
            || number(meta.id()),
            ready_for,
            ready.woken_by(&self.recorder),
        ) {
            self.poll_started(meta, ready);
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_started(&self, meta: &TaskMeta<'_>, ready: impl Ready) {
        let ready_for = |ticks| ready.until(ticks, &self.recorder, meta);
        let location = || self.location(meta);
        self.recorder.poll_started(
            number(meta.id()),
            &ready_for,
            ready.woken_by(&self.recorder),
            location,
        );
    }

    #[inline(never)]
    fn add_poll_end(&self, meta: &TaskMeta<'_>, window: WindowId) {
        if !Shared::add_poll_end(window, || number(meta.id())) {
            self.poll_ended(meta, None);
        }
    }

    #[inline(never)]
    fn add_wait(&self, meta: &TaskMeta<'_>, window: WindowId, wait: WaitId) {
        if !Shared::add_poll_end_at(window, wait, || number(meta.id())) {
            self.poll_ended(meta, Some(wait));
        }
    }

    #[cold]
    #[inline(never)]
    fn poll_ended(&self, meta: &TaskMeta<'_>, wait: Option<WaitId>) {
        self.recorder.poll_ended(number(meta.id()), wait, || self.location(meta));
    }

    #[inline(never)]
    fn add_end(&self, meta: &TaskMeta<'_>, window: WindowId) {
        match Shared::add_end(window, || number(meta.id())) {
            true => capture::task_ends(),
            false => self.task_terminated(meta),
        }
    }

    #[cold]
    #[inline(never)]
    fn task_terminated(&self, meta: &TaskMeta<'_>) {
        self.recorder.task_terminated(number(meta.id()), || self.location(meta));
    }

    fn location(&self, meta: &TaskMeta<'_>) -> Option<&'static Location<'static>> {
        self.recorder.kept.config.include_spawn_location.then(|| meta.spawned_at())
    }
}

/// Tells for how long a task has been ready: by Tokio, or by the task's wakes. Each of the two is a type, so that a
/// poll doesn't have to choose.
#[cfg(tokio_unstable)]
trait Ready: Copy {
    /// Returns for how long the task has been ready at `ticks`, if that is known.
    fn until(self, ticks: u64, recorder: &Shared, meta: &TaskMeta<'_>) -> Option<Duration>;

    /// Returns who woke it, as in a note; 0 if that isn't known.
    fn woken_by(self, recorder: &Shared) -> u64;
}

/// Tokio tells it, if it measures that.
#[cfg(tokio_unstable)]
#[derive(Clone, Copy)]
struct AsTokioSays;

#[cfg(tokio_unstable)]
impl Ready for AsTokioSays {
    #[inline]
    fn until(self, _: u64, _: &Shared, meta: &TaskMeta<'_>) -> Option<Duration> {
        ready_for(meta)
    }

    #[inline]
    fn woken_by(self, _: &Shared) -> u64 {
        0
    }
}

#[cfg(tokio_unstable)]
impl Ready for Wake {
    #[inline]
    fn until(self, ticks: u64, recorder: &Shared, _: &TaskMeta<'_>) -> Option<Duration> {
        Some(self.ready_for(ticks, &recorder.kept.clock))
    }

    #[inline]
    fn woken_by(self, recorder: &Shared) -> u64 {
        self.by(recorder.kept.id)
    }
}

#[cfg(all(tokio_unstable, feature = "schedule-latency"))]
#[inline]
fn ready_for(meta: &TaskMeta<'_>) -> Option<Duration> {
    meta.schedule_latency()
}

#[cfg(all(tokio_unstable, not(feature = "schedule-latency")))]
fn ready_for(_: &TaskMeta<'_>) -> Option<Duration> {
    None
}
