//! The steps of a call, for whoever is to be told of them: nothing yet.
//!
//! They are on the hot path, and are called whether or not anything is recorded, but for the end of a call
//! that is dropped: it is told only if the call's begin was recorded.

use crate::recorder::functions::Function;

/// A poll of a call begins.
#[inline(always)]
pub(super) fn enter(_function: &'static Function) {}

/// A poll returned `Pending`: the call waits.
#[inline(always)]
pub(super) fn wait(_function: &'static Function) {}

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
pub(super) fn end(_function: &'static Function, _how: End) {}
