//! The key `dump_signal`: prints the trees of all tasks on stderr when the signal arrives.

use std::sync::Arc;
use std::time::Duration;

use super::Active;
use super::exits;
use crate::render::trees::Folded;
use crate::util::aside;
use crate::util::latch::latch;
use crate::util::message::warn;
use crate::util::quantity::moment;

/// Listens for the signal, if one is set.
pub(super) fn listen(signal: Option<&str>) {
    let Some(signal) = signal else { return };
    #[cfg(unix)]
    let installed = crate::sys::signal::dump::install(signal, print_all);
    #[cfg(not(unix))]
    let installed = Err::<(), _>("there are no signals here");
    if let Err(error) = installed {
        warn(format_args!("`dump_signal` has no effect: {signal}: {error}"));
    }
}

/// Prints the trees of all runs, on the signal's thread. Waits until stderr is read, so that
/// signals that arrive meanwhile lead to one more output.
#[cfg_attr(not(unix), allow(dead_code, reason = "nobody asks"))]
fn print_all() {
    /// The interval between attempts while other messages are printed.
    const STEP: Duration = Duration::from_millis(10);
    loop {
        let (ongoing, over) = latch();
        let text = || {
            let mut texts = Vec::new();
            for run in exits::runs() {
                texts.extend(run.trees_text());
                if Arc::strong_count(&run) == 1 {
                    // The run has ended meanwhile. It owns values of any type, which must not be
                    // dropped here.
                    std::mem::forget(run);
                }
            }
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
    /// Returns the trees of the run's tasks; `None` in a process other than the run's, and once it
    /// is over.
    fn trees_text(&self) -> Option<String> {
        if self.pid != std::process::id() || !self.collector.is_recording() {
            return None;
        }
        let timeline = self.collector.snapshot_for_trees();
        let trees = timeline.trees();
        let of = timeline.runtime.as_ref().map(|name| format!(", runtime {name}"));
        let of = of.unwrap_or_default();
        let at = moment(timeline.end_ns);
        Some(format!("tokio-statemap at {at}{of}: {}\n\n", Folded(&trees)))
    }
}
