//! The times of one call, and of the poll that it is in.

use crate::recorder::clock;
use crate::recorder::functions::Function;
use crate::recorder::functions::call_stack::{self, Call, Pushed};
use crate::recorder::functions::points::{self, End};
use crate::recorder::mode::{self, GlobalMode};
use crate::recorder::thread_recorder;
use crate::sys::tsc;

/// What a call took up to now. Dropping it ends the call.
#[derive(Debug)]
pub(super) struct CallTimes {
    pub(super) function: &'static Function,
    /// When it was first polled while that was recorded.
    pub(super) entered_ticks: Option<std::num::NonZeroU64>,
    /// Its polls, in sum.
    total_ticks: u64,
    /// The same without what other calls took in them.
    own_ticks: u64,
    /// Whether it was polled and has not ended.
    is_open: bool,
}

impl CallTimes {
    pub(super) fn new(function: &'static Function) -> Self {
        Self { function, entered_ticks: None, total_ticks: 0, own_ticks: 0, is_open: false }
    }

    /// A poll begins, at `now_ticks`.
    #[inline]
    pub(super) fn enter(&mut self, now_ticks: u64, address: usize) -> Activation<'_> {
        let entered_ticks = self.begin(now_ticks);
        let pushed = call_stack::push(Call { function: self.function, entered_ticks, address });
        Activation { call: self, pushed: Some(pushed), from_ticks: now_ticks }
    }

    /// When the call began: now, if this is its first poll.
    #[inline]
    fn begin(&mut self, now_ticks: u64) -> u64 {
        if let Some(entered_ticks) = self.entered_ticks {
            return entered_ticks.get();
        }
        let now_ticks = std::num::NonZeroU64::new(now_ticks).unwrap_or(std::num::NonZeroU64::MIN);
        self.entered_ticks = Some(now_ticks);
        self.is_open = true;
        now_ticks.get()
    }

    /// The call ended.
    pub(super) fn end(&mut self, how: End) {
        if std::mem::replace(&mut self.is_open, false) {
            points::end(self.function, how);
        }
    }
}

impl Drop for CallTimes {
    fn drop(&mut self) {
        self.end(End::Cancelled);
    }
}

/// A poll of a call; dropping it ends the poll, also while the thread unwinds.
#[derive(Debug)]
pub(super) struct Activation<'a> {
    call: &'a mut CallTimes,
    pushed: Option<Pushed>,
    from_ticks: u64,
}

impl Activation<'_> {
    pub(super) fn function(&self) -> &'static Function {
        self.call.function
    }

    /// When the call was first polled.
    pub(super) fn entered_ticks(&self) -> u64 {
        self.call.entered_ticks.map_or(self.from_ticks, std::num::NonZeroU64::get)
    }
}

impl Drop for Activation<'_> {
    #[inline]
    fn drop(&mut self) {
        let ticks = clock::ticks().saturating_sub(self.from_ticks);
        let own_ticks = self.pushed.take().map_or(0, |pushed| pushed.pop(ticks));
        self.call.total_ticks = self.call.total_ticks.saturating_add(ticks);
        self.call.own_ticks = self.call.own_ticks.saturating_add(own_ticks);
    }
}

/// The current time in ticks, if what this thread polls is recorded.
#[inline]
pub(super) fn now_if_recorded() -> Option<u64> {
    match mode::global() {
        GlobalMode::FastPath(window) => (thread_recorder::window() == window).then(tsc::ticks),
        GlobalMode::Off | GlobalMode::Full => None,
        GlobalMode::CheckEach => (thread_recorder::window() != 0).then(clock::ticks),
    }
}
