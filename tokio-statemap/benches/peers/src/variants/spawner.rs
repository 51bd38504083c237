//! Spawns the tasks of a program, as some peers require their own spawn function.

use std::future::Future;

use await_tree::Registry;
use fastrace::Span;
use fastrace::future::FutureExt;
use fastrace::prelude::SpanContext;
use tokio::task::JoinHandle;
use tokio_metrics::TaskMonitor;

#[derive(Clone)]
pub(crate) enum Spawner {
    Tokio,
    Dial9,
    Monitor(TaskMonitor),
    AwaitTree(Registry),
    Fastrace,
}

impl Spawner {
    #[track_caller]
    pub(crate) fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        match self {
            Self::Tokio => tokio::spawn(future),
            Self::Dial9 => dial9_tokio_telemetry::spawn(future),
            Self::Monitor(monitor) => tokio::spawn(monitor.instrument(future)),
            Self::AwaitTree(registry) => registry.spawn_anonymous("task", future),
            Self::Fastrace => {
                tokio::spawn(future.in_span(Span::root("task", SpanContext::random())))
            }
        }
    }
}
