//! The tasks of `LocalSet`s. Tokio calls no hooks for them.
//!
//! Such a task is polled within the poll of the task, or of the root future, that drives its set. What it waits for clones
//! its waker there. Then Tokio says that it is the polled task, while the hooks know the one around it. A clone of another
//! task's waker, which the task has got from somewhere, is told by that task's id, and isn't taken for its own.
//!
//! No hook tells when it ends, either. It is taken to wait until it is woken, or all of its wakers that were cloned in its polls
//! are dropped: one of these happens before its memory is freed. If it has ended and something keeps a waker, its state tells,
//! which is read from its memory whenever it is asked for. After a wake it isn't known where it waits until it clones its waker
//! again. No reference to a task is kept: that would keep alive what its set and its runtime own. There are [`SETS`] times
//! [`WAYS`] places, and what finds none is counted.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

use super::capture::OfLocal;
use super::local_seen::LocalSeen;
use super::table::{self, WaitId};
use super::{seen, waking};
use crate::recorder::clock;
use crate::recorder::kept::RecorderId;
use crate::recorder::record::{WokenBy, for_recorder};
use crate::recorder::task_id::number;
use crate::recorder::wakes;
use crate::sys::task_waker::{CalledTask, TaskAddress, installs};

/// The number of sets of places. Tasks whose ids are a multiple of this apart share the places of a set.
const SETS: usize = 2048;
/// The number of places of a set.
const WAYS: usize = 8;

static PLACES: [Set; SETS] = [const { Set::new() }; SETS];
/// `true` once a task was seen.
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
    /// The event since the last clone of its waker: 0 for none, [`NONE_LEFT`], [`BEGINS`], or [`WOKEN`] with who woke it.
    since_clone: AtomicU64,
    /// The number of wakers that were cloned in its polls, less those that were dropped or used up.
    wakers: AtomicI32,
    /// Odd while a thread writes the rest, and the id.
    version: AtomicU32,
    /// [`installs`] when the place was taken: if that is another number now, wakes were missed.
    installs: AtomicUsize,
    recorder: AtomicU64,
    /// The task's place in memory.
    address: [AtomicUsize; 2],
    /// The task or root future around its poll, packed with its recorder.
    polled_in: AtomicU64,
    wait: AtomicU32,
    /// The time when its waker was cloned last, in ticks.
    since: AtomicU64,
    /// The source of the wake before that poll, packed with its recorder; 0 if that isn't known.
    woken_by: AtomicU64,
    /// `true` if it was woken in that poll before the clone.
    was_woken: AtomicBool,
}

/// A clone of the task's waker is being noted.
const BEGINS: u64 = 1 << 61;
/// No waker is left of those that were cloned in the task's polls.
const NONE_LEFT: u64 = 1 << 62;
/// The task was woken. The lower bits say by whom, packed; 0 if that isn't known.
const WOKEN: u64 = 1 << 63;

/// Prepares for recording. `recorder_here` returns the recorder that a thread used last, if the thread is in its runtime.
pub(crate) fn prepare(recorder_here: fn() -> Option<RecorderId>) {
    RECORDER_HERE.get_or_init(|| recorder_here);
}

/// Called as a waker of the task is cloned in a poll on this thread. Returns whether this is a poll of the task that no
/// hook told of, within the one that is known. Notes where it waits if clones and wakes are seen.
pub(super) fn cloned(task: CalledTask<'_>, are_seen: bool) -> bool {
    let Some(id) = task.id() else { return false };
    if waking::is_polled(id) || tokio::task::try_id().map(number) != Some(id) {
        return false;
    }
    if are_seen {
        if let (Some(is_woken), Some(address)) = (task.is_woken(), task.address()) {
            waits(id, address, is_woken);
        }
    }
    true
}

/// Returns whether any such task is known.
#[inline]
pub(super) fn are_used() -> bool {
    ARE_USED.load(Ordering::Relaxed)
}

/// Returns whether clones, wakes and drops are seen, also where the compiler knows the table of wakers.
pub(super) fn are_seen() -> bool {
    seen::are_wakes_seen() && wakes::are_all_seen()
}

/// Called as the task is woken. `by_value` tells whether that uses up a waker.
#[cold]
#[inline(never)]
pub(super) fn woken(task: CalledTask<'_>, by_value: bool) {
    let Some(place) = place(task) else { return };
    if by_value {
        place.wakers.fetch_sub(1, Ordering::Relaxed);
    }
    let before = place.since_clone.load(Ordering::Relaxed);
    // Only the first wake since the last poll makes the task ready.
    match task.is_woken() {
        Some(false) => place.since_clone.store(WOKEN | waking::who_wakes(), Ordering::Release),
        _ if before & WOKEN == 0 => place.since_clone.store(WOKEN, Ordering::Release),
        _ => {}
    }
}

