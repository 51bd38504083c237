//! What one thread keeps for one collector, and how a hook finds it.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

use crate::engine::buffer::Buffer;
use crate::engine::late::Late;
use crate::engine::locations::KnownLocations;
use crate::engine::mode::WindowId;
use crate::engine::record::{Kind, Record};
use crate::engine::roster::LocationId;
use crate::engine::segment::{StreamId, Writer};
use crate::engine::{Engine, EngineId};
use crate::sys::chunk::PenHolder;

/// No task has this number.
const NO_TASK: u64 = u64::MAX;

/// What one thread keeps for one collector: its buffer, and what it needn't ask again.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) buffer: &'static Buffer,
    /// Writes the buffer's chunk. None while `HOT` has it.
    writer: Option<Writer>,
    /// How many records of that chunk are no events.
    notes: usize,
    /// The address of the records that are dropped next, so that they are at hand by then.
    dropped_next: usize,
    pub(crate) locations: KnownLocations,
    /// The window that what is below was noted in.
    window: WindowId,
    /// The worker that was noted last, be it in a window before.
    pub(crate) worker: Option<u32>,
    /// Whether the thread may be another worker by now, or none any more.
    pub(crate) worker_is_stale: bool,
    /// Whether the worker was noted in a window before.
    pub(crate) worker_is_of_before: bool,
    /// The task whose poll started last.
    pub(crate) polled: u64,
    /// The location of the last spawn: its address, and its number.
    pub(crate) location: (usize, LocationId),
    /// Tasks from before the window. None while `HOT` has it, and before the first window.
    late: Option<Arc<Late>>,
}

impl Lane {
    pub(crate) fn new(buffer: &'static Buffer, writer: Writer) -> Box<Self> {
        Box::new(Self {
            buffer,
            writer: Some(writer),
            notes: 0,
            dropped_next: 0,
            locations: KnownLocations::new(),
            window: 0,
            worker: None,
            worker_is_stale: true,
            worker_is_of_before: false,
            polled: NO_TASK,
            location: (0, 0),
            late: None,
        })
    }

    /// Enters the window that `engine` is in, if it hasn't. Whatever the thread did since the one before,
    /// nobody saw it: it may have lost its worker, and got another.
    fn enter_window(&mut self, engine: &Engine) {
        let window = engine.mode.window();
        if self.window != window {
            self.late = Some(engine.late());
            self.worker_is_stale = true;
            self.worker_is_of_before = self.worker.is_some();
            self.polled = NO_TASK;
            self.window = window;
        }
    }

    /// Whether the task `id` is to be introduced, from now on not any more.
    pub(crate) fn introduces(&self, id: u64) -> bool {
        self.late.as_ref().is_some_and(|late| late.introduces(id))
    }

    /// Makes it the lane of another thread.
    pub(crate) fn hand_on(&mut self, stream: StreamId, engine: &Engine) {
        self.buffer.hand_on(stream, &engine.store);
        engine.after_drain();
        self.window = 0;
        self.worker = None;
        self.late = None;
    }

    /// Adds a record; a full chunk is handed over first.
    #[inline]
    pub(crate) fn push(&mut self, engine: &Engine, ticks: u64, kind: Kind, payload: u64) {
        let record = Record::new(ticks, kind, payload);
        let is_pushed = self.writer.as_ref().is_some_and(|writer| writer.push(record));
        if !is_pushed {
            self.push_to_next(engine, record);
        }
        self.notes += usize::from(!record.is_event());
    }

    #[cold]
    #[inline(never)]
    fn push_to_next(&mut self, engine: &Engine, record: Record) {
        let Some(full) = self.writer.take() else { return self.buffer.refuse() };
        self.buffer.hand_over(full, self.notes, &engine.store);
        self.notes = 0;
        // First, as its memory is at hand then, to go on with.
        engine.after_drain();
        let writer = self.buffer.go_on(&engine.store);
        if !writer.push(record) && record.is_event() {
            self.buffer.refuse(); // it can't be: the chunk is empty
        }
        // If none are dropped, what is at hand anyway.
        self.dropped_next = engine.dropped_next().unwrap_or(writer.chunk().address());
        self.writer = Some(writer);
    }
}

/// Why a hook found no lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoLane {
    /// The thread is ending and its thread-local values are gone.
    Gone,
    /// A hook runs on this thread already, below this one.
    Busy,
}

/// In place of a lane's, while there is none.
static NO_BUFFER: Buffer = Buffer::nobodys();

