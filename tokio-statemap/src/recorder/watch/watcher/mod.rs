//! The watcher: it looks at threads again and again, and samples the stacks of long polls.

#[cfg(test)]
mod captures;
mod looked_at;
mod progress;
mod reading;
mod runs;
mod samples;
mod teller;
#[cfg(all(test, tokio_unstable))]
mod tests;
mod told;
mod whose;
mod woken;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use looked_at::{Awake, remove_repeated};
use progress::SOON;
pub(crate) use reading::LastReading;
use teller::Teller;

use crate::recorder::store::buffer::Buffer;
use crate::recorder::thread_recorder::ThreadRecorder;
use crate::recorder::unwind::Unwinder;
use crate::recorder::watch::BETWEEN_LOOKS;
use crate::recorder::watch::look::Look;
use crate::recorder::{Recorder, background};
use crate::sys::threads;

/// The calling thread has this recorder from now on.
pub(crate) fn this_thread_has(recorder: &Recorder, thread: &ThreadRecorder) {
    // The child of a fork may find the watcher's lock taken for ever.
    if !recorder.config.stacks || background::is_forked() {
        return;
    }
    thread.buffer.watched.set_thread(threads::id());
    let is_new = !thread.buffer.watched.is_counted.swap(true, Ordering::Relaxed);
    woken::make_room(is_new);
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
        woken::add(recorder, buffer);
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

/// What looks at threads.
#[derive(Default)]
pub(crate) struct Watcher {
    awake: Vec<Awake>,
    tools: Tools,
    times: LookTimes,
    /// When the next look is due, if it is known.
    due: Option<Instant>,
}

impl Watcher {
    /// Whether there is no thread to look at.
    pub(crate) fn is_idle(&self) -> bool {
        self.awake.is_empty() && !woken::are_any()
    }

    /// Waits until the next look is due, but no longer than `most`, if that is said. Looks at each thread that is awake, if
    /// it is due.
    pub(crate) fn wait_or_look(&mut self, most: Option<Duration>) {
        let now = Instant::now();
        let due = self.due.unwrap_or_else(|| {
            if woken::take(&mut self.awake) {
                remove_repeated(&mut self.awake);
            }
            now + self.times.next()
        });
        let left = due.saturating_duration_since(now);
        if let Some(most) = most.filter(|&most| most < left) {
            self.due = Some(due);
            return std::thread::sleep(most);
        }
        self.due = None;
        std::thread::sleep(left);
        let Self { awake, tools, .. } = self;
        awake.retain_mut(|one| one.look(tools));
        if awake.iter().any(Awake::is_due_soon) {
            std::thread::sleep(SOON);
            awake.retain_mut(|one| !one.is_due_soon() || one.look(tools));
        }
    }

    /// Leaves all alone. The next thread that looks finds them again.
    pub(crate) fn leave_all(mut self) {
        woken::take(&mut self.awake);
        self.awake.iter().for_each(Awake::let_go);
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
