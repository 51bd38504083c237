//! The watcher's thread.

#[cfg(test)]
mod captures;
mod looked_at;
mod progress;
mod reading;
mod room;
mod runs;
mod samples;
mod teller;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod told;
mod whose;

use std::sync::atomic::Ordering;
use std::time::Duration;

use looked_at::{Awake, remove_repeated};
use progress::SOON;
pub(crate) use reading::LastReading;
use room::WATCHER;
use teller::Teller;

use crate::recorder::Recorder;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::MIN_THRESHOLD;
use crate::recorder::watch::look::Look;
use crate::sys::threads;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The time between two looks, on average: it is from a half of that to one and a half. A poll of twice that
/// length is seen while it goes on, unless the watcher itself has to wait for a processor.
const BETWEEN_LOOKS: Duration = MIN_THRESHOLD;

/// A recorder was started: its threads are watched from now on.
pub(crate) fn watch() {
    let started = WATCHER.add_recorder(|| {
        std::thread::Builder::new().name("statemap-watch".to_owned()).spawn(run).map(drop)
    });
    if let Err(error) = started {
        warn(format_args!("long polls are not looked at: no thread can be started: {error}"));
    }
}

/// Whether this is the child of a fork, in which the watcher is gone, and what it had locked stays so.
pub(crate) fn is_forked() -> bool {
    WATCHER.is_forked()
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
    let is_new = !thread.buffer.watched.is_counted.swap(true, Ordering::Relaxed);
    lock(&WATCHER.state).make_room(is_new);
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
    if recorder.config.stacks {
        WATCHER.add(recorder, buffer);
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
        let has_new;
        {
            let mut state = lock(&WATCHER.state);
            while state.recorders > 0 && awake.is_empty() && state.woken.is_empty() {
                state = WATCHER.wake.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            if state.recorders == 0 {
                WATCHER.has_thread.store(false, Ordering::Release);
                awake.iter().for_each(Awake::let_go);
                state.let_go();
                return;
            }
            has_new = !state.woken.is_empty();
            awake.append(&mut state.woken);
        }
        if has_new {
            remove_repeated(&mut awake);
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
