//! The recorder of the current runtime.

use std::sync::{Arc, Mutex, Weak};

use tokio::runtime::{Handle, Id};

use crate::recorder::hot::Shared;
use crate::util::sync::lock;

static RUNTIMES: Mutex<Vec<(Id, Weak<Shared>)>> = Mutex::new(Vec::new());

/// Registers `recorder` as that of the runtime `id`.
pub(crate) fn register(id: Id, recorder: Weak<Shared>) {
    let mut runtimes = lock(&RUNTIMES);
    // Tokio may reuse the id of a runtime that was dropped.
    runtimes.retain(|(other, recorder)| *other != id && recorder.strong_count() > 0);
    runtimes.push((id, recorder));
}

/// Returns the recorder of the runtime that the current thread is in, if it is recorded.
pub(crate) fn current() -> Option<Arc<Shared>> {
    let id = Handle::try_current().ok()?.id();
    let runtimes = lock(&RUNTIMES);
    let (_, recorder) = runtimes.iter().find(|(other, _)| *other == id)?;
    recorder.upgrade()
}
