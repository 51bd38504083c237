//! The watcher's thread.

mod look;
mod progress;
mod reading;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod unwind;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, Weak};
use std::time::Duration;

use look::{Doing, Look};
use progress::Progress;
pub(crate) use reading::LastReading;
use unwind::Unwinder;

use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::sys::threads;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The time between two looks. A poll of twice that length is seen while it goes on, unless the watcher
/// itself has to wait for a processor.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// After how many looks in a row at which a thread did nothing it is left alone.
const QUIET_LOOKS: u32 = 2;

/// The threads to look at.
static WATCHER: Watcher = Watcher { state: Mutex::new(State::new()), wake: Condvar::new() };

struct Watcher {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    /// How many recorders are started.
    recorders: usize,
    /// The process that has the watcher's thread, if any: a child of a fork has none.
    process: Option<u32>,
    /// Those that woke up since the last look.
    woken: Vec<Awake>,
}

impl State {
    const fn new() -> Self {
        Self { recorders: 0, process: None, woken: Vec::new() }
    }
}

/// A thread that is looked at.
struct Awake {
    recorder: Weak<Recorder>,
    buffer: &'static Buffer,
    last: Option<Look>,
    quiet_looks: u32,
    poll: Progress,
}

/// A recorder was started: its threads are watched from now on.
pub(crate) fn watch() {
    let mut state = lock(&WATCHER.state);
    state.recorders += 1;
    let this = Some(std::process::id());
    if std::mem::replace(&mut state.process, this) == this {
        return;
    }
    let thread = std::thread::Builder::new().name("statemap-watch".to_owned());
    if let Err(error) = thread.spawn(run) {
        state.process = None;
        warn(format_args!("long polls are not looked at: no thread can be started: {error}"));
    }
}

/// It was stopped.
pub(crate) fn unwatch() {
    let mut state = lock(&WATCHER.state);
    state.recorders = state.recorders.saturating_sub(1);
    if state.recorders == 0 {
        WATCHER.wake.notify_one();
    }
}

/// The calling thread has this recorder from now on.
pub(crate) fn this_thread_has(recorder: &Recorder, thread: &ThreadRecorder) {
    thread.buffer.watched.set_thread(threads::id());
    // So that its first record has a reading, too.
    Look::at(thread.buffer);
    woken(recorder, thread.buffer);
}

/// The calling thread was interrupted: it adds a reading before its record of `ticks`, and is looked
/// at from now on.
pub(crate) fn interrupted(recorder: &Recorder, thread: &mut ThreadRecorder, ticks: u64) {
    recorder.note_usage(thread, ticks);
    woken(recorder, thread.buffer);
}

/// The thread of `buffer` is looked at from now on. Called by itself.
pub(crate) fn woken(recorder: &Recorder, buffer: &'static Buffer) {
    if buffer.watched.is_awake.swap(true, Ordering::AcqRel) {
        return;
    }
    let awake = Awake {
        recorder: Weak::clone(&recorder.this),
        buffer,
        last: None,
        quiet_looks: 0,
        poll: Progress::default(),
    };
    let mut state = lock(&WATCHER.state);
    state.woken.push(awake);
    if state.woken.len() == 1 {
        WATCHER.wake.notify_one();
    }
}

/// The watcher's thread.
fn run() {
    crate::sys::signal::block_all();
    let mut awake: Vec<Awake> = Vec::new();
    // Made for the first sample, as it takes some milliseconds and megabytes.
    let mut unwinder = None;
    loop {
        {
            let mut state = lock(&WATCHER.state);
            while state.recorders > 0 && awake.is_empty() && state.woken.is_empty() {
                state = WATCHER.wake.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if state.recorders == 0 {
                state.process = None;
                // The next one that is started finds them again.
                let woken = std::mem::take(&mut state.woken);
                for one in awake.iter().chain(&woken) {
                    one.leave();
                    Look::at(one.buffer); // which interrupts it
                }
                return;
            }
            awake.append(&mut state.woken);
        }
        // Should anything be wrong with the program's tables, it goes on without this stack.
        let looked = catch_unwind(AssertUnwindSafe(|| {
            awake.retain_mut(|one| one.look(&mut unwinder));
        }));
        if looked.is_err() {
            unwinder = None;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

impl Awake {
    /// Leaves the thread alone.
    fn leave(&self) {
        self.buffer.watched.is_awake.store(false, Ordering::Release);
    }

    /// Looks at the thread; returns whether to look again.
    fn look(&mut self, unwinder: &mut Option<Unwinder>) -> bool {
        let Some(recorder) = self.recorder.upgrade() else {
            self.leave();
            // Another recorder may have the buffer by now: its next record wakes it.
            Look::at(self.buffer);
            return false;
        };
        let since_ticks = recorder.recording_since();
        let look = Look::at(self.buffer).map(|look| look.since(since_ticks));
        let did_nothing =
            look == self.last && !matches!(look, Some(Look { doing: Doing::Poll { .. }, .. }));
        self.quiet_looks = if did_nothing { self.quiet_looks + 1 } else { 0 };
        self.last = look;
        if let Some(look) = look {
            self.poll.follow(&recorder, self.buffer, look, unwinder);
        }
        if self.quiet_looks < QUIET_LOOKS {
            return true;
        }
        self.leave();
        // What it did before it was interrupted anew doesn't wake it.
        if Look::at(self.buffer).map(|look| look.since(since_ticks)) == self.last {
            return false;
        }
        !self.buffer.watched.is_awake.swap(true, Ordering::AcqRel)
    }
}
