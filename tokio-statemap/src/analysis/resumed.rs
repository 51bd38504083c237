//! Finds the functions in which tasks had waited before their long polls.

use super::blame::{Weights, is_same};
use super::poll::PollAt;
use crate::trace::timeline::{FrameOrigin, StackFrame, Timeline, Wait, WaitId};

/// The most functions that are named.
const MOST: usize = 2;

/// Returns the program's functions in which the tasks of most of these polls had waited before, the innermost first, up to
/// two. Each poll has its weight. Returns nothing if that isn't known.
///
/// A function that holds a worker is often called by a library after the program's own function has returned: a web
/// framework writes the response of a handler. The handler isn't on the stack, but the task was in it when it waited
/// last.
pub(super) fn last_waited_in(
    timeline: &Timeline,
    polls: impl Iterator<Item = (PollAt, u64)>,
) -> Vec<StackFrame> {
    let (mut by_wait, mut all_ns) = (Weights::default(), 0_u64);
    for ((task, poll), own_ns) in polls {
        all_ns = all_ns.saturating_add(own_ns);
        let before = poll.checked_sub(1).map(|before| &timeline.tasks.seen()[task].polls[before]);
        if let Some(wait) = before.and_then(|before| before.wait()) {
            by_wait.add(wait, own_ns);
        }
    }
    match by_wait.heaviest_with_ns() {
        Some((&wait, ns)) if ns > all_ns / 2 => waited_in(timeline, wait),
        _ => Vec::new(),
    }
}

/// Returns the program's functions that a task is in while it waits there, the innermost first, up to two.
pub(super) fn waited_in(timeline: &Timeline, wait: WaitId) -> Vec<StackFrame> {
    let mut functions: Vec<StackFrame> = Vec::new();
    for frame in timeline.wait(wait).map(own_functions).unwrap_or_default().into_iter().rev() {
        let is_new = functions.last().is_none_or(|last| !is_same(last, frame));
        if is_new && functions.len() < MOST {
            functions.push(frame.clone());
        }
    }
    functions
}

/// Returns the program's functions that a task is in while it waits there, the outermost first. Of several futures that are
/// polled at once it follows the first.
pub(super) fn own_functions(wait: &Wait) -> Vec<&StackFrame> {
    let mut functions = wait.chains().into_iter().next().unwrap_or_default();
    functions.retain(|frame| frame.origin == FrameOrigin::Program);
    functions
}
