//! Where threads are put that are to be looked at.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::looked_at::Awake;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::{Recorder, background};
use crate::util::sync::lock;

/// The only ones.
static WOKEN: Mutex<Woken> = Mutex::new(Woken::new());

/// Those that woke up since the last look.
struct Woken {
    /// There is room for all: hooks don't allocate.
    all: Vec<Awake>,
    /// How many buffers there are.
    buffers: usize,
}

/// The thread of `buffer` is looked at from now on, if there is a thread that looks.
#[inline]
pub(super) fn add(recorder: &Recorder, buffer: &'static Buffer) {
    // Most of those that fill chunks are looked at anyway.
    if !buffer.watched.is_awake.load(Ordering::Relaxed) {
        add_asleep(recorder, buffer);
    }
}

#[cold]
#[inline(never)]
fn add_asleep(recorder: &Recorder, buffer: &'static Buffer) {
    if !background::is_there() || buffer.watched.is_awake.swap(true, Ordering::AcqRel) {
        return;
    }
    let awake = Awake::new(recorder, buffer);
    let mut woken = lock(&WOKEN);
    // It may just have ended, or could not be started.
    if !background::is_there() {
        drop(woken);
        return awake.let_go();
    }
    woken.all.push(awake);
    drop(woken);
    background::wake();
}

/// Makes room for a thread that gets a buffer, which may be new.
pub(super) fn make_room(is_new: bool) {
    lock(&WOKEN).make_room(is_new);
}

/// Whether any woke up.
pub(super) fn are_any() -> bool {
    !lock(&WOKEN).all.is_empty()
}

/// Moves those that woke up to `into`. Returns whether there were any.
pub(super) fn take(into: &mut Vec<Awake>) -> bool {
    let woken = &mut lock(&WOKEN).all;
    let any = !woken.is_empty();
    into.append(woken);
    any
}

impl Woken {
    const fn new() -> Self {
        Self { all: Vec::new(), buffers: 0 }
    }

    /// Each buffer's thread may wake up for two recorders between two looks.
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
