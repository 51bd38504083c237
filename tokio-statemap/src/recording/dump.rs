//! The key `dump_signal`: prints the trees of all tasks on stderr when the signal arrives.

use std::time::Duration;

use super::active::Active;
use super::exits;
use crate::render::trees::Folded;
#[cfg(unix)]
use crate::sys::signal::dump::{Purpose, install};
use crate::util::aside;
use crate::util::latch::latch;
use crate::util::message::warn;
use crate::util::quantity::moment;

/// Listens for the signal, if one is set.
pub(super) fn listen(signal: Option<&str>) {
    let Some(signal) = signal else { return };
    #[cfg(unix)]
    let installed = install(signal, Purpose::Trees, print_all);
    #[cfg(not(unix))]
    let installed = Err::<(), _>("there are no signals here");
    if let Err(error) = installed {
        warn(format_args!("`dump_signal` has no effect: {signal}: {error}"));
    }
}

/// Prints the trees of all recordings, on the signal's thread. Waits until stderr is read, so that
/// signals that arrive meanwhile lead to one more output.
#[cfg_attr(not(unix), allow(dead_code, reason = "nobody asks"))]
fn print_all(_: &'static str) {
    /// The interval between attempts while other messages are printed.
    const STEP: Duration = Duration::from_millis(10);
    loop {
        let (ongoing, over) = latch();
        let text = || {
            let mut texts = Vec::new();
            exits::each(&mut |recording| recording.trees(&mut texts));
            (!texts.is_empty()).then(|| texts.concat())
        };
        // The sender is dropped even if nothing is printed.
        if aside::print(text, move |_| drop(ongoing)) {
            over.wait_for(Duration::MAX);
            return;
        }
        std::thread::sleep(STEP);
    }
}

impl Active {
    /// Appends the trees of the tasks of all recorded runtimes, but not of those that are no longer recorded.
    fn trees(&self, texts: &mut Vec<String>) {
        for (collector, default_name) in self.runtimes.named() {
            if !collector.is_recording() {
                continue;
            }
            let timeline = collector.snapshot();
            let trees = timeline.trees();
            let name = timeline.runtime.as_ref().or(default_name.as_ref());
            let of = name.map(|name| format!(", runtime {name}"));
            let of = of.unwrap_or_default();
            let at = moment(timeline.end_ns);
            texts.push(format!("tokio-statemap at {at}{of}: {}\n\n", Folded(&trees)));
        }
    }
}
