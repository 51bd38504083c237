//! The threads that notify listeners of long polls. On the watcher's own thread, looking up names and running listeners
//! would keep it from looking at other polls.
//!
//! Each listener has a thread, so that one that takes its time, or never returns, delays no other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::poll_owner::PollOwners;
use crate::recorder::hot::Shared;
use crate::recorder::store::segment::StreamId;
use crate::recorder::watch::Sample;
use crate::recorder::watch::listeners::{Listener, SeenPoll};
use crate::util::queue::{Receiver, Sender, queue};

/// The most polls that may wait for one listener: names take some µs each, once the program's own
/// tables are read.
const MAX_WAITING: usize = 256;

/// A poll that listeners are notified of.
pub(super) struct LongPoll {
    pub(super) recorder: Weak<Shared>,
    pub(super) stream: StreamId,
    pub(super) task: u64,
    pub(super) age: Duration,
    pub(super) is_taken_away: bool,
    pub(super) sample: Option<Sample>,
    pub(super) to: Vec<Arc<Listener>>,
}

/// The sending side. A listener's thread is started for its first poll. The thread ends once this or the listener is
/// dropped, and no poll waits.
#[derive(Default)]
pub(super) struct Notifier(Vec<ListenerThread>);

/// The thread of a listener.
struct ListenerThread {
    listener: Weak<Listener>,
    polls: Sender<Arc<LongPoll>>,
}

impl Notifier {
    pub(super) fn send(&mut self, mut poll: LongPoll) {
        self.0.retain(|thread| thread.listener.strong_count() > 0);
        // A poll that waits for a listener that never returns must keep no other listener alive.
        let to = std::mem::take(&mut poll.to);
        let poll = Arc::new(poll);
        for listener in &to {
            let is_sent = self.polls_of(listener).is_some_and(|polls| {
                // A listener that is slower than long polls come is not notified of all.
                polls.try_send(Arc::clone(&poll))
            });
            listener.missed.fetch_add(u64::from(!is_sent), Ordering::Relaxed);
        }
    }

    /// Returns where polls for this listener are sent; `None` if no thread can be started.
    fn polls_of(&mut self, listener: &Arc<Listener>) -> Option<&Sender<Arc<LongPoll>>> {
        let is_of = |thread: &ListenerThread| thread.listener.as_ptr() == Arc::as_ptr(listener);
        let place = match self.0.iter().position(is_of) {
            Some(place) => place,
            None => {
                self.0.push(ListenerThread::start(listener)?);
                self.0.len() - 1
            }
        };
        Some(&self.0[place].polls)
    }
}

impl ListenerThread {
    fn start(listener: &Arc<Listener>) -> Option<Self> {
        let (polls, receive) = queue(MAX_WAITING);
        let listener = Arc::downgrade(listener);
        let of_thread = Weak::clone(&listener);
        let run = move || run(&of_thread, &receive);
        crate::sys::start("statemap-live", Box::new(run)).ok()?;
        Some(Self { listener, polls })
    }
}

fn run(listener: &Weak<Listener>, polls: &Receiver<Arc<LongPoll>>) {
    let mut owners = PollOwners::default();
    while let Some(poll) = polls.receive() {
        // The panic hook has shown the panic.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let Some(listener) = listener.upgrade() else { return };
            let seen = poll.recorder.upgrade().map(|recorder| poll.seen(&recorder, &mut owners));
            if let Some(seen) = seen {
                (listener.notify)(&seen, listener.missed.swap(0, Ordering::Relaxed));
            }
        }));
    }
}

impl LongPoll {
    fn seen(&self, recorder: &Shared, owners: &mut PollOwners) -> SeenPoll {
        let owner = owners.find(recorder, self.stream, self.task);
        SeenPoll {
            runtime: recorder.runtime.name(),
            task: self.task,
            location: owner.location,
            worker: owner.worker,
            age: self.age,
            is_taken_away: self.is_taken_away,
            sample: self.sample.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::recorder::Recorder;
    use std::sync::atomic::AtomicU64;
    use std::sync::mpsc::channel;

    fn listener(notify: impl Fn(u64) + Send + Sync + 'static) -> Arc<Listener> {
        let (wants, notify) = (Box::new(|| true), Box::new(move |_: &SeenPoll, n| notify(n)));
        Arc::new(Listener { threshold: Duration::ZERO, wants, notify, missed: AtomicU64::new(0) })
    }

    #[test]
    fn one_that_does_not_return_delays_no_other() {
        let recorder = Recorder::new(CollectorConfig::default());
        let (enter, entered) = channel();
        let (go_on, wait_for) = channel::<()>();
        let wait_for = std::sync::Mutex::new(wait_for);
        let slow = listener(move |missed| {
            enter.send(missed).expect("it is received");
            wait_for.lock().expect("it doesn't panic").recv().ok();
        });
        let (tell, told) = channel();
        let fast = listener(move |missed| tell.send(missed).expect("it is received"));
        let mut notifier = Notifier::default();
        let mut tell = |to: &[&Arc<Listener>]| {
            notifier.send(LongPoll {
                recorder: recorder.this(),
                stream: 0,
                task: 7,
                age: Duration::ZERO,
                is_taken_away: false,
                sample: None,
                to: to.iter().copied().cloned().collect(),
            });
        };
        tell(&[&slow, &fast]);
        assert_eq!((entered.recv(), told.recv()), (Ok(0), Ok(0)));
        (0..MAX_WAITING + 5).for_each(|_| tell(&[&slow]));
        tell(&[&slow, &fast]);
        assert_eq!(told.recv(), Ok(0));
        drop((go_on, fast));
        let missed: Vec<_> = (0..MAX_WAITING).map(|_| entered.recv().unwrap()).collect();
        assert_eq!((missed[0], missed.iter().sum::<u64>()), (6, 6));
        drop((notifier, slow));
        assert!(entered.recv().is_err() && told.recv().is_err(), "both threads end");
    }

    #[test]
    fn one_that_panics_is_sent_on() {
        let recorder = Recorder::new(CollectorConfig::default());
        let (tell, told) = channel();
        let one = listener(move |_| {
            tell.send(()).expect("it is received");
            std::panic::resume_unwind(Box::new(()));
        });
        let mut notifier = Notifier::default();
        for _ in 0..3 {
            let (recorder, to) = (recorder.this(), vec![Arc::clone(&one)]);
            let (age, is_taken_away, sample) = (Duration::ZERO, false, None);
            notifier.send(LongPoll {
                recorder,
                stream: 0,
                task: 7,
                age,
                is_taken_away,
                sample,
                to,
            });
            told.recv().expect("it is told");
        }
    }
}
