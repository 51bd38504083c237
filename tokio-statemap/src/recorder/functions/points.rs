//! The steps of a call, as static trace points (feature `sdt`).
//!
//! They are on the hot path, and are called whether or not anything is recorded, but for the end of a call
//! that is dropped: it is told only if the call's begin was recorded.

use crate::recorder::functions::Function;
use crate::recorder::thread_recorder;
use crate::sys::trace_points::{self, Texts};

/// A poll of a call begins.
#[inline(always)]
pub(super) fn enter(function: &'static Function) {
    tell(function, trace_points::function_enter);
}

/// A poll returned `Pending`: the call waits.
#[inline(always)]
pub(super) fn wait(function: &'static Function) {
    tell(function, trace_points::function_wait);
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It returned.
    Completed,
    /// It was dropped before.
    Cancelled,
}

/// A call that was polled ended.
#[inline(always)]
pub(super) fn end(function: &'static Function, how: End) {
    let is_cancelled = how == End::Cancelled;
    tell(function, |id, of| trace_points::function_end(id, of, is_cancelled));
}

/// Calls `point` with the task that the thread polls, 0 if none is recorded, and the texts of `function`.
#[inline(always)]
fn tell(function: &'static Function, point: impl FnOnce(u64, &Texts<'_>)) {
    if cfg!(feature = "sdt") {
        let id = thread_recorder::polled().unwrap_or_default();
        let name = || function.name();
        point(id, &Texts { name: &name, file: function.file(), line: function.line() });
    }
}
