//! Finds tasks that wait for a lock only until it is their turn to receive: whoever has the lock waits for a message at the same line,
//! as in a pool of workers that share a receiver.

use super::given_back::first_module;
use crate::analysis::waits::{MUTEX, line_of};
use crate::symbols::StackFrame;
use crate::trace::timeline::Wait;
use crate::util::map::Map;

/// The lines at which tasks wait for a message.
#[derive(Default)]
pub(in crate::analysis) struct Turns<'a>(Map<&'a StackFrame, ()>);

impl<'a> Turns<'a> {
    /// Adds the lines at which a task in this wait waits for a message.
    pub(super) fn add(&mut self, wait: &'a Wait) {
        for (at, awaits) in wait.lines().into_iter().map(line_of) {
            if awaits.is_some_and(receives_messages) && at.line.is_some() {
                self.0.insert(at, ());
            }
        }
    }

    /// Returns whether a task in this wait only waits for its turn to receive.
    pub(in crate::analysis) fn has(&self, wait: &Wait) -> bool {
        let [line] = wait.lines()[..] else { return false };
        first_module(wait) == Some(MUTEX) && self.0.get(line_of(line).0).is_some()
    }
}

/// Returns whether a future is one that receives messages.
pub(in crate::analysis) fn receives_messages(awaits: &str) -> bool {
    const CHANNELS: [&str; 3] =
        ["tokio::sync::mpsc::", "tokio::sync::broadcast::", "tokio::sync::watch::"];
    awaits.contains("Receiver") && CHANNELS.iter().any(|channel| awaits.contains(channel))
}
