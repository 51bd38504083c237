//! A log of all wakes, which a program keeps by a waker of its own around each task.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use tests::runtime::key;
use tokio::task::JoinHandle;
use tokio_statemap::WokenBy;
use tokio_statemap::timeline::TaskKey;

thread_local! {
    /// What this thread does, if it is something that wakes others.
    static DOES: Cell<Option<WokenBy>> = const { Cell::new(None) };
    /// The tasks that ended last on this thread, the last one first, if nothing was polled since. Tokio then wakes who waits for
    /// the end of one of them: as a task ends, others may be dropped with its future.
    static ENDED: Cell<[Option<WokenBy>; 2]> = const { Cell::new([None; 2]) };
}

/// Calls `f` while this thread is known as `by`.
pub(super) fn acting_as<R>(by: WokenBy, f: impl FnOnce() -> R) -> R {
    let before = DOES.replace(Some(by));
    let result = f();
    DOES.set(before);
    result
}

/// Who wakes a task. If that isn't known for sure, it may be one of the others.
type By = (WokenBy, [Option<WokenBy>; 2]);

/// The polls and the wakes of a task, in one order of time.
#[derive(Debug, Default)]
struct Happened {
    /// The number of things that happened: the time of the next one.
    count: usize,
    /// When its polls started.
    polls: Vec<usize>,
    wakes: Vec<Woken>,
    is_aborted: bool,
}

/// A wake of a task, which took effect at some time from its start to its end, if it did.
#[derive(Debug)]
struct Woken {
    by: By,
    starts: usize,
    /// `None` if it isn't over.
    ends: Option<usize>,
}

/// What happened to each task, by its key.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<HashMap<TaskKey, Happened>>);

impl Log {
    fn add<R>(&self, task: TaskKey, f: impl FnOnce(&mut Happened, usize) -> R) -> R {
        let mut log = self.0.lock().unwrap();
        let happened = log.entry(task).or_default();
        happened.count += 1;
        let now = happened.count;
        f(happened, now)
    }

    /// Logs a wake of the task while `f` is called.
    fn wake(&self, task: TaskKey, by: By, f: impl FnOnce()) {
        let nth = self.add(task, |happened, now| {
            happened.wakes.push(Woken { by, starts: now, ends: None });
            happened.wakes.len() - 1
        });
        f();
        self.add(task, |happened, now| happened.wakes[nth].ends = Some(now));
    }

    /// Aborts a task, for which Tokio polls it once more.
    pub(super) fn abort(&self, task: &JoinHandle<()>) {
        let task_key = key(task.id());
        self.add(task_key, |happened, _| happened.is_aborted = true);
        self.wake(task_key, (DOES.get().expect("a poll"), [None; 2]), || task.abort());
    }

    pub(super) fn is_aborted(&self, task: TaskKey) -> bool {
        self.0.lock().unwrap().get(&task).is_some_and(|happened| happened.is_aborted)
    }

    /// Returns who may have woken a task for each of its polls but the first, and who woke it last before the log says that the poll
    /// before began: it may have begun already. There were that many polls: one more than the log knows if the task was aborted while
    /// it waited.
    pub(super) fn wakers(&self, task: TaskKey, polls: usize) -> Vec<[Vec<WokenBy>; 2]> {
        let log = self.0.lock().unwrap();
        let Some(happened) = log.get(&task) else { return Vec::new() };
        let mut times = happened.polls.clone();
        if happened.is_aborted && polls == times.len() + 1 {
            times.push(usize::MAX);
        }
        let of_poll = |poll: &[usize]| {
            [happened.wakers_between(poll[0], poll[1]), happened.last_before(poll[0])]
        };
        times.windows(2).map(of_poll).collect()
    }
}

impl Happened {
    /// Returns who may have woken the task for the poll that starts at `until`, where the one before started at `since`: the
    /// first since then. Any is the first before which no other one both started and ended.
    fn wakers_between(&self, since: usize, until: usize) -> Vec<WokenBy> {
        let started = self.wakes.iter().filter(|wake| wake.starts < until);
        let is_after = |wake: &&Woken| wake.ends.is_none_or(|end| end > since);
        let first_end = started
            .clone()
            .filter(|wake| wake.starts > since)
            .filter_map(|wake| wake.ends)
            .min()
            .unwrap_or(until);
        let mut by: Vec<By> = started
            .clone()
            .filter(is_after)
            .filter(|wake| wake.starts < first_end)
            .map(|wake| wake.by)
            .collect();
        if by.is_empty() {
            // It came as the poll before had begun, before the log says so.
            by.extend(started.map(|wake| wake.by).next_back());
        }
        all_of(by.into_iter())
    }

    /// Returns who may have made the last wake that started before that time.
    fn last_before(&self, at: usize) -> Vec<WokenBy> {
        let before = self.wakes.iter().filter(|wake| wake.starts < at);
        all_of(before.map(|wake| wake.by).next_back().into_iter())
    }
}

fn all_of(by: impl Iterator<Item = By>) -> Vec<WokenBy> {
    by.flat_map(|(by, [or, else_by])| [Some(by), or, else_by]).flatten().collect()
}

impl<F> Drop for Logged<F> {
    fn drop(&mut self) {
        // A task that is aborted ends as its future is dropped.
        if let (false, Some(id)) = (self.is_root, tokio::task::try_id()) {
            let [before, _] = ENDED.get();
            ENDED.set([Some(WokenBy::Task(key(id))), before]);
        }
    }
}

/// The future of a task, whose wakes are logged.
pub(crate) struct Logged<F> {
    future: Pin<Box<F>>,
    log: Arc<Log>,
    is_root: bool,
}

impl<F> Logged<F> {
    pub(super) fn task(future: F, log: &Arc<Log>) -> Self {
        Self { future: Box::pin(future), log: Arc::clone(log), is_root: false }
    }

    pub(crate) fn root(future: F, log: &Arc<Log>) -> Self {
        Self { future: Box::pin(future), log: Arc::clone(log), is_root: true }
    }
}

impl<F: Future> Future for Logged<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let task = match this.is_root {
            true => TaskKey::Root(0),
            false => key(tokio::task::id()),
        };
        this.log.add(task, |happened, now| happened.polls.push(now));
        let (waker, log) = (cx.waker().clone(), Arc::clone(&this.log));
        let waker = Waker::from(Arc::new(Logging { task, waker, log }));
        let polled = acting_as(WokenBy::Task(task), || {
            this.future.as_mut().poll(&mut Context::from_waker(&waker))
        });
        ENDED.set([polled.is_ready().then_some(WokenBy::Task(task)), None]);
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
        let by = match DOES.get() {
            Some(by) => (by, [None; 2]),
            None => (WokenBy::Runtime, ENDED.get()),
        };
        self.log.wake(self.task, by, || self.waker.wake_by_ref());
    }
}
