//! How a program under test spawns its tasks: some peers want a spawn of their own.

use std::future::Future;

use tokio::task::JoinHandle;
use tokio_metrics::TaskMonitor;

#[derive(Clone)]
pub(crate) enum Spawner {
    Tokio,
    Dial9,
    Monitor(TaskMonitor),
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
        }
    }
}
