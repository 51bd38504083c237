//! The watcher's thread.

#[cfg(test)]
mod captures;
mod progress;
mod reading;
mod runs;
mod samples;
mod teller;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod told;
mod unwind;
mod whose;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, Weak};
use std::time::Duration;

use progress::{Next, Progress, SOON};
pub(crate) use reading::LastReading;
use teller::Teller;
use unwind::Unwinder;

use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::recorder::watch::MIN_THRESHOLD;
use crate::recorder::watch::look::{Doing, Look};
use crate::sys::threads;
use crate::util::message::warn;
use crate::util::sync::{lock, try_lock};

/// The time between two looks, on average: it is from a half of that to one and a half. A poll of twice that
/// length is seen while it goes on, unless the watcher itself has to wait for a processor.
const BETWEEN_LOOKS: Duration = MIN_THRESHOLD;

/// After how many looks in a row at which a thread did nothing it is left alone.
const QUIET_LOOKS: u32 = 2;

/// The threads to look at.
static WATCHER: Watcher =
    Watcher { process: AtomicU32::new(0), state: Mutex::new(State::new()), wake: Condvar::new() };

struct Watcher {
    /// The process that was watched last.
    process: AtomicU32,
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    /// How many recorders are started.
    recorders: usize,
    /// The process that has the watcher's thread, if any: a child of a fork has none.
    process: Option<u32>,
    /// Those that woke up since the last look. There is room for all: hooks don't allocate.
    woken: Vec<Awake>,
    /// How many buffers there are.
    buffers: usize,
}

impl State {
    const fn new() -> Self {
        Self { recorders: 0, process: None, woken: Vec::new(), buffers: 0 }
    }

    /// There is one buffer more. It may wake up for two recorders between two looks.
    fn make_room(&mut self) {
        self.buffers += 1;
        self.woken.reserve((2 * self.buffers).saturating_sub(self.woken.len()));
    }
}

/// A thread that is looked at.
struct Awake {
    recorder: Weak<Recorder>,
    buffer: &'static Buffer,
    last: Option<Look>,
    quiet_looks: u32,
    next: Next,
    poll: Progress,
}

/// A recorder was started: its threads are watched from now on.
pub(crate) fn watch() {
    let state = match is_forked() {
        true => try_lock(&WATCHER.state),
        false => Some(lock(&WATCHER.state)),
    };
    // Nobody will unlock it here.
    let Some(mut state) = state else { return };
    state.recorders += 1;
    WATCHER.process.store(std::process::id(), Ordering::Relaxed);
    let this = Some(std::process::id());
    if std::mem::replace(&mut state.process, this) == this {
        return;
    }
    let thread = std::thread::Builder::new().name("statemap-watch".to_owned());
    if let Err(error) = thread.spawn(run) {
        state.process = None;
        // Hooks wait for it.
        drop(state);
        warn(format_args!("long polls are not looked at: no thread can be started: {error}"));
    }
}

/// Whether this is the child of a fork, in which the watcher is gone, and what it had locked stays so.
pub(crate) fn is_forked() -> bool {
    let process = WATCHER.process.load(Ordering::Relaxed);
    process != 0 && process != std::process::id()
}

/// It was stopped.
pub(crate) fn unwatch() {
    if is_forked() {
        return;
    }
    let mut state = lock(&WATCHER.state);
    state.recorders = state.recorders.saturating_sub(1);
    if state.recorders == 0 {
        WATCHER.wake.notify_one();
    }
}

/// The calling thread has this recorder from now on.
pub(crate) fn this_thread_has(recorder: &Recorder, thread: &ThreadRecorder) {
    // The child of a fork may find the watcher's lock taken for ever.
    if !recorder.config.stacks || is_forked() {
        return;
    }
    thread.buffer.watched.set_thread(threads::id());
    if !thread.buffer.watched.has_room.swap(true, Ordering::Relaxed) {
        lock(&WATCHER.state).make_room();
    }
    // So that its first record has a reading, too.
    Look::at(thread.buffer);
    // It may still be looked at for the recorder that had the buffer before.
    thread.buffer.watched.is_awake.store(false, Ordering::Release);
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
    // The child of a fork has no watcher, and may find its lock taken for ever.
    let is_watched =
        || recorder.config.stacks && WATCHER.process.load(Ordering::Relaxed) == std::process::id();
    if !is_watched() || buffer.watched.is_awake.swap(true, Ordering::AcqRel) {
        return;
    }
    let awake = Awake {
        recorder: recorder.this(),
        buffer,
        last: None,
        quiet_looks: 0,
        next: Next::Usual,
        poll: Progress::default(),
    };
    let mut state = lock(&WATCHER.state);
    state.woken.push(awake);
    if state.woken.len() == 1 {
        WATCHER.wake.notify_one();
    }
}

/// What the watcher makes when it first needs it.
#[derive(Default)]
struct Tools {
    /// Takes some milliseconds and megabytes.
    unwinder: Option<Unwinder>,
    /// Has a thread.
    teller: Teller,
}

/// The watcher's thread.
fn run() {
    crate::sys::signal::block_all();
    let mut awake: Vec<Awake> = Vec::new();
    let mut tools = Tools::default();
    let mut times = LookTimes::default();
    loop {
        {
            let mut state = lock(&WATCHER.state);
            while state.recorders > 0 && awake.is_empty() && state.woken.is_empty() {
                state = WATCHER.wake.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if state.recorders == 0 {
                state.process = None;
                // The next one that is started finds them again.
                for one in awake.iter().chain(&state.woken) {
                    one.leave();
                    Look::at(one.buffer); // which interrupts it
                }
                state.woken.clear();
                return;
            }
            for one in state.woken.drain(..) {
                if !awake.iter().any(|other| other.is_same(&one)) {
                    awake.push(one);
                }
            }
        }
        std::thread::sleep(times.next());
        awake.retain_mut(|one| one.look(&mut tools));
        if awake.iter().any(Awake::is_due_soon) {
            std::thread::sleep(SOON);
            awake.retain_mut(|one| !one.is_due_soon() || one.look(&mut tools));
        }
    }
}

/// The times between looks. They differ, so that a program that does something again and again has no polls
/// that always fall between two looks.
#[derive(Debug, Default)]
struct LookTimes(u32);

impl LookTimes {
    /// The multiples of the golden ratio are spread evenly between whole numbers, however many there are.
    const GOLDEN: u32 = 0x9E37_79B9;

    fn next(&mut self) -> Duration {
        self.0 = self.0.wrapping_add(Self::GOLDEN);
        let part = f64::from(self.0) / f64::from(u32::MAX);
        BETWEEN_LOOKS.mul_f64(0.5 + part)
    }
}

impl Awake {
    /// Whether both are of the same thread.
    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self.buffer, other.buffer) && self.recorder.ptr_eq(&other.recorder)
    }

    /// Leaves the thread alone.
    fn leave(&self) {
        self.buffer.watched.is_awake.store(false, Ordering::Release);
    }

    /// Whether to look again before the others.
    fn is_due_soon(&self) -> bool {
        self.next == Next::Soon
    }

    /// Looks at the thread; returns whether to look again.
    fn look(&mut self, tools: &mut Tools) -> bool {
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
        self.next = look.map_or(Next::Usual, |look| {
            // Should anything be wrong with the program's tables, it goes on without this stack.
            let follow = || self.poll.follow(&recorder, self.buffer, look, tools);
            catch_unwind(AssertUnwindSafe(follow)).unwrap_or_else(|_| {
                tools.unwinder = None;
                Next::Usual
            })
        });
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
