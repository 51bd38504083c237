//! Finds where a task without a probe waits, by the instrumented calls in it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::recorder::chains::capture::{self, ProbePoll};
use crate::recorder::chains::table::{UNKNOWN, WaitId};
use crate::recorder::hot::thread_recorder;
use crate::recorder::record::Kind;
use crate::recorder::window::mode::{self, GlobalMode};
use crate::sys::waker::with_tap;

/// Returns whether nothing is captured of the call that is polled now, though it could be.
#[inline]
pub(crate) fn is_here() -> bool {
    capture::is_outside() && !matches!(mode::global(), GlobalMode::Off | GlobalMode::Full)
}

/// Polls a call that is in no other call and in no probe. `before` is where it waited after its last poll. Returns
/// where it waits now.
///
/// If a task polls several such calls in turn, the one that it polled last counts as the place where it
/// waits.
// Not inlined, so that the stack ends below whatever polls the call.
#[inline(never)]
pub(crate) fn poll<F: Future>(
    mut call: Pin<&mut F>,
    cx: &mut Context<'_>,
    before: WaitId,
) -> (Poll<F::Output>, WaitId) {
    let captures = ProbePoll::new();
    let polled = with_tap(cx.waker(), &|| captures.capture(), |cx| call.as_mut().poll(cx));
    if polled.is_ready() {
        return (polled, UNKNOWN);
    }
    // A future that keeps its waker clones it only once.
    let wait = if captures.is_empty() { before } else { captures.wait() };
    // Outside of a task, the note would be taken for one of the thread's next poll.
    if wait != UNKNOWN && tokio::task::try_id().is_some() {
        if let Some(recorder) = thread_recorder::last_recorder() {
            thread_recorder::note(recorder, Kind::Waits, u64::from(wait));
        }
    }
    (polled, wait)
}
