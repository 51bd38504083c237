//! The watcher: it looks at threads again and again, and samples the stacks of long polls.

mod budget;
#[cfg(test)]
mod captures;
mod looked_at;
mod progress;
mod reading;
mod resting;
mod samples;
mod teller;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod told;
mod whose;
mod without_stack;
mod woken;

use std::sync::Once;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use budget::Budget;
use looked_at::{Awake, Then, remove_repeated};
use progress::SOON;
pub(crate) use reading::LastReading;
use resting::Resting;
use teller::Teller;

use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::look::Look;
use crate::recorder::watch::{BETWEEN_LOOKS, NoStack};
use crate::recorder::{Recorder, background};
use crate::sys::filter;
use crate::sys::threads;
pub(crate) use crate::sys::threads::proc::stolen_ns;
use crate::util::message::warn;

/// The calling thread has this recorder from now on.
pub(crate) fn this_thread_has(recorder: &Recorder, thread: &ThreadRecorder) {
    // The child of a fork may find the watcher's lock taken for ever.
    if !recorder.config.stacks || background::is_forked() {
        return;
    }
    thread.buffer.watched.set_thread(threads::id());
    let is_new = !thread.buffer.watched.is_counted.swap(true, Ordering::Relaxed);
    woken::make_room(is_new);
    // So that its first record has a reading, too.
    Look::at(thread.buffer);
    // It may still be looked at for the recorder that had the buffer before.
    thread.buffer.watched.is_awake.store(false, Ordering::Release);
    woken(recorder, thread.buffer);
}

/// The calling thread was interrupted: it adds a reading before its record of `ticks`, and is looked
/// at from now on.
pub(crate) fn interrupted(recorder: &Recorder, thread: &mut ThreadRecorder, ticks: u64) {
    recorder.note_usage(thread, ticks);
    woken(recorder, thread.buffer);
}

/// The thread of `buffer` is looked at from now on. Called by itself.
pub(crate) fn woken(recorder: &Recorder, buffer: &'static Buffer) {
    if recorder.config.stacks {
        woken::add(recorder, buffer);
    }
}

/// What the watcher makes when it first needs it.
#[derive(Default)]
struct Tools {
    /// Takes some milliseconds and megabytes.
    unwinder: Option<Unwinder>,
    /// Has a thread.
    teller: Teller,
    budget: Budget,
}

/// What looks at threads.
#[derive(Default)]
pub(crate) struct Watcher {
    awake: Vec<Awake>,
    resting: Resting,
    /// How many of them were looked at since the first was: where there are too many for one look, the next goes on there.
    looked_at: usize,
    tools: Tools,
    times: LookTimes,
    /// When the next look is due, if it is known.
    due: Option<Instant>,
}

impl Watcher {
    /// Whether there is no thread to look at just now.
    pub(crate) fn is_idle(&self) -> bool {
        let is_rest_over = self.rest().is_some_and(|left| left.is_zero());
        self.awake.is_empty() && !is_rest_over && !woken::are_any()
    }

    /// How long there will be none, if none wakes up; `None` if that is for ever.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let time = self.resting.time()?;
        // What they rest for is a sample.
        Some(time.max(self.tools.budget.until_more_samples().unwrap_or_default()))
    }

    /// Waits until the next look is due, but no longer than `most`, if that is said. Looks at the threads that are awake, if
    /// it is due: at each, or at as many as the budget allows.
    pub(crate) fn wait_or_look(&mut self, most: Option<Duration>) {
        let now = Instant::now();
        let due = self.due.unwrap_or_else(|| {
            let known = self.awake.len();
            if woken::take(&mut self.awake) {
                self.resting.replace(&mut self.awake[known..]);
                remove_repeated(&mut self.awake);
            }
            let between = self.tools.budget.between(self.times.next());
            // The poll that woke the first of them has just begun: where polls are rare, each is seen early.
            now + if known == 0 { between / 2 } else { between }
        });
        let left = due.saturating_duration_since(now);
        if let Some(most) = most.filter(|&most| most < left) {
            self.due = Some(due);
            return std::thread::sleep(most);
        }
        self.due = None;
        std::thread::sleep(left);
        if !filter::allows_all() {
            return self.give_up();
        }
        let most = self.tools.budget.begin(self.awake.len() + self.resting.len());
        self.resting.end(Instant::now(), self.tools.budget.more_samples(), &mut self.awake);
        self.look(most);
        self.look_soon(most);
    }

    /// Leaves all alone for good: they count as those that are looked at.
    fn give_up(&mut self) {
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            warn(format_args!(
                "no more stacks are taken, and why polls take long isn't known: a seccomp filter is in force, which may end \
                 the program for system calls that it doesn't make by itself"
            ));
        });
        self.awake.extend(self.resting.take());
        for recorder in self.awake.drain(..).filter_map(|one| one.recorder.upgrade()) {
            recorder.count_no_stack(NoStack::Filtered);
        }
    }

    /// Looks at `most` threads, from where the last look ended.
    fn look(&mut self, most: usize) {
        let from = if self.looked_at < self.awake.len() { self.looked_at } else { 0 };
        let (mut at, mut looks) = (from, 0);
        while looks < most && at < self.awake.len() {
            at += usize::from(self.look_at(at));
            looks += 1;
        }
        self.looked_at = at;
        self.tools.budget.pay_for(looks);
    }

    /// Looks again at those that can't wait until the next round, but at no more than `most`.
    fn look_soon(&mut self, most: usize) {
        if !self.awake.iter().any(Awake::is_due_soon) {
            return;
        }
        std::thread::sleep(SOON);
        self.tools.budget.start_for(self.awake.len());
        let (mut at, mut looks) = (0, 0);
        while let Some(thread) = self.awake.get(at).filter(|_| looks < most) {
            if thread.is_due_soon() {
                at += usize::from(self.look_at(at));
                looks += 1;
            } else {
                at += 1;
            }
        }
        self.tools.budget.pay_for(looks);
    }

    /// Looks at a thread. Returns whether it stays; if not, the last of them has its place.
    fn look_at(&mut self, at: usize) -> bool {
        let then = self.awake[at].look(&mut self.tools);
        if then == Then::Stay {
            return true;
        }
        let thread = self.awake.swap_remove(at);
        if let Then::Rest(time) = then {
            self.resting.add(thread, Instant::now() + time);
        }
        false
    }

    /// Leaves all alone. The next thread that looks finds them again.
    pub(crate) fn leave_all(mut self) {
        woken::take(&mut self.awake);
        self.awake.extend(self.resting.take());
        self.awake.iter().for_each(Awake::let_go);
    }
}

/// The times between looks. They differ, so that a program that does something again and again has no polls
/// that always fall between two looks.
#[derive(Debug, Default)]
struct LookTimes(u32);

impl LookTimes {
    /// The multiples of the golden ratio are spread evenly between whole numbers, however many there are.
    const GOLDEN: u32 = 0x9E37_79B9;

    fn next(&mut self) -> Duration {
        self.0 = self.0.wrapping_add(Self::GOLDEN);
        let part = f64::from(self.0) / f64::from(u32::MAX);
        BETWEEN_LOOKS.mul_f64(0.5 + part)
    }
}
