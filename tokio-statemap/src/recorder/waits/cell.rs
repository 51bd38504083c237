//! The state of waiting tasks, beside their records: for a dump at any moment, however long ago their records were
//! evicted.

use std::cell::Cell;
use std::panic::Location;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::names::NameId;
use crate::recorder::chains::capture::MOST_CALLS;
use crate::recorder::chains::table::{NOTHING, WaitId};
use crate::recorder::kept::RecorderId;
use crate::util::sync::lock;

/// A task that has waited.
#[derive(Debug)]
pub(crate) struct TaskCell {
    pub(super) recorder: RecorderId,
    pub(super) id: u64,
    /// For a task of a `LocalSet`, which the runtime doesn't know: the task in whose poll it is polled.
    pub(super) polled_in: Option<u64>,
    pub(super) location: &'static Location<'static>,
    pub(super) name: Option<NameId>,
    /// Odd while the task is polled. Only the thread that polls the task writes.
    version: AtomicU32,
    wait: AtomicU32,
    /// The time when the last poll ended, in ticks.
    since: AtomicU64,
    /// The times, in ticks, when the instrumented calls that it waits in were first polled, in the order of the chains;
    /// 0 after the last. Set only for a task that has such calls.
    entered: OnceLock<Box<[AtomicU64; MOST_CALLS]>>,
}

/// A task that waits, as it was at a moment.
#[derive(Clone, Debug)]
pub(crate) struct TaskSeen {
    pub(crate) id: u64,
    /// For a task of a `LocalSet`: the task in whose poll it is polled.
    pub(crate) polled_in: Option<u64>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) name: Option<NameId>,
    /// The place where it waits, and since when, in ticks; `None` while it is polled.
    pub(crate) waits: Option<(WaitId, u64)>,
    /// The times, in ticks, when the instrumented calls that it waits in were first polled, in the order of the
    /// chains.
    pub(crate) entered: Vec<u64>,
}

impl TaskCell {
    pub(super) fn new(
        recorder: RecorderId,
        id: u64,
        polled_in: Option<u64>,
        location: &'static Location<'static>,
        name: Option<NameId>,
    ) -> Arc<Self> {
        let cell = Arc::new(Self {
            recorder,
            id,
            polled_in,
            location,
            name,
            version: AtomicU32::new(1),
            wait: AtomicU32::new(u32::from(NOTHING)),
            since: AtomicU64::new(0),
            entered: OnceLock::new(),
        });
        register(&cell);
        cell
    }

    /// Notes that a poll begins.
    #[inline]
    pub(super) fn poll_starts(&self) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version | 1, Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// Notes that the task will wait in instrumented calls that were first polled at these ticks.
    #[inline]
    pub(super) fn set_entered(&self, ticks: &[Cell<u64>]) {
        if ticks.is_empty() && self.entered.get().is_none() {
            return;
        }
        let entered =
            self.entered.get_or_init(|| Box::new([const { AtomicU64::new(0) }; MOST_CALLS]));
        for (n, place) in entered[..].iter().enumerate() {
            place.store(ticks.get(n).map_or(0, Cell::get), Ordering::Relaxed);
        }
    }

    /// Notes that a poll ended at `ticks` and the task waits.
    #[inline]
    pub(super) fn waits(&self, wait: WaitId, ticks: u64) {
        self.wait.store(u32::from(wait), Ordering::Relaxed);
        self.since.store(ticks, Ordering::Relaxed);
        let version = self.version.load(Ordering::Relaxed);
        self.version.store((version | 1).wrapping_add(1), Ordering::Release);
    }

    /// Returns where the task waited after its last poll; [`NOTHING`] if nothing took its waker so far.
    pub(super) fn last_wait(&self) -> WaitId {
        self.wait.load(Ordering::Relaxed) as WaitId
    }

    fn see(&self) -> TaskSeen {
        let version = self.version.load(Ordering::Acquire);
        let wait = self.wait.load(Ordering::Relaxed) as WaitId;
        let since = self.since.load(Ordering::Relaxed);
        let mut entered = Vec::new();
        if let Some(all) = self.entered.get() {
            for ticks in &all[..] {
                match ticks.load(Ordering::Relaxed) {
                    0 => break,
                    ticks => entered.push(ticks),
                }
            }
        }
        fence(Ordering::Acquire);
        let is_one = version & 1 == 0 && self.version.load(Ordering::Relaxed) == version;
        TaskSeen {
            id: self.id,
            polled_in: self.polled_in,
            location: self.location,
            name: self.name,
            waits: is_one.then_some((wait, since)),
            entered,
        }
    }
}

/// The cells of all tasks, in parts, so that threads that begin tasks rarely wait for each other.
static CELLS: [Mutex<Part>; 16] =
    [const { Mutex::new(Part { cells: Vec::new(), clean_at: 64 }) }; 16];

struct Part {
    cells: Vec<Weak<TaskCell>>,
    /// The number of cells at which those of ended tasks are removed.
    clean_at: usize,
}

fn register(cell: &Arc<TaskCell>) {
    // The ids of tasks follow one another.
    let mut part = lock(&CELLS[cell.id as usize % CELLS.len()]);
    if part.cells.len() >= part.clean_at {
        part.cells.retain(|cell| cell.strong_count() > 0);
        part.clean_at = (2 * part.cells.len()).max(64);
    }
    part.cells.push(Arc::downgrade(cell));
}

/// Returns the tasks of `recorder` that have waited and not ended.
pub(crate) fn waiting_tasks(recorder: RecorderId) -> Vec<TaskSeen> {
    let mut seen = Vec::new();
    for part in &CELLS {
        // While this lock is held, no task is looked at, as its thread may wait for the lock.
        let mut cells = Vec::new();
        for cell in &lock(part).cells {
            if let Some(cell) = cell.upgrade() {
                cells.push(cell);
            }
        }
        for cell in cells {
            if cell.recorder == recorder {
                seen.push(cell.see());
            }
        }
    }
    seen
}
