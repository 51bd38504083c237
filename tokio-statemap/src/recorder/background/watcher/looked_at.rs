//! The threads that the watcher looks at.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Tools;
use super::progress::{Next, Progress};
use crate::recorder::hot::woken::WokenThread;
use crate::recorder::store::look::{Doing, Look};
use crate::recorder::watch::BETWEEN_LOOKS;
use crate::util::map::Map;

/// A thread that did nothing at this many looks in a row is left alone.
const QUIET_LOOKS: u32 = 2;

/// A shorter rest takes more than it saves.
const SHORTEST_REST: Duration = BETWEEN_LOOKS.saturating_mul(2);

/// A thread that the watcher looks at.
pub(super) struct Awake {
    pub(super) thread: WokenThread,
    last: Option<Look>,
    pub(super) quiet_looks: u32,
    next: Next,
    poll: Progress,
}

/// The identity of a thread that is looked at: the addresses of its buffer and recorder.
pub(super) type AwakeId = (usize, usize);

/// The next step for a thread after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Look again at the next round.
    Stay,
    /// Leave it alone until it records anything.
    Leave,
    /// Leave it alone until it records anything, but for no longer than this.
    Rest(Duration),
}

/// Keeps only the first entry of each thread, which knows the thread's poll.
pub(super) fn remove_repeated(awake: &mut Vec<Awake>) {
    let mut seen: Map<AwakeId, bool> = Map::default();
    awake.retain(|one| !std::mem::replace(seen.get_or_default(one.id()), true));
}

impl Awake {
    pub(super) fn new(thread: WokenThread) -> Self {
        let (next, poll) = (Next::Usual, Progress::default());
        Self { thread, last: None, quiet_looks: 0, next, poll }
    }

    pub(super) fn id(&self) -> AwakeId {
        (std::ptr::from_ref(self.thread.buffer).addr(), self.thread.recorder.as_ptr().addr())
    }

    /// Has the watcher look at it again.
    pub(super) fn wake(&self) {
        self.thread.buffer.watched.is_awake.store(true, Ordering::Release);
    }

    /// Leaves the thread alone.
    fn leave(&self) {
        // A thread that woke up before this has handed its chunk over. The swap makes that visible, or the wrong chunk
        // would be interrupted.
        self.thread.buffer.watched.is_awake.swap(false, Ordering::AcqRel);
    }

    /// Returns whether to look at it again before the others.
    pub(super) fn is_due_soon(&self) -> bool {
        self.next == Next::Soon
    }

    /// Looks at the thread.
    pub(super) fn look(&mut self, tools: &mut Tools) -> Then {
        let Some(recorder) = self.thread.recorder.upgrade() else {
            // Another recorder may have the buffer by now.
            self.thread.let_go();
            return Then::Leave;
        };
        let since_ticks = recorder.kept.recording_since();
        let look = Look::at(self.thread.buffer).map(|look| look.since(since_ticks));
        let did_nothing =
            look == self.last && !matches!(look, Some(Look { doing: Doing::Poll { .. }, .. }));
        self.quiet_looks = if did_nothing { self.quiet_looks + 1 } else { 0 };
        self.last = look;
        let id = self.id();
        // Listeners are to be told early.
        if recorder.watch.listeners.are_there() {
            tools.times.need_frequent();
        }
        self.next = look.map_or(Next::Usual, |look| {
            // If anything is wrong with the program's tables, the watcher goes on without this stack.
            let follow = || {
                tools.sample_cpu(id, &recorder, self.thread.buffer, look);
                self.poll.follow(&recorder, self.thread.buffer, look, tools)
            };
            catch_unwind(AssertUnwindSafe(follow)).unwrap_or_else(|_| {
                tools.unwinder = None;
                Next::Usual
            })
        });
        let then = match self.next {
            Next::Later(time) if time > SHORTEST_REST => Then::Rest(time),
            _ if self.quiet_looks >= QUIET_LOOKS => Then::Leave,
            _ => return Then::Stay,
        };
        self.leave();
        // A record from before the new interruption doesn't wake the thread, so the watcher looks for one here.
        if Look::at(self.thread.buffer).map(|look| look.since(since_ticks)) == self.last {
            return then;
        }
        // If the thread woke up by itself, it is looked at as another entry.
        let is_awake = self.thread.buffer.watched.is_awake.swap(true, Ordering::AcqRel);
        if is_awake { then } else { Then::Stay }
    }
}
