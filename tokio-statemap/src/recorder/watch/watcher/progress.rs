//! The long poll that a thread is in: its samples, and who is told of it.

use std::time::Duration;

use super::Tools;
use super::runs::Runs;
use super::teller::LongPoll;
use super::told::Told;
use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::look::{Doing, Look};
use crate::recorder::watch::{BlockedIn, LEAST_AGE, MIN_THRESHOLD, Sample};
use crate::sys::threads;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::stack::{self, StackCopy};
use crate::util::sync::lock;

/// The age of a poll at its second sample: then at twice the age, and so on.
const SECOND_AGE: Duration = Duration::from_millis(5);

/// The most samples of one poll.
const MAX_OF_POLL: u32 = 16;

/// How long before a sample a thread's CPU time is asked for: two looks or more.
const AHEAD: Duration = Duration::from_millis(15);

/// The time between two looks that must show that a thread computes.
pub(super) const SOON: Duration = Duration::from_micros(600);

/// How long a thread is on a processor between two looks to count as one that computes.
const RUNS_NS: u64 = 500_000;

/// After how many looks at which a thread waited for a processor listeners are told that this was taken
/// away: until then they may still be told what it does.
const LOOKS_TO_WAIT: u32 = 3;

/// A poll that is sampled.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    start_ticks: u64,
    /// The samples, and what was tried in vain.
    samples: u32,
    /// The age from which on there is another one.
    next_age: Duration,
    /// The thread's CPU time at the last look, if a sample was to be taken soon.
    cpu_ns: Option<u64>,
    runs: Runs,
    /// At how many looks in a row it was ready to run and did not.
    waits: u32,
    told: Told,
}

/// When to look at a thread again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// With all others.
    Usual,
    /// After [`SOON`]: it seems to compute, and two looks must show it.
    Soon,
}

/// What a thread is seen to do.
enum Seen {
    Blocked(BlockedIn, Option<StackCopy>),
    Runs(Option<StackCopy>),
    /// It is ready to run and does not.
    Waits,
    /// It may have run, or lost its processor.
    Unclear,
}

