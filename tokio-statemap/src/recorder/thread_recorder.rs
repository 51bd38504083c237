//! What one thread keeps for one collector, and how a hook finds it.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

use crate::recorder::late_tasks::LateTasks;
use crate::recorder::live_tasks::LocationId;
use crate::recorder::locations::KnownLocations;
use crate::recorder::mode::WindowId;
use crate::recorder::record::{Kind, Record};
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::segment::{StreamId, Writer};
use crate::recorder::{Recorder, RecorderId};
use crate::sys::chunk::PenHolder;

/// No task has this number.
const NO_TASK: u64 = u64::MAX;

/// What one thread keeps for one collector: its buffer, and what it needn't ask again.
#[derive(Debug)]
pub(crate) struct ThreadRecorder {
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
    late: Option<Arc<LateTasks>>,
}

impl ThreadRecorder {
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

    /// Enters the window that `recorder` is in, if it hasn't. Whatever the thread did since the one before,
    /// nobody saw it: it may have lost its worker, and got another.
    fn enter_window(&mut self, recorder: &Recorder) {
        let window = recorder.mode.window();
        if self.window != window {
            self.late = Some(recorder.late());
            self.worker_is_stale = true;
            self.worker_is_of_before = self.worker.is_some();
            self.polled = NO_TASK;
            self.window = window;
        }
    }

    /// Whether the task `id` is to be origin_recorded, from now on not any more.
    pub(crate) fn records_origin_of(&self, id: u64) -> bool {
        self.late.as_ref().is_some_and(|late| late.records_origin_of(id))
    }

    /// Makes it the thread of another thread.
    pub(crate) fn hand_on(&mut self, stream: StreamId, recorder: &Recorder) {
        self.buffer.hand_on(stream, &recorder.store);
        recorder.after_drain();
        self.window = 0;
        self.worker = None;
        self.late = None;
    }

    /// Adds a record; a full chunk is handed over first.
    #[inline]
    pub(crate) fn push(&mut self, recorder: &Recorder, ticks: u64, kind: Kind, payload: u64) {
        let record = Record::new(ticks, kind, payload);
        let is_pushed = self.writer.as_ref().is_some_and(|writer| writer.push(record));
        if !is_pushed {
            self.push_to_next(recorder, record);
        }
        self.notes += usize::from(!record.is_event());
    }

    #[cold]
    #[inline(never)]
    fn push_to_next(&mut self, recorder: &Recorder, record: Record) {
        let Some(full) = self.writer.take() else { return self.buffer.refuse() };
        self.buffer.hand_over(full, self.notes, &recorder.store);
        self.notes = 0;
        // First, as its memory is at hand then, to go on with.
        recorder.after_drain();
        let writer = self.buffer.go_on(&recorder.store);
        if !writer.push(record) && record.is_event() {
            self.buffer.refuse(); // it can't be: the chunk is empty
        }
        // If none are dropped, what is at hand anyway.
        self.dropped_next = recorder.dropped_next().unwrap_or(writer.chunk().address());
        self.writer = Some(writer);
    }
}

/// Why a hook found no thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotAtHand {
    /// The thread is ending and its thread-local values are terminated.
    TerminatedIds,
    /// A hook runs on this thread already, below this one.
    Busy,
}

thread_local! {
    /// What most hooks need of `THREAD_RECORDERS`, in cells that need no destructor and no look whether it ran.
    static HOT: Hot = const { Hot {
        window: Cell::new(0),
        worker_in: Cell::new(0),
        polled: Cell::new(NO_TASK),
        writer: PenHolder::new(),
        late_below: Cell::new(0),
        location: Cell::new((0, 0)),
        buffer: Cell::new(None),
        late: ManuallyDrop::new(Cell::new(None)),
    } };
    static THREAD_RECORDERS: RefCell<ThreadRecorders> = const { RefCell::new(ThreadRecorders { last: None, others: Vec::new() }) };
}

/// Of the thread that was used last: enough to add a record to it where nothing else is to be done.
///
/// What a poll needs comes first, so that it is in one line of a cache.
#[repr(C, align(64))]
struct Hot {
    /// The window that the thread is in. 0 if there is no thread, or while more is done with it.
    window: Cell<WindowId>,
    /// The same, but also 0 while it isn't noted which worker the thread is.
    worker_in: Cell<WindowId>,
    /// The task whose poll started last.
    polled: Cell<u64>,
    /// The thread's, while `window` isn't 0.
    writer: PenHolder<Record>,
    /// Tasks with smaller numbers may live since before the window. Most times 0.
    late_below: Cell<u64>,
    /// The location of the last spawn: its address, and its number.
    location: Cell<(usize, LocationId)>,
    /// The thread's, if there is one. (An `Option`, as with Rust 1.85 no constant may refer to a static
    /// that changes.)
    buffer: Cell<Option<&'static Buffer>>,
    /// The thread's, while `window` isn't 0.
    late: ManuallyDrop<Cell<Option<Arc<LateTasks>>>>,
}

// Each of these does something with this thread's thread of an recorder, if that is the thread used last,
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

