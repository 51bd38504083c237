//! Readings of a thread's CPU time and switches, as notes among its records.
//!
//! A reading is taken by the thread itself, at the first record after the [watcher](super) looked
//! at it: a short poll pays nothing for it. Two readings tell what became of the time between them:
//! on the processor, blocked, or waiting for the processor.

use std::time::{Duration, Instant};

use crate::recorder::Recorder;
use crate::recorder::record::Kind;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::recorder::watch::Switches;
use crate::sys::threads::{self, proc};

/// From how much time off the processor since the last reading on it is looked up how much of it the
/// thread was ready to run. The file takes some 6 µs to read.
const WORTH_A_FILE: Duration = Duration::from_micros(200);

/// The last reading of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastReading {
    at: Instant,
    cpu_ns: u64,
}

impl Recorder {
    /// Adds the calling thread's reading before the record of `ticks`.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_usage(&self, thread: &mut ThreadRecorder, ticks: u64) {
        let Some(cpu_ns) = threads::cpu_ns() else { return };
        let last = thread.last_reading.replace(LastReading { at: Instant::now(), cpu_ns });
        let is_worth_it = last.is_none_or(|last| {
            let cpu = Duration::from_nanos(cpu_ns.saturating_sub(last.cpu_ns));
            last.at.elapsed().saturating_sub(cpu) >= WORTH_A_FILE
        });
        if is_worth_it {
            if let Some(run_delay_ns) = proc::run_delay_ns() {
                thread.push(self, ticks, Kind::RunDelay, run_delay_ns);
            }
        }
        let (voluntary, involuntary, major_faults) = threads::switches().unwrap_or_default();
        let switches = Switches { voluntary, involuntary, major_faults };
        thread.push(self, ticks, Kind::Switches, switches.pack());
        thread.push(self, ticks, Kind::CpuTime, cpu_ns);
    }
}
