//! A poll of a task.

use crate::trace::wait_id::WaitId;
use crate::trace::woken_by::WokenBy;

/// A poll of a task.
///
/// It takes 40 bytes, as there may be millions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    start_ns: u64,
    /// `OPEN` while the poll is running.
    end_ns: u64,
    /// `UNKNOWN` if Tokio didn't report it.
    ready_ns: u64,
    /// Packed; 0 if it isn't known.
    woken_by: u64,
    thread: u32,
    /// `NO_WORKER` on a thread that is no worker.
    worker: u16,
    /// The two lowest bits are the cuts, the others the number of the wait after its end.
    cut_and_wait: u16,
}

/// A poll's thread and start in ns.
pub(crate) type PollKey = (u32, u64);

const OPEN: u64 = u64::MAX;
const UNKNOWN: u64 = u64::MAX;
const NO_WORKER: u16 = u16::MAX;
const CUT_LEFT: u16 = 1;
const CUT_RIGHT: u16 = 2;
const CUTS: u16 = CUT_LEFT | CUT_RIGHT;

impl Poll {
    /// Creates a poll that is still running.
    pub(crate) fn open(start_ns: u64, thread: u32, worker: Option<u32>) -> Self {
        Self {
            start_ns,
            end_ns: OPEN,
            ready_ns: UNKNOWN,
            woken_by: 0,
            thread,
            worker: worker.unwrap_or(u32::MAX).min(NO_WORKER.into()) as u16,
            cut_and_wait: 0,
        }
    }

    /// Sets the time at which the task became ready.
    #[must_use]
    pub(crate) fn ready(mut self, ready_ns: Option<u64>) -> Self {
        self.ready_ns = ready_ns.unwrap_or(UNKNOWN);
        self
    }

    /// Sets who woke the task at that time.
    #[must_use]
    pub(crate) fn by(mut self, woken_by: Option<WokenBy>) -> Self {
        self.woken_by = woken_by.map_or(0, WokenBy::pack);
        self
    }

    /// Sets the end to `end_ns`.
    #[must_use]
    pub(crate) fn ended(mut self, end_ns: u64) -> Self {
        self.end_ns = end_ns;
        self.cut_and_wait &= !CUT_RIGHT;
        self
    }

    /// Marks it as started before the recorded time.
    #[must_use]
    pub(crate) fn cut_left(mut self) -> Self {
        self.cut_and_wait |= CUT_LEFT;
        self
    }

    /// Marks it as still running when recording was stopped at `end_ns`.
    #[must_use]
    pub(crate) fn cut_right(mut self, end_ns: u64) -> Self {
        self.cut_and_wait |= CUT_RIGHT;
        self.end_ns = end_ns;
        self
    }

    /// Moves the start to `ns` or later, and the end no earlier than the start.
    #[must_use]
    pub(crate) fn not_before(mut self, ns: u64) -> Self {
        self.start_ns = self.start_ns.max(ns);
        self.end_ns = self.end_ns.max(self.start_ns);
        if self.ready_ns != UNKNOWN {
            self.ready_ns = self.ready_ns.clamp(ns.min(self.start_ns), self.start_ns);
        }
        self
    }

    /// Sets the [`cuts`](Self::cuts), ignoring other bits.
    #[cfg(feature = "read")]
    pub(crate) fn with_cuts(mut self, cuts: u16) -> Self {
        self.cut_and_wait = self.cut_and_wait & !CUTS | cuts & CUTS;
        self
    }

    /// Returns the cuts as bits: 1 for the left edge, 2 for the right.
    pub(crate) fn cuts(&self) -> u16 {
        self.cut_and_wait & CUTS
    }

    /// Sets the place where the task waits after the poll.
    #[must_use]
    pub(crate) fn waits_at(mut self, wait: Option<WaitId>) -> Self {
        let wait = wait.map_or(0, WaitId::number);
        self.cut_and_wait = self.cut_and_wait & CUTS | wait << CUTS.count_ones();
        self
    }

    /// Returns the place where the task waits after the poll, if it is known.
    pub(crate) fn wait(&self) -> Option<WaitId> {
        WaitId::new(self.cut_and_wait >> CUTS.count_ones())
    }

    /// Returns the key that identifies it among all polls: a thread starts one at a time.
    pub(crate) fn key(&self) -> PollKey {
        (self.thread, self.start_ns)
    }

    /// Returns the start of the poll, in ns. If it started before the recorded time, this is the
    /// left edge.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Returns the end of the poll, in ns; `None` if it was running when the snapshot was taken.
    ///
    /// If recording was stopped during the poll, this is the time of the stop. If the task was
    /// polled or dropped on another thread before the hook for the end of this poll ran, it is the
    /// time at which Tokio queued it for that poll, if that is known, or else at which it was polled or dropped
    /// there.
    pub fn end_ns(&self) -> Option<u64> {
        (self.end_ns != OPEN).then_some(self.end_ns)
    }

    /// Returns the time at which the task became ready for this poll, in ns. It is never after the
    /// start. `None` if it is unknown, as without `schedule_latency`.
    pub fn ready_ns(&self) -> Option<u64> {
        (self.ready_ns != UNKNOWN).then_some(self.ready_ns)
    }

    /// Returns who woke the task for this poll, at [`ready_ns`](Self::ready_ns): the source of its first wake since the
    /// previous poll began, or of its spawn. `None` if that isn't known, such as if wakes aren't seen.
    ///
    /// A task that is woken in its own poll is ready from the end of that poll on.
    pub fn woken_by(&self) -> Option<WokenBy> {
        WokenBy::unpack(self.woken_by)
    }

    /// Returns the index of the poll in which the task of this poll was woken. `polls` are of one task, in order.
    /// `None` if the task was woken in none of them, or if that isn't known.
    pub(crate) fn woken_in(&self, polls: &[Self]) -> Option<usize> {
        let at_ns = self.ready_ns()?;
        // The time is rounded, and the clocks of two threads differ.
        let slack_ns = 1_000 + (self.start_ns - at_ns) / 100_000;
        let after = polls.partition_point(|poll| poll.start_ns <= at_ns.saturating_add(slack_ns));
        let last = after.checked_sub(1)?;
        (at_ns <= polls[last].end_ns.saturating_add(slack_ns)).then_some(last)
    }

    /// Returns the time for which the task was ready before this poll started, in ns.
    pub fn ready_for_ns(&self) -> Option<u64> {
        self.ready_ns().map(|ready| self.start_ns - ready)
    }

    /// Returns the length of the poll in ns, up to `now_ns` if it is still running.
    pub fn length_ns(&self, now_ns: u64) -> u64 {
        self.end_ns().unwrap_or(now_ns).saturating_sub(self.start_ns)
    }

    /// Returns the thread that ran the poll. Threads are numbered in the order in which they are
    /// first seen.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Returns the worker that the poll started on; `None` on a thread that is no worker, such as
    /// one in `block_on` of a multi-thread runtime.
    pub fn worker(&self) -> Option<u32> {
        (self.worker != NO_WORKER).then_some(u32::from(self.worker))
    }

    /// Returns `true` if the poll started before the recorded time, so that its start is unknown.
    pub fn is_cut_left(&self) -> bool {
        self.cut_and_wait & CUT_LEFT != 0
    }

    /// Returns `true` if recording was stopped during the poll, so that its end is unknown.
    pub fn is_cut_right(&self) -> bool {
        self.cut_and_wait & CUT_RIGHT != 0
    }
}

impl std::fmt::Debug for Poll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poll")
            .field("ready_ns", &self.ready_ns())
            .field("woken_by", &self.woken_by())
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
