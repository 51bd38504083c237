//! Finds out why a sample has no functions.

use crate::recorder::hot::Shared;
use crate::recorder::locks::lock;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::{NoStack, Sample};
use crate::sys::filter;
use crate::sys::threads;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::stack::{Memory, Unavailable};

/// Counts a sample without functions.
pub(super) fn count(recorder: &Shared, why: NoStack) {
    lock(&recorder.watch.samples).no_stacks.add(why, 1);
}

/// Counts the reason if `sample` has no functions.
pub(super) fn note(recorder: &Shared, sample: &Sample, unwinder: Option<&Unwinder>) {
    if let Some(why) = why(sample, unwinder, Memory::now) {
        count(recorder, why);
    }
}

/// Counts why a thread that runs could not be asked for its functions.
pub(super) fn note_refusal(recorder: &Shared, refusal: Unavailable, thread: i32) {
    let blocked = || proc::blocked_signals(thread).unwrap_or_default();
    if let Some(why) = why_not_asked(refusal, blocked) {
        count(recorder, why);
    }
}

/// Counts that the system reports the state of no thread, if that is so: otherwise the thread has ended.
pub(super) fn note_no_state(recorder: &Shared) {
    if proc::state(threads::id()) == ThreadState::Unknown {
        count(recorder, NoStack::NoProc);
    }
}

/// Returns why `sample` has no functions; `None` if it has some.
fn why(
    sample: &Sample,
    unwinder: Option<&Unwinder>,
    memory: impl FnOnce() -> Memory,
) -> Option<NoStack> {
    // A single address is where the thread is, and its callers aren't known.
    if sample.is_complete || sample.addresses.len() > 1 {
        return None;
    }
    if sample.blocked.as_ref().is_some_and(|call| call.number == proc::UNKNOWN_CALL) {
        return Some(NoStack::NoCall);
    }
    match memory() {
        Memory::Filtered => return Some(NoStack::Filtered),
        Memory::Denied => return Some(NoStack::MemoryDenied),
        Memory::Exhausted => return Some(NoStack::NoMemory),
        Memory::Readable if unwinder.is_some_and(Unwinder::lacks_tables) => {
            return Some(NoStack::NoMemory);
        }
        Memory::Readable => {}
    }
    // A system call is made by the program or a library. Generated code may wait for a page.
    let calls = sample.blocked.as_ref().is_some_and(|call| call.number != proc::PAGE_FAULT);
    let first = sample.addresses.first();
    let is_of_program = || first.zip(unwinder).is_some_and(|(&at, unwinder)| unwinder.is_code(at));
    (calls && !is_of_program()).then_some(NoStack::Emulated)
}

/// Returns why a running thread could not be asked; `blocked` is the set of signals that it blocks.
fn why_not_asked(refusal: Unavailable, blocked: impl FnOnce() -> u64) -> Option<NoStack> {
    /// The first signal that the C library keeps for itself. No program can block it, but an emulator that runs the
    /// program does.
    const OF_LIBRARY: i32 = 32;
    match refusal {
        Unavailable::SignalTaken => Some(NoStack::SignalTaken),
        Unavailable::SignalBlocked if blocked() & 1 << (OF_LIBRARY - 1) != 0 => {
            Some(NoStack::Emulated)
        }
        Unavailable::SignalBlocked => Some(NoStack::SignalBlocked),
        Unavailable::NoTimer if !filter::allows_all() => Some(NoStack::Filtered),
        Unavailable::NoTimer => Some(NoStack::NoTimer),
        // Such a thread is asked again.
        Unavailable::Busy => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::watch::BlockedIn;

    fn sample(blocked: Option<i64>, addresses: &[u64]) -> Sample {
        Sample {
            stream: 1,
            start_ticks: 1,
            ticks: 2,
            blocked: blocked.map(|number| BlockedIn { number, descriptor: None }),
            addresses: addresses.into(),
            is_complete: false,
        }
    }

    #[test]
    fn a_sample_without_functions_has_a_reason() {
        let unwinder = Unwinder::new();
        let here = (a_sample_without_functions_has_a_reason as fn()) as usize as u64;
        let of = |blocked, addresses: &[u64], memory| {
            why(&sample(blocked, addresses), Some(&unwinder), || memory)
        };
        let why = |blocked, addresses: &[u64]| of(blocked, addresses, Memory::now());
        let call = Some(libc::SYS_futex);
        assert_eq!(why(call, &[8]), Some(NoStack::Emulated), "no code of the program's");
        assert_eq!(why(call, &[]), Some(NoStack::Emulated), "its stack isn't there");
        assert_eq!(why(Some(proc::PAGE_FAULT), &[8]), None, "generated code may wait for a page");
        assert_eq!(why(Some(proc::UNKNOWN_CALL), &[]), Some(NoStack::NoCall));
        // The first may be in a library without tables, the second in a JIT.
        assert_eq!((why(call, &[here]), why(None, &[8])), (None, None));
        assert_eq!(why(call, &[8, here]), None);
        for blocked in [call, None] {
            assert_eq!(of(blocked, &[8], Memory::Denied), Some(NoStack::MemoryDenied));
            assert_eq!(of(blocked, &[8], Memory::Exhausted), Some(NoStack::NoMemory));
        }
    }

    #[test]
    fn a_thread_that_blocks_the_signal_has_a_reason() {
        let set = |signals: &[i32]| signals.iter().fold(0, |set, signal| set | 1 << (signal - 1));
        let why = |blocked| why_not_asked(Unavailable::SignalBlocked, || blocked);
        assert_eq!(why(set(&[libc::SIGURG, libc::SIGINT])), Some(NoStack::SignalBlocked));
        // The mask of valgrind.
        assert_eq!(why(0xffff_ffff_bffb_fa27), Some(NoStack::Emulated));
        let why = |refusal| why_not_asked(refusal, || 0);
        assert_eq!(why(Unavailable::SignalTaken), Some(NoStack::SignalTaken));
        assert_eq!(why(Unavailable::NoTimer), Some(NoStack::NoTimer));
        assert_eq!(why(Unavailable::Busy), None);
    }

    #[test]
    fn where_the_system_tells_nothing_is_noted() {
        let recorder = crate::recorder::Recorder::new(crate::config::CollectorConfig::default());
        note_no_state(&recorder);
        assert_eq!(lock(&recorder.watch.samples).no_stacks, Default::default());
    }
}
