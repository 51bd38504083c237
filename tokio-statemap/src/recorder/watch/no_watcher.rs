//! Where no long poll is watched: without the feature `stacks`, and where the system lacks what it
//! takes.

use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;

/// A thread has no readings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LastReading {}

pub(crate) fn this_thread_has(_: &Recorder, _: &ThreadRecorder) {}

pub(crate) fn watch() {}

pub(crate) fn unwatch() {}

pub(crate) fn is_forked() -> bool {
    false
}

pub(crate) fn woken(_: &Recorder, _: &'static Buffer) {}

pub(crate) fn interrupted(_: &Recorder, _: &mut ThreadRecorder, _: u64) {}
