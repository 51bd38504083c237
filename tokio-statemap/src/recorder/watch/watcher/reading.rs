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
use crate::sys::filter;
use crate::sys::threads::{self, proc};

/// From how much time off the processor since the last reading on it is looked up how much of it the
/// thread was ready to run. The file takes some 6 µs to read.
const WORTH_A_FILE: Duration = Duration::from_micros(200);

/// How long a reading takes at most, unless the thread loses its processor meanwhile: then its parts are of
/// different moments, and it's taken again. The kernel takes a processor mostly when a system call ends, and
/// a reading is several.
const AT_ONCE: Duration = Duration::from_micros(200);

/// How often it is taken again at most.
const RETRIES: usize = 3;

/// From which distance on a reading has a note of how much later it is than its record. What was taken from
/// the thread in between would otherwise seem to be two things: a run delay before the record, and time off
/// the processor without any reason after it.
const WORTH_A_NOTE_NS: u64 = 20_000;

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
        if self.config.trace_target.tracks_tasks() {
            self.note_queue(thread, ticks, None);
        }
        if !filter::allows_all() {
            return;
        }
        let Some(notes) = self.read_usage(thread, ticks) else { return };
        if notes.late_ns >= WORTH_A_NOTE_NS {
            thread.push(self, ticks, Kind::Late, notes.late_ns);
        }
        if let Some(run_delay_ns) = notes.run_delay_ns {
            thread.push(self, ticks, Kind::RunDelay, run_delay_ns);
        }
        if let Some(switches) = notes.switches {
            thread.push(self, ticks, Kind::Switches, switches);
        }
        thread.push(self, ticks, Kind::CpuTime, notes.cpu_ns);
    }

    /// By itself, as to add a record may take all the stack that a hook has.
    #[inline(never)]
    fn read_usage(&self, thread: &mut ThreadRecorder, ticks: u64) -> Option<Notes> {
        let mut taken = Taken::now(self, thread.last_reading);
        for _ in 0..RETRIES {
            if taken.is_at_once() {
                break;
            }
            let again = Taken::now(self, thread.last_reading);
            // Where calls take so long, each of them does.
            if again.took < taken.took {
                taken = again;
            }
        }
        let cpu_ns = taken.cpu_ns?;
        thread.last_reading = Some(LastReading { at: taken.at, cpu_ns });
        let late_ns = self.clock.rate().length_ns(taken.ticks.saturating_sub(ticks));
        let (run_delay_ns, switches) = (taken.run_delay_ns, taken.switches.map(Switches::pack));
        Some(Notes { late_ns, run_delay_ns, switches, cpu_ns })
    }
}

/// What the notes of a reading say.
struct Notes {
    /// How much later than its record it was.
    late_ns: u64,
    run_delay_ns: Option<u64>,
    /// Packed.
    switches: Option<u64>,
    cpu_ns: u64,
}

/// What was read of the calling thread.
struct Taken {
    ticks: u64,
    at: Instant,
    cpu_ns: Option<u64>,
    run_delay_ns: Option<u64>,
    switches: Option<Switches>,
    took: Duration,
}

impl Taken {
    fn now(recorder: &Recorder, last: Option<LastReading>) -> Self {
        let (ticks, at) = (recorder.clock.ticks(), Instant::now());
        let cpu_ns = threads::cpu_ns();
        let is_worth_it = last.is_none_or(|last| {
            let cpu_ns = cpu_ns.unwrap_or(last.cpu_ns).saturating_sub(last.cpu_ns);
            let cpu = Duration::from_nanos(cpu_ns);
            at.duration_since(last.at).saturating_sub(cpu) >= WORTH_A_FILE
        });
        let run_delay_ns = is_worth_it.then(proc::run_delay_ns).flatten();
        let switches = threads::switches().map(|(voluntary, involuntary, major_faults)| Switches {
            voluntary,
            involuntary,
            major_faults,
        });
        Self { ticks, at, cpu_ns, run_delay_ns, switches, took: at.elapsed() }
    }

    fn is_at_once(&self) -> bool {
        self.took < AT_ONCE
    }
}
