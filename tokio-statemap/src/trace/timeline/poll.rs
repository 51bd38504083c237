//! A poll of a task.

use crate::trace::timeline::wait::WaitId;

/// A poll of a task.
///
/// It takes 32 bytes, as there may be millions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    start_ns: u64,
    /// `OPEN` while the poll is running.
    end_ns: u64,
    /// `UNKNOWN` if Tokio didn't report it.
    ready_ns: u64,
    thread: u32,
    /// `NO_WORKER` on a thread that is no worker.
    worker: u16,
    /// The two lowest bits say where it is cut, the others where the task waits from its end on.
    cut_and_wait: u16,
}

/// A poll's thread, and when it started.
pub(crate) type PollKey = (u32, u64);

const OPEN: u64 = u64::MAX;
const UNKNOWN: u64 = u64::MAX;
const NO_WORKER: u16 = u16::MAX;
const CUT_LEFT: u16 = 1;
const CUT_RIGHT: u16 = 2;
const CUTS: u16 = CUT_LEFT | CUT_RIGHT;

impl Poll {
    /// A poll that is still running.
    pub(crate) fn open(start_ns: u64, thread: u32, worker: Option<u32>) -> Self {
        Self {
            start_ns,
            end_ns: OPEN,
            ready_ns: UNKNOWN,
            thread,
            worker: worker.map_or(NO_WORKER, |w| u16::try_from(w).unwrap_or(NO_WORKER)),
            cut_and_wait: 0,
        }
    }

    /// The same poll with the time at which the task became ready.
    #[must_use]
    pub(crate) fn ready(mut self, ready_ns: Option<u64>) -> Self {
        self.ready_ns = ready_ns.unwrap_or(UNKNOWN);
        self
    }

    /// The same poll, ended at `end_ns`.
    #[must_use]
    pub(crate) fn ended(mut self, end_ns: u64) -> Self {
        self.end_ns = end_ns;
        self.cut_and_wait &= !CUT_RIGHT;
        self
    }

    /// The same poll, started before the recorded time.
    #[must_use]
    pub(crate) fn cut_left(mut self) -> Self {
        self.cut_and_wait |= CUT_LEFT;
        self
    }

    /// The same poll, still running when recording was stopped at `end_ns`.
    #[must_use]
    pub(crate) fn cut_right(mut self, end_ns: u64) -> Self {
        self.cut_and_wait |= CUT_RIGHT;
        self.end_ns = end_ns;
        self
    }

    /// The same poll, moved to start no earlier than `ns`, and so to end no earlier either.
    #[must_use]
    pub(crate) fn not_before(mut self, ns: u64) -> Self {
        self.start_ns = self.start_ns.max(ns);
        self.end_ns = self.end_ns.max(self.start_ns);
        if self.ready_ns != UNKNOWN {
            self.ready_ns = self.ready_ns.clamp(ns.min(self.start_ns), self.start_ns);
        }
        self
    }

    /// The same poll, cut as [`cuts`](Self::cuts) says; none of other bits.
    #[cfg(feature = "read")]
    pub(crate) fn with_cuts(mut self, cuts: u16) -> Self {
        self.cut_and_wait = self.cut_and_wait & !CUTS | cuts & CUTS;
        self
    }

    /// Where it was cut: on the left 1, on the right 2, in sum.
    pub(crate) fn cuts(&self) -> u16 {
        self.cut_and_wait & CUTS
    }

    /// The same poll, from whose end on the task waits at `wait`.
    #[must_use]
    pub(crate) fn waits_at(mut self, wait: Option<WaitId>) -> Self {
        let wait = wait.map_or(0, WaitId::number);
        self.cut_and_wait = self.cut_and_wait & CUTS | wait << CUTS.count_ones();
        self
    }

    /// Where the task waits from its end on, if that is known.
    pub(crate) fn wait(&self) -> Option<WaitId> {
        WaitId::new(self.cut_and_wait >> CUTS.count_ones())
    }

    /// What identifies it among all polls: a thread starts one at a time.
    pub(crate) fn key(&self) -> PollKey {
        (self.thread, self.start_ns)
    }

    /// When the poll started, in ns. If it started before the recorded time, this is the left edge.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// When the poll ended, in ns; `None` if it was running when the snapshot was taken.
    ///
    /// If recording was stopped during the poll, this is when it was stopped. If the task was
    /// polled or dropped on another thread before the hook for the end of this poll ran, it is when
    /// the task became ready for that poll, or else when it was polled or dropped there.
    pub fn end_ns(&self) -> Option<u64> {
        (self.end_ns != OPEN).then_some(self.end_ns)
    }

    /// When the task became ready for this poll, in ns. Never after the start.
    pub fn ready_ns(&self) -> Option<u64> {
        (self.ready_ns != UNKNOWN).then_some(self.ready_ns)
    }

    /// How long the task was ready before this poll started, in ns.
    pub fn ready_for_ns(&self) -> Option<u64> {
        self.ready_ns().map(|ready| self.start_ns - ready)
    }

    /// The length of the poll in ns, up to `now_ns` if it is still running.
    pub fn length_ns(&self, now_ns: u64) -> u64 {
        self.end_ns().unwrap_or(now_ns).saturating_sub(self.start_ns)
    }

    /// The thread that ran the poll. Threads are numbered in the order in which they are first
    /// seen.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// The worker that the poll started on; `None` on a thread that is no worker, such as one in
    /// `block_on` of a multi-thread runtime.
    pub fn worker(&self) -> Option<u32> {
        (self.worker != NO_WORKER).then_some(u32::from(self.worker))
    }

    /// Whether the poll started before the recorded time, so that its start is unknown.
    pub fn is_cut_left(&self) -> bool {
        self.cut_and_wait & CUT_LEFT != 0
    }

    /// Whether recording was stopped during the poll, so that its end is unknown.
    pub fn is_cut_right(&self) -> bool {
        self.cut_and_wait & CUT_RIGHT != 0
    }
}

impl std::fmt::Debug for Poll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poll")
            .field("ready_ns", &self.ready_ns())
            .field("start_ns", &self.start_ns())
            .field("end_ns", &self.end_ns())
            .field("thread", &self.thread())
            .field("worker", &self.worker())
            .field("cut_left", &self.is_cut_left())
            .field("cut_right", &self.is_cut_right())
            .field("wait", &self.wait())
            .finish()
    }
}
