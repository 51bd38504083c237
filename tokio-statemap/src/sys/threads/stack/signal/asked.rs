//! The threads that were asked last. They may be in the handler, which blocks its own signal, too.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// The number of places: mostly more than a program has workers. Threads with the same place replace each other.
const PLACES: usize = 64;

/// The CPU time within which a thread answers. Beside other threads it may run for a little while many times before a
/// tick finds it on a processor.
const ANSWERS_WITHIN_NS: u64 = 100_000_000;

static LAST: [Asked; PLACES] =
    [const { Asked { id: AtomicI32::new(0), cpu_ns: AtomicU64::new(0) } }; PLACES];

struct Asked {
    id: AtomicI32,
    /// The thread's CPU time when it was asked.
    cpu_ns: AtomicU64,
}

impl Asked {
    fn of_thread(id: i32) -> &'static Self {
        &LAST[id.unsigned_abs() as usize % PLACES]
    }
}

/// Notes that a thread that has used this CPU time is asked.
pub(super) fn note(id: i32, cpu_ns: Option<u64>) {
    let asked = Asked::of_thread(id);
    asked.cpu_ns.store(cpu_ns.unwrap_or_default(), Ordering::Relaxed);
    asked.id.store(id, Ordering::Release);
}

/// Returns whether a thread has run so little since it was asked that it may be answering now. The signal comes with a
/// tick, at which the thread may lose its processor for any time, before the first instruction of the handler.
pub(super) fn may_answer(id: i32, cpu_ns: Option<u64>) -> bool {
    let asked = Asked::of_thread(id);
    let is_it = asked.id.load(Ordering::Acquire) == id;
    let ran_ns = cpu_ns.map(|now| now.saturating_sub(asked.cpu_ns.load(Ordering::Relaxed)));
    is_it && ran_ns.is_some_and(|ran_ns| ran_ns <= ANSWERS_WITHIN_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_ran_on_is_not_in_the_handler() {
        // No thread has a negative id.
        let (one, other) = (-7, -8);
        assert!(!may_answer(one, Some(5)));
        note(one, Some(5));
        assert!(may_answer(one, Some(6)) && !may_answer(other, Some(6)));
        assert!(!may_answer(one, Some(6 + ANSWERS_WITHIN_NS)));
    }
}
