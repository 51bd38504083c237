//! Which collector belongs to the runtime that a thread is in.

use std::sync::{Arc, Mutex, Weak};

use tokio::runtime::{Handle, Id};

use crate::collector::Collector;
use crate::engine::Engine;
use crate::sync::lock;

static RUNTIMES: Mutex<Vec<(Id, Weak<Engine>)>> = Mutex::new(Vec::new());

/// Says that `engine` records the runtime `id`.
pub(crate) fn register(id: Id, engine: &Arc<Engine>) {
    let mut runtimes = lock(&RUNTIMES);
    // An id is given again once its runtime is gone.
    runtimes.retain(|(other, engine)| *other != id && engine.strong_count() > 0);
    runtimes.push((id, Arc::downgrade(engine)));
}

/// The collector of the runtime that this thread is in; `None` outside of a runtime, and in one
/// that nobody records.
///
/// # Examples
///
/// ```no_run
/// #[tokio_statemap::main(tasks = "tasks.json")]
/// async fn main() {
///     let collector = tokio_statemap::current().expect("the attribute made one");
///     // Some time later, when something looks odd:
///     let report = collector.snapshot().report();
///     println!("{report}");
/// }
/// ```
pub fn current() -> Option<Arc<Collector>> {
    let id = Handle::try_current().ok()?.id();
    let runtimes = lock(&RUNTIMES);
    let (_, engine) = runtimes.iter().find(|(other, _)| *other == id)?;
    engine.upgrade().map(Collector::of)
}
