//! The sums of the tasks of one spawn location.

use crate::recorder::memory::sums::histogram::Histogram;
use crate::recorder::record::LocationId;

/// The property that tasks of one row have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// The location where they were spawned.
    At(LocationId),
    /// The number of a root future.
    Root(u64),
    Unknown,
}

/// The sums of one row. Times are in ticks, but for `ready`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocationSums {
    pub(crate) key: Key,
    /// The number of tasks that were spawned, or were known to live when recording began.
    pub(crate) tasks: u64,
    pub(crate) worker_polls: u64,
    pub(crate) off_worker_polls: u64,
    /// The time for which its polls held workers.
    pub(crate) held: u64,
    /// The time for which its polls ran on threads that are no workers.
    pub(crate) off_worker: u64,
    pub(crate) longest: u64,
    /// The number of its polls that held a worker for longer than a long poll.
    pub(crate) long_polls: u64,
    /// The time for which those polls held workers.
    pub(crate) long: u64,
    /// The lengths of its polls.
    pub(crate) lengths: Histogram,
    /// The times for which its tasks were ready before polls on workers, in ns, as far as they are known.
    pub(crate) ready: Histogram,
    pub(crate) ready_sum_ns: u64,
    pub(crate) longest_ready_ns: u64,
}

impl LocationSums {
    pub(crate) fn new(key: Key) -> Self {
        Self {
            key,
            tasks: 0,
            worker_polls: 0,
            off_worker_polls: 0,
            held: 0,
            off_worker: 0,
            longest: 0,
            long_polls: 0,
            long: 0,
            lengths: Histogram::default(),
            ready: Histogram::default(),
            ready_sum_ns: 0,
            longest_ready_ns: 0,
        }
    }

    pub(crate) fn polls(&self) -> u64 {
        self.worker_polls + self.off_worker_polls
    }

    /// Adds the sums of other tasks that were spawned at the same place.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.tasks = self.tasks.wrapping_add(other.tasks);
        self.worker_polls = self.worker_polls.wrapping_add(other.worker_polls);
        self.off_worker_polls = self.off_worker_polls.wrapping_add(other.off_worker_polls);
        self.held = self.held.wrapping_add(other.held);
        self.off_worker = self.off_worker.wrapping_add(other.off_worker);
        self.longest = self.longest.max(other.longest);
        self.long_polls = self.long_polls.wrapping_add(other.long_polls);
        self.long = self.long.wrapping_add(other.long);
        self.lengths.merge(&other.lengths);
        self.ready.merge(&other.ready);
        self.ready_sum_ns = self.ready_sum_ns.saturating_add(other.ready_sum_ns);
        self.longest_ready_ns = self.longest_ready_ns.max(other.longest_ready_ns);
    }

    /// Adds a poll; on a worker it is long if it is longer than `long_poll`.
    #[inline]
    pub(super) fn poll(
        &mut self,
        length: u64,
        on_worker: bool,
        ready_ns: Option<u64>,
        long_poll: u64,
    ) {
        if on_worker {
            self.held_worker(1, length, length);
            if length > long_poll {
                self.long(length);
            }
            if let Some(ready_ns) = ready_ns {
                self.was_ready(ready_ns);
            }
        } else {
            self.off_worker_polls = self.off_worker_polls.wrapping_add(1);
            self.off_worker = self.off_worker.wrapping_add(length);
            self.longest = self.longest.max(length);
        }
        self.lengths.add(length);
    }

    /// Adds polls that held workers, with their total and longest time. Their lengths are counted one by one.
    #[inline]
    pub(super) fn held_worker(&mut self, polls: u64, held: u64, longest: u64) {
        self.worker_polls = self.worker_polls.wrapping_add(polls);
        self.held = self.held.wrapping_add(held);
        self.longest = self.longest.max(longest);
    }

    /// Counts one of these polls as long.
    #[inline]
    pub(super) fn long(&mut self, length: u64) {
        self.long_polls = self.long_polls.wrapping_add(1);
        self.long = self.long.wrapping_add(length);
    }

    /// Adds the time for which a task was ready before one of these polls.
    #[inline]
    pub(super) fn was_ready(&mut self, ready_ns: u64) {
        self.ready.add(ready_ns);
        self.ready_sum_ns = self.ready_sum_ns.saturating_add(ready_ns);
        self.longest_ready_ns = self.longest_ready_ns.max(ready_ns);
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    LocationSums {
        key, tasks, worker_polls, off_worker_polls, held, off_worker, longest, long_polls, long, lengths, ready,
        ready_sum_ns, longest_ready_ns,
    }
}

#[cfg(has_black_box)]
impl crate::util::plain::Plain for Key {
    fn write(&self, into: &mut Vec<u8>) {
        let (kind, number) = match *self {
            Self::At(location) => (0_u8, u64::from(location)),
            Self::Root(number) => (1, number),
            Self::Unknown => (2, 0),
        };
        (kind, number).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut crate::util::plain::Bytes<'_>) -> Option<Self> {
        match <_>::read(from)? {
            (0_u8, location) => LocationId::try_from(location).ok().map(Self::At),
            (1, number) => Some(Self::Root(number)),
            (2, 0_u64) => Some(Self::Unknown),
            _ => None,
        }
    }
}