impl Progress {
    /// Samples the poll that is seen in `look`, and has it told, if it is time to.
    pub(super) fn follow(
        &mut self,
        recorder: &Recorder,
        buffer: &'static Buffer,
        look: Look,
        tools: &mut Tools,
    ) -> Next {
        let Doing::Poll { start_ticks, task } = look.doing else {
            *self = Self::default();
            return Next::Usual;
        };
        let thread = buffer.watched.thread();
        if self.start_ticks != start_ticks {
            let next_age = recorder.config.long_poll.clamp(LEAST_AGE, SECOND_AGE);
            let told = std::mem::take(&mut self.told);
            *self = Self { start_ticks, next_age, told, ..Self::default() };
        }
        // The machine may have slept since.
        recorder.take_anchor();
        let ticks = recorder.clock.ticks();
        let age = Duration::from_nanos(recorder.clock.length_ns(start_ticks, ticks));
        let to = recorder.listeners.due(self.told.of(start_ticks), age);
        let may_be_sampled = self.samples < MAX_OF_POLL;
        let is_due = may_be_sampled && age >= self.next_age;
        let before = self.cpu_ns.take();
        // Hundreds of threads may be in long polls: of most of them no more is asked at a look.
        let is_ahead = may_be_sampled && age + AHEAD >= self.next_age;
        if !is_ahead && to.is_empty() && !recorder.listeners.are_there() {
            return Next::Usual;
        }
        self.cpu_ns = threads::cpu_ns_of(thread);
        // One that runs for less was taken off its processor.
        let ran_ns = self.cpu_ns.zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
        let runs = ran_ns >= RUNS_NS;
        if runs {
            self.waits = 0;
        }
        if !is_due && to.is_empty() {
            // Most polls are over before their first sample: what that takes is asked for late.
            if self.samples > 0 || age + age < self.next_age {
                return Next::Usual;
            }
            self.runs.look(proc::blocks(thread));
            return Next::Soon;
        }
        let seen = match proc::state(thread) {
            ThreadState::Blocked => {
                self.waits = 0;
                let wait = || (proc::system_call(thread), proc::blocks(thread));
                let now = wait();
                self.runs.look(now.1);
                let copy = now.0.map(|call| (BlockedIn::of(&call), stack::copy_blocked(&call)));
                // Its registers are of the same wait as its stack.
                if wait() != now || proc::state(thread) != ThreadState::Blocked {
                    return Next::Usual; // it runs again
                }
                // Without the right to see more, that it is blocked is all that is known.
                let (call, stack) = copy.unwrap_or((BlockedIn::UNKNOWN, None));
                Seen::Blocked(call, stack)
            }
            ThreadState::Runnable if before.is_none() => {
                self.runs.look(proc::blocks(thread));
                return Next::Soon;
            }
            // Between two looks it ran, so it isn't one whose call is over, but that has not returned yet.
            ThreadState::Runnable if runs => {
                let is_first = !self.runs.has_looked();
                if !self.runs.may_be_signalled(proc::blocks(thread)) {
                    return if is_first { Next::Soon } else { Next::Usual };
                }
                match stack::copy_running(thread) {
                    Ok(stack) => Seen::Runs(Some(stack)),
                    // What counts as its own time isn't.
                    Err(stack::Unavailable::Stalled) => return Next::Usual,
                    // No stack, but it was seen to compute.
                    Err(stack::Unavailable::SignalBlocked) => Seen::Runs(None),
                    Err(stack::Unavailable::SignalTaken) => {
                        lock(&recorder.samples).signal_taken += u64::from(is_due);
                        Seen::Runs(None)
                    }
                    // It is tried less and less often, as after a sample.
                    Err(stack::Unavailable::NoAnswer) => {
                        if is_due {
                            self.samples += 1;
                            self.next_age = age_after(age);
                        }
                        Seen::Unclear
                    }
                }
            }
            ThreadState::Runnable => {
                self.waits += 1;
                // Others may just have their turn.
                if self.waits < LOOKS_TO_WAIT {
                    return Next::Usual;
                }
                Seen::Waits
            }
            ThreadState::Unknown => return Next::Usual,
        };
        let is_taken_away = matches!(seen, Seen::Waits);
        let seen = match seen {
            Seen::Blocked(call, stack) => Some((stack, Some(call))),
            Seen::Runs(stack) => Some((stack, None)),
            Seen::Waits | Seen::Unclear => None,
        };
        // It may have gone on to something else meanwhile.
        let seen = seen.filter(|_| {
            Look::at(buffer).is_some_and(|now| (now.stream, now.doing) == (look.stream, look.doing))
        });
        let is_sampled = is_due && seen.is_some();
        if is_sampled {
            self.samples += 1;
            self.next_age = age_after(age);
        }
        let sample = seen.map(|(stack, blocked)| {
            let frames = stack.map(|stack| {
                let frames = tools.unwinder.get_or_insert_with(Unwinder::new).frames(&stack);
                (frames.addresses.into(), frames.is_complete)
            });
            let (addresses, is_complete) = frames.unwrap_or_default();
            Sample { stream: look.stream, start_ticks, ticks, blocked, addresses, is_complete }
        });
        if let Some(sample) = sample.as_ref().filter(|_| is_sampled) {
            recorder.add_sample(sample.clone());
        }
        if !to.is_empty() {
            self.told.up_to(start_ticks, age);
        }
        let to: Vec<_> = to.into_iter().filter(|listener| (listener.wants)()).collect();
        if !to.is_empty() {
            let (recorder, stream) = (recorder.this(), look.stream);
            let poll = LongPoll { recorder, stream, task, age, is_taken_away, sample, to };
            tools.teller.tell(poll);
        }
        Next::Usual
    }
}

/// The age of the sample that follows one at `age`: 5, 10, 20, 40 … ms.
fn age_after(age: Duration) -> Duration {
    let mut next = SECOND_AGE;
    while next <= age {
        next = next.saturating_mul(2);
    }
    next
}

const _: () = assert!(SECOND_AGE.as_nanos() <= MIN_THRESHOLD.as_nanos(), "it is told before");

impl BlockedIn {
    /// The program may not look at itself: where it has more rights than who started it, say.
    const UNKNOWN: Self = Self { number: proc::UNKNOWN_CALL, descriptor: None };

    fn of(call: &proc::SystemCall) -> Self {
        let takes_descriptor = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_readv,
            libc::SYS_writev,
            libc::SYS_pread64,
            libc::SYS_pwrite64,
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_connect,
            libc::SYS_accept4,
            libc::SYS_fsync,
            libc::SYS_fdatasync,
            libc::SYS_flock,
        ];
        let has_descriptor = takes_descriptor.contains(&call.number);
        Self {
            number: call.number,
            descriptor: has_descriptor.then(|| proc::descriptor(call.first)).flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_get_rarer() {
        let ages = [1, 4, 5, 9, 10, 37, 40, 41].map(|age| age_after(Duration::from_millis(age)));
        assert_eq!(ages.map(|age| age.as_millis()), [5, 5, 10, 10, 20, 40, 80, 80]);
    }
}
