//! The long poll that a thread is in: its samples, and the listeners notified of it.

use std::sync::Arc;
use std::time::Duration;

use super::blocked::copy_of_blocked;
use super::notified::Notified;
use super::notifier::LongPoll;
use super::{Tools, beside, samples, without_stack};
use crate::recorder::clock;
use crate::recorder::hot::Shared;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::look::{Doing, Look};
use crate::recorder::store::segment::StreamId;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::listeners::Listener;
use crate::recorder::watch::{BlockedIn, LEAST_AGE, MIN_THRESHOLD, Sample};
use crate::sys::threads;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::stack::{Answer, Request, RunningStack, StackCopy, Unavailable};

/// The age of a poll at its second sample. Each further sample is at twice the age.
const SECOND_AGE: Duration = Duration::from_millis(5);

/// The most samples of one poll.
const MAX_OF_POLL: u32 = 16;

/// The CPU time of a thread is read from this long before a sample on: two looks or more.
const AHEAD: Duration = Duration::from_millis(15);

/// Longer than most polls. A thread that records anything is looked at earlier.
const FOREVER: Duration = Duration::from_secs(3600);

/// The time until a second look at a poll that is about to be long.
pub(super) const SOON: Duration = Duration::from_micros(600);

/// A thread that was on a processor for this long between two looks counts as computing.
const RUNS_NS: u64 = 500_000;

/// The number of looks for which listeners wait for the stack of a thread that is asked for it. After as many at which
/// it was on no processor, they are notified that the processor was taken away.
const LOOKS_TO_WAIT: u32 = 3;

/// A poll that is sampled.
#[derive(Debug, Default)]
pub(super) struct Progress {
    start_ticks: u64,
    samples: u32,
    /// The age from which on the next sample is due.
    next_age: Duration,
    /// The thread's CPU time at the last look, if a sample was to be taken soon.
    cpu_ns: Option<u64>,
    /// The request to the thread to copy its stack, for this poll or one before it.
    request: Option<Request>,
    /// `true` if the cost of the next sample is granted.
    is_granted: bool,
    /// The number of looks in a row at which listeners waited for the answer.
    looks: u32,
    /// The number of those looks at which the thread was ready to run but did not.
    waits: u32,
    notified: Notified,
}

/// The time of the next look at a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// In the next round.
    Usual,
    /// After [`SOON`].
    Soon,
    /// After this time: there is nothing to be done before.
    Later(Duration),
}

/// The activity of a thread, as the watcher sees it.
enum Seen {
    Blocked(BlockedIn, Option<StackCopy>),
    /// It runs, and its stack can't be read.
    Runs(Unavailable),
    /// It is ready to run but doesn't run.
    Waits,
    /// It may have run, or lost its processor.
    Unclear,
}

