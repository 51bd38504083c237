//! Samples other threads while a poll waits for a lock. One of them may hold it, and it need not be a worker.

use std::sync::Weak;

use super::Tools;
use super::blocked::copy_of_blocked;
use crate::recorder::clock;
use crate::recorder::hot::Shared;
use crate::recorder::locks::lock;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::look::{Doing, Look};
use crate::recorder::watch::{BlockedIn, Sample};
use crate::sys::threads;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::threads::stack::{Answer, Request, RunningStack, StackCopy};

/// The most samples that are kept of what threads did beside a poll.
const MOST: usize = 1024;

/// The most samples of one poll beside which others are looked at.
pub(super) const MOST_OF_POLL: u32 = 6;

/// The most threads whose states are read at once, and the most of these whose stacks are.
const MOST_STATES: usize = 128;
const MOST_STACKS: usize = 4;

/// The most threads that are asked for their stacks at a time. More may not be asked at once, and others need that, too.
const MOST_ASKED: usize = 2;

/// The number of rounds for which a thread that was asked for its stack may have its turn.
const ROUNDS: u32 = 6;

/// System calls of threads that are idle, or that wait for a lock as well.
const IDLE: &[i64] = &[
    libc::SYS_futex,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_io_uring_enter,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_select,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_pause,
];

/// The threads that were asked for their stacks while polls wait for locks.
#[derive(Debug, Default)]
pub(super) struct Beside {
    asked: Vec<Asked>,
    /// The number of the thread at which the next look begins.
    from: usize,
}

#[derive(Debug)]
struct Asked {
    recorder: Weak<Shared>,
    /// The buffer of the thread that waits, and the sample that shows it.
    buffer: &'static Buffer,
    waits: Sample,
    request: Request,
    rounds: u32,
}

impl Beside {
    /// Leaves the threads alone.
    pub(super) fn leave(&mut self) {
        self.asked.clear();
    }

    /// Returns whether threads were asked that may still answer.
    pub(super) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }
}

impl Tools {
    /// Looks at the other threads of the process while the thread of `buffer` waits for a lock, as the sample `waits` shows.
    pub(super) fn look_beside(
        &mut self,
        recorder: &Shared,
        buffer: &'static Buffer,
        waits: &Sample,
    ) {
        let (own, waiter) = (threads::id(), buffer.watched.thread());
        let mut ids = proc::threads();
        ids.retain(|id| ![own, waiter].contains(id));
        // Where there are too many, the next look begins at others.
        if ids.len() > MOST_STATES {
            self.beside.from = self.beside.from.wrapping_add(MOST_STATES) % ids.len();
            ids.rotate_left(self.beside.from);
            ids.truncate(MOST_STATES);
        }
        let mut blocked = Vec::new();
        for id in ids {
            match proc::state(id) {
                ThreadState::Runnable if self.beside.asked.len() < MOST_ASKED => {
                    if let Ok(request) = Request::new(id, clock::ticks) {
                        let recorder = recorder.this();
                        let waits = Sample { addresses: Box::default(), ..waits.clone() };
                        self.beside.asked.push(Asked {
                            recorder,
                            buffer,
                            waits,
                            request,
                            rounds: 0,
                        });
                    }
                }
                ThreadState::Blocked => blocked.push(id),
                ThreadState::Runnable | ThreadState::Unknown => {}
            }
        }
        let mut stacks = 0;
        for id in blocked {
            let is_idle = |call: proc::SystemCall| IDLE.contains(&call.number);
            if stacks == MOST_STACKS || proc::system_call(id).is_none_or(is_idle) {
                continue;
            }
            if let Some((blocked, Some(stack))) = copy_of_blocked(id) {
                let ticks = recorder.kept.clock.ticks();
                self.add_beside(recorder, waits, ticks, Some(blocked), &stack);
                stacks += 1;
            }
        }
    }

    /// Takes the stacks of threads that were asked for them, if the poll still went on when they were copied.
    pub(super) fn take_beside(&mut self) {
        let mut left = Vec::new();
        for mut asked in std::mem::take(&mut self.beside.asked) {
            let Some(recorder) = asked.recorder.upgrade() else { continue };
            match asked.request.answer() {
                Answer::NotYet if asked.rounds < ROUNDS => {
                    asked.rounds += 1;
                    left.push(asked);
                }
                Answer::NotYet | Answer::Late => {}
                Answer::Copied(RunningStack { stack, time }) => {
                    let look = Look::before(asked.buffer, time);
                    let is_it = look.is_some_and(|look| {
                        look.stream == asked.waits.stream
                            && matches!(look.doing, Doing::Poll { start_ticks, .. } if start_ticks == asked.waits.start_ticks)
                    });
                    if is_it {
                        self.add_beside(&recorder, &asked.waits, time, None, &stack);
                    }
                }
            }
        }
        self.beside.asked = left;
    }

    fn add_beside(
        &mut self,
        recorder: &Shared,
        waits: &Sample,
        ticks: u64,
        blocked: Option<BlockedIn>,
        stack: &StackCopy,
    ) {
        self.budget.start();
        let (addresses, is_complete) = self.frames(stack);
        let is_dropped = recorder.kept.is_dropped();
        let beside = &mut lock(&recorder.watch.samples).beside;
        if beside.len() == MOST {
            beside.retain(|sample| !is_dropped(sample.ticks));
        }
        if beside.len() < MOST {
            let Sample { stream, start_ticks, .. } = *waits;
            beside.push(Sample { stream, start_ticks, ticks, blocked, addresses, is_complete });
        }
    }
}
