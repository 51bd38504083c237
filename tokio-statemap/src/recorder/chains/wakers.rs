//! The wakers of Tokio's tasks, whoever spawned these.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Waker;

use super::capture;
use super::table::UNKNOWN;
use crate::recorder::process;
use crate::sys::task_waker::{self, Observer, Unseen};
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
    /// As of the last time that it began to watch.
    are_seen: bool,
}

impl Wakers {
    /// Has the places captured from now on at which wakers are cloned.
    pub(crate) fn watch(&self) {
        let mut state = lock(&self.0);
        if !state.is_watching {
            let watched = task_waker::install::<Captures>();
            state.is_watching = watched.is_ok();
            state.are_seen = watched.is_ok();
            match watched {
                Ok(()) => _ = WATCHING.fetch_add(1, Ordering::Relaxed),
                Err(why) => tell(why),
            }
        }
    }

    /// Ends that.
    pub(crate) fn leave(&self) {
        // Another thread of the parent may hold the lock for ever. What is installed does no harm.
        if process::is_forked() {
            return;
        }
        if std::mem::take(&mut lock(&self.0).is_watching) {
            WATCHING.fetch_sub(1, Ordering::Relaxed);
            task_waker::uninstall::<Captures>();
        }
    }

    /// Returns whether the clones are seen, or were when it watched last.
    pub(crate) fn are_seen(&self) -> bool {
        lock(&self.0).are_seen
    }
}

/// Says why the places aren't known, once.
fn tell(why: Unseen) {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    let why = match why {
        // That is so for every run, and in the documentation.
        Unseen::Here => return,
        Unseen::Filtered => "a filter of system calls may end the process",
        Unseen::NoTable => "this version of Tokio has wakers of another form",
        Unseen::ReadOnly => "the table of its wakers can't be written to",
        Unseen::OwnClone => "a clone of a waker of our own was not seen",
    };
    if !IS_TOLD.swap(true, Ordering::Relaxed) {
        warn(format_args!(
            "it is known only of tasks that are spawned through tokio_statemap where they wait: {why}"
        ));
    }
}

impl Drop for Wakers {
    fn drop(&mut self) {
        self.leave();
    }
}

/// Captures where tasks begin to wait.
struct Captures;

impl Observer for Captures {
    #[inline]
    fn cloned(task: *const ()) {
        capture::task_waker_cloned(task.addr());
    }

    #[inline(never)]
    fn sees(waker: &Waker) -> bool {
        capture::task_poll_starts();
        drop(std::hint::black_box(waker).clone());
        tokio::task::try_id()
            .is_some_and(|id| capture::task_poll_ends(id).is_some_and(|wait| wait != UNKNOWN))
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::future::poll_fn;
    use std::task::Poll;

    use super::*;

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
                    capture::task_poll_starts();
                    let clone = cx.waker().clone();
                    assert!(clone.will_wake(cx.waker()), "it is Tokio's own");
                    let wait = capture::task_poll_ends(tokio::task::id());
                    assert!(wait.is_some_and(|wait| wait != UNKNOWN), "one of two is left");
                    clone.wake();
                    if polls < 3 { Poll::Pending } else { Poll::Ready(polls) }
                })
                .await
            };
            assert_eq!(runtime.block_on(runtime.spawn(task)).expect("it ends"), 3);
        }
    }
}
