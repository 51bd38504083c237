//! A log of all wakes, which a program keeps by a waker of its own around each task.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use tokio_statemap::WokenBy;
use tokio_statemap::timeline::TaskKey;

thread_local! {
    /// What this thread does, if it is something that wakes others.
    static DOES: Cell<Option<WokenBy>> = const { Cell::new(None) };
    /// The task that ended last on this thread, if nothing was polled since. Tokio then wakes who waits for its end.
    static ENDED: Cell<Option<WokenBy>> = const { Cell::new(None) };
}

/// Calls `f` while this thread is known as `by`.
pub(super) fn acting_as<R>(by: WokenBy, f: impl FnOnce() -> R) -> R {
    let before = DOES.replace(Some(by));
    let result = f();
    DOES.set(before);
    result
}

/// What happened to a task, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    PollStarts,
    PollEnds,
    /// It is about to be woken, by one or the other.
    Woken(WokenBy, Option<WokenBy>),
    /// A wake is over.
    WakeEnds,
}

/// What happened to each task, by its key.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<HashMap<TaskKey, Vec<Happened>>>);

impl Log {
    fn add(&self, task: TaskKey, happened: Happened) {
        self.0.lock().unwrap().entry(task).or_default().push(happened);
    }

    /// Returns who may be said to have woken a task for each of its polls but the first: the first that woke it in the poll
    /// before, and the first after that. If it is neither, it was woken as that poll began, before the log says so. If a wake
    /// wasn't over as a poll started, it may be any that was about to.
    pub(super) fn wakers(&self, task: TaskKey) -> Vec<Vec<WokenBy>> {
        let log = self.0.lock().unwrap();
        let mut wakers = Vec::new();
        let (mut within, mut after, mut last, mut as_it_began) = (None, None, None, None);
        // The wakes since the last poll but one started, and how many of them aren't over.
        let (mut recent, mut pending, mut was_pending) = (Vec::new(), 0, false);
        let mut is_polled = false;
        for (nth, happened) in log.get(&task).into_iter().flatten().enumerate() {
            match *happened {
                Happened::PollStarts => {
                    if nth > 0 {
                        let late = as_it_began.filter(|_| within.is_none() && after.is_none());
                        let is_unsure = pending > 0 || was_pending;
                        let unsure = recent.iter().copied().filter(|_| is_unsure);
                        let first = [within.take(), after.take(), late].into_iter().flatten();
                        let all = first.chain(unsure);
                        wakers.push(all.flat_map(|(by, or)| [Some(by), or]).flatten().collect());
                    }
                    was_pending = pending > 0;
                    if !was_pending {
                        recent.clear();
                    }
                    as_it_began = last.take();
                    is_polled = true;
                }
                Happened::PollEnds => is_polled = false,
                Happened::WakeEnds => pending -= 1,
                Happened::Woken(by, or) => {
                    pending += 1;
                    recent.push((by, or));
                    if is_polled {
                        within.get_or_insert((by, or));
                    } else {
                        after.get_or_insert((by, or));
                        last = Some((by, or));
                    }
                }
            }
        }
        wakers
    }
}

/// The future of a task, whose wakes are logged.
pub(super) struct Logged<F> {
    future: Pin<Box<F>>,
    log: Arc<Log>,
    is_root: bool,
}

impl<F> Logged<F> {
    pub(super) fn task(future: F, log: &Arc<Log>) -> Self {
        Self { future: Box::pin(future), log: Arc::clone(log), is_root: false }
    }

    pub(super) fn root(future: F, log: &Arc<Log>) -> Self {
        Self { future: Box::pin(future), log: Arc::clone(log), is_root: true }
    }
}

impl<F: Future> Future for Logged<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let task = match this.is_root {
            true => TaskKey::Root(0),
            false => TaskKey::Spawned(tokio::task::id().to_string().parse().unwrap()),
        };
        this.log.add(task, Happened::PollStarts);
        let (waker, log) = (cx.waker().clone(), Arc::clone(&this.log));
        let waker = Waker::from(Arc::new(Logging { task, waker, log }));
        let polled = acting_as(WokenBy::Task(task), || {
            this.future.as_mut().poll(&mut Context::from_waker(&waker))
        });
        this.log.add(task, Happened::PollEnds);
        ENDED.set(polled.is_ready().then_some(WokenBy::Task(task)));
        polled
    }
}

/// A waker that logs its wakes.
struct Logging {
    task: TaskKey,
    waker: Waker,
    log: Arc<Log>,
}

impl Wake for Logging {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // What says nothing of itself is a worker between two polls.
        let woken = match DOES.get() {
            Some(by) => Happened::Woken(by, None),
            None => Happened::Woken(WokenBy::Runtime, ENDED.get()),
        };
        self.log.add(self.task, woken);
        self.waker.wake_by_ref();
        self.log.add(self.task, Happened::WakeEnds);
    }
}
