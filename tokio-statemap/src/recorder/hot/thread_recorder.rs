//! The per-thread state of a recorder, and how a hook finds it.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

use crate::recorder::calls::profile::ThreadProfile;
use crate::recorder::hot::locations::KnownLocations;
use crate::recorder::hot::reading::{self, LastReading};
use crate::recorder::hot::{Shared, profile, woken};
use crate::recorder::kept::{Kept, RecorderId};
use crate::recorder::process;
use crate::recorder::record::{Kind, LocationId, Record};
#[cfg(feature = "tracing")]
use crate::recorder::spans::Spans;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::rings::ThreadEnd;
use crate::recorder::store::segment::RecordWriter;
use crate::recorder::window::late_tasks::LateTasks;
use crate::recorder::window::mode::{self, GlobalMode, WindowId};
use crate::sys::chunk::WriterCell;
use crate::sys::{local, sync, tsc};

/// The id of no task.
const NO_TASK: u64 = u64::MAX;

/// The state of one thread for one recorder: its buffer, and cached values.
#[derive(Debug)]
pub(crate) struct ThreadRecorder {
    pub(crate) buffer: &'static Buffer,
    /// Writes to the buffer's chunk. `None` while lent to `HOT`.
    writer: Option<RecordWriter>,
    /// The number of records in that chunk that are notes.
    notes: usize,
    /// The rings for full and empty chunks.
    rings: ThreadEnd,
    pub(crate) locations: KnownLocations,
    /// The window in which the fields below were set.
    window: WindowId,
    /// The worker that was recorded last, possibly in an earlier window.
    pub(crate) worker: Option<u32>,
    /// `true` if the thread may have become another worker, or stopped being one.
    pub(crate) worker_is_stale: bool,
    /// `true` if `worker` was recorded in an earlier window.
    pub(crate) worker_is_from_earlier: bool,
    /// The task polled last.
    pub(crate) polled: u64,
    /// The location of the last spawn: its address, and its index.
    pub(crate) location: (usize, LocationId),
    /// The tasks spawned before the window. `None` while lent to `HOT`, before the first
    /// window, and in a child of a fork in which they stay locked.
    late: Option<Arc<LateTasks>>,
    pub(super) last_reading: Option<LastReading>,
    /// The counts of calls of instrumented functions, once there was a call.
    profile: Option<Arc<ThreadProfile>>,
    /// `true` if a reading is being added.
    is_reading: bool,
}

impl ThreadRecorder {
    pub(crate) fn new(
        buffer: &'static Buffer,
        writer: RecordWriter,
        rings: ThreadEnd,
    ) -> Box<Self> {
        Box::new(Self {
            buffer,
            writer: Some(writer),
            notes: 0,
            rings,
            locations: KnownLocations::new(),
            window: 0,
            worker: None,
            worker_is_stale: true,
            worker_is_from_earlier: false,
            polled: NO_TASK,
            location: (0, 0),
            late: None,
            last_reading: None,
            profile: None,
            is_reading: false,
        })
    }

    /// Enters the recorder's current window, if it is a new one. Nothing was recorded in between,
    /// so the thread may have become another worker.
    fn enter_window(&mut self, kept: &Kept) {
        let window = kept.mode.window();
        if self.window != window {
            self.late = kept.current.late(process::is_forked);
            self.worker_is_stale = true;
            self.worker_is_from_earlier = self.worker.is_some();
            self.polled = NO_TASK;
            self.window = window;
        }
    }

    /// Returns whether the caller has to record the origin of task `id`.
    pub(crate) fn claim_origin(&self, id: u64) -> bool {
        self.late.as_ref().is_some_and(|late| late.claim_origin(id))
    }