/// The same if that task lives since before the window, and was origin_recorded in it.
#[inline]
pub(crate) fn push_late_poll_start(
    window: WindowId,
    id: impl FnOnce() -> u64,
    record: impl FnOnce(u64) -> Option<Record>,
) -> bool {
    push_poll_start_if(window, |hot| Some(id()).filter(|&id| hot.is_origin_recorded(id)), record)
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

/// Only counts an event that is not kept, if the thread is in the window that is meant.
#[inline]
pub(crate) fn refuse_if(is_meant: impl FnOnce(WindowId) -> bool) -> bool {
    HOT.with(|hot| {
        let is_meant = is_meant(hot.window.get());
        if let (true, Some(buffer)) = (is_meant, hot.buffer.get()) {
            buffer.refuse();
        }
        is_meant
    })
}

impl Hot {
    #[inline]
    fn push(&self, record: Record) -> bool {
        self.writer.push(record)
    }

    /// Whether the task `id`, which lives since before the window, was origin_recorded in it.
    #[inline]
    fn is_origin_recorded(&self, id: u64) -> bool {
        let late = self.late.take();
        let is_origin_recorded = late.as_ref().is_some_and(|late| late.is_origin_recorded(id));
        self.late.set(late);
        is_origin_recorded
    }

    /// Gives back what it has of `thread`, if that is the one it is of; it is of none from then on.
    #[inline]
    fn give_back(&self, thread: &mut ThreadRecorder) {
        // No other thread ever was in that window.
        if self.window.get() == thread.window && thread.window != 0 {
            self.window.set(0);
            thread.worker_is_stale |= self.worker_in.replace(0) != thread.window;
            thread.polled = self.polled.get();
            thread.writer = self.writer.replace(None);
            thread.late = self.late.take();
        }
    }

    /// Lets `f` do what it will with `thread`; nobody else gets at it meanwhile.
    #[inline]
    fn lend<R>(
        &self,
        recorder: &Recorder,
        thread: &mut ThreadRecorder,
        f: impl FnOnce(&mut ThreadRecorder) -> R,
    ) -> R {
        self.give_back(thread);
        thread.enter_window(recorder);
        let result = f(thread);
        self.writer.replace(thread.writer.take());
        self.writer.fetch(thread.dropped_next);
        self.worker_in.set(if thread.worker_is_stale { 0 } else { thread.window });
        self.polled.set(thread.polled);
        self.location.set(thread.location);
        self.buffer.set(Some(thread.buffer));
        self.late_below.set(thread.late.as_ref().map_or(0, |late| late.below()));
        self.late.set(thread.late.take());
        self.window.set(thread.window);
        result
    }
}

/// The thread_recorders of one thread: one for each collector whose hooks ran here.
struct ThreadRecorders {
    last: Option<Entry>,
    others: Vec<Entry>,
}

struct Entry {
    engine_id: RecorderId,
    recorder: Weak<Recorder>,
    thread: Option<Box<ThreadRecorder>>,
}

impl Entry {
    /// Has the thread to itself again.
    fn take_back(&mut self) {
        if let Some(thread) = &mut self.thread {
            HOT.with(|hot| hot.give_back(thread));
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.take_back();
        if let (Some(recorder), Some(thread)) = (self.recorder.upgrade(), self.thread.take()) {
            recorder.retire(thread);
        }
    }
}

/// Calls `f` with this thread's thread of `recorder`.
///
/// From then on [`push_of_worker`] and the like find it.
#[inline]
pub(crate) fn with<R>(
    recorder: &Arc<Recorder>,
    f: impl FnOnce(&mut ThreadRecorder) -> R,
) -> Result<R, NotAtHand> {
    THREAD_RECORDERS
        .try_with(|thread_recorders| {
            let mut thread_recorders =
                thread_recorders.try_borrow_mut().map_err(|_| NotAtHand::Busy)?;
            // `f` is called in one place, so that it is compiled into it.
            if thread_recorders.last.as_ref().is_none_or(|entry| entry.engine_id != recorder.id) {
                thread_recorders.find(recorder);
            }
            match &mut thread_recorders.last {
                Some(Entry { thread: Some(thread), .. }) => {
                    Ok(HOT.with(|hot| hot.lend(recorder, thread, f)))
                }
                _ => Err(NotAtHand::TerminatedIds),
            }
        })
        .map_err(|_| NotAtHand::TerminatedIds)?
}

/// Gives this thread's thread of `recorder` back: the thread is about to end.
///
/// Its end would do so too, but Tokio's threads wait there for one another, each with its buffer.
pub(crate) fn give_back(recorder: &Recorder) {
    let taken = THREAD_RECORDERS.try_with(|thread_recorders| {
        let mut thread_recorders = thread_recorders.try_borrow_mut().ok()?;
        if thread_recorders.last.as_ref().is_some_and(|entry| entry.engine_id == recorder.id) {
            return thread_recorders.last.take();
        }
        let place =
            thread_recorders.others.iter().position(|entry| entry.engine_id == recorder.id)?;
        Some(thread_recorders.others.swap_remove(place))
    });
    // Only now, as it may call hooks.
    drop(taken);
}

impl ThreadRecorders {
    /// Makes the thread of `recorder` the last one used, or makes it.
    #[cold]
    #[inline(never)]
    fn find(&mut self, recorder: &Arc<Recorder>) {
        // Collectors come and go on a thread that runs tests: what they left is taken out.
        self.others.retain(|entry| entry.recorder.strong_count() > 0);
        let place = self.others.iter().position(|entry| entry.engine_id == recorder.id);
        let entry = match place {
            Some(place) => self.others.swap_remove(place),
            None => Entry {
                engine_id: recorder.id,
                recorder: Arc::downgrade(recorder),
                thread: Some(recorder.new_thread_recorder()),
            },
        };
        if let Some(mut before) = self.last.replace(entry) {
            before.take_back();
            self.others.push(before);
        }
    }
}
