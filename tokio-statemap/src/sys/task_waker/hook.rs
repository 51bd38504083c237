//! The function that stands in for Tokio's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{RawWaker, Waker};

use super::Unseen;
use super::table::{Table, in_a_task};
use crate::sys::filter;

/// What is told of the clones.
pub(crate) trait Observer {
    /// Called by the thread that clones a waker of the task at this address, before that.
    fn cloned(task: *const ());

    /// Returns whether [`cloned`](Self::cloned) is called as this waker is cloned, which is that of a task that is polled.
    fn sees(waker: &Waker) -> bool;
}

/// The address of Tokio's function. It stays once it is known: a thread may be just about to call it.
static TOKIOS: AtomicUsize = AtomicUsize::new(0);

static STATE: Mutex<State> = Mutex::new(State { users: 0, is_behind: false, table: None });

struct State {
    /// The number of calls of [`install`] that succeeded, less those of [`uninstall`].
    users: usize,
    /// `true` if another version of this crate called ours Tokio's, and so still calls it.
    is_behind: bool,
    /// The table, or why there is nothing to be seen, once that is known.
    table: Option<Result<Table, Unseen>>,
}

/// Has all clones told to `O` from now on. Each call that succeeds needs one of [`uninstall`]; all have the same observer.
///
/// # Errors
///
/// If that isn't possible. What failed once isn't tried again.
pub(crate) fn install<O: Observer>() -> Result<(), Unseen> {
    let mut state = state();
    let state = &mut *state;
    if state.users == 0 {
        let table = *state.table.get_or_insert_with(find);
        let begun = table.and_then(|table| begin::<O>(table, &mut state.is_behind));
        if let Err(why) = begun {
            state.table = Some(Err(why));
            return Err(why);
        }
    }
    state.users += 1;
    Ok(())
}

/// Ends what a call of [`install`] began.
pub(crate) fn uninstall<O: Observer>() {
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
    // Under Miri memory that is immutable can't be written to by any means.
    if cfg!(miri) {
        return Err(Unseen::Here);
    }
    if !filter::allows_all() {
        return Err(Unseen::Filtered);
    }
    Table::find().ok_or(Unseen::NoTable)
}

fn begin<O: Observer>(table: Table, is_behind: &mut bool) -> Result<(), Unseen> {
    if !filter::allows_all() {
        return Err(Unseen::Filtered);
    }
    let there = table.clones();
    if there != ours::<O>() && !*is_behind {
        TOKIOS.store(there, Ordering::Release);
        if !table.set_clones(ours::<O>()) {
            return Err(Unseen::ReadOnly);
        }
    }
    if in_a_task(O::sees) == Some(true) {
        return Ok(());
    }
    end::<O>(table, is_behind);
    Err(Unseen::OwnClone)
}

fn end<O: Observer>(table: Table, is_behind: &mut bool) {
    // A filter that was installed since may end the process.
    let is_there = table.clones() == ours::<O>() && filter::allows_all();
    *is_behind = !is_there || !table.set_clones(TOKIOS.load(Ordering::Acquire));
}

fn ours<O: Observer>() -> usize {
    clone::<O> as *const () as usize
}

/// # Safety
///
/// As of the function that it stands in for: `task` is the data of a waker of Tokio's.
unsafe fn clone<O: Observer>(task: *const ()) -> RawWaker {
    O::cloned(task);
    let tokios = TOKIOS.load(Ordering::Acquire);
    // SAFETY: it is what the table had for this function, which is called with what it is to be called with. Test:
    // `recorder::chains::wakers::tests::clones_are_seen_and_are_tokios`.
    let tokios: unsafe fn(*const ()) -> RawWaker = unsafe { std::mem::transmute(tokios) };
    // SAFETY: as of this function.
    unsafe { tokios(task) }
}
