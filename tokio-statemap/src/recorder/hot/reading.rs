//! Readings of a thread's CPU time and switches, as notes among its records.
//!
//! A thread takes a reading of itself at its first record after the [watcher](crate::recorder::background) looked
//! at it, so that a short poll pays nothing for it. Two readings show how the time between them was spent:
//! on the processor, blocked, or waiting for the processor.

use std::time::{Duration, Instant};

use crate::recorder::clock::Clock;
use crate::recorder::record::{Kind, Switches};
use crate::sys::filter;
use crate::sys::threads::{self, proc};

/// If a thread was off the processor for this long since its last reading, a file is read to learn for how much of that
/// time it was ready to run. Reading the file takes some 6 µs.
const WORTH_A_FILE: Duration = Duration::from_micros(200);

/// The longest that a reading takes, unless the thread loses its processor meanwhile. Then the parts of the reading are
/// of different moments, and it is taken again. The kernel mostly takes a processor when a system call ends, and a
/// reading makes several.
const AT_ONCE: Duration = Duration::from_micros(200);

/// The most times that a reading is taken again.
const RETRIES: usize = 3;

/// A reading that is this far from its record has a note of the distance. Otherwise the time taken from the thread in
/// between would seem to be two things: a run delay before the record, and time off the processor for no reason after
/// it.
const WORTH_A_NOTE_NS: u64 = 20_000;

/// The last reading of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastReading {
    at: Instant,
    cpu_ns: u64,
}

/// `true` if threads take readings.
pub(super) const ARE_TAKEN: bool = true;

/// The notes of a reading.
pub(super) type Notes = [Option<(Kind, u64)>; 4];

/// Prepares the calling thread for samples of its stack. Returns the system's id of it.
pub(super) fn prepare_thread() -> i32 {
    // A sample is a copy up to the end of the stack, if that is known.
    threads::stack::range::own_stack();
    threads::id()
}

/// Takes a reading of the calling thread, before its record at `ticks`. Returns the notes to add.
///
/// This is a separate function, as adding a record may take all the stack that a hook has.
#[cold]
#[inline(never)]
pub(super) fn take(clock: &Clock, last: &mut Option<LastReading>, ticks: u64) -> Notes {
    if !filter::allows_all() {
        return Notes::default();
    }
    let mut taken = Taken::now(clock, *last);
    for _ in 0..RETRIES {
        if taken.is_at_once() {
            break;
        }
        let again = Taken::now(clock, *last);
        // If calls take that long, each of them does.
        if again.took < taken.took {
            taken = again;
        }
    }
    let Some(cpu_ns) = taken.cpu_ns else { return Notes::default() };
    *last = Some(LastReading { at: taken.at, cpu_ns });
    let late_ns = clock.rate().length_ns(taken.ticks.saturating_sub(ticks));
    [
        (late_ns >= WORTH_A_NOTE_NS).then_some((Kind::Late, late_ns)),
        taken.run_delay_ns.map(|run_delay_ns| (Kind::RunDelay, run_delay_ns)),
        taken.switches.map(|switches| (Kind::Switches, switches.pack())),
        Some((Kind::CpuTime, cpu_ns)),
    ]
}

/// A reading of the calling thread.
struct Taken {
    ticks: u64,
    at: Instant,
    cpu_ns: Option<u64>,
    run_delay_ns: Option<u64>,
    switches: Option<Switches>,
    took: Duration,
}

impl Taken {
    fn now(clock: &Clock, last: Option<LastReading>) -> Self {
        let (ticks, at) = (clock.ticks(), Instant::now());
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