thread_local! {
    /// What most hooks need of `LANES`, in cells that need no destructor and no look whether it ran.
    static HOT: Hot = const { Hot {
        window: Cell::new(0),
        worker_in: Cell::new(0),
        polled: Cell::new(NO_TASK),
        writer: PenHolder::new(),
        late_below: Cell::new(0),
        location: Cell::new((0, 0)),
        buffer: Cell::new(&NO_BUFFER),
        late: ManuallyDrop::new(Cell::new(None)),
    } };
    static LANES: RefCell<Lanes> = const { RefCell::new(Lanes { last: None, others: Vec::new() }) };
}

/// Of the lane that was used last: enough to add a record to it where nothing else is to be done.
///
/// What a poll needs comes first, so that it is in one line of a cache.
#[repr(C, align(64))]
struct Hot {
    /// The window that the lane is in. 0 if there is no lane, or while more is done with it.
    window: Cell<WindowId>,
    /// The same, but also 0 while it isn't noted which worker the thread is.
    worker_in: Cell<WindowId>,
    /// The task whose poll started last.
    polled: Cell<u64>,
    /// The lane's, while `window` isn't 0.
    writer: PenHolder<Record>,
    /// Tasks with smaller numbers may live since before the window. Most times 0.
    late_below: Cell<u64>,
    /// The location of the last spawn: its address, and its number.
    location: Cell<(usize, LocationId)>,
    buffer: Cell<&'static Buffer>,
    /// The lane's, while `window` isn't 0.
    late: ManuallyDrop<Cell<Option<Arc<Late>>>>,
}

// Each of these does something with this thread's lane of an engine, if that is the lane used last,
// is in the window that is meant, and has room. If not, nothing was done. What is to be recorded is
// asked for last: to the compiler a thread-local is a call, and what is known before it has to be saved.

/// Adds a record of a thread whose worker is noted.
#[inline]
pub(crate) fn push_of_worker(window: WindowId, record: impl FnOnce() -> Record) -> bool {
    HOT.with(|hot| hot.worker_in.get() == window && hot.push(record()))
}

/// The same with the start of a poll, whose record is told the task's number. Not if that task may live
/// since before the window.
#[inline]
pub(crate) fn push_poll_start(
    window: WindowId,
    id: impl FnOnce() -> u64,
    record: impl FnOnce(u64) -> Option<Record>,
) -> bool {
    push_poll_start_if(window, |hot| Some(id()).filter(|&id| id >= hot.late_below.get()), record)
}

/// The same if that task lives since before the window, and was introduced in it.
#[inline]
pub(crate) fn push_late_poll_start(
    window: WindowId,
    id: impl FnOnce() -> u64,
    record: impl FnOnce(u64) -> Option<Record>,
) -> bool {
    push_poll_start_if(window, |hot| Some(id()).filter(|&id| hot.is_introduced(id)), record)
}

#[inline]
fn push_poll_start_if(
    window: WindowId,
    id: impl FnOnce(&Hot) -> Option<u64>,
    record: impl FnOnce(u64) -> Option<Record>,
) -> bool {
    HOT.with(|hot| {
        if hot.worker_in.get() != window {
            return false;
        }
        let Some(id) = id(hot) else { return false };
        let pushed = record(id).is_some_and(|record| hot.push(record));
        if pushed {
            hot.polled.set(id);
        }
        pushed
    })
}

/// Adds the end of a task, whose record comes with its number.
///
/// One that isn't polled may be the run loop of a worker, which terminates after `block_in_place`
/// took its worker away: the thread is none from then on.
#[inline]
pub(crate) fn push_end(window: WindowId, record: impl FnOnce() -> (Record, u64)) -> bool {
    HOT.with(|hot| {
        if hot.window.get() != window {
            return false;
        }
        let (record, id) = record();
        let pushed = hot.push(record);
        if pushed && hot.polled.get() != id {
            hot.worker_in.set(0);
        }
        pushed
    })
}

/// Adds the spawn of a task, if its location is that of the last one; `record` is told the
/// location's number.
#[inline]
pub(crate) fn push_spawn(
    window: WindowId,
    location: impl FnOnce() -> usize,
    record: impl FnOnce(LocationId) -> Option<Record>,
) -> bool {
    HOT.with(|hot| {
        if hot.window.get() != window {
            return false;
        }
        let (last, number) = hot.location.get();
        last == location() && record(number).is_some_and(|record| hot.push(record))
    })
}

/// Only counts an event that is not kept, if the lane is in the window that is meant.
#[inline]
pub(crate) fn refuse_if(is_meant: impl FnOnce(WindowId) -> bool) -> bool {
    HOT.with(|hot| {
        let is_meant = is_meant(hot.window.get());
        if is_meant {
            hot.buffer.get().refuse();
        }
        is_meant
    })
}

