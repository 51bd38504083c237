//! Long polls in progress: samples of their stacks, and the listeners that are notified.
//!
//! The [watcher](crate::recorder::background) fills this in. For hooks and captures it is data.

pub(crate) mod cpu;
pub(crate) mod listeners;
mod no_stack;

use std::time::Duration;

pub use no_stack::{NoStack, NoStacks};

use crate::recorder::locks::{LAST, Lock};
use crate::recorder::store::segment::StreamId;
use crate::recorder::watch::cpu::CpuSamples;
use crate::recorder::watch::listeners::Listeners;
#[cfg(feature = "html")]
use crate::recorder::watch::listeners::PageListeners;

/// The average time between two looks. Each time is between half of it and one and a half times it. A poll of twice the
/// average is seen while it goes on, unless looks are rare, or the watcher itself has to wait for a processor.
pub(crate) const BETWEEN_LOOKS: Duration = MIN_THRESHOLD;

/// The average time between two looks on one processor, while the program uses all of it and has no long polls.
pub(crate) const BETWEEN_RARE_LOOKS: Duration = Duration::from_millis(40);

/// The age of the youngest poll that listeners are notified of: the time between two looks.
pub(crate) const MIN_THRESHOLD: Duration = Duration::from_millis(5);

/// A poll that holds its worker for this long by its own doing has samples, unless there are too many threads to look
/// at, or looks were rare. This is the longest time between two looks, and a tick of the kernel.
pub(crate) const ALWAYS_SEEN_NS: u64 = 20_000_000;

/// The same where looks were rare at times.
pub(crate) const ALWAYS_SEEN_RARELY_NS: u64 = 80_000_000;

const _: () = assert!(
    ALWAYS_SEEN_RARELY_NS as u128 >= BETWEEN_RARE_LOOKS.as_nanos() * 3 / 2 + ALWAYS_SEEN_NS as u128
);

/// The least age of a poll whose stack is sampled.
pub(crate) const LEAST_AGE: Duration = Duration::from_millis(1);

/// A sample: what a thread was doing at a moment of a long poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The poll: its thread's stream, and when it started.
    pub(crate) stream: StreamId,
    pub(crate) start_ticks: u64,
    /// The time when the sample was taken.
    pub(crate) ticks: u64,
    /// The system call or page fault that the thread was blocked in; `None` if it ran.
    pub(crate) blocked: Option<BlockedIn>,
    /// An address within each function that it was in, the innermost first. Empty if its stack could not be read, and
    /// the thread was only seen to run.
    pub(crate) addresses: Box<[u64]>,
    /// `true` if the functions go down to where the thread began.
    pub(crate) is_complete: bool,
}

/// A system call that a thread is blocked in, or a page fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockedIn {
    /// The number of the call, or what stands for one.
    pub(crate) number: i64,
    /// The file that the call's descriptor refers to, if it has one: a path, or a word such as `socket:[7]`.
    pub(crate) descriptor: Option<String>,
}

/// The samples of polls, and the listeners, of one recorder.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The samples of the long polls.
    pub(crate) samples: Lock<Samples, LAST>,
    /// The samples of what polls computed.
    pub(crate) cpu: Lock<CpuSamples, LAST>,
    pub(crate) listeners: Listeners,
    #[cfg(feature = "html")]
    pub(crate) page_listeners: PageListeners,
}

/// The samples of one recorder's polls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    pub(crate) all: Vec<Sample>,
    /// Samples of other threads while polls waited for locks. Each is of another thread than its poll. A capture adds samples of
    /// the blocking pool's threads, each as of a poll that begins at the end.
    pub(crate) beside: Vec<Sample>,
    /// The number of samples that were taken but not kept.
    pub(crate) dropped: u64,
    /// The number of times that the functions a thread was in could not be found, by reason.
    pub(crate) no_stacks: NoStacks,
}
