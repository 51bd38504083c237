//! The tasks of `LocalSet`s, of which no hook tells.
//!
//! Such a task is polled within the poll of the task, or of the root future, that drives its set. What it waits for clones
//! its waker there. Then Tokio says that it is the polled task, while the hooks know the one around it. A clone of another
//! task's waker, which the task has got from somewhere, is told by that task's id, and isn't taken for its own.
//!
//! No hook tells when it ends, either. So a reference to each task is kept, as that of a waker, and the task's header says
//! whether it waits. The reference keeps the memory of a task, but not its future, a while after its end: until the
//! background thread or the next new task in its place lets it go. There are [`SETS`] times [`WAYS`] places, and what
//! finds none is counted.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use super::capture::OfLocal;
use super::table::{self, UNKNOWN, WaitId};
use super::waking;
use crate::recorder::kept::RecorderId;
use crate::recorder::record::{WokenBy, for_recorder};
use crate::recorder::task_id::number;
use crate::recorder::{clock, process, wakes};
use crate::sys::task_waker::{Cloned, Held, Look, Reference, Stage};

/// The number of sets of places. Tasks whose ids are a multiple of this apart share the places of a set.
const SETS: usize = 2048;
/// The number of places of a set.
const WAYS: usize = 8;
/// The number of sets that the background thread looks at in a round.
const SETS_A_ROUND: usize = SETS / 16;

static PLACES: [Set; SETS] = [const { Set::new() }; SETS];
/// `true` if a place was taken since all were free.
static ARE_USED: AtomicBool = AtomicBool::new(false);
/// Returns the recorder that this thread used last, if the thread is in its runtime.
static RECORDER_HERE: OnceLock<fn() -> Option<RecorderId>> = OnceLock::new();

thread_local! {
    /// The captures of the task that was polled last within the poll of another one.
    static CAPTURES: OfLocal = const { OfLocal::new() };
    /// The id of that task; 0 if there was none.
    static TASK: Cell<u64> = const { Cell::new(0) };
}

struct Set {
    /// The ids of the tasks, apart from the rest, so that looking for one reads little; 0 if a place is free.
    ids: [AtomicU64; WAYS],
    places: [Place; WAYS],
}

/// A place for a task.
struct Place {
    held: Held,
    /// `true` if the task waited when wakers were watched last, and so isn't held any more.
    has_waited: AtomicBool,
    /// Odd while the rest is written. Only the thread that polls the task writes.
    version: AtomicU32,
    recorder: AtomicU64,
    /// The task or root future around its poll, packed with its recorder.
    polled_in: AtomicU64,
    wait: AtomicU32,
    /// The time when its waker was cloned last, in ticks.
    since: AtomicU64,
    /// Who woke it for that poll, packed with its recorder; 0 if that isn't known.
    woken_by: AtomicU64,
    /// `true` if it was woken in that poll before the clone.
    was_woken: AtomicBool,
}

/// A task of a `LocalSet` that waits.
#[derive(Clone, Debug)]
pub(crate) struct LocalSeen {
    pub(crate) id: u64,
    /// The task or root future around its poll, as in a record.
    pub(crate) polled_in: u64,
    pub(crate) wait: WaitId,
    /// The time since when it is known to wait there, in ticks.
    pub(crate) since: u64,
    /// Who woke it last, as in a record; 0 if that isn't known.
    pub(crate) woken_by: u64,
}

/// Prepares for recording. `recorder_here` returns the recorder that a thread used last, if the thread is in its runtime.
pub(crate) fn prepare(recorder_here: fn() -> Option<RecorderId>) {
    RECORDER_HERE.get_or_init(|| recorder_here);
}

/// Called as a waker of the task is cloned in a poll on this thread. Returns whether this is a poll of the task that no
/// hook told of, within the one that is known. Notes where it waits if clones and wakes are seen: without wakes, a poll
/// isn't told from the one before.
#[inline(never)]
pub(super) fn cloned(task: Cloned<'_>, are_seen: bool) -> bool {
    let Some(id) = task.id() else { return false };
    if waking::is_polled(id) || tokio::task::try_id().map(number) != Some(id) {
        return false;
    }
    if are_seen {
        if let Some(Stage::IsPolled { is_woken }) = task.stage() {
            waits(task, id, is_woken);
        }
    }
    true
}

