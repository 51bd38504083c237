//! The watcher looks at the polls that go on, on the [background thread](crate::recorder::background).
//!
//! It sees from a thread's own records since when it is in which poll. At each look it interrupts the
//! thread's [writer](crate::sys::chunk::Chunk::interrupt): the next record leaves the fast path, adds a
//! reading, and tells the watcher that the thread is awake. So the hooks of short polls
//! pay nothing.
//!
//! A thread that did nothing between two looks is left alone until then, and the watcher sleeps while
//! there is none to look at.
//!
//! [Listeners](listeners) are told of polls that go on for long, on a thread of their own.

pub(crate) mod listeners;
pub(crate) mod look;
mod no_stack;
mod switches;
#[cfg(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod watcher;
#[cfg(not(all(
    feature = "stacks",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
#[path = "no_watcher.rs"]
mod watcher;

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::time::Duration;

use crate::recorder::Recorder;
use crate::recorder::mode::Mode;
use crate::recorder::store::segment::StreamId;
use crate::util::sync::lock;
pub use no_stack::{NoStack, NoStacks};
pub(crate) use switches::Switches;
pub(crate) use watcher::{LastReading, Watcher, interrupted, stolen_ns, this_thread_has, woken};

/// What a buffer keeps for the watcher.
#[derive(Debug)]
pub(crate) struct Watched {
    /// The id of the buffer's thread; 0 if there is none.
    thread: AtomicI32,
    /// One more than the worker that it is; 0 if it is none.
    worker: AtomicU32,
    /// Whether the watcher looks at it.
    is_awake: AtomicBool,
    /// Whether the watcher knows that there is this buffer, and has room for it.
    is_counted: AtomicBool,
}

impl Watched {
    pub(crate) const fn new() -> Self {
        Self {
            thread: AtomicI32::new(0),
            worker: AtomicU32::new(0),
            is_awake: AtomicBool::new(false),
            is_counted: AtomicBool::new(false),
        }
    }

    /// Sets the system's id of the buffer's thread; 0 if it has none.
    pub(crate) fn set_thread(&self, id: i32) {
        self.thread.store(id, Ordering::Relaxed);
    }

    /// Sets the worker that the buffer's thread is.
    pub(crate) fn set_worker(&self, worker: Option<u32>) {
        let number = worker.map_or(0, |worker| worker.saturating_add(1));
        self.worker.store(number, Ordering::Relaxed);
    }

    fn worker(&self) -> Option<u32> {
        self.worker.load(Ordering::Relaxed).checked_sub(1)
    }

    fn thread(&self) -> i32 {
        self.thread.load(Ordering::Relaxed)
    }
}

/// The time between two looks, on average: it is from a half of that to one and a half. A poll of twice that
/// length is seen while it goes on, unless the watcher itself has to wait for a processor.
const BETWEEN_LOOKS: Duration = MIN_THRESHOLD;

/// The youngest poll that listeners are told of: the time between two looks.
pub(crate) const MIN_THRESHOLD: Duration = Duration::from_millis(5);

/// A poll that holds its worker for so long by its own doing has samples, unless there are too many threads to look at: that
/// is the longest time between two looks, and a tick of the kernel.
pub(crate) const ALWAYS_SEEN_NS: u64 = 20_000_000;

/// The least age of a poll whose stack is sampled.
pub(crate) const LEAST_AGE: Duration = Duration::from_millis(1);

/// What a thread was doing at a moment of a long poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The poll: its thread's stream, and when it started.
    pub(crate) stream: StreamId,
    pub(crate) start_ticks: u64,
    /// When the sample was taken.
    pub(crate) ticks: u64,
    /// What the thread was blocked in; `None` if it ran.
    pub(crate) blocked: Option<BlockedIn>,
    /// An address within each function that it was in, the innermost first. None if its stack could not
    /// be had, and it was only seen to run.
    pub(crate) addresses: Box<[u64]>,
    /// Whether these go down to where the thread began.
    pub(crate) is_complete: bool,
}

/// A system call that a thread is blocked in, or a page fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockedIn {
    /// Its number, or what stands for one.
    pub(crate) number: i64,
    /// What its descriptor refers to, if it has one: a path, or a word such as `socket:[7]`.
    pub(crate) descriptor: Option<String>,
}

/// The samples of one recorder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    pub(crate) all: Vec<Sample>,
    /// How many were taken beyond what is kept.
    pub(crate) dropped: u64,
    /// How often it was not found out what functions a thread was in, by reason.
    pub(crate) no_stacks: NoStacks,
}

impl Recorder {
    /// Refers to this recorder without keeping it.
    pub(crate) fn this(&self) -> Weak<Self> {
        Weak::clone(&self.this)
    }

    /// Has the watcher look at all threads that have recorded so far.
    pub(crate) fn watch_all(&self) {
        for buffer in lock(&self.buffers).iter() {
            woken(self, buffer);
        }
    }

    /// When the window began that is open, in ticks; `None` if nothing is recorded. Takes no lock: hooks
    /// that find one on the windows taken leave their work to the next.
    pub(crate) fn recording_since(&self) -> Option<u64> {
        let records = matches!(self.mode.get(), Mode::On | Mode::FastPath);
        records.then(|| self.window_from.load(Ordering::Relaxed))
    }
}
