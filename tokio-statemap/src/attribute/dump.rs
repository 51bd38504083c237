//! The key `dump_signal`: the trees of all tasks are printed on stderr when the signal comes.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::Active;
use super::exits;
use crate::render::trees::Folded;
use crate::util::aside;
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

/// Prints the trees of all runs, on the thread of the signal. Waits until stderr is read, so that further
/// signals are answered by one more.
#[cfg_attr(not(unix), allow(dead_code, reason = "nobody asks"))]
fn print_all() {
    /// How long to wait for other messages.
    const STEP: Duration = Duration::from_millis(10);
    loop {
        let (tell, told) = channel::<()>();
        let text = || {
            let mut texts = Vec::new();
            for run in exits::runs() {
                texts.extend(run.trees_text());
                if Arc::strong_count(&run) == 1 {
                    // It has ended meanwhile, and owns values of any type.
                    std::mem::forget(run);
                }
            }
            (!texts.is_empty()).then(|| texts.concat())
        };
        // Dropped where it isn't printed, too.
        if aside::print(text, move |_| drop(tell)) {
            let _ = told.recv();
            return;
        }
        std::thread::sleep(STEP);
    }
}

impl Active {
    /// The trees of the run's tasks; `None` in another process than that of the run, and once it is over.
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
