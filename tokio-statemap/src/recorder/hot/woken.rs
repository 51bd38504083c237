//! The threads that the watcher is to look at, because they woke up since it last looked.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, Weak};

use crate::recorder::hot::{Shared, reading};
use crate::recorder::process;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::look::Look;
use crate::util::sync::lock;

/// A thread of a recorder.
#[derive(Clone, Debug)]
pub(crate) struct WokenThread {
    pub(crate) recorder: Weak<Shared>,
    pub(crate) buffer: &'static Buffer,
}

impl WokenThread {
    /// Leaves the thread alone; its next record wakes it.
    pub(crate) fn let_go(&self) {
        // A thread that woke up before this has handed its chunk over. The swap makes that visible, or the wrong chunk
        // would be interrupted.
        self.buffer.watched.is_awake.swap(false, Ordering::AcqRel);
        Look::at(self.buffer); // this interrupts it
    }
}

/// The threads that woke up.
static WOKEN: Mutex<Woken> = Mutex::new(Woken::new());

struct Woken {
    /// There is room for all threads, as hooks don't allocate.
    all: Vec<WokenThread>,
    /// The number of buffers.
    buffers: usize,
}

/// Has the watcher look at the thread of `buffer`, if there is a watcher. Called by that thread.
#[inline]
pub(crate) fn add(recorder: &Shared, buffer: &'static Buffer) {
    // Most threads that fill chunks are looked at anyway.
    if reading::ARE_TAKEN
        && recorder.kept.config.stacks
        && !buffer.watched.is_awake.load(Ordering::Relaxed)
    {
        add_asleep(recorder, buffer);
    }
}

#[cold]
#[inline(never)]
fn add_asleep(recorder: &Shared, buffer: &'static Buffer) {
    if !process::is_there() || buffer.watched.is_awake.swap(true, Ordering::AcqRel) {
        return;
    }
    let thread = WokenThread { recorder: recorder.this(), buffer };
    let mut woken = lock(&WOKEN);
    // The background thread may just have ended, or could not be started.
    if !process::is_there() {
        drop(woken);
        return thread.let_go();
    }
    woken.all.push(thread);
    drop(woken);
    process::wake();
}

/// Has the watcher look at the calling thread, which has a recorder from now on.
pub(super) fn add_new(recorder: &Shared, buffer: &'static Buffer) {
    // In the child of a fork, the watcher's lock may be taken for ever.
    if !reading::ARE_TAKEN || !recorder.kept.config.stacks || process::is_forked() {
        return;
    }
    let watched = &buffer.watched;
    watched.set_thread(reading::prepare_thread());
    let is_new = !watched.is_counted.swap(true, Ordering::Relaxed);
    lock(&WOKEN).make_room(is_new);
    // This gives its first record a reading, too.
    Look::at(buffer);
    // The thread may still be looked at for the recorder that had the buffer before.
    watched.is_awake.store(false, Ordering::Release);
    add(recorder, buffer);
}

/// Returns whether any thread woke up.
pub(crate) fn are_any() -> bool {
    !lock(&WOKEN).all.is_empty()
}

/// Passes the threads that woke up to `take`, which must be quick: a hook may wait for it.
pub(crate) fn take_each(take: &mut dyn FnMut(WokenThread)) {
    for thread in lock(&WOKEN).all.drain(..) {
        take(thread);
    }
}

impl Woken {
    const fn new() -> Self {
        Self { all: Vec::new(), buffers: 0 }
    }

    /// Makes room for the wake-ups of a thread that gets a buffer, which is new if `is_new`. A thread may wake up for two recorders
    /// between two looks.
    fn make_room(&mut self, is_new: bool) {
        self.buffers += usize::from(is_new);
        self.all.reserve(2 * self.buffers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_those_that_wake_up() {
        let mut woken = Woken::new();
        for buffers in 1..100 {
            woken.make_room(true);
            // Threads that come and go have one buffer after the other.
            (0..7).for_each(|_| woken.make_room(false));
            assert!(woken.all.capacity() - woken.all.len() >= 2 * buffers);
        }
    }
}
