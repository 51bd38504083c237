//! The black box of one recorder, and who is told of the boxes of earlier processes.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use crate::recorder::black_box::journal::Journal;
use crate::recorder::black_box::place::Left;
use crate::recorder::locks::{BLACK_BOX, Held, Lock, try_lock};

/// A function for the boxes that earlier processes of this program have left.
struct WhenLeft(Box<dyn Fn(&Left) + Send + Sync>);

impl fmt::Debug for WhenLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WhenLeft")
    }
}

/// The black box of one recorder.
#[derive(Debug, Default)]
pub(crate) struct OwnBox {
    /// `None` if it is to have none, until it is started, and once the box is closed.
    pub(crate) journal: Lock<Option<Journal>, BLACK_BOX>,
    when_left: OnceLock<WhenLeft>,
}

impl OwnBox {
    /// Has `f` called with each box that an earlier process of this program has left.
    #[cfg(has_recover)]
    pub(crate) fn when_left(&self, f: Box<dyn Fn(&Left) + Send + Sync>) {
        _ = self.when_left.set(WhenLeft(f));
    }

    /// Tells who wants to know of a box that an earlier process has left.
    pub(crate) fn tell_of(&self, left: &Left) {
        if let Some(found) = self.when_left.get() {
            (found.0)(left);
        }
    }

    /// Locks the journal. The program may be about to end, so it doesn't wait for long.
    pub(crate) fn lock_soon(&self) -> Option<Held<'_, Option<Journal>>> {
        for _ in 0..100 {
            if let Some(locked) = try_lock(&self.journal) {
                return Some(locked);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }
}