/// Notes where the task waits.
fn waits(task: Cloned<'_>, id: u64, is_woken: bool) {
    let polled_in = waking::packed_polled();
    if polled_in == 0 {
        return;
    }
    let (place, is_new) = match find(id) {
        Some(place) => (place, false),
        None => match begin(task, id) {
            Some(place) => (place, true),
            None => return,
        },
    };
    let poll = match (wakes::last(id), is_new) {
        // It may have been woken in this poll.
        (_, true) if is_woken => PollSeen::Next(0),
        (_, true) => PollSeen::Next(wakes::take(id).map_or(0, wakes::Wake::packed_by)),
        // It was woken before this poll or in it, and will be polled again.
        (Some(_), false) if is_woken => PollSeen::Unknown,
        (Some(_), false) => PollSeen::Next(wakes::take(id).map_or(0, wakes::Wake::packed_by)),
        (None, false) if place.was_woken.load(Ordering::Relaxed) && !is_woken => PollSeen::Next(0),
        (None, false) => PollSeen::Same,
    };
    let is_last = TASK.with(|last| last.replace(id)) == id;
    let wait = CAPTURES.with(|captures| match poll {
        PollSeen::Next(_) => {
            captures.begin();
            captures.capture()
        }
        PollSeen::Same if is_last => captures.capture(),
        // What was captured in this poll before is there no more, or may be of the poll before.
        PollSeen::Same | PollSeen::Unknown => {
            captures.begin();
            UNKNOWN
        }
    });
    place.write(|| {
        if let PollSeen::Next(by) = poll {
            place.woken_by.store(by, Ordering::Relaxed);
        }
        place.polled_in.store(polled_in, Ordering::Relaxed);
        place.wait.store(u32::from(wait), Ordering::Relaxed);
        place.since.store(clock::ticks(), Ordering::Relaxed);
        place.was_woken.store(is_woken, Ordering::Relaxed);
    });
}

/// The poll in which a clone is seen.
#[derive(Clone, Copy)]
enum PollSeen {
    /// It isn't that of the last clone. With who woke the task for it, packed.
    Next(u64),
    /// It is that of the last clone.
    Same,
    Unknown,
}

fn set(id: u64) -> &'static Set {
    &PLACES[(id % SETS as u64) as usize]
}

fn find(id: u64) -> Option<&'static Place> {
    let set = set(id);
    let way = set.ids.iter().position(|there| there.load(Ordering::Acquire) == id)?;
    Some(&set.places[way])
}

