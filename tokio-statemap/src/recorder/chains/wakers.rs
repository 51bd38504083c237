//! The wakers of Tokio's tasks, whoever spawned these.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Waker;

use super::stack::StackEnd;
use super::table::UNKNOWN;
use super::{capture, locals, seen, waking};
use crate::recorder::process;
use crate::recorder::task_id::number;
use crate::recorder::wakes::{self, UsedUp};
use crate::sys::task_waker::{self, CalledTask, Observer, Sees, Unseen};
use crate::util::message::warn;
use crate::util::sync::lock;

/// The number of recorders that see the wakers of tasks.
static WATCHING: AtomicUsize = AtomicUsize::new(0);

/// Returns whether the clones of tasks' wakers are seen.
#[inline]
pub(crate) fn are_watched() -> bool {
    WATCHING.load(Ordering::Relaxed) != 0
}

/// The wakers of tasks, for one recorder.
#[derive(Debug, Default)]
pub(crate) struct Wakers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_watching: bool,
    /// `true` if clones were seen when it last began to watch.
    are_seen: bool,
    /// `true` if wakes are to tell when tasks become ready.
    take_ready_times: bool,
    /// `true` if wakes were to tell that and couldn't, when it last began to watch.
    miss_ready_times: bool,
}

impl Wakers {
    /// From now on, has the places captured at which wakers are cloned.
    pub(crate) fn watch(&self) {
        let mut state = lock(&self.0);
        if !state.is_watching {
            let watched = task_waker::install::<Captures>(state.take_ready_times);
            state.is_watching = watched.is_ok();
            state.are_seen = watched.is_ok();
            state.miss_ready_times = state.take_ready_times && watched != Ok(true);
            seen::begins(watched == Ok(true));
            match watched {
                Ok(_) => _ = WATCHING.fetch_add(1, Ordering::Relaxed),
                Err(why) => tell(why, state.miss_ready_times),
            }
        }
    }

    /// Ends the captures.
    pub(crate) fn leave(&self) {
        // Another thread of the parent may hold the lock for ever. The installed functions do no harm.
        if process::is_forked() {
            return;
        }
        if std::mem::take(&mut lock(&self.0).is_watching) {
            WATCHING.fetch_sub(1, Ordering::Relaxed);
            seen::ends();
            task_waker::uninstall::<Captures>();
        }
    }

    /// Has wakes tell when tasks become ready, if wakes can be seen now. Returns whether they can.
    pub(crate) fn take_ready_times(&self) -> bool {
        let watched = task_waker::install::<Captures>(true);
        if watched.is_ok() {
            task_waker::uninstall::<Captures>();
        }
        lock(&self.0).take_ready_times = watched == Ok(true);
        watched == Ok(true)
    }

    /// Returns whether wakes were to tell when tasks become ready, and can't.
    pub(crate) fn miss_ready_times(&self) -> bool {
        lock(&self.0).miss_ready_times
    }

    /// Returns whether clones are seen, or were when it last watched.
    pub(crate) fn are_seen(&self) -> bool {
        lock(&self.0).are_seen
    }
}

/// Warns once that the places aren't known, and why; and if so, that ready times aren't known, either.
fn tell(why: Unseen, miss_ready_times: bool) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let why = match why {
        // This is so for every run, and is documented.
        Unseen::Here => return,
        Unseen::Filtered => "a filter of system calls may end the process",
        Unseen::NoTable => "this version of Tokio has wakers of another form",
        Unseen::ReadOnly => "the table of its wakers can't be written to",
        Unseen::OwnClone => "a clone of a waker of our own was not seen",
    };
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        let ready =
            if miss_ready_times { ", and it isn't known since when tasks are ready" } else { "" };
        warn(format_args!(
            "it is known only of tasks that are spawned through tokio_statemap where they wait{ready}: {why}"
        ));
    }
}

impl Drop for Wakers {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Returns whether this is a poll of a task of a `LocalSet`, and notes where it waits.
fn is_local(task: CalledTask<'_>) -> bool {
    locals::cloned(task, are_watched() && locals::are_seen())
}

/// Captures where tasks begin to wait.
struct Captures;

impl Observer for Captures {
    #[inline]
    fn cloned(task: CalledTask<'_>) {
        capture::task_waker_cloned(task, is_local);
    }

    #[inline]
    fn wants_each() -> bool {
        locals::are_used()
    }

    fn drops(task: CalledTask<'_>) {
        locals::waker_dropped(task);
    }

    fn wakes(task: CalledTask<'_>, by_value: bool) {
        locals::woken(task, by_value);
    }

    #[inline]
    fn last_dropped(task: u64) {
        if locals::are_seen() {
            capture::last_waker_dropped(task);
        }
    }

    #[inline]
    fn woken(task: u64, by_value: bool, by_last: bool) {
        capture::task_woken(task);
        let used_up = match (by_value, by_last) {
            (false, _) => UsedUp::NOTHING,
            (true, false) => UsedUp::ONE,
            (true, true) => UsedUp::LAST,
        };
        wakes::woken(task, used_up, waking::who_wakes);
    }

    #[inline]
    fn woken_by_ref(task: u64) {
        capture::task_woken_by_ref(task);
    }

    #[inline(never)]
    fn sees(waker: &Waker) -> Sees {
        let Some(id) = tokio::task::try_id() else { return Sees::default() };
        // In a poll that began before recording nothing is captured, so the end of the captures below would forget what
        // is polled.
        let polled = waking::polled();
        capture::task_poll_starts(number(id), StackEnd::here());
        let clone = std::hint::black_box(waker).clone();
        let clones = capture::task_poll_ends().is_some_and(|wait| wait != UNKNOWN);
        clone.wake();
        let by_value = wakes::poll_starts(number(id)).is_some();
        std::hint::black_box(waker).wake_by_ref();
        let by_ref = wakes::poll_starts(number(id)).is_some();
        waking::poll_ends(polled);
        Sees { clones, wakes: by_value && by_ref }
    }

