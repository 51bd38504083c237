//! The thread that tells listeners of long polls: what it takes to look names up, and what the listeners
//! do, would keep the watcher from looking at other polls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::whose;
use crate::recorder::Recorder;
use crate::recorder::store::segment::StreamId;
use crate::recorder::watch::Sample;
use crate::recorder::watch::listeners::{Listener, SeenPoll};

/// How many polls may wait to be told: names take some µs each, once the program's own tables are read.
const MAX_WAITING: usize = 256;

/// A poll that listeners are to be told of.
pub(super) struct LongPoll {
    pub(super) recorder: Weak<Recorder>,
    pub(super) stream: StreamId,
    pub(super) task: u64,
    pub(super) age: Duration,
    pub(super) is_taken_away: bool,
    pub(super) sample: Option<Sample>,
    pub(super) to: Vec<Arc<Listener>>,
}

/// The sending side. The thread is started for the first poll, and ends when this is dropped and it has
/// told what waits.
#[derive(Default)]
pub(super) struct Teller(Option<SyncSender<LongPoll>>);

impl Teller {
    pub(super) fn tell(&mut self, poll: LongPoll) {
        let Some(thread) = self.0.take().or_else(start) else { return };
        // Where listeners are slower than polls get long, some aren't told.
        if let Ok(()) | Err(TrySendError::Full(_)) = thread.try_send(poll) {
            self.0 = Some(thread);
        }
    }
}

fn start() -> Option<SyncSender<LongPoll>> {
    let (send, receive) = sync_channel(MAX_WAITING);
    let run = move || run(&receive);
    std::thread::Builder::new().name("statemap-live".into()).spawn(run).ok().map(|_| send)
}

fn run(polls: &Receiver<LongPoll>) {
    while let Ok(poll) = polls.recv() {
        let LongPoll { recorder, to, .. } = &poll;
        let Some(seen) = recorder.upgrade().map(|recorder| poll.seen(&recorder)) else { continue };
        for listener in to {
            // The panic hook has shown it.
            let _ = catch_unwind(AssertUnwindSafe(|| (listener.tell)(&seen)));
        }
    }
}

impl LongPoll {
    fn seen(&self, recorder: &Recorder) -> SeenPoll {
        let found = whose::find(recorder, self.stream, self.task);
        SeenPoll {
            runtime: recorder.runtime_name.get().cloned(),
            task: self.task,
            location: found.location,
            worker: found.worker,
            age: self.age,
            is_taken_away: self.is_taken_away,
            sample: self.sample.clone(),
        }
    }
}
