//! Samples of the stacks of long polls.

use std::time::Duration;

use super::unwind::Unwinder;
use super::{Doing, Look};
use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::watch::{BlockedIn, Sample};
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::{self, stack};
use crate::util::sync::lock;

/// From which age of a poll on its stack is sampled: then at twice the age, and so on.
const FIRST_AGE: Duration = Duration::from_millis(5);

/// The most samples of one poll.
const MAX_OF_POLL: u32 = 16;

/// A poll that is sampled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    start_ticks: u64,
    samples: u32,
    /// The thread's CPU time when it was last looked at.
    cpu_ns: Option<u64>,
}

impl Progress {
    /// Samples the poll that is seen in `look`, if it is time to.
    pub(super) fn follow(
        &mut self,
        recorder: &Recorder,
        buffer: &'static Buffer,
        look: Look,
        unwinder: &mut Option<Unwinder>,
    ) {
        let Doing::Poll { start_ticks, .. } = look.doing else {
            *self = Self::default();
            return;
        };
        let thread = buffer.watched.thread();
        let cpu_ns = threads::cpu_ns_of(thread);
        if self.start_ticks != start_ticks {
            *self = Self { start_ticks, samples: 0, cpu_ns };
        }
        let runs = self.cpu_ns.is_some() && cpu_ns > self.cpu_ns;
        self.cpu_ns = cpu_ns;
        let ticks = recorder.clock.ticks();
        let age_ns = recorder.clock.ns_between(start_ticks, ticks);
        let due = FIRST_AGE.saturating_mul(1 << self.samples.min(MAX_OF_POLL));
        if self.samples == MAX_OF_POLL || Duration::from_nanos(age_ns) < due {
            return;
        }
        let (stack, blocked) = match proc::state(thread) {
            ThreadState::Blocked => match proc::system_call(thread) {
                Some(call) => (stack::copy_blocked(&call), Some(BlockedIn::of(&call))),
                None => return, // it runs again
            },
            // Between two looks it ran, so it isn't one that is about to block again and again.
            ThreadState::Runnable if runs => match stack::copy_running(thread) {
                Ok(stack) => (Some(stack), None),
                Err(stack::Unavailable::SignalTaken) => {
                    lock(&recorder.samples).signal_taken += 1;
                    return;
                }
                Err(stack::Unavailable::NoAnswer) => return,
            },
            ThreadState::Runnable | ThreadState::Unknown => return,
        };
        // It may have gone on to something else meanwhile.
        let Some(stack) = stack.filter(|_| {
            Look::at(buffer).is_some_and(|now| (now.stream, now.doing) == (look.stream, look.doing))
        }) else {
            return;
        };
        self.samples += 1;
        let frames = unwinder.get_or_insert_with(Unwinder::new).frames(&stack);
        lock(&recorder.samples).add(Sample {
            stream: look.stream,
            start_ticks,
            ticks,
            blocked,
            addresses: frames.addresses.into(),
            is_complete: frames.is_complete,
        });
    }
}

impl BlockedIn {
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
