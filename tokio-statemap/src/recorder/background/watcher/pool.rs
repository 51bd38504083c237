//! What the threads of the blocking pool are in while tasks wait for one of them.
//!
//! They are no workers, so nobody looks at them while they run. If all of them are blocked for good, a capture is the last
//! chance to see in what.

use super::Tools;
use super::blocked::copy_of_blocked;
use crate::recorder::hot::Shared;
use crate::recorder::watch::Sample;
use crate::sys::filter;
use crate::util::sync::lock;
use std::sync::atomic::Ordering;

/// The most threads whose stacks are taken.
const MOST: usize = 32;

/// Takes the stacks of threads that are blocked and no workers, if tasks wait for a thread of the pool. They are kept among the
/// samples of what threads do beside polls, each as one of a poll of that thread that begins just then.
pub(in crate::recorder::background) fn sample_pool(recorder: &Shared) {
    let is_due = recorder.kept.config.stacks && recorder.runtime.has_queue.load(Ordering::Relaxed);
    if !is_due || !filter::allows_all() {
        return;
    }
    let mut tools = Tools::default();
    let mut taken = Vec::new();
    for buffer in recorder.kept.buffers() {
        let thread = buffer.watched.thread();
        if taken.len() == MOST || thread == 0 || buffer.watched.worker().is_some() {
            continue;
        }
        let Some((blocked, Some(stack))) = copy_of_blocked(thread) else { continue };
        let Some(stream) = buffer.read(|stream, _, _| stream) else { continue };
        let (addresses, is_complete) = tools.frames(&stack);
        let ticks = recorder.kept.clock.ticks();
        let blocked = Some(blocked);
        taken.push(Sample { stream, start_ticks: ticks, ticks, blocked, addresses, is_complete });
    }
    let beside = &mut lock(&recorder.samples).beside;
    // Those of an earlier capture.
    beside.retain(|sample| sample.start_ticks != sample.ticks);
    beside.append(&mut taken);
}
