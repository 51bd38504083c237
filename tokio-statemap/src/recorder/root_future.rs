//! The future that `block_on` drives, seen.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::recorder::Recorder;
use crate::recorder::record::ROOT;
use crate::recorder::worker::RootPlace;

pin_project_lite::pin_project! {
    /// A future around the root future, which tells of its polls as Tokio's hooks do of a task's.
    #[derive(Debug)]
    pub struct Root<F> {
        #[pin]
        future: F,
        seen: Option<RootRecorder>,
    }
}

impl<F> Root<F> {
    /// Around `future`, which stands at `location`; with no recorder nothing is told.
    pub(crate) fn new(
        future: F,
        location: &'static Location<'static>,
        recorder: Option<&Arc<Recorder>>,
    ) -> Self {
        let tracked = recorder.filter(|recorder| recorder.config.trace_target.tracks_tasks());
        let seen = tracked.map(|recorder| {
            let seen = RootRecorder {
                number: recorder.roots.enter(location),
                recorder: Arc::clone(recorder),
                place: RootPlace::new(),
            };
            let located = recorder.config.include_spawn_location.then_some(location);
            recorder.task_spawned(seen.id(), located);
            seen
        });
        Self { future, seen }
    }
}

impl<F: Future> Future for Root<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let Some(seen) = this.seen else {
            return this.future.poll(cx);
        };
        if !seen.place.is_known() {
            // Here the thread is inside the runtime for certain.
            if let Ok(handle) = tokio::runtime::Handle::try_current() {
                seen.recorder.belongs_to(&handle);
                seen.place.learn(&handle);
            }
        }
        seen.recorder.root_poll_started(seen.id(), seen.place.worker());
        // Told on unwinding too.
        let ends = PollEndGuard(seen);
        let polled = this.future.poll(cx);
        drop(ends);
        if polled.is_ready() {
            *this.seen = None;
        }
        polled
    }
}

/// What makes a root future visible; dropping it is the future's end.
#[derive(Debug)]
struct RootRecorder {
    recorder: Arc<Recorder>,
    number: u32,
    place: RootPlace,
}

impl RootRecorder {
    fn id(&self) -> u64 {
        ROOT | u64::from(self.number)
    }
}

impl Drop for RootRecorder {
    fn drop(&mut self) {
        self.recorder.task_terminated(self.id());
        self.recorder.roots.leave(self.number);
    }
}

struct PollEndGuard<'a>(&'a RootRecorder);

impl Drop for PollEndGuard<'_> {
    fn drop(&mut self) {
        self.0.recorder.root_poll_ended(self.0.id(), self.0.place.worker());
    }
}