    /// Reassigns this recorder to another thread, which is yet to [begin](Self::begin). All that was in it is handed
    /// over.
    pub(crate) fn reassign(&mut self, kept: &Kept) {
        kept.reassign(self.buffer, self.writer.take(), &mut self.rings);
        self.notes = 0;
        self.window = 0;
        self.worker = None;
        self.late = None;
        self.last_reading = None;
    }

    /// Gives the new thread the chunk of `writer` to fill first.
    pub(crate) fn begin(&mut self, writer: RecordWriter) {
        self.buffer.begin(sync::Arc::clone(writer.chunk()));
        self.writer = Some(writer);
    }

    /// Adds a record. Hands a full chunk over first.
    #[inline]
    pub(crate) fn push(&mut self, recorder: &Shared, ticks: u64, kind: Kind, payload: u64) {
        let record = Record::new(ticks, kind, payload);
        let is_pushed = self.writer.as_ref().is_some_and(|writer| writer.push(record));
        if is_pushed || self.push_to_next(recorder, record) {
            self.notes += usize::from(!record.is_event());
        } else if record.is_event() {
            self.buffer.refuse();
        }
    }

    /// Adds the record after an interruption, or to the next chunk. Returns whether there was room.
    #[cold]
    #[inline(never)]
    fn push_to_next(&mut self, recorder: &Shared, record: Record) -> bool {
        if self.push_after_interruption(recorder, record) {
            return true;
        }
        let Some(writer) = self.writer.take() else { return false };
        let kept = &recorder.kept;
        let exchanged = self.rings.exchange(writer, self.notes, || kept.find_writer());
        let writer = match exchanged.or_else(|full| kept.hand_over(self.buffer, full, self.notes)) {
            Ok(empty) => empty,
            Err(full) => {
                self.writer = Some(full);
                return false;
            }
        };
        self.notes = 0;
        kept.has_filled_chunk();
        // The watcher may have looked at the chunk while it was prefaulted.
        let is_pushed = writer.push_anyway(record);
        self.writer = Some(writer);
        // An interruption of the full chunk is over.
        woken::add(recorder, self.buffer);
        is_pushed
    }

    /// Ends an interruption and adds the record. Returns whether it was interrupted and had room.
    #[inline(never)]
    fn push_after_interruption(&mut self, recorder: &Shared, record: Record) -> bool {
        // It may be interrupted again meanwhile.
        while self.writer.as_ref().is_some_and(RecordWriter::resume) {
            // The records of a reading may be interrupted, too: one reading is enough.
            if !std::mem::replace(&mut self.is_reading, true) {
                self.add_reading(recorder, record.ticks);
                self.is_reading = false;
            }
            if self.writer.as_ref().is_some_and(|writer| writer.push(record)) {
                return true;
            }
        }
        false
    }

    /// Adds a reading of the thread, which was interrupted, before its record at `ticks`. From now on, the watcher
    /// looks at the thread.
    #[cold]
    #[inline(never)]
    fn add_reading(&mut self, recorder: &Shared, ticks: u64) {
        if recorder.kept.config.trace_target.tracks_tasks() {
            recorder.note_queue(self, ticks, None);
        }
        let notes = reading::take(&recorder.kept.clock, &mut self.last_reading, ticks);
        for note in &notes {
            if let Some((kind, payload)) = *note {
                self.push(recorder, ticks, kind, payload);
            }
        }
        woken::add(recorder, self.buffer);
    }
}

/// The reason why a hook can't use its thread recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unavailable {
    /// The thread is ending and its thread-local values are destroyed.
    Destroyed,
    /// A hook is already running on this thread, below this one.
    Reentrant,
}

thread_local! {
    /// The parts of `THREAD_RECORDERS` that most hooks need, in cells that need no destructor and no check
    /// for it.
    static HOT: Hot = const { Hot {
        window: Cell::new(0),
        worker_in: Cell::new(0),
        polled: Cell::new(NO_TASK),
        writer: WriterCell::new(),
        late_below: Cell::new(0),
        notes: Cell::new(0),
        location: Cell::new((0, 0)),
        buffer: Cell::new(None),
        late: ManuallyDrop::new(Cell::new(None)),
    } };
    static THREAD_RECORDERS: RefCell<ThreadRecorders> = const { RefCell::new(ThreadRecorders { last: None, others: Vec::new() }) };
}

