//! Starts the threads of this crate.

use std::io;
use std::thread::Builder;

/// Starts a thread with a name that runs `run`. The closure is boxed, so that the code that starts a thread is compiled
/// only once, and not for each type of closure.
///
/// # Errors
///
/// If there can be no thread.
pub(crate) fn start(name: &str, run: Box<dyn FnOnce() + Send>) -> io::Result<()> {
    Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