impl Hot {
    #[inline]
    fn push(&self, record: Record) -> bool {
        self.writer.push(record)
    }

    /// Whether the task `id`, which lives since before the window, was introduced in it.
    #[inline]
    fn is_introduced(&self, id: u64) -> bool {
        let late = self.late.take();
        let is_introduced = late.as_ref().is_some_and(|late| late.is_introduced(id));
        self.late.set(late);
        is_introduced
    }

    /// Gives back what it has of `lane`, if that is the one it is of; it is of none from then on.
    #[inline]
    fn give_back(&self, lane: &mut Lane) {
        // No other lane ever was in that window.
        if self.window.get() == lane.window && lane.window != 0 {
            self.window.set(0);
            lane.worker_is_stale |= self.worker_in.replace(0) != lane.window;
            lane.polled = self.polled.get();
            lane.writer = self.writer.replace(None);
            lane.late = self.late.take();
        }
    }

    /// Lets `f` do what it will with `lane`; nobody else gets at it meanwhile.
    #[inline]
    fn lend<R>(&self, engine: &Engine, lane: &mut Lane, f: impl FnOnce(&mut Lane) -> R) -> R {
        self.give_back(lane);
        lane.enter_window(engine);
        let result = f(lane);
        self.writer.replace(lane.writer.take());
        self.writer.fetch(lane.dropped_next);
        self.worker_in.set(if lane.worker_is_stale { 0 } else { lane.window });
        self.polled.set(lane.polled);
        self.location.set(lane.location);
        self.buffer.set(lane.buffer);
        self.late_below.set(lane.late.as_ref().map_or(0, |late| late.below()));
        self.late.set(lane.late.take());
        self.window.set(lane.window);
        result
    }
}

/// The lanes of one thread: one for each collector whose hooks ran here.
struct Lanes {
    last: Option<Entry>,
    others: Vec<Entry>,
}

struct Entry {
    engine_id: EngineId,
    engine: Weak<Engine>,
    lane: Option<Box<Lane>>,
}

impl Entry {
    /// Has the lane to itself again.
    fn take_back(&mut self) {
        if let Some(lane) = &mut self.lane {
            HOT.with(|hot| hot.give_back(lane));
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.take_back();
        if let (Some(engine), Some(lane)) = (self.engine.upgrade(), self.lane.take()) {
            engine.retire(lane);
        }
    }
}

/// Calls `f` with this thread's lane of `engine`.
///
/// From then on [`push_of_worker`] and the like find it.
#[inline]
pub(crate) fn with<R>(engine: &Arc<Engine>, f: impl FnOnce(&mut Lane) -> R) -> Result<R, NoLane> {
    LANES
        .try_with(|lanes| {
            let mut lanes = lanes.try_borrow_mut().map_err(|_| NoLane::Busy)?;
            // `f` is called in one place, so that it is compiled into it.
            if lanes.last.as_ref().is_none_or(|entry| entry.engine_id != engine.id) {
                lanes.find(engine);
            }
            match &mut lanes.last {
                Some(Entry { lane: Some(lane), .. }) => {
                    Ok(HOT.with(|hot| hot.lend(engine, lane, f)))
                }
                _ => Err(NoLane::Gone),
            }
        })
        .map_err(|_| NoLane::Gone)?
}

/// Gives this thread's lane of `engine` back: the thread is about to end.
///
/// Its end would do so too, but Tokio's threads wait there for one another, each with its buffer.
pub(crate) fn give_back(engine: &Engine) {
    let taken = LANES.try_with(|lanes| {
        let mut lanes = lanes.try_borrow_mut().ok()?;
        if lanes.last.as_ref().is_some_and(|entry| entry.engine_id == engine.id) {
            return lanes.last.take();
        }
        let place = lanes.others.iter().position(|entry| entry.engine_id == engine.id)?;
        Some(lanes.others.swap_remove(place))
    });
    // Only now, as it may call hooks.
    drop(taken);
}

impl Lanes {
    /// Makes the lane of `engine` the last one used, or makes it.
    #[cold]
    #[inline(never)]
    fn find(&mut self, engine: &Arc<Engine>) {
        // Collectors come and go on a thread that runs tests: what they left is taken out.
        self.others.retain(|entry| entry.engine.strong_count() > 0);
        let place = self.others.iter().position(|entry| entry.engine_id == engine.id);
        let entry = match place {
            Some(place) => self.others.swap_remove(place),
            None => Entry {
                engine_id: engine.id,
                engine: Arc::downgrade(engine),
                lane: Some(engine.new_lane()),
            },
        };
        if let Some(mut before) = self.last.replace(entry) {
            before.take_back();
            self.others.push(before);
        }
    }
}
