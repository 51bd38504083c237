//! The steps of a call, as static trace points (feature `sdt`).
//!
//! They are on the hot path, and are called even while nothing is recorded, except for the end of a call
//! that is dropped, which is only reported if the beginning of the call was recorded.

use crate::recorder::calls::Function;
use crate::recorder::calls::profile::End;
use crate::recorder::hot::thread_recorder;
use crate::sys::trace_points::{self, Texts};

/// Reports that a poll of a call begins.
#[inline(always)]
pub(super) fn enter(function: &'static Function) {
    fire(function, trace_points::function_enter);
}

/// Reports that a poll returned `Pending` and the call waits.
#[inline(always)]
pub(super) fn wait(function: &'static Function) {
    fire(function, trace_points::function_wait);
}

/// Reports that a call that was polled ended.
#[inline(always)]
pub(super) fn end(function: &'static Function, how: End) {
    let is_cancelled = how == End::Cancelled;
    fire(function, |id, of| trace_points::function_end(id, of, is_cancelled));
}

/// Fires `point` with the task that the thread polls, 0 if none is recorded, and the texts of `function`.
#[inline(always)]
fn fire(function: &'static Function, point: impl FnOnce(u64, &Texts<'_>)) {
    if cfg!(feature = "sdt") {
        let id = thread_recorder::polled().unwrap_or_default();
        let name = || function.name();
        point(id, &Texts { name: &name, file: function.file(), line: function.line() });
    }
}