/// The state of the recorder that this thread used last: enough to add a record on the fast path.
///
/// The fields that a poll needs come first, so that they share a cache line.
#[repr(C, align(64))]
struct Hot {
    /// The window that the thread is in. 0 if there is none, and while the slow path runs.
    window: Cell<WindowId>,
    /// The window, or 0 while it is unknown which worker the thread is.
    worker_in: Cell<WindowId>,
    /// The task polled last.
    polled: Cell<u64>,
    /// The thread's writer, while `window` isn't 0.
    writer: WriterCell<Record>,
    /// The number of notes added to the writer's chunk on the fast path.
    notes: Cell<usize>,
    /// Tasks with smaller ids may have been spawned before the window. 0 if none were.
    late_below: Cell<u64>,
    /// The location of the last spawn: its address, and its index.
    location: Cell<(usize, LocationId)>,
    /// The thread's buffer, if there is one. (An `Option`, because in Rust 1.85 no constant may refer
    /// to a static with interior mutability.)
    buffer: Cell<Option<&'static Buffer>>,
    /// The thread's late tasks, while `window` isn't 0.
    late: ManuallyDrop<Cell<Option<Arc<LateTasks>>>>,
}

// Each of these functions acts on this thread's recorder if that is the one used last, its window is `window` and its
// chunk has room. Otherwise it returns `false`, without any effect. The closures that compute the record are called
// last: to the compiler a thread-local access is a call, and values computed before it have to be saved across it.

/// Returns the window that this thread records in, or recorded in last. 0 if there is none, and in the slow path of a
/// hook.
#[inline]
pub(crate) fn window() -> WindowId {
    local::with(&HOT, |hot| hot.window.get())
}

/// Adds a record, if it is known which worker the thread is.
#[inline]
pub(crate) fn push_if_worker_known(window: WindowId, record: impl FnOnce() -> Record) -> bool {
    local::with(&HOT, |hot| hot.worker_in.get() == window && hot.push(record()))
}

/// Adds the record, if there is one and it is known which worker the thread is.
#[inline]
pub(crate) fn push_if_known(window: WindowId, record: impl FnOnce() -> Option<Record>) -> bool {
    local::with(&HOT, |hot| {
        hot.worker_in.get() == window && record().is_some_and(|record| hot.push(record))
    })
}

/// Adds the start of a poll, unless the task may have been spawned before the window. `record` is passed the task's id.
/// Unless `woken_by` is 0, a note of who woke the task precedes it.
#[inline]
pub(crate) fn push_poll_start(
    window: WindowId,
    id: impl FnOnce() -> u64,
    record: impl FnOnce(u64) -> Option<Record>,
    woken_by: u64,
) -> bool {
    let id = |hot: &Hot| Some(id()).filter(|&id| id >= hot.late_below.get());
    push_poll_start_if(window, id, record, woken_by)
}

/// Adds the start of a poll of a task that was spawned before the window, and whose origin was recorded in the window.
#[inline]
pub(crate) fn push_late_poll_start(
    window: WindowId,
    id: impl FnOnce() -> u64,
    record: impl FnOnce(u64) -> Option<Record>,
    woken_by: u64,
) -> bool {
    let id = |hot: &Hot| Some(id()).filter(|&id| hot.is_origin_recorded(id));
    push_poll_start_if(window, id, record, woken_by)
}

