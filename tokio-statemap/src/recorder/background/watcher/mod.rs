//! The watcher: it looks at threads again and again, and samples the stacks of long polls.
//!
//! A thread's own records tell which poll it is in, and since when. At each look the watcher interrupts the thread's
//! [writer](crate::sys::chunk::Chunk::interrupt): the next record leaves the fast path, adds a
//! [reading](crate::recorder::hot), and has the watcher look at the thread. So the hooks of short polls pay nothing.
//!
//! A thread that did nothing for two looks is left alone until it records anything, and the watcher sleeps while there
//! is no thread to look at.
//!
//! [Listeners](crate::recorder::watch::listeners) are notified of polls that go on for long, on threads of their own.

mod beside;
mod blocked;
mod budget;
#[cfg(test)]
mod captures;
mod cpu;
mod look_times;
mod looked_at;
mod notified;
mod notifier;
mod poll_owner;
mod pool;
mod progress;
mod resting;
mod samples;
mod stalled;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod without_stack;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::{Duration, Instant};

use beside::Beside;
use budget::Budget;
use cpu::CpuSampler;
use look_times::LookTimes;
use looked_at::{Awake, Then, remove_repeated};
use notifier::Notifier;
pub(super) use pool::sample_pool;
use progress::SOON;
use resting::Resting;
#[cfg_attr(not(feature = "html"), allow(unused_imports, reason = "pages ask"))]
pub(super) use stalled::stalled_since;

use crate::recorder::hot::woken;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::NoStack;
use crate::sys::filter;
use crate::util::message::warn;

/// The tools of the watcher, which it makes when it first needs them.
#[derive(Default)]
struct Tools {
    /// Making it takes some milliseconds and megabytes.
    unwinder: Option<Unwinder>,
    /// Has a thread for each listener.
    notifier: Notifier,
    budget: Budget,
    times: LookTimes,
    cpu: CpuSampler,
    beside: Beside,
}

/// The watcher of long polls.
#[derive(Default)]
pub(super) struct Watcher {
    awake: Vec<Awake>,
    resting: Resting,
    /// The place of the next thread to look at: where there are too many for one round, the next round continues there.
    looked_at: usize,
    tools: Tools,
    /// The time at which the next look is due, if it is known, and whether that look is a rare one.
    due: Option<(Instant, bool)>,
}

impl Watcher {
    /// Returns whether there is no thread to look at just now.
    pub(super) fn is_idle(&self) -> bool {
        let is_rest_over = self.rest().is_some_and(|left| left.is_zero());
        self.awake.is_empty() && !is_rest_over && !woken::are_any()
    }

    /// Returns for how long there is no thread to look at unless one wakes up; `None` if for ever.
    pub(super) fn rest(&self) -> Option<Duration> {
        let time = self.resting.time()?;
        // Threads rest until their next sample.
        Some(time.max(self.tools.budget.until_more_samples().unwrap_or_default()))
    }

    /// Waits until the next look is due, but no longer than `most` if given. If it is due, looks at the threads that
    /// are awake: at all of them, or at as many as the budget allows.
    pub(super) fn wait_or_look(&mut self, most: Option<Duration>) {
        let now = Instant::now();
        let (due, is_rare) = self.due.unwrap_or_else(|| {
            let known = self.awake.len();
            self.take_woken();
            // Threads rest in long polls.
            if self.resting.len() > 0 {
                self.tools.times.need_frequent();
            }
            let (between, is_rare) = self.tools.times.next();
            let between = self.tools.budget.between(between);
            // The poll that woke the first of the threads has just begun: where polls are rare, each is seen early.
            (now + if known == 0 { between / 2 } else { between }, is_rare)
        });
        let left = due.saturating_duration_since(now);
        match most {
            Some(most) if most < left => {
                self.due = Some((due, is_rare));
                return std::thread::sleep(most);
            }
            _ => self.due = None,
        }
        std::thread::sleep(left);
        if !filter::allows_all() {
            return self.give_up();
        }
        if is_rare {
            self.take_woken();
            self.note_rare_look();
        }
        self.tools.times.look();
        let most = self.tools.budget.begin(self.awake.len() + self.resting.len());
        // If anything is wrong with the tables of a thread's code, the watcher goes on without its stack.
        if catch_unwind(AssertUnwindSafe(|| self.tools.take_beside())).is_err() {
            self.tools.unwinder = None;
        }
        self.resting.end(Instant::now(), self.tools.budget.more_samples(), &mut self.awake);
        self.look(most);
        self.look_soon(most);
    }

    /// Leaves all threads alone for good: they stay marked as awake, so none is added again.
    fn give_up(&mut self) {
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            warn(format_args!(
                "stack sampling has stopped, so the functions in long polls are no longer known: a seccomp filter is in \
                 force, which may end the program for the system calls of sampling"
            ));
        });
        self.tools.cpu.leave();
        self.tools.beside.leave();
        self.awake.extend(self.resting.take());
        for one in std::mem::take(&mut self.awake) {
            if let Some(recorder) = one.thread.recorder.upgrade() {
                without_stack::count(&recorder, NoStack::Filtered);
            }
        }
    }

    /// Looks at `most` threads, from where the last look ended.
    fn look(&mut self, most: usize) {
        let from = if self.looked_at < self.awake.len() { self.looked_at } else { 0 };
        // If little is left of the budget, the first thread has it: that is another one in each round.
        if from == 0 && self.awake.len() > 1 {
            self.awake.rotate_left(1);
        }
        let (mut at, mut looks) = (from, 0);
        while looks < most && at < self.awake.len() {
            at += usize::from(self.look_at(at));
            looks += 1;
        }
        self.looked_at = at;
        if self.awake.is_empty() {
            self.tools.cpu.leave();
            self.tools.beside.leave();
            self.tools.times.pause();
        }
        self.tools.budget.pay_for(looks);
    }

    /// Looks again at the threads that can't wait until the next round, but at no more than `most`.
    fn look_soon(&mut self, most: usize) {
        if !self.awake.iter().any(Awake::is_due_soon) {
            return;
        }
        std::thread::sleep(SOON);
        self.tools.budget.start_for(self.awake.len());
        let (mut at, mut looks) = (0, 0);
        while looks < most && at < self.awake.len() {
            if self.awake[at].is_due_soon() {
                at += usize::from(self.look_at(at));
                looks += 1;
            } else {
                at += 1;
            }
        }
        self.tools.budget.pay_for(looks);
    }

    /// Looks at a thread. Returns whether it stays; if not, the last thread takes its place.
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

    fn take_woken(&mut self) {
        let known = self.awake.len();
        woken::take_each(&mut |thread| self.awake.push(Awake::new(thread)));
        if self.awake.len() > known {
            self.resting.replace(&mut self.awake[known..]);
            remove_repeated(&mut self.awake);
        }
    }

    /// Notes of each thread that it is looked at later than usual.
    fn note_rare_look(&self) {
        for one in &self.awake {
            if let Some(recorder) = one.thread.recorder.upgrade() {
                without_stack::count(&recorder, NoStack::RareLooks);
            }
        }
    }

    /// Leaves all threads alone. The next thread that looks finds them again.
    pub(super) fn leave_all(mut self) {
        self.take_woken();
        self.awake.extend(self.resting.take());
        for awake in &self.awake {
            awake.thread.let_go();
        }
    }
}
