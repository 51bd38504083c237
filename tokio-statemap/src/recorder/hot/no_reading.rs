//! Stands in where threads take no readings: without the feature `stacks`, and on systems that lack what readings need.

use crate::recorder::clock::Clock;
use crate::recorder::record::Kind;

/// `true` if threads take readings.
pub(super) const ARE_TAKEN: bool = false;

/// A reading that is never taken.
#[derive(Clone, Copy, Debug)]
pub(super) enum LastReading {}

/// The notes of a reading.
pub(super) type Notes = [Option<(Kind, u64)>; 0];

pub(super) fn prepare_thread() -> i32 {
    0
}

pub(super) fn take(_: &Clock, _: &mut Option<LastReading>, _: u64) -> Notes {
    []
}