/// Called as a waker of the task is dropped.
#[cold]
#[inline(never)]
pub(super) fn waker_dropped(task: CalledTask<'_>) {
    let Some(place) = place(task) else { return };
    place.wakers.fetch_sub(1, Ordering::Relaxed);
    let since_clone = place.since_clone.load(Ordering::Relaxed);
    // The thread that polls the task may clone a waker just now.
    if since_clone & WOKEN == 0 && place.wakers.load(Ordering::Relaxed) <= 0 {
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        _ = place.since_clone.compare_exchange(since_clone, NONE_LEFT, order, failed);
    }
}

fn place(task: CalledTask<'_>) -> Option<&'static Place> {
    let id = task.id()?;
    Set::for_task(id).find(id).map(|slot| slot.place)
}

/// Notes where the task waits. `is_woken` tells whether it was woken in this poll.
fn waits(id: u64, address: TaskAddress, is_woken: bool) {
    let polled_in = waking::packed_polled();
    if polled_in == 0 {
        return;
    }
    let installs = installs();
    let is_known = |slot: &Slot| slot.place.installs.load(Ordering::Relaxed) == installs;
    let slot = match Set::for_task(id).find(id).filter(is_known) {
        Some(slot) => slot,
        None => match begin(id, address, installs) {
            Some(slot) => slot,
            None => return,
        },
    };
    let place = slot.place;
    // A wake from now on is one after this clone.
    let before = place.since_clone.swap(BEGINS, Ordering::Relaxed);
    place.wakers.fetch_add(1, Ordering::Relaxed);
    let poll = place.poll(before, is_woken);
    let is_last = TASK.with(|last| last.replace(id)) == id;
    let wait = CAPTURES.with(|captures| match poll {
        PollSeen::Next(_) | PollSeen::SameAnew => {
            captures.begin();
            captures.capture()
        }
        PollSeen::Same if is_last => captures.capture(),
        // The captures of this poll are there no more, or some are of the poll before.
        PollSeen::Same | PollSeen::Unknown => captures.lose(),
    });
    let Some(locked) = slot.lock() else { return };
    // Meanwhile the place may have been taken for another task, as this one doesn't wait.
    if slot.id.load(Ordering::Relaxed) == id {
        match poll {
            PollSeen::Next(by) => place.woken_by.store(by, Ordering::Relaxed),
            PollSeen::Unknown => place.woken_by.store(0, Ordering::Relaxed),
            PollSeen::Same | PollSeen::SameAnew => {}
        }
        place.polled_in.store(polled_in, Ordering::Relaxed);
        place.wait.store(u32::from(wait), Ordering::Relaxed);
        place.since.store(clock::ticks(), Ordering::Relaxed);
        place.was_woken.store(is_woken, Ordering::Relaxed);
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let waits = |now: u64| (now & WOKEN == 0).then_some(0);
        _ = place.since_clone.fetch_update(order, failed, waits);
    }
    drop(locked);
}

/// The poll in which a clone is seen.
#[derive(Clone, Copy)]
enum PollSeen {
    /// It isn't that of the last clone. With who woke the task for it, packed.
    Next(u64),
    /// It is that of the last clone.
    Same,
    /// It may be that of the last clone, and all that was cloned in it before is dropped again.
    SameAnew,
    Unknown,
}

/// Takes a place for a task that is seen for the first time, or since wakes were missed. `None` if there is none, or the
/// task isn't of the runtime that is recorded: then it is of a runtime within the poll.
#[cold]
fn begin(id: u64, address: TaskAddress, installs: usize) -> Option<Slot> {
    let recorder = RECORDER_HERE.get()?()?;
    let set = Set::for_task(id);
    let mut slots = set.slots();
    let taken = match set.find(id) {
        Some(slot) => slot.take(id, address, recorder, installs).then_some(slot),
        None => slots.find(|slot| slot.take(id, address, recorder, installs)),
    };
    if taken.is_none() {
        table::not_kept();
    }
    if !are_used() {
        ARE_USED.store(true, Ordering::Relaxed);
    }
    taken
}

/// A place, and the id of the task that has it.
#[derive(Clone, Copy)]
struct Slot {
    id: &'static AtomicU64,
    place: &'static Place,
}

/// The right to write to a place.
struct Locked(&'static Place);

impl Set {
    const fn new() -> Self {
        Self { ids: [const { AtomicU64::new(0) }; WAYS], places: [const { Place::new() }; WAYS] }
    }

    fn for_task(id: u64) -> &'static Self {
        &PLACES[(id % SETS as u64) as usize]
    }

    #[inline]
    fn find(&'static self, id: u64) -> Option<Slot> {
        let way = self.ids.iter().position(|there| there.load(Ordering::Acquire) == id)?;
        Some(Slot { id: &self.ids[way], place: &self.places[way] })
    }

    fn slots(&'static self) -> impl Iterator<Item = Slot> {
        self.ids.iter().zip(&self.places).map(|(id, place)| Slot { id, place })
    }
}

impl Slot {
    /// Returns `None` while another thread writes.
    fn lock(self) -> Option<Locked> {
        let version = &self.place.version;
        let even = version.load(Ordering::Relaxed);
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        let is_locked = even & 1 == 0
            && version.compare_exchange(even, even.wrapping_add(1), order, failed).is_ok();
        // All writes follow this, for whoever reads without the lock.
        fence(Ordering::Release);
        is_locked.then_some(Locked(self.place))
    }

    /// Takes the place for this task, if it is free, or its task isn't known to wait. Returns whether it did.
    fn take(self, id: u64, address: TaskAddress, recorder: RecorderId, installs: usize) -> bool {
        let Some(_locked) = self.lock() else { return false };
        let before = self.id.load(Ordering::Relaxed);
        if before != 0 && before != id && self.place.waits(installs) {
            return false;
        }
        // It doesn't wait yet, and none of its wakers is known.
        self.place.wakers.store(0, Ordering::Relaxed);
        self.place.since_clone.store(WOKEN, Ordering::Relaxed);
        self.place.installs.store(installs, Ordering::Relaxed);
        self.place.recorder.store(recorder, Ordering::Relaxed);
        self.place.set_address(address);
        self.id.store(id, Ordering::Release);
        true
    }

    /// Returns the task in this place, if it waits and was seen by this recorder.
    fn see(self, recorder: RecorderId, installs: usize) -> Option<LocalSeen> {
        let Self { id, place } = self;
        let version = place.version.load(Ordering::Acquire);
        let seen = LocalSeen {
            id: id.load(Ordering::Relaxed),
            polled_in: place.polled_in.load(Ordering::Relaxed),
            wait: place.wait.load(Ordering::Relaxed) as WaitId,
            since: place.since.load(Ordering::Relaxed),
            woken_by: place.woken_by.load(Ordering::Relaxed),
        };
        let address = place.address();
        let is_its = place.recorder.load(Ordering::Relaxed) == recorder && place.waits(installs);
        fence(Ordering::Acquire);
        let is_whole = version & 1 == 0 && place.version.load(Ordering::Relaxed) == version;
        if !is_whole || !is_its || seen.id == 0 || !address.waits(seen.id) {
            return None;
        }
        match WokenBy::unpack(for_recorder(seen.polled_in, recorder))? {
            WokenBy::Task(polled_in) => {
                let woken_by = for_recorder(seen.woken_by, recorder);
                Some(LocalSeen { polled_in, woken_by, ..seen })
            }
            _ => None,
        }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        let odd = self.0.version.load(Ordering::Relaxed);
        self.0.version.store(odd.wrapping_add(1), Ordering::Release);
    }
}

impl Place {
    const fn new() -> Self {
        Self {
            since_clone: AtomicU64::new(0),
            wakers: AtomicI32::new(0),
            version: AtomicU32::new(0),
            installs: AtomicUsize::new(0),
            recorder: AtomicU64::new(0),
            address: [const { AtomicUsize::new(0) }; 2],
            polled_in: AtomicU64::new(0),
            wait: AtomicU32::new(0),
            since: AtomicU64::new(0),
            woken_by: AtomicU64::new(0),
            was_woken: AtomicBool::new(false),
        }
    }

    fn address(&self) -> TaskAddress {
        let [header, id_at] = &self.address;
        TaskAddress { header: header.load(Ordering::Relaxed), id_at: id_at.load(Ordering::Relaxed) }
    }

    fn set_address(&self, TaskAddress { header, id_at }: TaskAddress) {
        for (word, value) in self.address.iter().zip([header, id_at]) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Returns whether nothing has happened since its task cloned its waker, if [`installs`] is this.
    fn waits(&self, installs: usize) -> bool {
        self.since_clone.load(Ordering::Acquire) == 0
            && self.installs.load(Ordering::Relaxed) == installs
    }

    /// Returns in which poll its task clones its waker now, if `before` is what has happened since the last clone.
    fn poll(&self, before: u64, is_woken: bool) -> PollSeen {
        match before & WOKEN != 0 {
            // It was woken before this poll or in it, and will be polled again.
            true if is_woken => PollSeen::Unknown,
            true => PollSeen::Next(before & !WOKEN),
            // It was woken in the last poll.
            false if self.was_woken.load(Ordering::Relaxed) && !is_woken => PollSeen::Next(0),
            false => match before {
                0 => PollSeen::Same,
                NONE_LEFT => PollSeen::SameAnew,
                // The last clone wasn't noted.
                _ => PollSeen::Unknown,
            },
        }
    }
}

/// Returns the tasks that this recorder has seen to begin to wait in a window of recording, and that wait now. Once wakers aren't
/// seen any more, their state alone tells whether they still wait.
pub(crate) fn waiting(recorder: RecorderId, window: (u64, u64)) -> Vec<LocalSeen> {
    let mut all = Vec::new();
    let installs = installs();
    let used = if are_used() { &PLACES[..] } else { &[] };
    for slot in used.iter().flat_map(Set::slots) {
        let Some(task) = slot.see(recorder, installs) else { continue };
        // Before and after that, it wasn't seen.
        if (window.0..=window.1).contains(&task.since) {
            all.push(task);
        }
    }
    all
}
