//! The future that `block_on` drives, seen.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::engine::Engine;
use crate::engine::record::ROOT;
use crate::engine::worker::RootPlace;

pin_project_lite::pin_project! {
    /// A future around the root future, which tells of its polls as Tokio's hooks do of a task's.
    #[derive(Debug)]
    pub struct Root<F> {
        #[pin]
        future: F,
        seen: Option<Seen>,
    }
}

impl<F> Root<F> {
    /// Around `future`, which stands at `location`; with no engine nothing is told.
    pub(crate) fn new(
        future: F,
        location: &'static Location<'static>,
        engine: Option<&Arc<Engine>>,
    ) -> Self {
        let tracked = engine.filter(|engine| engine.config.trace_target.tracks_tasks());
        let seen = tracked.map(|engine| {
            let seen = Seen {
                number: engine.roots.enter(location),
                engine: Arc::clone(engine),
                place: RootPlace::new(),
            };
            let located = engine.config.include_spawn_location.then_some(location);
            engine.task_spawned(seen.id(), located);
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
                seen.engine.belongs_to(&handle);
                seen.place.learn(&handle);
            }
        }
        seen.engine.root_poll_started(seen.id(), seen.place.worker());
        // Told on unwinding too.
        let ends = EndsPoll(seen);
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
struct Seen {
    engine: Arc<Engine>,
    number: u32,
    place: RootPlace,
}

impl Seen {
    fn id(&self) -> u64 {
        ROOT | u64::from(self.number)
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.engine.task_terminated(self.id());
        self.engine.roots.leave(self.number);
    }
}

struct EndsPoll<'a>(&'a Seen);

impl Drop for EndsPoll<'_> {
    fn drop(&mut self) {
        self.0.engine.root_poll_ended(self.0.id(), self.0.place.worker());
    }
}
