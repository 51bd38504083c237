//! The times of one call, and of the poll that it is in.

use std::mem::ManuallyDrop;
use std::num::NonZeroU64;

use crate::recorder::calls::Function;
use crate::recorder::calls::call_stack::{self, Call, Pushed};
use crate::recorder::calls::profile::{End, Profiles, ThreadProfile};
use crate::recorder::chains::table::{UNKNOWN, WaitId};
use crate::recorder::clock;
use crate::recorder::functions::points;
use crate::recorder::hot::{profile, thread_recorder};
use crate::recorder::kept::RecorderId;
use crate::recorder::window::mode::{self, GlobalMode, WindowId};
use crate::sys::tsc;

/// The times of a call up to now. Dropping it ends the call.
#[derive(Debug)]
pub(super) struct CallTimes {
    pub(super) function: &'static Function,
    /// The time of its first poll that was recorded.
    pub(super) entered_ticks: Option<NonZeroU64>,
    /// The recorder that recorded that poll; 0 before it, and once the call has ended.
    recorder_id: RecorderId,
    /// The total time of its polls.
    total_ticks: u64,
    /// The total time of its polls, without the time of other calls in them.
    own_ticks: u64,
    /// The place where it waits, if it is in a task without a probe.
    pub(super) wait: WaitId,
}

impl CallTimes {
    pub(super) fn new(function: &'static Function) -> Self {
        Self {
            function,
            entered_ticks: None,
            recorder_id: 0,
            total_ticks: 0,
            own_ticks: 0,
            wait: UNKNOWN,
        }
    }

    /// Begins a poll. `address` is that of a local variable of it.
    #[inline]
    pub(super) fn enter(&mut self, now: Now, address: usize) -> Activation<'_> {
        let entered_ticks = match self.entered_ticks {
            Some(entered_ticks) => entered_ticks.get(),
            None => self.begin(now.ticks),
        };
        let pushed = call_stack::push(Call { function: self.function, entered_ticks, address });
        Activation { call: self, pushed, from: now }
    }

    /// Adds a poll that ended.
    ///
    /// Never inlined, as each instrumented function would contain it. The fields of [`Pushed`] are passed in
    /// registers.
    #[inline(never)]
    fn leave(&mut self, depth: usize, is_outermost: bool, saved_ticks: u64, ticks: u64) {
        let own_ticks = Pushed { depth, is_outermost, saved_ticks }.pop(ticks);
        self.total_ticks = self.total_ticks.saturating_add(ticks);
        self.own_ticks = self.own_ticks.saturating_add(own_ticks);
        let (function, recorder_id) = (self.function, self.recorder_id);
        if recorder_id == 0 {
            return;
        }
        let is_counted = profile::with_own_of(recorder_id, |profile| {
            profile.poll(function, ticks, own_ticks, is_outermost);
        });
        // A closure of its own, so that the usual one is inlined.
        if !is_counted {
            Profiles::elsewhere(recorder_id, &|profile| {
                profile.poll(function, ticks, own_ticks, is_outermost);
            });
        }
    }

    #[inline(never)]
    fn begin(&mut self, now_ticks: u64) -> u64 {
        let entered_ticks = NonZeroU64::new(now_ticks).unwrap_or(NonZeroU64::MIN);
        self.entered_ticks = Some(entered_ticks);
        let recorder_id = with_profile(|profile, _| {
            profile.begin(self.function);
            profile.recorder_id
        });
        // If there is none, the end is reported to nobody.
        self.recorder_id = recorder_id.unwrap_or(0);
        entered_ticks.get()
    }

    /// Ends the call, at `now_ticks` if anything is recorded then.
    #[inline]
    pub(super) fn end(&mut self, how: End, now_ticks: Option<u64>) {
        points::end(self.function, how);
        if let recorder_id @ 1.. = std::mem::take(&mut self.recorder_id) {
            let entered_ticks = self.entered_ticks.map(NonZeroU64::get);
            let times = now_ticks.zip(entered_ticks).map(|(now_ticks, entered_ticks)| {
                let all_ticks = now_ticks.saturating_sub(entered_ticks);
                [self.total_ticks, self.own_ticks, all_ticks.saturating_sub(self.total_ticks)]
            });
            profile::with_those_of(recorder_id, |profile| profile.end(self.function, how, times));
        }
    }
}

impl Drop for CallTimes {
    fn drop(&mut self) {
        if self.recorder_id != 0 {
            // It may be dropped anywhere.
            let is_recorded = !matches!(mode::global(), GlobalMode::Off | GlobalMode::Full);
            self.end(End::Cancelled, is_recorded.then(clock::ticks));
        }
    }
}

/// A poll of a call; dropping it ends the poll, also while the thread unwinds.
#[derive(Debug)]
pub(super) struct Activation<'a> {
    call: &'a mut CallTimes,
    pushed: Pushed,
    from: Now,
}

/// A moment in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    ticks: u64,
    /// `true` if the clock is known to be the TSC, so that this needn't be asked again.
    is_tsc: bool,
}

impl Now {
    /// Returns the ticks of the same clock at a later time.
    #[inline]
    fn later_ticks(self) -> u64 {
        if self.is_tsc { tsc::ticks() } else { clock::ticks() }
    }
}

impl Activation<'_> {
    #[inline]
    pub(super) fn function(&self) -> &'static Function {
        self.call.function
    }

    /// Returns when the call was first polled.
    #[inline]
    pub(super) fn entered_ticks(&self) -> u64 {
        self.call.entered_ticks.map_or(self.from.ticks, NonZeroU64::get)
    }

    /// Ends the poll. Returns the time, in ticks.
    #[inline]
    pub(super) fn leave(self) -> u64 {
        ManuallyDrop::new(self).leave_now()
    }

    #[inline(always)]
    fn leave_now(&mut self) -> u64 {
        let to_ticks = self.from.later_ticks();
        let Pushed { depth, is_outermost, saved_ticks } = self.pushed;
        let ticks = to_ticks.saturating_sub(self.from.ticks);
        self.call.leave(depth, is_outermost, saved_ticks, ticks);
        to_ticks
    }
}

impl Drop for Activation<'_> {
    #[inline]
    fn drop(&mut self) {
        self.leave_now();
    }
}

/// Calls `f` with the counts of the recorder that records this thread, or did so last, and with its window.
#[inline]
fn with_profile<R>(f: impl FnOnce(&ThreadProfile, WindowId) -> R) -> Option<R> {
    let window = thread_recorder::window();
    profile::with(window, thread_recorder::profile, |profile| f(profile, window))
}

/// Returns the current time, if what this thread polls is recorded.
#[inline]
pub(super) fn now_if_recorded() -> Option<Now> {
    match mode::global() {
        GlobalMode::FastPath(window) => {
            let is_recorded = thread_recorder::window() == window;
            is_recorded.then(|| Now { ticks: tsc::ticks(), is_tsc: true })
        }
        GlobalMode::Off | GlobalMode::Full => None,
        GlobalMode::CheckEach => {
            let is_on = with_profile(|profile, window| profile.is_on(window)).unwrap_or(false);
            is_on.then(|| Now { ticks: clock::ticks(), is_tsc: false })
        }
    }
}