impl Progress {
    /// Samples the poll that is seen in `look`, and notifies its listeners, each if that is due.
    pub(super) fn follow(
        &mut self,
        recorder: &Shared,
        buffer: &'static Buffer,
        look: Look,
        tools: &mut Tools,
    ) -> Next {
        // The machine may have slept since.
        recorder.kept.take_anchor();
        let copied = self.take_copied(recorder, buffer, look.stream, tools);
        if let Some(copied) = &copied {
            samples::add(recorder, copied.clone());
            tools.times.need_frequent();
            without_stack::note(recorder, copied, tools.unwinder.as_ref());
        }
        let Doing::Poll { start_ticks, task } = look.doing else {
            *self = Self::default();
            return Next::Usual;
        };
        let thread = buffer.watched.thread();
        if self.start_ticks != start_ticks {
            let next_age = first_age(recorder);
            let (notified, request) = (std::mem::take(&mut self.notified), self.request.take());
            *self = Self { start_ticks, next_age, notified, request, ..Self::default() };
        }
        let copied = copied.filter(|copied| copied.start_ticks == start_ticks);
        let age_at =
            |ticks| Duration::from_nanos(recorder.kept.clock.length_ns(start_ticks, ticks));
        if let Some(copied) = &copied {
            self.is_sampled(age_at(copied.ticks));
        }
        let ticks = recorder.kept.clock.ticks();
        let age = age_at(ticks);
        let to = recorder.watch.listeners.due(self.notified.up_to(start_ticks), age);
        let may_be_sampled = self.samples < MAX_OF_POLL;
        let is_affordable = self.is_granted || tools.budget.allows_sample(self.samples);
        let is_due = may_be_sampled && age >= self.next_age && is_affordable;
        let before = self.cpu_ns.take();
        // Hundreds of threads may be in long polls: a look at most of them asks no more than this.
        let is_ahead = may_be_sampled && age + AHEAD >= self.next_age;
        if !(is_ahead && is_affordable) && to.is_empty() && !recorder.watch.listeners.are_there() {
            if self.samples == 0 {
                return Next::Usual;
            }
            // Other threads may be asked instead.
            self.request = None;
            if tools.beside.is_asked() {
                return Next::Usual;
            }
            let time = self.next_age.saturating_sub(age + AHEAD);
            let owed = tools.budget.until_more_samples().unwrap_or_default();
            return Next::Later(if may_be_sampled { time.max(owed) } else { FOREVER });
        }
        self.cpu_ns = threads::cpu_ns_of(thread);
        // A thread that ran for less was taken off its processor.
        let ran_ns = self.cpu_ns.zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
        let runs = ran_ns >= RUNS_NS;
        if runs {
            self.waits = 0;
        }
        if !is_due && to.is_empty() {
            // Most polls are over before their first sample, so what a sample takes is asked for late.
            if self.samples > 0 || age + age < self.next_age {
                return Next::Usual;
            }
            // The next tick may be some ms away, when a poll of a few ms is over: so the thread is asked now.
            if proc::state(thread) == ThreadState::Runnable {
                self.grant(tools);
                let _ = self.ask(thread);
            }
            // By the next rare look, the records that tell which poll the answer is of may be in another chunk.
            tools.times.need_soon();
            return Next::Soon;
        }
        if let Some(copied) = copied {
            self.notify(recorder, (look, task, age), (Some(copied), false), to, tools);
            return Next::Usual;
        }
        self.grant(tools);
        let seen = match proc::state(thread) {
            ThreadState::Blocked => self.blocked(thread).ok_or(Next::Usual),
            ThreadState::Runnable => {
                let seen = self.runnable(thread, before.map(|_| runs));
                // Without listeners, the others are of no use.
                seen.and_then(|seen| match seen {
                    Seen::Waits | Seen::Unclear if to.is_empty() => Err(Next::Usual),
                    seen => Ok(seen),
                })
            }
            ThreadState::Unknown => {
                if is_due {
                    without_stack::note_no_state(recorder);
                    self.is_sampled(age);
                }
                Err(Next::Usual)
            }
        };
        let seen = match seen {
            Ok(seen) => seen,
            Err(next) => return next,
        };
        let is_taken_away = matches!(seen, Seen::Waits);
        let (seen, refused) = match seen {
            Seen::Blocked(call, stack) => (Some((stack, Some(call))), None),
            Seen::Runs(why) => (Some((None, None)), Some(why)),
            Seen::Waits | Seen::Unclear => (None, None),
        };
        // The thread may have gone on to something else meanwhile.
        let seen = seen.filter(|_| {
            Look::at(buffer).is_some_and(|now| (now.stream, now.doing) == (look.stream, look.doing))
        });
        let sample = seen.map(|(stack, blocked)| {
            let (addresses, is_complete) =
                stack.map(|stack| tools.frames(&stack)).unwrap_or_default();
            Sample { stream: look.stream, start_ticks, ticks, blocked, addresses, is_complete }
        });
        // Listeners are told of a poll's first sample. It is kept beyond the budget, so that the report has it, too.
        if let (Some(sample), true) = (&sample, is_due || self.samples == 0) {
            self.is_sampled(age);
            samples::add(recorder, sample.clone());
            tools.times.need_frequent();
            match refused {
                Some(why) => without_stack::note_refusal(recorder, why, thread),
                None => without_stack::note(recorder, sample, tools.unwinder.as_ref()),
            }
            let waits_for_lock = sample.blocked.as_ref().is_some_and(BlockedIn::is_lock);
            if waits_for_lock && self.samples <= beside::MOST_OF_POLL {
                tools.look_beside(recorder, buffer, sample);
            }
        }
        self.notify(recorder, (look, task, age), (sample, is_taken_away), to, tools);
        Next::Usual
    }

    /// Returns the sample that the thread was asked for, once it has copied its stack: a sample of whatever long poll
    /// it was in then.
    fn take_copied(
        &mut self,
        recorder: &Shared,
        buffer: &Buffer,
        stream: StreamId,
        tools: &mut Tools,
    ) -> Option<Sample> {
        let answer = self.request.as_ref()?.answer();
        if matches!(answer, Answer::NotYet) {
            return None;
        }
        self.request = None;
        let Answer::Copied(RunningStack { stack, time: ticks }) = answer else { return None };
        let look = Look::before(buffer, ticks)?.since(recorder.kept.recording_since());
        let Doing::Poll { start_ticks, .. } = look.doing else { return None };
        let age = Duration::from_nanos(recorder.kept.clock.length_ns(start_ticks, ticks));
        if look.stream != stream || age < first_age(recorder) {
            return None;
        }
        tools.budget.start();
        let (addresses, is_complete) = tools.frames(&stack);
        Some(Sample { stream, start_ticks, ticks, blocked: None, addresses, is_complete })
    }