/// Takes a place for a task that is seen for the first time. `None` if there is none, or the task isn't of the runtime
/// that is recorded: then it is of a runtime within the poll.
#[cold]
fn begin(task: Cloned<'_>, id: u64) -> Option<&'static Place> {
    let recorder = RECORDER_HERE.get()?()?;
    let set = set(id);
    let Some(place) = set.take_place(id).or_else(|| {
        set.let_ended_go();
        set.take_place(id)
    }) else {
        table::not_kept();
        return None;
    };
    ARE_USED.store(true, Ordering::Relaxed);
    place.write(|| {
        place.recorder.store(recorder, Ordering::Relaxed);
        place.has_waited.store(false, Ordering::Relaxed);
        place.was_woken.store(false, Ordering::Relaxed);
        place.woken_by.store(0, Ordering::Relaxed);
    });
    place.held.put(task.hold());
    Some(place)
}

impl Set {
    const fn new() -> Self {
        Self { ids: [const { AtomicU64::new(0) }; WAYS], places: [const { Place::new() }; WAYS] }
    }

    fn take_place(&self, id: u64) -> Option<&Place> {
        let take = |there: &AtomicU64| {
            there.compare_exchange(0, id, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        };
        self.ids.iter().position(take).map(|way| &self.places[way])
    }

    /// Lets go the tasks that have ended, unless another thread looks.
    fn let_ended_go(&self) {
        let Some(look) = Look::now() else { return };
        let mut gone = [const { None }; WAYS];
        for (way, gone) in gone.iter_mut().enumerate() {
            if self.places[way].held.stage(&look) == Some(Stage::Ended) {
                *gone = self.free(way, &look);
            }
        }
        // They are dropped without the look.
        drop(look);
    }

    /// Frees a place. Returns what was held.
    fn free(&self, way: usize, look: &Look) -> Option<Reference> {
        let reference = self.places[way].held.take(look);
        self.places[way].has_waited.store(false, Ordering::Relaxed);
        self.ids[way].store(0, Ordering::Release);
        reference
    }
}

impl Place {
    const fn new() -> Self {
        Self {
            held: Held::new(),
            has_waited: AtomicBool::new(false),
            version: AtomicU32::new(0),
            recorder: AtomicU64::new(0),
            polled_in: AtomicU64::new(0),
            wait: AtomicU32::new(0),
            since: AtomicU64::new(0),
            woken_by: AtomicU64::new(0),
            was_woken: AtomicBool::new(false),
        }
    }

    fn write(&self, write: impl FnOnce()) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        write();
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Returns the task with this id, if it waits and was seen by this recorder.
    fn see(&self, id: u64, recorder: RecorderId, look: &Look) -> Option<LocalSeen> {
        let waits = || {
            self.has_waited.load(Ordering::Relaxed) || self.held.stage(look) == Some(Stage::Waits)
        };
        let version = self.version.load(Ordering::Acquire);
        if self.recorder.load(Ordering::Relaxed) != recorder || !waits() {
            return None;
        }
        let polled_in = self.polled_in.load(Ordering::Relaxed);
        let wait = self.wait.load(Ordering::Relaxed) as WaitId;
        let mut since = self.since.load(Ordering::Relaxed);
        let mut woken_by = self.woken_by.load(Ordering::Relaxed);
        // It was woken and polled since, and nothing cloned its waker.
        let now = clock::ticks();
        if let Some(wake) = wakes::last(id) {
            since = since.max(now.saturating_sub(wake.since.ticks_until(now)));
            woken_by = wake.packed_by();
        }
        fence(Ordering::Acquire);
        if version & 1 != 0 || self.version.load(Ordering::Relaxed) != version || !waits() {
            return None;
        }
        let Some(WokenBy::Task(polled_in)) = WokenBy::unpack(for_recorder(polled_in, recorder))
        else {
            return None;
        };
        let woken_by = for_recorder(woken_by, recorder);
        Some(LocalSeen { id, polled_in, wait, since, woken_by })
    }
}

/// Returns the tasks that this recorder has seen to begin to wait in a window of recording, and that wait.
pub(crate) fn waiting(recorder: RecorderId, window: (u64, u64)) -> Vec<LocalSeen> {
    let mut all = Vec::new();
    let Some(look) = look() else { return all };
    for (id, set, way) in used() {
        let Some(task) = set.places[way].see(id, recorder, &look) else { continue };
        // What it did before or after that isn't known.
        if (window.0..=window.1).contains(&task.since) {
            all.push(task);
        }
    }
    all
}

/// Lets some of the tasks go that have ended. Called in each round of the background thread.
pub(crate) fn let_ended_go() {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    if ARE_USED.load(Ordering::Relaxed) {
        let first = NEXT.fetch_add(SETS_A_ROUND, Ordering::Relaxed);
        for set in first..first + SETS_A_ROUND {
            let set = &PLACES[set % SETS];
            if set.ids.iter().any(|id| id.load(Ordering::Relaxed) != 0) {
                set.let_ended_go();
            }
        }
    }
}

/// Lets all tasks go, and keeps what is known of those that wait. Called when wakers aren't watched any more.
pub(super) fn let_go() {
    let Some(look) = look() else { return };
    let mut gone = Vec::new();
    for (_, set, way) in used() {
        let place = &set.places[way];
        match place.held.stage(&look) {
            None => {}
            Some(Stage::Waits) => {
                place.has_waited.store(true, Ordering::Relaxed);
                gone.extend(place.held.take(&look));
            }
            Some(_) => gone.extend(set.free(way, &look)),
        }
    }
    drop(look);
}

/// Forgets all tasks.
pub(super) fn forget_all() {
    let Some(look) = look() else { return };
    let mut gone = Vec::new();
    for (_, set, way) in used() {
        gone.extend(set.free(way, &look));
    }
    ARE_USED.store(false, Ordering::Relaxed);
    drop(look);
}

/// Waits until no other thread looks. In the child of a fork another one may do so for ever.
fn look() -> Option<Look> {
    if process::is_forked() { Look::now() } else { Some(Look::wait()) }
}

/// Returns the id in each place that isn't free, and the place.
fn used() -> impl Iterator<Item = (u64, &'static Set, usize)> {
    let all = if ARE_USED.load(Ordering::Relaxed) { &PLACES[..] } else { &[] };
    all.iter().flat_map(|set| {
        let ids = set.ids.iter().enumerate();
        ids.filter_map(move |(way, id)| match id.load(Ordering::Acquire) {
            0 => None,
            id => Some((id, set, way)),
        })
    })
}
