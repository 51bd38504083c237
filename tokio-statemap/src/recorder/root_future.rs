//! The wrapper that records the future passed to `block_on`.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::recorder::chains::waking;
use crate::recorder::hot::Shared;
use crate::recorder::hot::worker::RootWorker;
use crate::recorder::record::ROOT;
use crate::recorder::root_waker::RootWakes;
use crate::recorder::waits::probe::Probe;

pin_project_lite::pin_project! {
    /// A wrapper around the root future that records its polls, as Tokio's hooks do for tasks.
    #[derive(Debug)]
    pub struct Root<F> {
        #[pin]
        future: Probe<F>,
        seen: Option<RootRecorder>,
        built: Option<WhenBuilt>,
    }
}

/// A closure to call once the runtime is built.
struct WhenBuilt(Box<dyn FnOnce() + Send>);

impl fmt::Debug for WhenBuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WhenBuilt")
    }
}

impl<F> Root<F> {
    /// Wraps `future`, located at `location`. Without a recorder nothing is recorded.
    pub(crate) fn new(
        future: F,
        location: &'static Location<'static>,
        recorder: Option<&Arc<Shared>>,
    ) -> Self {
        let tracked = recorder.filter(|recorder| recorder.kept.config.trace_target.tracks_tasks());
        let seen = tracked.map(|recorder| {
            let seen = RootRecorder {
                number: recorder.runtime.roots.acquire(location),
                recorder: Arc::clone(recorder),
                worker: RootWorker::new(),
                wakes: recorder.kept.config.knows_wakes_of_roots().then(RootWakes::default),
            };
            let located = recorder.kept.config.include_spawn_location.then_some(location);
            recorder.task_spawned(seen.id(), located);
            seen
        });
        // If nothing is recorded, the probe does nothing.
        let id = seen.as_ref().map_or(ROOT, RootRecorder::id);
        Self { future: Probe::root(future, location, id), seen, built: None }
    }

    /// Sets a closure to call before the first poll, when the runtime is built and has started its threads.
    pub(crate) fn when_built(mut self, do_first: impl FnOnce() + Send + 'static) -> Self {
        self.built = Some(WhenBuilt(Box::new(do_first)));
        self
    }
}

impl<F: Future> Future for Root<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Some(WhenBuilt(do_first)) = this.built.take() {
            do_first();
        }
        let Some(seen) = this.seen else {
            return this.future.poll_alone(cx);
        };
        if !seen.worker.is_known() {
            // During a poll the thread is always inside the runtime.
            if let Ok(handle) = tokio::runtime::Handle::try_current() {
                seen.recorder.set_runtime(&handle);
                seen.worker.set_runtime(&handle);
            }
        }
        // A guard, so that the end is recorded on unwinding too.
        let worker = seen.worker.get();
        let wake = seen.wakes.as_ref().and_then(RootWakes::poll_starts);
        seen.recorder.root_poll_started(seen.id(), worker, wake);
        let recorder = seen.recorder.kept.id;
        let before = waking::root_poll_starts(seen.id(), recorder, worker.is_some());
        let ends = PollEndGuard { seen, before };
        let polled = match &mut ends.seen.wakes {
            Some(wakes) => this.future.poll(&mut wakes.context(cx)),
            None => this.future.poll(cx),
        };
        drop(ends);
        if polled.is_ready() {
            *this.seen = None;
        }
        polled
    }
}

/// Records one root future; dropping it records the termination.
#[derive(Debug)]
struct RootRecorder {
    recorder: Arc<Shared>,
    number: u32,
    worker: RootWorker,
    /// `None` if wakes aren't wanted.
    wakes: Option<RootWakes>,
}

impl RootRecorder {
    fn id(&self) -> u64 {
        ROOT | u64::from(self.number)
    }
}

impl Drop for RootRecorder {
    fn drop(&mut self) {
        waking::root_ends();
        self.recorder.task_terminated(self.id(), || None);
        self.recorder.runtime.roots.release(self.number);
    }
}

struct PollEndGuard<'a> {
    seen: &'a mut RootRecorder,
    before: waking::Before,
}

impl Drop for PollEndGuard<'_> {
    fn drop(&mut self) {
        let seen = &*self.seen;
        waking::root_poll_ends(self.before);
        if let Some(wakes) = &seen.wakes {
            wakes.poll_ends();
        }
        seen.recorder.root_poll_ended(seen.id(), seen.worker.get());
    }
}