#[inline]
fn push_poll_start_if(
    window: WindowId,
    id: impl FnOnce(&Hot) -> Option<u64>,
    record: impl FnOnce(u64) -> Option<Record>,
    woken_by: u64,
) -> bool {
    local::with(&HOT, |hot| {
        if hot.worker_in.get() != window {
            return false;
        }
        let Some(id) = id(hot) else { return false };
        let pushed = record(id).is_some_and(|record| {
            // If there is no room for the start, the slow path adds the note again, which changes nothing.
            hot.push_woken_by(record.ticks, woken_by) && hot.push(record)
        });
        if pushed {
            hot.polled.set(id);
        }
        pushed
    })
}

/// Adds the termination of a task, if it is the one being polled; `record` also returns its id.
#[inline]
pub(crate) fn push_end(window: WindowId, record: impl FnOnce() -> (Record, u64)) -> bool {
    local::with(&HOT, |hot| {
        if hot.window.get() != window {
            return false;
        }
        let (record, id) = record();
        hot.polled.get() == id && hot.push(record)
    })
}

/// Adds the spawn of a task, if its location is the same as that of the last spawn; `record` is
/// passed the location's index.
#[inline]
pub(crate) fn push_spawn(
    window: WindowId,
    location: impl FnOnce() -> usize,
    record: impl FnOnce(LocationId) -> Option<Record>,
) -> bool {
    local::with(&HOT, |hot| {
        if hot.window.get() != window {
            return false;
        }
        let (last, number) = hot.location.get();
        last == location() && record(number).is_some_and(|record| hot.push(record))
    })
}

/// Returns the task that this thread polled last, as in a record; `None` if nothing is recorded here.
#[inline]
pub(crate) fn polled() -> Option<u64> {
    local::with(&HOT, |hot| (hot.window.get() != 0).then(|| hot.polled.get()))
}

/// Adds a note to the records of this thread for `recorder`. Returns its time in ticks; `None` if nothing is recorded
/// there.
#[inline]
pub(crate) fn note(recorder: RecorderId, kind: Kind, payload: u64) -> Option<u64> {
    let GlobalMode::FastPath(window) = mode::global() else {
        return note_slowly(recorder, kind, payload);
    };
    local::with(&HOT, |hot| {
        let ticks = tsc::ticks();
        if hot.window.get() == window && hot.push(Record::new(ticks, kind, payload)) {
            hot.notes.set(hot.notes.get() + 1);
            return Some(ticks);
        }
        note_slowly(recorder, kind, payload)
    })
}

#[cold]
#[inline(never)]
fn note_slowly(recorder: RecorderId, kind: Kind, payload: u64) -> Option<u64> {
    let recorder = recorder_of_this_thread(recorder)?;
    let ticks = recorder.ticks()?;
    let added = with(&recorder, |thread| thread.push(&recorder, ticks, kind, payload));
    added.ok().map(|()| ticks)
}

/// Returns the time in ticks; `None` if nothing is recorded by `recorder` on this thread.
pub(crate) fn ticks(recorder: RecorderId) -> Option<u64> {
    recorder_of_this_thread(recorder)?.ticks()
}

/// Returns the recorder that this thread used last.
pub(crate) fn last_recorder() -> Option<RecorderId> {
    THREAD_RECORDERS
        .try_with(|all| all.try_borrow().ok()?.last.as_ref().map(|entry| entry.recorder_id))
        .ok()
        .flatten()
}

/// Returns the recorder that this thread used last, if the thread is in the runtime of that one, and wakers are to be
/// seen.
pub(crate) fn recorder_here() -> Option<RecorderId> {
    let recorder = recorder_of_this_thread(last_recorder()?)?;
    let handle = tokio::runtime::Handle::try_current().ok()?;
    (recorder.kept.config.wakes && recorder.runtime.is(&handle)).then_some(recorder.kept.id)
}

fn recorder_of_this_thread(id: RecorderId) -> Option<Arc<Shared>> {
    THREAD_RECORDERS
        .try_with(|all| {
            let all = all.try_borrow().ok()?;
            let entry = match &all.last {
                Some(last) if last.recorder_id == id => last,
                _ => &all.others[all.place_of(id)?],
            };
            entry.recorder.upgrade()
        })
        .ok()
        .flatten()
}