    #[inline(always)]
    fn sees_known(waker: &Waker) -> bool {
        let Some(id) = tokio::task::try_id() else { return true };
        let polled = waking::polled();
        capture::task_poll_starts(number(id), StackEnd::here());
        let clone = waker.clone();
        let is_seen = capture::task_poll_ends().is_some();
        waking::poll_ends(polled);
        drop(clone);
        is_seen
    }

    fn misses_known() {
        wakes::one_is_not_seen();
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;
    use crate::recorder::record::WokenBy;

    #[test]
    fn clones_are_seen_and_are_tokios() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        for _ in 0..3 {
            let (one, other) = (Wakers::default(), Wakers::default());
            assert!(!one.are_seen());
            for wakers in [&one, &other, &one] {
                wakers.watch();
                assert!(wakers.are_seen());
            }
            one.leave();
            let task = async {
                let mut polls = 0;
                poll_fn(|cx| {
                    polls += 1;
                    capture::task_poll_starts(number(tokio::task::id()), StackEnd::here());
                    let clone = cx.waker().clone();
                    assert!(clone.will_wake(cx.waker()), "it is Tokio's own");
                    let wait = capture::task_poll_ends();
                    assert!(wait.is_some_and(|wait| wait != UNKNOWN), "one of two is left");
                    clone.wake();
                    if polls < 3 { Poll::Pending } else { Poll::Ready(polls) }
                })
                .await
            };
            assert_eq!(runtime.block_on(runtime.spawn(task)).expect("it ends"), 3);
        }
    }

    #[test]
    fn wakes_are_seen_with_the_tasks_id() {
        let wakers = Wakers::default();
        assert!(wakers.take_ready_times());
        wakers.watch();
        assert!(!wakers.miss_ready_times());
        let waits = || async {
            let mut wakers = Vec::new();
            poll_fn(|cx| {
                let id = number(tokio::task::id());
                assert_eq!(wakes::poll_starts(id), None, "it wasn't woken since");
                wakers.push(cx.waker().clone());
                // The waker from the poll before, if there was one.
                let waker = &wakers[wakers.len().saturating_sub(2)];
                let by = match wakers.len() {
                    1 => {
                        waker.wake_by_ref();
                        // Hooks would tell which task this is a poll of.
                        None
                    }
                    3 => {
                        capture::task_poll_starts(8, StackEnd::here());
                        waker.wake_by_ref();
                        capture::task_poll_ends();
                        Some(WokenBy::Task(8))
                    }
                    // From another thread, which has no runtime.
                    2 | 4 => {
                        std::thread::scope(|scope| {
                            let waker = waker.clone();
                            scope.spawn(|| waker.wake());
                        });
                        Some(WokenBy::Thread)
                    }
                    _ => return Poll::Ready(id),
                };
                let wake = wakes::poll_starts(id).expect("it was woken");
                assert_eq!(WokenBy::unpack(wake.by(1)), by);
                Poll::Pending
            })
            .await
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
        let runtime = runtime.expect("a runtime");
        let local = tokio::task::LocalSet::new();
        let task = runtime.spawn(waits());
        let id = number(task.id());
        assert_eq!(runtime.block_on(task).expect("it ends"), id);
        // This task has another type, and the one after it another scheduler.
        let task = runtime.spawn(async move { ([7_u8; 3000], waits().await).1 });
        let id = number(task.id());
        assert_eq!(runtime.block_on(task).expect("it ends"), id);
        let task = local.spawn_local(waits());
        let id = number(task.id());
        assert_eq!(local.block_on(&runtime, task).expect("it ends"), id);
    }

    #[test]
    fn the_last_waker_is_told() {
        let wakers = Wakers::default();
        assert!(wakers.take_ready_times());
        wakers.watch();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        // Returns whether the wake used up the last waker of a task that has this many.
        let by_last = |number_of_wakers, wake: fn(&mut Vec<Waker>), keep_handle: bool| {
            let (send, received) = std::sync::mpsc::channel();
            let (tell, told) = std::sync::mpsc::channel();
            let mut is_first = true;
            let task = runtime.spawn(poll_fn(move |cx| {
                if std::mem::take(&mut is_first) {
                    let wakers = (0..number_of_wakers).map(|_| cx.waker().clone()).collect();
                    send.send(wakers).expect("it is received");
                    return Poll::Pending;
                }
                let wake = wakes::poll_starts(number(tokio::task::id())).expect("it was woken");
                tell.send(wake.used_up == UsedUp::LAST).expect("it is received");
                Poll::Ready(())
            }));
            let abort = keep_handle.then(|| task.abort_handle());
            runtime.block_on(tokio::task::yield_now());
            let mut wakers = received.recv().expect("it was polled");
            wake(&mut wakers);
            runtime.block_on(task).expect("it ends");
            drop((abort, wakers));
            told.recv().expect("it was polled again")
        };
        let by_value = |wakers: &mut Vec<Waker>| wakers.pop().expect("a waker").wake();
        assert!(by_last(1, by_value, false));
        assert!(!by_last(2, by_value, false), "another is left");
        assert!(!by_last(1, |wakers| wakers[0].wake_by_ref(), false), "it is left");
        assert!(!by_last(1, by_value, true), "what a handle does isn't seen");
        let drops_one = |wakers: &mut Vec<Waker>| {
            wakers.truncate(1);
            wakers.pop().expect("a waker").wake();
        };
        assert!(by_last(2, drops_one, false));
    }
}
