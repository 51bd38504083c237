//! Answers the layer for spans of `tracing` on a thread that runs tasks: the time, the task, and the spans.

use std::sync::Arc;

use crate::recorder::clock;
use crate::recorder::hot::thread_recorder;
use crate::recorder::spans::{NO_TASK, Spans};
use crate::recorder::window::mode::{self, GlobalMode, WindowId};
use crate::sys::tsc;

/// Returns the current time in ticks, unless nothing is recorded on any thread.
#[inline]
pub(crate) fn now() -> Option<u64> {
    let now = match mode::global() {
        GlobalMode::FastPath(_) => Some(tsc::ticks()),
        GlobalMode::Off | GlobalMode::Full => None,
        GlobalMode::CheckEach => Some(clock::ticks()),
    };
    #[cfg(test)]
    tests::LAST.set(now);
    now
}

/// Returns the task that this thread polled last, as in a record; [`NO_TASK`] if that isn't known.
#[inline]
pub(crate) fn task() -> u64 {
    thread_recorder::polled().unwrap_or(NO_TASK)
}

/// Returns the spans of the recorder that records this thread, and its window.
pub(crate) fn spans() -> Option<(Arc<Spans>, WindowId)> {
    let window = thread_recorder::window();
    if window == 0 {
        return None;
    }
    let spans = thread_recorder::spans(window)?;
    spans.is_on(window).then_some((spans, window))
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// The time that this thread read last.
        pub(crate) static LAST: Cell<Option<u64>> = const { Cell::new(None) };
    }
}
