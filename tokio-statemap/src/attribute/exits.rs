//! The exit paths other than the end of the attribute's function: `std::process::exit`, an aborting
//! panic, and fatal signals.

use std::sync::{Arc, Mutex, Once, Weak};

use super::Active;
#[cfg(unix)]
use crate::util::message::warn;
use crate::util::sync::lock;

static RUNS: Mutex<Vec<Weak<Active>>> = Mutex::new(Vec::new());

/// Registers `run` to be written on every exit path; on signals only after [`listen`].
pub(super) fn watch(run: &Arc<Active>) {
    static ONCE: Once = Once::new();
    lock(&RUNS).push(Arc::downgrade(run));
    ONCE.call_once(|| {
        if cfg!(panic = "abort") {
            write_on_panic();
        }
    });
}

/// Starts the thread that writes all runs on a fatal signal.
pub(super) fn listen() {
    #[cfg(unix)]
    crate::sys::signal::install(write_all, warn);
}

/// Unregisters a run that has ended.
pub(super) fn forget(run: &Arc<Active>) {
    lock(&RUNS).retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(run)));
}

/// Returns the runs that have not ended.
pub(super) fn runs() -> Vec<Arc<Active>> {
    lock(&RUNS).iter().filter_map(Weak::upgrade).collect()
}

/// Writes all registered runs, as the process is about to end.
pub(super) fn write_all() {
    for run in runs() {
        run.finish_soon();
        // The run owns values of any type, so this thread must not drop the last reference.
        std::mem::forget(run);
    }
}

/// With `panic = "abort"` nothing is unwound, and the panic hook is the last to run.
fn write_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        write_all();
    }));
}
