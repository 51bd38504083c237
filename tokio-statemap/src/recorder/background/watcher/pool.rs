//! Samples the threads of the blocking pool while tasks wait for one of them.
//!
//! They are no workers, so nobody looks at them while they run. If all of them are blocked for good, a snapshot is the
//! last chance to see where.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use super::Tools;
use super::blocked::copy_of_blocked;
use crate::recorder::hot::Shared;
use crate::recorder::store::look::{Doing, Look};
use crate::recorder::watch::Sample;
use crate::sys::threads::proc::{self, ThreadState};
use crate::sys::{filter, threads};

/// The most threads that are looked at, and the most of these whose stacks are taken.
const MOST_LOOKED_AT: usize = 256;
const MOST_STACKS: usize = 32;

/// Returns samples of the threads that are no workers and poll nothing, if tasks wait for a thread of the pool. Each is as one of
/// a poll of that thread that begins at `end`, the end of what is recorded. A thread that runs has no functions.
pub(in crate::recorder::background) fn sample_pool(recorder: &Shared, end: u64) -> Vec<Sample> {
    let is_due = recorder.kept.config.stacks && recorder.runtime.has_queue.load(Ordering::Relaxed);
    if !is_due || !filter::allows_all() {
        return Vec::new();
    }
    // As elsewhere: the tables of a thread's code may be wrong.
    catch_unwind(AssertUnwindSafe(|| sample_all(recorder, end))).unwrap_or_default()
}

fn sample_all(recorder: &Shared, end: u64) -> Vec<Sample> {
    let (mut tools, own, now) = (Tools::default(), threads::id(), recorder.kept.clock.ticks());
    let (mut samples, mut stacks) = (Vec::new(), 0);
    for buffer in recorder.kept.buffers.all().into_iter().take(MOST_LOOKED_AT) {
        let thread = buffer.watched.thread();
        if thread == 0 || thread == own || buffer.watched.worker().is_some() {
            continue;
        }
        let Some(Look { stream, doing: Doing::Other, .. }) = Look::before(buffer, now) else {
            continue;
        };
        let (blocked, addresses, is_complete) = match proc::state(thread) {
            ThreadState::Runnable => (None, Box::default(), false),
            ThreadState::Blocked if stacks < MOST_STACKS => {
                let Some((blocked, Some(stack))) = copy_of_blocked(thread) else { continue };
                stacks += 1;
                let (addresses, is_complete) = tools.frames(&stack);
                (Some(blocked), addresses, is_complete)
            }
            ThreadState::Blocked | ThreadState::Unknown => continue,
        };
        let (start_ticks, ticks) = (end, end);
        samples.push(Sample { stream, start_ticks, ticks, blocked, addresses, is_complete });
    }
    samples
}
