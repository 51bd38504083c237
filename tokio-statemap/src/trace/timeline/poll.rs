//! One poll of a task.

/// One poll of a task: 32 bytes, as there may be millions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    start_ns: u64,
    /// `OPEN` while the poll still runs.
    end_ns: u64,
    /// `UNKNOWN` where Tokio did not say.
    ready_ns: u64,
    thread: u32,
    /// `NO_WORKER` on a thread that is none.
    worker: u16,
    cut: u16,
}

const OPEN: u64 = u64::MAX;
const UNKNOWN: u64 = u64::MAX;
const NO_WORKER: u16 = u16::MAX;
const CUT_LEFT: u16 = 1;
const CUT_RIGHT: u16 = 2;

impl Poll {
    /// A poll that still runs.
    pub(crate) fn open(start_ns: u64, thread: u32, worker: Option<u32>) -> Self {
        Self {
            start_ns,
            end_ns: OPEN,
            ready_ns: UNKNOWN,
            thread,
            worker: worker.map_or(NO_WORKER, |w| u16::try_from(w).unwrap_or(NO_WORKER)),
            cut: 0,
        }
    }

    /// The same, became ready at `ready_ns`.
    #[must_use]
    pub(crate) fn ready(mut self, ready_ns: Option<u64>) -> Self {
        self.ready_ns = ready_ns.unwrap_or(UNKNOWN);
        self
    }

    /// The same, ended at `end_ns`.
    #[must_use]
    pub(crate) fn ended(mut self, end_ns: u64) -> Self {
        self.end_ns = end_ns;
        self.cut &= !CUT_RIGHT;
        self
    }

    /// The same, begun before what was recorded.
    #[must_use]
    pub(crate) fn cut_left(mut self) -> Self {
        self.cut |= CUT_LEFT;
        self
    }

    /// The same, still running when the recording stopped at `end_ns`.
    #[must_use]
    pub(crate) fn cut_right(mut self, end_ns: u64) -> Self {
        self.cut |= CUT_RIGHT;
        self.end_ns = end_ns;
        self
    }

    /// The same, moved to start no earlier than `ns` (and so neither to end earlier).
    #[must_use]
    pub(crate) fn not_before(mut self, ns: u64) -> Self {
        self.start_ns = self.start_ns.max(ns);
        self.end_ns = self.end_ns.max(self.start_ns);
        if self.ready_ns != UNKNOWN {
            self.ready_ns = self.ready_ns.clamp(ns.min(self.start_ns), self.start_ns);
        }
        self
    }

    /// The same, cut as [`cuts`](Self::cuts) says; none of other bits.
    pub(crate) fn with_cuts(mut self, cuts: u16) -> Self {
        self.cut = cuts & (CUT_LEFT | CUT_RIGHT);
        self
    }

    /// Where it was cut: on the left 1, on the right 2, in sum.
    pub(crate) fn cuts(&self) -> u16 {
        self.cut
    }

    /// When it started, in ns. For a poll that began before what was recorded: the left edge.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// When it ended, in ns; `None` if it still ran when the snapshot was taken. For a poll during
    /// which the recording was stopped: when it was stopped. For one whose task was polled or dropped
    /// elsewhere before Tokio told its end: when the task was ready for that poll, or else when it was
    /// polled or dropped there.
    pub fn end_ns(&self) -> Option<u64> {
        (self.end_ns != OPEN).then_some(self.end_ns)
    }

    /// When its task had become ready for it, in ns, never after the start.
    pub fn ready_ns(&self) -> Option<u64> {
        (self.ready_ns != UNKNOWN).then_some(self.ready_ns)
    }

    /// How long its task had been ready when it started, in ns.
    pub fn ready_for_ns(&self) -> Option<u64> {
        self.ready_ns().map(|ready| self.start_ns - ready)
    }

    /// How long it ran, in ns, up to `now_ns` if it still runs.
    pub fn length_ns(&self, now_ns: u64) -> u64 {
        self.end_ns().unwrap_or(now_ns).saturating_sub(self.start_ns)
    }

    /// The thread that it ran on: a number that counts the runtime's threads as they are seen.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// The worker that it started on; `None` on a thread that is no worker (such as the one in
    /// `block_on` of a multi-thread runtime).
    pub fn worker(&self) -> Option<u32> {
        (self.worker != NO_WORKER).then_some(u32::from(self.worker))
    }

    /// Whether it began before what was recorded, so that its start isn't known.
    pub fn is_cut_left(&self) -> bool {
        self.cut & CUT_LEFT != 0
    }

    /// Whether the recording was stopped while it ran, so that its end isn't known.
    pub fn is_cut_right(&self) -> bool {
        self.cut & CUT_RIGHT != 0
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
            .finish()
    }
}
