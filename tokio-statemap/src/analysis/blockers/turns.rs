//! Finds tasks that wait for a lock only until it is their turn to receive: whoever has the lock waits for a message, as in a pool of
//! workers that share a receiver.

use super::given_back::{MUTEX, first_module};
use super::last_wait::LastWaits;
use crate::analysis::waits::path::frame_in;
use crate::analysis::waits::{is_lock, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::Wait;

/// The waits for locks that are for a turn.
pub(in crate::analysis) struct Turns<'a>(Vec<&'a Wait>);

impl<'a> Turns<'a> {
    /// Finds those among the waits that tasks are in: for each there is one for a message at the same line, or further on in the same
    /// function. If it is further on, the lock may be for something else as well; so then no task may wait for a lock that isn't for a
    /// turn, as it may have to send that message.
    pub(in crate::analysis) fn find(last: &LastWaits<'a>) -> Self {
        let mut for_message: Vec<&Wait> = Vec::new();
        let mut for_lock: Vec<(&Wait, &StackFrame)> = Vec::new();
        for (wait, _) in last.long(0) {
            if is_for_message(wait) {
                for_message.push(wait);
            }
            let [line] = wait.lines()[..] else { continue };
            let (at, awaits) = line_of(line);
            if is_lock(awaits) {
                for_lock.push((wait, at));
            }
        }
        let receives_at = |at: &StackFrame, is_there: fn(u32, u32) -> bool| {
            let lines = for_message.iter().filter_map(|wait| frame_in(wait, at)?.function.line);
            at.line.is_some_and(|of_lock| lines.into_iter().any(|line| is_there(line, of_lock)))
        };
        let is_past = |at: &StackFrame| receives_at(at, |line, of_lock| line >= of_lock);
        let is_same = |at: &StackFrame| receives_at(at, |line, of_lock| line == of_lock);
        let are_all = for_lock.iter().all(|(_, at)| is_past(at));
        let is_turn = |&(wait, at): &(&Wait, &StackFrame)| {
            first_module(wait) == Some(MUTEX) && (are_all || is_same(at))
        };
        for_lock.retain(is_turn);
        Self(for_lock.into_iter().map(|(wait, _)| wait).collect())
    }

    pub(in crate::analysis) fn has(&self, wait: &Wait) -> bool {
        self.0.iter().any(|turn| std::ptr::eq(*turn, wait))
    }
}

/// Returns whether a wait is for a message, which nobody owes.
fn is_for_message(wait: &Wait) -> bool {
    let lines = wait.lines();
    let mut awaited = lines.iter().filter_map(|&line| line_of(line).1);
    awaited.any(is_message)
}

/// Returns whether a future is one that receives messages.
pub(in crate::analysis) fn is_message(awaits: &str) -> bool {
    const CHANNELS: [&str; 3] =
        ["tokio::sync::mpsc::", "tokio::sync::broadcast::", "tokio::sync::watch::"];
    awaits.contains("Receiver") && CHANNELS.iter().any(|channel| awaits.contains(channel))
}
