//! Threads in long polls whose next sample is some time away. They aren't looked at until then, unless they record
//! anything: a poll of ten seconds is looked at a dozen times.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

use super::looked_at::{Awake, AwakeId};

/// Threads that are left alone for some time.
#[derive(Default)]
pub(super) struct Resting {
    threads: HashMap<AwakeId, (Instant, Awake)>,
    /// The ends of rests. Rests that ended early are here, too, until they are [removed](Self::remove_old).
    ends: BinaryHeap<Reverse<(Instant, AwakeId)>>,
}

impl Resting {
    pub(super) fn add(&mut self, thread: Awake, until: Instant) {
        let id = thread.id();
        self.threads.insert(id, (until, thread));
        self.ends.push(Reverse((until, id)));
        if self.ends.len() > 2 * self.threads.len() + 64 {
            let threads = &self.threads;
            self.ends.retain(|&Reverse((until, id))| goes_on(threads, until, id));
        }
        self.remove_old();
    }

    /// Removes the first ends if they are of rests that ended early, so that the first one left is of a rest that goes
    /// on.
    fn remove_old(&mut self) {
        while let Some(&Reverse((until, id))) = self.ends.peek() {
            if goes_on(&self.threads, until, id) {
                return;
            }
            self.ends.pop();
        }
    }

    /// Returns how long the next thread rests; `None` if there is none.
    pub(super) fn time(&self) -> Option<Duration> {
        let Reverse((until, _)) = self.ends.peek()?;
        Some(until.saturating_duration_since(Instant::now()))
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Moves threads whose rest is over to `awake`, but no more than `most`.
    pub(super) fn end(&mut self, now: Instant, mut most: usize, awake: &mut Vec<Awake>) {
        while let Some(&Reverse((until, id))) = self.ends.peek() {
            if until > now || most == 0 {
                return;
            }
            let thread = self.threads.remove(&id).map(|(_, thread)| thread);
            self.remove_old();
            // If its recorder is gone, the buffer may be another recorder's.
            if let Some(thread) = thread.filter(|thread| thread.thread.recorder.strong_count() > 0)
            {
                thread.wake();
                awake.push(thread);
                most -= 1;
            }
        }
    }

    /// Replaces the threads in `awake` that rested by their entries here, which know their polls.
    pub(super) fn replace(&mut self, awake: &mut [Awake]) {
        if self.threads.is_empty() {
            return;
        }
        for thread in awake {
            if let Some((_, rested)) = self.threads.remove(&thread.id()) {
                *thread = rested;
            }
        }
        self.remove_old();
    }

    /// Takes all threads.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Awake> {
        self.ends.clear();
        std::mem::take(&mut self.threads).into_values().map(|(_, thread)| thread)
    }
}

fn goes_on(threads: &HashMap<AwakeId, (Instant, Awake)>, until: Instant, id: AwakeId) -> bool {
    threads.get(&id).is_some_and(|&(end, _)| end == until)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::recorder::Recorder;
    use crate::recorder::hot::woken::WokenThread;
    use crate::recorder::store::buffer::Buffer;

    #[test]
    fn a_thread_that_rests_again_and_again_is_here_once() {
        let recorder = Recorder::new(CollectorConfig::default());
        let buffer: &'static Buffer = Box::leak(Box::new(Buffer::unassigned()));
        let new =
            |recorder: &Recorder| Awake::new(WokenThread { recorder: recorder.this(), buffer });
        let (mut resting, now) = (Resting::default(), Instant::now());
        let hour = Duration::from_secs(3600);
        for i in 0..1000 {
            resting.add(new(&recorder), now + hour + Duration::from_secs(i));
            resting.replace(&mut [new(&recorder)]);
        }
        assert!(resting.ends.len() <= 65 && resting.time().is_none());
        let mut awake = Vec::new();
        resting.add(new(&recorder), now + hour);
        resting.replace(&mut [new(&recorder)]);
        resting.add(new(&recorder), now + 2 * hour);
        assert!(resting.time().is_some_and(|time| time > hour));
        resting.end(now + hour, 9, &mut awake);
        assert_eq!((awake.len(), resting.len()), (0, 1), "the rest that ended early is over");
        resting.end(now + 2 * hour, 0, &mut awake);
        assert_eq!((awake.len(), resting.len()), (0, 1));
        resting.end(now + 2 * hour, 9, &mut awake);
        assert_eq!((awake.len(), resting.len()), (1, 0));
        resting.add(new(&recorder), now);
        drop(recorder);
        resting.end(now, 9, &mut awake);
        assert_eq!((awake.len(), resting.len()), (1, 0), "its recorder is gone");
    }
}
