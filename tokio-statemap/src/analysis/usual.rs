//! Tells what is usual for a task's waits, and which waits are long or late.

use crate::trace::timeline::{NOTICEABLE_NS, Task, Timeline};
use crate::trace::woken_by::WokenBy;

/// The number of a task's waits that must be known to tell what is usual for it.
const USUAL_WAITS: usize = 3;

/// Calls `each` with each wait of a task between two polls that may have been for a timer or I/O: the end of one, and when the task
/// became ready for the next. No other task ended it, and there is no gap in between, in which it may have been polled.
pub(super) fn for_each_wait(timeline: &Timeline, task: &Task, each: &mut dyn FnMut(u64, u64)) {
    for pair in task.polls.windows(2) {
        let is_by_task = matches!(pair[1].woken_by(), Some(WokenBy::Task(_)));
        if let Some(from_ns) = pair[0].end_ns().filter(|_| !is_by_task) {
            let to_ns = pair[1].ready_ns().unwrap_or(pair[1].start_ns());
            if timeline.gap_between(from_ns, to_ns).is_none() {
                each(from_ns, to_ns);
            }
        }
    }
}

/// Returns the median of a task's waits, in ns; `None` if there are too few to say what is usual. Of an even number it is the
/// longer one in the middle, unlike a quantile, so that a task counts as late rather less often.
pub(super) fn usual_ns(mut waits_ns: Vec<u64>) -> Option<u64> {
    let middle = waits_ns.len() / 2;
    (waits_ns.len() >= USUAL_WAITS).then(|| *waits_ns.select_nth_unstable(middle).1)
}

/// Returns how much longer than usual a wait was because of a silence, in ns; `None` if it may have been that long without.
/// A wait that goes on may be for something else than before, so it must be twice as long as usual.
pub(super) fn late_ns(wait_ns: u64, usual_ns: u64, silence_ns: u64, goes_on: bool) -> Option<u64> {
    let late_ns = wait_ns.saturating_sub(usual_ns).min(silence_ns);
    let is_late = match goes_on {
        true => late_ns > usual_ns,
        // The waits for a timer vary by less.
        false => late_ns > usual_ns / 2 && late_ns > NOTICEABLE_NS,
    };
    is_late.then_some(late_ns)
}

/// Returns the least length of a wait that may last for ever, in ns: a second, and half of what was recorded unless that is over
/// a minute.
pub(super) fn long_wait_ns(recorded_ns: u64) -> u64 {
    const LEAST_NS: u64 = 1_000_000_000;
    const IN_ANY_CASE_NS: u64 = 60_000_000_000;
    LEAST_NS.max((recorded_ns / 2).min(IN_ANY_CASE_NS))
}
