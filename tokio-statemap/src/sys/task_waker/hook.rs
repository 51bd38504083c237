//! The functions that stand in for Tokio's.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, RawWaker, Waker};

use super::table::{OfEach, Table, in_a_task, polled_once};
use super::{CalledTask, Unseen, ids, lock_of_all_versions, refs};
use crate::sys::filter;

/// An observer of the wakers of all tasks.
pub(crate) trait Observer {
    /// Called by the thread that clones a waker of the task, before the clone.
    fn cloned(task: CalledTask<'_>);

    /// Returns whether [`drops`](Self::drops) and [`wakes`](Self::wakes) are to be called.
    fn wants_each() -> bool;

    /// Called by the thread that drops a waker of the task, before the drop. A waker that is woken by value isn't dropped.
    fn drops(task: CalledTask<'_>);

    /// Called by the thread that wakes the task, before [`woken`](Self::woken). `by_value` is the same as there.
    fn wakes(task: CalledTask<'_>, by_value: bool);

    /// Called by the thread that drops the last waker of the task with this id while the task is polled, before the
    /// drop.
    fn last_dropped(task: u64);

    /// Called by the thread that wakes the task with this id, before the wake. `by_value` is `true` if this uses up a
    /// waker, and `by_last` if that is known to be the last one of a task that waits.
    fn woken(task: u64, by_value: bool, by_last: bool);

    /// Called before [`woken`](Self::woken) if the task with this id is woken by reference while it is polled and has no
    /// other waker: most likely it wakes itself.
    fn woken_by_ref(task: u64);

    /// Clones this waker of the task that is polled, and wakes the task by it in both ways. Returns which of these
    /// calls the observer got.
    fn sees(waker: &Waker) -> Sees;

    /// Clones this waker of the task that is polled, where the compiler may know the table. Returns whether the observer
    /// got that call.
    fn sees_known(waker: &Waker) -> bool;

    /// Called if the observer gets no calls where the compiler knows the table, as it calls Tokio's functions directly
    /// there.
    fn misses_known();
}

/// The calls that an observer got for a waker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sees {
    pub(crate) clones: bool,
    pub(crate) wakes: bool,
}

impl Sees {
    fn bits(self) -> usize {
        usize::from(self.clones) | usize::from(self.wakes) << 1
    }

    fn from_bits(bits: usize) -> Self {
        Self { clones: bits & 1 != 0, wakes: bits & 2 != 0 }
    }
}

/// The addresses of Tokio's functions. They stay once they are known, as a thread may be just about to call one.
static TOKIOS: OfEach<AtomicUsize> = [const { AtomicUsize::new(0) }; 4];

/// See [`installs`].
static INSTALLS: AtomicUsize = AtomicUsize::new(0);

static STATE: Mutex<State> =
    Mutex::new(State { users: 0, is_behind: false, table: None, sees_wakes: false });

struct State {
    /// The number of calls of [`install`] that succeeded, less those of [`uninstall`].
    users: usize,
    /// `true` if another version of this crate took our functions for Tokio's, and so still calls them.
    is_behind: bool,
    /// The table, or why there is nothing to be seen, once that is known.
    table: Option<Result<Table, Unseen>>,
    /// `true` if wakes are seen while there are users.
    sees_wakes: bool,
}

/// From now on, notifies `O` of all clones. With `wants_wakes`, notifies it of wakes as well, if it can be known which
/// tasks they wake. Returns whether it is notified of wakes. Each call that succeeds needs one of [`uninstall`]; all
/// have the same observer.
///
/// # Errors
///
/// If this isn't possible. After one failure, it isn't tried again.
pub(crate) fn install<O: Observer>(wants_wakes: bool) -> Result<bool, Unseen> {
    let _of_all_versions = lock_of_all_versions::lock();
    let mut state = state();
    let state = &mut *state;
    if state.users == 0 {
        let table = *state.table.get_or_insert_with(find);
        match table.and_then(|table| begin::<O>(table, wants_wakes, &mut state.is_behind)) {
            Ok(sees_wakes) => state.sees_wakes = sees_wakes,
            Err(why) => {
                state.table = Some(Err(why));
                return Err(why);
            }
        }
    } else if let (true, false, Some(Ok(table))) = (wants_wakes, state.sees_wakes, state.table) {
        // The other users didn't want wakes.
        state.sees_wakes = begin::<O>(table, true, &mut state.is_behind).unwrap_or(false);
    }
    state.users += 1;
    Ok(state.sees_wakes)
}

/// Returns how many times the functions were installed. As long as it is the same, no call is missed.
pub(crate) fn installs() -> usize {
    INSTALLS.load(Ordering::Acquire)
}

/// Ends what a call of [`install`] began.
pub(crate) fn uninstall<O: Observer>() {
    let _of_all_versions = lock_of_all_versions::lock();
    let mut state = state();
    state.users = state.users.saturating_sub(1);
    if let (0, Some(Ok(table))) = (state.users, state.table) {
        end::<O>(table, &mut state.is_behind);
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn find() -> Result<Table, Unseen> {
    // Under Miri, immutable memory can't be written to by any means.
    if cfg!(miri) {
        return Err(Unseen::Here);
    }
    if !filter::allows_all() {
        return Err(Unseen::Filtered);
    }
    Table::find().ok_or(Unseen::NoTable)
}

/// Installs our functions. Returns whether wakes are seen.
fn begin<O: Observer>(
    table: Table,
    wants_wakes: bool,
    is_behind: &mut bool,
) -> Result<bool, Unseen> {
    if !filter::allows_all() {
        return Err(Unseen::Filtered);
    }
    INSTALLS.fetch_add(1, Ordering::AcqRel);
    let there = table.functions();
    // Another version may call ours already. If ours called its functions in turn, neither would ever return.
    *is_behind |= there[CLONE] != ours::<O>()[CLONE] && sees_in_a_task::<O>().clones;
    if !*is_behind {
        if there[CLONE] != ours::<O>()[CLONE] {
            for (tokios, there) in TOKIOS.iter().zip(there) {
                tokios.store(there, Ordering::Release);
            }
        }
        let are_known = ids::are_known();
        let functions = if wants_wakes && are_known {
            refs::find();
            ours::<O>()
        } else {
            only_clone::<O>()
        };
        if functions != there && !table.set(functions) {
            return Err(Unseen::ReadOnly);
        }
    }
    let seen = sees_in_a_task::<O>();
    if !seen.clones {
        end::<O>(table, is_behind);
        return Err(Unseen::OwnClone);
    }
    if wants_wakes && !seen.wakes && !*is_behind {
        table.set(only_clone::<O>());
    }
    if !sees_known::<O>() {
        O::misses_known();
    }
    Ok(seen.wakes)
}

fn sees_in_a_task<O: Observer>() -> Sees {
    Sees::from_bits(in_a_task(|waker| O::sees(waker).bits()).unwrap_or(0))
}

/// Returns whether the observer is notified of a clone in the poll of a small future, into which all is inlined that ever is.
fn sees_known<O: Observer>() -> bool {
    let seen = Rc::new(Cell::new(false));
    let sees = Rc::clone(&seen);
    let poll = move |cx: &mut Context<'_>| {
        sees.set(O::sees_known(cx.waker()));
        Poll::Ready(())
    };
    polled_once(poll, |_| seen.get()).unwrap_or(true)
}

fn end<O: Observer>(table: Table, is_behind: &mut bool) {
    // A filter that was installed since may end the process.
    let is_there = table.functions()[CLONE] == ours::<O>()[CLONE] && filter::allows_all();
    *is_behind = !is_there || !table.set(tokios());
}

fn tokios() -> OfEach<usize> {
    [CLONE, WAKE, WAKE_BY_REF, DROP].map(|which| TOKIOS[which].load(Ordering::Acquire))
}

/// Returns Tokio's functions, except for the one that clones, which is ours.
fn only_clone<O: Observer>() -> OfEach<usize> {
    let [_, wake, wake_by_ref, drop] = tokios();
    [ours::<O>()[CLONE], wake, wake_by_ref, drop]
}

/// The indices of the functions in an [`OfEach`].
const CLONE: usize = 0;
const WAKE: usize = 1;
const WAKE_BY_REF: usize = 2;
const DROP: usize = 3;

fn ours<O: Observer>() -> OfEach<usize> {
    let clone = clone::<O> as *const () as usize;
    let others =
        [wake::<O> as *const (), wake_by_ref::<O> as *const (), drop_waker::<O> as *const ()];
    let [wake, wake_by_ref, drop] = others.map(|function| function as usize);
    [clone, wake, wake_by_ref, drop]
}

/// # Safety
///
/// The same as for the function that it stands in for: `task` is the data of a waker of Tokio's.
unsafe fn clone<O: Observer>(task: *const ()) -> RawWaker {
    // SAFETY: as for this function.
    O::cloned(unsafe { CalledTask::new(task) });
    let tokios = TOKIOS[CLONE].load(Ordering::Acquire);
    // SAFETY: it is what the table had for this function, and is called with what that is called with. Test:
    // `recorder::chains::wakers::tests::clones_are_seen_and_are_tokios`.
    let tokios: unsafe fn(*const ()) -> RawWaker = unsafe { std::mem::transmute(tokios) };
    // SAFETY: as for this function.
    unsafe { tokios(task) }
}

/// # Safety
///
/// The same as for [`clone`].
unsafe fn drop_waker<O: Observer>(task: *const ()) {
    // SAFETY: as for this function.
    let last_of = unsafe { if refs::is_last_of_polled(task) { ids::of(task) } else { None } };
    if let Some(id) = last_of {
        O::last_dropped(id);
    }
    if O::wants_each() {
        // SAFETY: as for this function.
        O::drops(unsafe { CalledTask::new(task) });
    }
    // SAFETY: as for this function.
    unsafe { call_tokios::<DROP>(task) };
}

/// # Safety
///
/// The same as for [`clone`].
unsafe fn wake<O: Observer>(task: *const ()) {
    // SAFETY: as for this function.
    unsafe { woken::<O, WAKE>(task) };
}

/// # Safety
///
/// The same as for [`clone`].
unsafe fn wake_by_ref<O: Observer>(task: *const ()) {
    // SAFETY: as for this function.
    unsafe { woken::<O, WAKE_BY_REF>(task) };
}

/// # Safety
///
/// The same as for [`clone`].
#[inline(always)]
unsafe fn woken<O: Observer, const WHICH: usize>(task: *const ()) {
    // This is before the wake, as the task may be gone after it. SAFETY: as for this function.
    if let Some(id) = unsafe { ids::of(task) } {
        // SAFETY: as for this function.
        if WHICH == WAKE_BY_REF && unsafe { refs::is_polled_with_none(task) } {
            O::woken_by_ref(id);
        }
        let by_value = WHICH == WAKE;
        if O::wants_each() {
            // SAFETY: as for this function.
            O::wakes(unsafe { CalledTask::new(task) }, by_value);
        }
        // SAFETY: as for this function.
        O::woken(id, by_value, by_value && unsafe { refs::is_last(task) });
    }
    // SAFETY: as for this function.
    unsafe { call_tokios::<WHICH>(task) };
}

/// # Safety
///
/// The same as for [`clone`].
#[inline(always)]
unsafe fn call_tokios<const WHICH: usize>(task: *const ()) {
    let tokios = TOKIOS[WHICH].load(Ordering::Acquire);
    // SAFETY: as for `clone`. Test: `recorder::chains::wakers::tests::wakes_are_seen_with_the_tasks_id`.
    let tokios: unsafe fn(*const ()) = unsafe { std::mem::transmute(tokios) };
    // SAFETY: as for this function.
    unsafe { tokios(task) }
}
