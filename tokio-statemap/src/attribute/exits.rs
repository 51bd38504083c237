//! The ways out that don't come by the end of the attribute's function: `std::process::exit`, an
//! aborting panic, and deadly signals.

use std::sync::{Arc, Mutex, Once, Weak};

use super::Active;
#[cfg(unix)]
use crate::util::message::say;
use crate::util::sync::lock;

static RUNS: Mutex<Vec<Weak<Active>>> = Mutex::new(Vec::new());

/// Sees to it that `run` is written whichever way the process ends.
pub(super) fn watch(run: &Arc<Active>) {
    static ONCE: Once = Once::new();
    lock(&RUNS).push(Arc::downgrade(run));
    ONCE.call_once(|| {
        if cfg!(panic = "abort") {
            write_on_panic();
        }
    });
    #[cfg(unix)]
    crate::sys::signal::install(write_all, say);
}

/// Takes out a run that is over.
pub(super) fn forget(run: &Arc<Active>) {
    lock(&RUNS).retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(run)));
}

/// Writes all runs that aren't over: the process is about to end.
pub(super) fn write_all() {
    let runs: Vec<_> = lock(&RUNS).iter().filter_map(Weak::upgrade).collect();
    for run in runs {
        run.finish_soon();
        // Its last owner must not be this thread: what it owns may be of any type.
        std::mem::forget(run);
    }
}

/// With `panic = "abort"` nothing is unwound: the panic hook is the last that is called.
fn write_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        write_all();
    }));
}