    /// Grants the poll its next sample.
    fn grant(&mut self, tools: &mut Tools) {
        if !std::mem::replace(&mut self.is_granted, true) {
            tools.budget.takes_sample(self.samples);
        }
    }

    /// Counts a sample of the poll at `age`.
    fn is_sampled(&mut self, age: Duration) {
        self.samples += 1;
        self.next_age = age_after(age);
        self.is_granted = false;
    }

    /// Asks the thread to copy its stack, if it isn't asked yet.
    fn ask(&mut self, thread: i32) -> Result<(), Unavailable> {
        if self.request.is_none() {
            self.request = Some(Request::new(thread, clock::ticks)?);
        }
        Ok(())
    }

    /// Returns what a thread that is blocked waits in; `None` if it runs again.
    fn blocked(&mut self, thread: i32) -> Option<Seen> {
        (self.looks, self.waits) = (0, 0);
        copy_of_blocked(thread).map(|(call, stack)| Seen::Blocked(call, stack))
    }

    /// Returns what a thread that isn't blocked does, or when to look again if that isn't known yet. `ran` is known
    /// from the second look on.
    fn runnable(&mut self, thread: i32, ran: Option<bool>) -> Result<Seen, Next> {
        let asked = self.ask(thread);
        let Some(ran) = ran else { return Err(Next::Soon) };
        self.looks += 1;
        self.waits += u32::from(!ran);
        match asked {
            Err(Unavailable::Busy) => return Err(Next::Usual),
            // There is no stack, but it was seen to compute.
            Err(why) if ran => return Ok(Seen::Runs(why)),
            Ok(()) | Err(_) => {}
        }
        // Other threads may just have their turn.
        match self.looks {
            ..LOOKS_TO_WAIT => Err(Next::Usual),
            _ if self.waits < LOOKS_TO_WAIT => Ok(Seen::Unclear),
            _ => Ok(Seen::Waits),
        }
    }

    /// Notifies the listeners `to` of the poll, which has this age now.
    fn notify(
        &mut self,
        recorder: &Shared,
        (look, task, age): (Look, u64, Duration),
        (sample, is_taken_away): (Option<Sample>, bool),
        mut to: Vec<Arc<Listener>>,
        tools: &mut Tools,
    ) {
        if to.is_empty() {
            return;
        }
        (self.looks, self.waits) = (0, 0);
        self.notified.set(self.start_ticks, age);
        to.retain(|listener| (listener.wants)());
        if !to.is_empty() {
            let (recorder, stream) = (recorder.this(), look.stream);
            tools.notifier.send(LongPoll {
                recorder,
                stream,
                task,
                age,
                is_taken_away,
                sample,
                to,
            });
        }
    }
}

impl Tools {
    /// Returns the functions of a stack, and whether they are complete.
    pub(super) fn frames(&mut self, stack: &StackCopy) -> (Box<[u64]>, bool) {
        let Self { unwinder, budget, .. } = self;
        let unwinder = unwinder.get_or_insert_with(|| {
            // The cost of making it, once, isn't charged to the budget.
            budget.pay();
            let new = Unwinder::new();
            budget.start();
            new
        });
        let frames = unwinder.frames(stack);
        (frames.addresses.into(), frames.is_complete)
    }
}

/// Returns the age from which on a poll is sampled.
fn first_age(recorder: &Shared) -> Duration {
    recorder.kept.config.long_poll.clamp(LEAST_AGE, SECOND_AGE)
}

/// Returns the age of the sample that follows one at `age`: 5, 10, 20, 40 … ms.
fn age_after(age: Duration) -> Duration {
    let mut next = SECOND_AGE;
    while next <= age {
        next = next.saturating_mul(2);
    }
    next
}

const _: () = assert!(SECOND_AGE.as_nanos() <= MIN_THRESHOLD.as_nanos(), "it is told before");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_get_rarer() {
        let ages = [1, 4, 5, 9, 10, 37, 40, 41].map(|age| age_after(Duration::from_millis(age)));
        assert_eq!(ages.map(|age| age.as_millis()), [5, 5, 10, 10, 20, 40, 80, 80]);
    }
}
