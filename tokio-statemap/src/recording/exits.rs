//! The exit paths other than the drop of the recording: `std::process::exit`, an aborting
//! panic, and fatal signals.

use std::sync::{Arc, Mutex, Once, Weak};

use super::active::Active;
#[cfg(unix)]
use crate::util::message::warn;
use crate::util::sync::lock;

static RECORDINGS: Mutex<Vec<Weak<Active>>> = Mutex::new(Vec::new());

/// Registers `recording` to be written on every exit path; on signals only after [`listen`].
pub(super) fn watch(recording: &Arc<Active>) {
    static ONCE: Once = Once::new();
    lock(&RECORDINGS).push(Arc::downgrade(recording));
    ONCE.call_once(|| {
        if cfg!(panic = "abort") {
            write_on_panic();
        }
    });
}

/// Starts the thread that writes all recordings on a fatal signal.
pub(super) fn listen() {
    #[cfg(unix)]
    crate::sys::signal::install(write_all, warn);
}

/// Unregisters a recording that has ended.
pub(super) fn forget(recording: &Arc<Active>) {
    lock(&RECORDINGS).retain(|other| !std::ptr::eq(other.as_ptr(), Arc::as_ptr(recording)));
}

/// Calls `act` with each recording of this process that has not ended.
pub(super) fn each(act: &mut dyn FnMut(&Active)) {
    for recording in recordings() {
        if recording.is_of_this_process() {
            act(&recording);
        }
        release(recording);
    }
}

/// Ends the use of a recording on a thread of this crate. The recording owns values of any type. If it has ended
/// meanwhile, they are kept, as they must not be dropped here.
pub(super) fn release(recording: Arc<Active>) {
    if Arc::strong_count(&recording) == 1 {
        std::mem::forget(recording);
    }
}

fn recordings() -> Vec<Arc<Active>> {
    lock(&RECORDINGS).iter().filter_map(Weak::upgrade).collect()
}

/// Writes all registered recordings, as the process is about to end.
pub(super) fn write_all() {
    for recording in recordings() {
        recording.finish_soon();
        // The recording owns values of any type, so this thread must not drop the last reference.
        std::mem::forget(recording);
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