/// Counts a refused event, if `is_meant` accepts the thread's window. Returns whether it does.
#[inline]
pub(crate) fn refuse_if(is_meant: impl FnOnce(WindowId) -> bool) -> bool {
    // The conditions are checked one after the other. The compiler would merge them into a single one, which takes
    // longer.
    local::with(&HOT, |hot| match hot.buffer.get() {
        Some(buffer) if is_meant(hot.window.get()) => {
            buffer.refuse();
            true
        }
        _ => false,
    })
}

impl Hot {
    #[inline]
    fn push(&self, record: Record) -> bool {
        self.writer.push(record)
    }

    /// Notes who woke the task whose poll starts next, unless it is 0. Returns `false` if there is no room.
    #[inline]
    fn push_woken_by(&self, ticks: u64, woken_by: u64) -> bool {
        if woken_by == 0 {
            return true;
        }
        let pushed = self.push(Record::event(ticks, Kind::WokenBy, woken_by));
        self.notes.set(self.notes.get() + usize::from(pushed));
        pushed
    }

    /// Returns whether the origin of task `id`, which was spawned before the window, was recorded in the window.
    #[inline]
    fn is_origin_recorded(&self, id: u64) -> bool {
        let late = self.late.take();
        let is_origin_recorded = late.as_ref().is_some_and(|late| late.is_origin_recorded(id));
        self.late.set(late);
        is_origin_recorded
    }

    /// Gives back to `thread` what it lent, if it lent anything. Afterwards nothing is lent.
    #[inline]
    fn give_back(&self, thread: &mut ThreadRecorder) {
        // A window id belongs to one thread recorder of this thread.
        if self.window.get() == thread.window && thread.window != 0 {
            self.window.set(0);
            thread.worker_is_stale |= self.worker_in.replace(0) != thread.window;
            thread.polled = self.polled.get();
            thread.writer = self.writer.replace(None);
            thread.notes += self.notes.replace(0);
            thread.late = self.late.take();
        }
    }

