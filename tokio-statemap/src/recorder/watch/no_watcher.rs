//! Where no long poll is watched: without the feature `stacks`, and where the system lacks what it
//! takes.

use std::time::Duration;

use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::recorder::watch::BETWEEN_LOOKS;

/// A thread has no readings.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LastReading {}

/// Nobody needs it.
pub(crate) fn stolen_ns() -> Option<u64> {
    None
}

pub(crate) fn this_thread_has(_: &Recorder, _: &ThreadRecorder) {}

/// It has nothing to look at.
#[derive(Default)]
pub(crate) struct Watcher(());

impl Watcher {
    pub(crate) fn is_idle(&self) -> bool {
        true
    }

    pub(crate) fn rest(&self) -> Option<Duration> {
        None
    }

    /// Waits until full chunks are to be collected, but no longer than `most`, if that is said.
    pub(crate) fn wait_or_look(&mut self, most: Option<Duration>) {
        std::thread::sleep(most.unwrap_or(BETWEEN_LOOKS));
    }

    pub(crate) fn leave_all(self) {}
}

pub(crate) fn woken(_: &Recorder, _: &'static Buffer) {}

pub(crate) fn interrupted(_: &Recorder, _: &mut ThreadRecorder, _: u64) {}
