//! Threads in long polls whose next sample is some time away. Until then, or until they record anything, nobody looks at
//! them: a poll of ten seconds is looked at a dozen times.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

use super::looked_at::{Awake, AwakeId};

/// Threads that are left alone for some time.
#[derive(Default)]
pub(super) struct Resting {
    threads: HashMap<AwakeId, Awake>,
    /// Until when. Those that were taken are still here until then.
    ends: BinaryHeap<Reverse<(Instant, AwakeId)>>,
}

impl Resting {
    pub(super) fn add(&mut self, thread: Awake, until: Instant) {
        let id = thread.id();
        self.threads.insert(id, thread);
        self.ends.push(Reverse((until, id)));
    }

    /// How long the next of them rests; `None` if there are none.
    pub(super) fn time(&self) -> Option<Duration> {
        let Reverse((until, _)) = self.ends.peek()?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Moves those whose rest is over to `awake`, but no more than `most`.
    pub(super) fn end(&mut self, now: Instant, mut most: usize, awake: &mut Vec<Awake>) {
        while let Some(&Reverse((until, id))) = self.ends.peek() {
            if until > now || most == 0 {
                return;
            }
            self.ends.pop();
            if let Some(thread) = self.threads.remove(&id) {
                thread.wake();
                awake.push(thread);
                most -= 1;
            }
        }
    }

    /// Replaces those of `awake` that rested: what is known of their polls is known here.
    pub(super) fn replace(&mut self, awake: &mut [Awake]) {
        if self.threads.is_empty() {
            return;
        }
        for thread in awake {
            if let Some(rested) = self.threads.remove(&thread.id()) {
                *thread = rested;
            }
        }
    }

    /// Takes all.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Awake> {
        self.ends.clear();
        std::mem::take(&mut self.threads).into_values()
    }
}