    /// Calls `f` with `thread`, then lends it to the fast path.
    #[inline]
    fn lend<R>(
        &self,
        recorder: &Shared,
        thread: &mut ThreadRecorder,
        f: impl FnOnce(&mut ThreadRecorder) -> R,
    ) -> R {
        self.give_back(thread);
        thread.enter_window(&recorder.kept);
        let result = f(thread);
        self.writer.replace(thread.writer.take());
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

/// The recorders of one thread: one for each runtime whose hooks ran here.
struct ThreadRecorders {
    last: Option<RecorderEntry>,
    others: Vec<RecorderEntry>,
}

struct RecorderEntry {
    recorder_id: RecorderId,
    recorder: Weak<Shared>,
    thread: Option<Box<ThreadRecorder>>,
}

impl RecorderEntry {
    /// Ends the lending to the fast path.
    fn take_back(&mut self) {
        if let Some(thread) = &mut self.thread {
            local::with(&HOT, |hot| hot.give_back(thread));
        }
        profile::forget();
    }
}

impl Drop for RecorderEntry {
    fn drop(&mut self) {
        self.take_back();
        if let (Some(recorder), Some(thread)) = (self.recorder.upgrade(), self.thread.take()) {
            recorder.retire(thread);
        }
    }
}

/// Returns the profile of this thread's recorder, if `window` is that of the one used last.
pub(crate) fn profile(window: WindowId) -> Option<Arc<ThreadProfile>> {
    let found = THREAD_RECORDERS.try_with(|thread_recorders| {
        let mut thread_recorders = thread_recorders.try_borrow_mut().ok()?;
        let entry = thread_recorders.last.as_mut()?;
        let thread = entry.thread.as_mut()?;
        if thread.window != window {
            return None;
        }
        if thread.profile.is_none() {
            thread.profile = Some(entry.recorder.upgrade()?.functions.new_thread());
        }
        thread.profile.clone()
    });
    found.ok().flatten()
}

/// Returns the spans of this thread's recorder, if `window` is that of the one used last.
#[cfg(feature = "tracing")]
pub(crate) fn spans(window: WindowId) -> Option<Arc<Spans>> {
    let found = THREAD_RECORDERS.try_with(|thread_recorders| {
        let thread_recorders = thread_recorders.try_borrow().ok()?;
        let entry = thread_recorders.last.as_ref()?;
        let is_in_window = entry.thread.as_ref().is_some_and(|thread| thread.window == window);
        is_in_window.then(|| entry.recorder.upgrade())?
    });
    found.ok().flatten().map(|recorder| Arc::clone(&recorder.spans))
}

/// Calls `f` with this thread's recorder for `recorder`.
///
/// From then on the fast path ([`push_if_worker_known`] and the like) uses it.
#[inline]
pub(crate) fn with<R>(
    recorder: &Arc<Shared>,
    f: impl FnOnce(&mut ThreadRecorder) -> R,
) -> Result<R, Unavailable> {
    THREAD_RECORDERS
        .try_with(|thread_recorders| {
            let mut thread_recorders =
                thread_recorders.try_borrow_mut().map_err(|_| Unavailable::Reentrant)?;
            // `f` is called in only one place, so that it is inlined.
            if thread_recorders
                .last
                .as_ref()
                .is_none_or(|entry| entry.recorder_id != recorder.kept.id)
            {
                thread_recorders.find(recorder);
            }
            match &mut thread_recorders.last {
                Some(RecorderEntry { thread: Some(thread), .. }) => {
                    Ok(local::with(&HOT, |hot| hot.lend(recorder, thread, f)))
                }
                _ => Err(Unavailable::Destroyed),
            }
        })
        .map_err(|_| Unavailable::Destroyed)?
}

/// Gives back this thread's recorder for `recorder`, as the thread is about to end.
///
/// The thread-local's destructor would do so too. But Tokio's threads wait for each other before it runs, each with its
/// buffer.
pub(crate) fn give_back(recorder: &Shared) {
    let taken = THREAD_RECORDERS.try_with(|thread_recorders| {
        let mut thread_recorders = thread_recorders.try_borrow_mut().ok()?;
        if thread_recorders.last.as_ref().is_some_and(|entry| entry.recorder_id == recorder.kept.id)
        {
            return thread_recorders.last.take();
        }
        let place = thread_recorders.place_of(recorder.kept.id)?;
        Some(thread_recorders.others.swap_remove(place))
    });
    // Dropped after the borrow ended, as this may call hooks.
    drop(taken);
}

impl ThreadRecorders {
    /// Returns the place of a recorder among those that weren't used last.
    fn place_of(&self, id: RecorderId) -> Option<usize> {
        self.others.iter().position(|entry| entry.recorder_id == id)
    }

    /// Makes the recorder for `recorder` the one used last, and creates it if necessary.
    #[cold]
    #[inline(never)]
    fn find(&mut self, recorder: &Arc<Shared>) {
        // A test thread sees many collectors; the entries of dropped ones are removed.
        self.others.retain(|entry| entry.recorder.strong_count() > 0);
        let entry = match self.place_of(recorder.kept.id) {
            Some(place) => self.others.swap_remove(place),
            None => {
                let thread = recorder.new_thread_recorder();
                woken::add_new(recorder, thread.buffer);
                RecorderEntry {
                    recorder_id: recorder.kept.id,
                    recorder: Arc::downgrade(recorder),
                    thread: Some(thread),
                }
            }
        };
        if let Some(mut before) = self.last.replace(entry) {
            before.take_back();
            self.others.push(before);
        }
    }
}
