//! Captures the functions that a thread is in when the waker of a poll is cloned.

use std::cell::Cell;
use std::ops::Deref;

use super::index::Position;
use super::recent;
use super::seen;
use super::stack::{self, Registers, StackEnd};
use super::table::{self, Chain, ChainId, NOTHING, UNKNOWN, WaitId};
use super::waking::{self, Before};
use crate::recorder::calls::call_stack;
#[cfg(has_wakes)]
use crate::recorder::task_id;
use crate::recorder::wakes::UsedUp;
#[cfg(has_wakes)]
use crate::sys::task_waker::CalledTask;

/// The most things that a task may wait for at the same time, as far as they are recorded.
const MOST: usize = 8;
/// The most instrumented calls whose first polls are kept.
pub(crate) const MOST_CALLS: usize = 16;

thread_local! {
    /// The number of chains captured so far in the innermost poll of a task; [`OUTSIDE`] if there is no such poll.
    static NUMBER: Cell<usize> = const { Cell::new(OUTSIDE) };
    /// `true` while that poll is the runtime's, and not that of a probe within it.
    static IS_OF_RUNTIME: Cell<bool> = const { Cell::new(false) };
    /// The end of the stack of the innermost poll of a probe.
    #[cfg(has_wakes)]
    static END_OF_PROBE: Cell<Option<StackEnd>> = const { Cell::new(None) };
    /// The knowledge of the wakers of the polled task: 0 if there is none; [`USED_UP`]; or the word of [`has_none`], as it was when
    /// it became known that the task has none.
    static WAKERS: Cell<usize> = const { Cell::new(0) };
    /// The chains of the runtime's poll.
    static OF_RUNTIME: OfRuntime = const { OfRuntime {
        captures: Captures::new(),
        task: Cell::new(0),
        is_own_wake: Cell::new(false),
        nested: Cell::new(0),
        of_probe: Cell::new(OUTSIDE),
        polled_before: Cell::new(Before::UNKNOWN),
    } };
}

/// The wake before the poll used up a waker: most likely that of the future for which the task was woken. If the poll
/// clones none, the task waits for what it has waited for longer.
const USED_UP: usize = UsedUp::ONE.bits();

/// Outside of any poll of a task in which something is captured.
const OUTSIDE: usize = usize::MAX;
/// In a poll whose chains are lost: another task was polled within it, or wakers of two tasks were cloned in it.
const LOST: usize = OUTSIDE - 1;

/// The captures of the task that the runtime polls on a thread.
struct OfRuntime {
    captures: Captures,
    /// The address of the task whose waker was cloned first in the poll. It is set only if the ids of tasks can't be read.
    #[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
    task: Cell<usize>,
    /// `true` if the only chain is where the task woke itself, and not where a waker was cloned.
    #[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
    is_own_wake: Cell<bool>,
    /// The number of polls that this one is in: a poll may block on another runtime.
    nested: Cell<usize>,
    /// [`NUMBER`] of the outermost of these polls, if that is a probe's.
    of_probe: Cell<usize>,
    /// The task or root future of the outermost of these polls.
    polled_before: Cell<Before>,
}

/// Begins the captures of a task that the runtime polls. The poll's stack ends at `end`: what is around it is no part of the
/// task.
#[inline]
pub(crate) fn task_poll_starts(task: u64, end: StackEnd) {
    let outer = NUMBER.with(|number| number.replace(0));
    let polled_before = waking::task_poll_starts(task);
    let was_of_runtime = IS_OF_RUNTIME.with(|is_of_runtime| is_of_runtime.replace(true));
    OF_RUNTIME.with(|of| {
        of.captures.end.set(Some(end));
        of.captures.calls_before.set(call_stack::depth());
    });
    if outer != OUTSIDE {
        nest(outer, was_of_runtime, polled_before);
    }
}

/// Notes what the wake before the poll used up.
#[inline]
pub(crate) fn task_was_woken(used_up: UsedUp) {
    let known = if used_up == UsedUp::LAST { has_none() } else { used_up.bits() };
    WAKERS.with(|wakers| wakers.set(known));
}

/// Returns the word that says that a task is known to have no waker; none of the others is as large.
#[inline]
fn has_none() -> usize {
    seen::generation() << 4
}

/// Notes that the task may have a waker again. The wait before is over all the same. Of a task with a probe, the probe notes
/// that.
#[inline]
fn may_have_a_waker() {
    WAKERS.with(|wakers| {
        if wakers.get() != 0 {
            wakers.set(if IS_OF_RUNTIME.with(Cell::get) { USED_UP } else { 0 });
        }
    });
}

/// Called as the task with this id is woken on this thread.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
#[inline]
pub(crate) fn task_woken(task: u64) {
    if WAKERS.with(Cell::get) != 0 && waking::is_polled(task) {
        may_have_a_waker();
    }
}

/// Called as the last waker of the task with this id is dropped on this thread, while the task is polled somewhere. If that is
/// here, nothing waits any more where wakers were cloned in this poll.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
#[inline]
pub(crate) fn last_waker_dropped(task: u64) {
    if waking::is_polled(task) {
        WAKERS.with(|wakers| wakers.set(has_none()));
        if IS_OF_RUNTIME.with(Cell::get) {
            forget_after(0);
        }
    }
}

#[cold]
#[inline(never)]
fn nest(outer: usize, was_of_runtime: bool, polled_before: Before) {
    OF_RUNTIME.with(|of| {
        if of.nested.replace(of.nested.get() + 1) == 0 {
            of.of_probe.set(if was_of_runtime { LOST } else { outer });
            of.polled_before.set(polled_before);
        }
    });
}

/// Ends the captures of the task that the runtime polls. Returns where it waits, if its waker was cloned; that may be
/// [`UNKNOWN`]. Returns [`NOTHING`] if the task has no waker and isn't woken, and [`UNKNOWN`] if it no longer waits
/// where it did and its waker wasn't cloned.
#[inline]
pub(crate) fn task_poll_ends() -> Option<WaitId> {
    // Nothing is known of the poll around this one.
    let wakers = WAKERS.with(|wakers| wakers.replace(0));
    let number = number();
    // Nothing is watched, or nothing was when the poll started.
    if number == OUTSIDE {
        return None;
    }
    IS_OF_RUNTIME.with(|is_of_runtime| is_of_runtime.set(false));
    let wait = OF_RUNTIME.with(|of| {
        let wait = match number {
            0 => (wakers == USED_UP).then_some(UNKNOWN),
            _ => Some(of.captures.wait()),
        };
        match of.nested.get() {
            0 => {
                NUMBER.with(|number| number.set(OUTSIDE));
                waking::poll_ends(Before::UNKNOWN);
            }
            nested => of.nested_poll_ends(nested),
        }
        wait
    });
    if wakers > USED_UP && wakers == has_none() { Some(NOTHING) } else { wait }
}

impl OfRuntime {
    /// Ends a poll that is in this many others.
    #[cold]
    #[inline(never)]
    fn nested_poll_ends(&self, nested: usize) {
        self.nested.set(nested - 1);
        waking::poll_ends(if nested == 1 { self.polled_before.get() } else { Before::UNKNOWN });
        let outer = if nested == 1 { self.of_probe.get() } else { LOST };
        NUMBER.with(|number| number.set(outer));
    }
}

/// Forgets what was captured of the task that the runtime polls, because the task ended.
#[inline]
pub(crate) fn task_ends() {
    if IS_OF_RUNTIME.with(Cell::get) {
        WAKERS.with(|wakers| wakers.set(0));
        forget_after(0);
    }
}

/// Called as a waker of a task is cloned on this thread. `is_local` tells whether this is a poll of that task within the one
/// that is known, and notes where it waits.
#[cfg(has_wakes)]
#[inline(always)]
pub(crate) fn task_waker_cloned(task: CalledTask<'_>, is_local: fn(CalledTask<'_>) -> bool) {
    may_have_a_waker();
    let is_own = task.id().is_some_and(waking::is_polled);
    // A probe is notified by its own waker.
    if is_own && IS_OF_RUNTIME.with(Cell::get) {
        OF_RUNTIME.with(|of| {
            // A task that keeps a waker waits for that.
            if of.is_own_wake.replace(false) && number() == 1 {
                forget_after(0);
            }
            of.captures.capture();
        });
    } else if !is_own && !is_outside() {
        other_waker_cloned(task, is_local);
    }
}

/// Called as a waker is cloned in a poll, and isn't known to be the polled task's own. Where the waker of another task is
/// cloned says nothing of where this one waits.
#[cfg(has_wakes)]
#[cold]
#[inline(never)]
fn other_waker_cloned(task: CalledTask<'_>, is_local: fn(CalledTask<'_>) -> bool) {
    if is_local(task) || task.id().is_some() || !IS_OF_RUNTIME.with(Cell::get) {
        return;
    }
    // The ids of tasks can't be read. The first waker that a poll clones is most likely that of the polled task.
    OF_RUNTIME.with(|of| {
        let is_first = number() == 0;
        if is_first {
            of.task.set(task.header());
        }
        let is_polled = || {
            let id = tokio::task::try_id();
            id.is_some_and(|id| waking::is_polled(task_id::number(id)))
        };
        match of.task.get() == task.header() && (!is_first || is_polled()) {
            true => of.captures.capture(),
            false => NUMBER.with(|number| number.set(LOST)),
        }
    });
}

/// Called as the task with this id is woken by reference on this thread while it is polled and has no waker. If it wakes
/// itself in a poll that cloned none, then what the poll ends at is this wake: the task no longer waits for what it waited
/// for before.
#[cfg_attr(not(has_wakes), allow(dead_code, reason = "none is seen"))]
#[inline]
pub(crate) fn task_woken_by_ref(id: u64) {
    if number() == 0 && waking::is_polled(id) && IS_OF_RUNTIME.with(Cell::get) {
        OF_RUNTIME.with(|of| {
            of.is_own_wake.set(true);
            of.captures.capture();
        });
    }
}

/// The captures of a task that is polled within the poll of another one.
#[cfg(has_wakes)]
pub(super) struct OfLocal {
    captures: Captures,
    number: Cell<usize>,
}

#[cfg(has_wakes)]
impl OfLocal {
    pub(super) const fn new() -> Self {
        Self { captures: Captures::new(), number: Cell::new(0) }
    }

    /// Forgets what was captured before, as a poll begins, or what was cloned in it before is dropped again.
    pub(super) fn begin(&self) {
        self.number.set(0);
    }

    /// From now on the place isn't known, until the next poll begins.
    pub(super) fn lose(&self) -> WaitId {
        self.number.set(LOST);
        UNKNOWN
    }

    /// Captures where the thread is, up to the poll around it. Returns what the task waits for, with what was captured
    /// since [`begin`](Self::begin). It has no instrumented calls: it isn't known here which of them are its own.
    pub(super) fn capture(&self) -> WaitId {
        if self.number.get() == LOST {
            return UNKNOWN;
        }
        self.captures.end.set(match IS_OF_RUNTIME.with(Cell::get) {
            true => OF_RUNTIME.with(|of| of.captures.end.get()),
            false => END_OF_PROBE.with(Cell::get),
        });
        self.captures.calls_before.set(call_stack::depth());
        // The captures of the poll around it go on after this.
        let around = NUMBER.with(|number| number.replace(self.number.get()));
        self.captures.capture();
        let wait = self.captures.wait();
        self.number.set(NUMBER.with(|number| number.replace(around)));
        wait
    }
}

/// Returns whether nothing is captured on this thread.
#[inline]
pub(crate) fn is_outside() -> bool {
    number() == OUTSIDE
}

/// Returns how many chains were captured so far in this thread's innermost poll of a task.
#[inline]
pub(crate) fn number() -> usize {
    NUMBER.with(Cell::get)
}

/// Forgets what was captured after the first `number` chains, as nothing waits there any more.
#[inline]
pub(crate) fn forget_after(number: usize) {
    NUMBER.with(|captured| {
        if captured.get() < LOST {
            captured.set(captured.get().min(number));
        }
    });
}

/// The poll of a probe. While it lives, all captures on this thread are the probe's.
pub(crate) struct ProbePoll {
    captures: Captures,
    /// [`NUMBER`] of the poll that this one is in.
    outer: usize,
    #[cfg(has_wakes)]
    end_of_outer: Option<StackEnd>,
    was_of_runtime: bool,
    has_used_up: bool,
}

impl ProbePoll {
    /// Begins the captures of a poll of the function that this is inlined into.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        let captures = Captures::new();
        let end = Some(StackEnd::here());
        captures.end.set(end);
        captures.calls_before.set(call_stack::depth());
        Self {
            captures,
            #[cfg(has_wakes)]
            end_of_outer: END_OF_PROBE.with(|of_probe| of_probe.replace(end)),
            outer: NUMBER.with(|number| number.replace(0)),
            was_of_runtime: IS_OF_RUNTIME.with(|is_of_runtime| is_of_runtime.replace(false)),
            // Cleared, so that the poll around this one says nothing of the wait: the probe does.
            has_used_up: WAKERS.with(|wakers| {
                let known = wakers.get();
                if known == USED_UP {
                    wakers.set(0);
                }
                known != 0
            }),
        }
    }

    /// Returns whether the task still waits where it did: nothing was captured, and the wake before the poll used up no
    /// waker.
    pub(crate) fn goes_on(&self) -> bool {
        self.is_empty() && !self.has_used_up
    }
}

impl Deref for ProbePoll {
    type Target = Captures;

    fn deref(&self) -> &Captures {
        &self.captures
    }
}

impl Drop for ProbePoll {
    fn drop(&mut self) {
        NUMBER.with(|number| number.set(self.outer));
        #[cfg(has_wakes)]
        END_OF_PROBE.with(|end| end.set(self.end_of_outer));
        IS_OF_RUNTIME.with(|is_of_runtime| is_of_runtime.set(self.was_of_runtime));
    }
}

/// The chains that were captured in the thread's innermost poll, in their order.
pub(crate) struct Captures {
    /// The end of the poll's stack.
    end: Cell<Option<StackEnd>>,
    /// The number of instrumented calls that were being polled on this thread before.
    calls_before: Cell<usize>,
    chains: [Cell<Captured>; MOST],
    /// The times, in ticks, when the instrumented calls of all chains were first polled, one chain after the other.
    entered: [Cell<u64>; MOST_CALLS],
}

/// A chain that was captured.
#[derive(Clone, Copy)]
struct Captured {
    /// `None` if it isn't kept.
    id: Option<ChainId>,
    /// The wait, if it is for this chain alone.
    alone: WaitId,
    /// The number of instrumented calls of this chain and those before.
    calls: u8,
}

impl Captures {
    const fn new() -> Self {
        Self {
            end: Cell::new(None),
            calls_before: Cell::new(0),
            chains: [const { Cell::new(Captured { id: None, alone: UNKNOWN, calls: 0 }) }; MOST],
            entered: [const { Cell::new(0) }; MOST_CALLS],
        }
    }

    /// Captures where the thread is. Never inlined, so that its stack is the same each time.
    #[inline(never)]
    pub(crate) fn capture(&self) {
        let here = stack::here();
        let (id, alone) = self.find(&here).map_or((None, UNKNOWN), |(id, alone)| (Some(id), alone));
        self.add(id, alone);
    }

    /// Returns the chain that the thread is in, and the wait for it alone; `None` if it isn't kept.
    #[inline]
    fn find(&self, here: &Registers) -> Option<(ChainId, WaitId)> {
        let end = self.end.get()?;
        let depth = end.depth_of(here).filter(|_| stack::has_room(here))?;
        let position = Position { here, end, depth, calls_hash: self.calls_hash() };
        match recent::find(position) {
            Some(known) => Some((known.id, known.alone)),
            None if table::is_full() => None,
            None => self.follow(position),
        }
    }

    /// Returns a hash of the instrumented functions that are polled in the task; 0 if there are none.
    #[inline]
    fn calls_hash(&self) -> u64 {
        let before = self.calls_before.get();
        if call_stack::depth() == before { 0 } else { call_stack::hash_above(before) }
    }

    /// Follows a chain that isn't known.
    #[cold]
    #[inline(never)]
    fn follow(&self, position: Position<'_>) -> Option<(ChainId, WaitId)> {
        let Position { here, end, depth, calls_hash } = position;
        let Some(returns) = stack::follow(here, end) else {
            table::followed_in_vain();
            return None;
        };
        let mut calls = Vec::new();
        call_stack::calls_above(self.calls_before.get(), |call| calls.push(call.function));
        table::intern_chain(Chain { depth, returns, calls_hash, calls })
    }

    #[inline]
    fn add(&self, id: Option<ChainId>, alone: WaitId) {
        if number() == 0 && call_stack::depth() == self.calls_before.get() {
            self.chains[0].set(Captured { id, alone, calls: 0 });
            NUMBER.with(|captured| captured.set(1));
        } else {
            self.add_to_others(id, alone);
        }
    }

    #[inline(never)]
    fn add_to_others(&self, id: Option<ChainId>, alone: WaitId) {
        let number = number();
        let Some(before) = self.chains.get(..number) else { return };
        if let Some(again) = before.iter().position(|chain| chain.get().id == id) {
            return self.move_to_end(again, number);
        }
        let Some(place) = self.chains.get(number) else { return };
        let mut calls = self.calls(number);
        call_stack::calls_above(self.calls_before.get(), |call| {
            if let Some(entered) = self.entered.get(usize::from(calls)) {
                entered.set(call.entered_ticks);
                calls += 1;
            }
        });
        place.set(Captured { id, alone, calls });
        NUMBER.with(|captured| captured.set(number + 1));
    }

    /// Moves one of the first `number` chains to the end: a loop may poll a future again in the same poll of the task, and
    /// where the task was last counts. With instrumented calls it stays, as their times are in the order of the chains.
    fn move_to_end(&self, chain: usize, number: usize) {
        if self.calls(number) == 0 {
            for place in chain + 1..number {
                self.chains[place - 1].swap(&self.chains[place]);
            }
        }
    }

    /// Returns how many instrumented calls the first `number` chains have.
    fn calls(&self, number: usize) -> u8 {
        let last = number.checked_sub(1).and_then(|last| self.chains.get(last));
        last.map_or(0, |last| last.get().calls)
    }

    /// Returns when the instrumented calls of all chains were first polled, in ticks.
    pub(crate) fn entered(&self) -> &[Cell<u64>] {
        self.entered.get(..usize::from(self.calls(number()))).unwrap_or_default()
    }

    /// Returns whether nothing was captured: nothing cloned the waker.
    pub(crate) fn is_empty(&self) -> bool {
        number() == 0
    }

    /// Returns what the task waits for.
    #[inline]
    pub(crate) fn wait(&self) -> WaitId {
        let wait = match number() {
            0 => UNKNOWN,
            1 => self.chains[0].get().alone,
            number => self.several(number),
        };
        if wait == UNKNOWN {
            table::not_kept();
        }
        wait
    }

    #[inline(never)]
    fn several(&self, number: usize) -> WaitId {
        let (mut chains, mut kept) = ([0; MOST], 0);
        for chain in self.chains.get(..number).unwrap_or_default() {
            if let Some(id) = chain.get().id {
                chains[kept] = id;
                kept += 1;
            }
        }
        match kept {
            0 => UNKNOWN,
            _ => of_several(&chains[..kept]),
        }
    }
}

/// The number of waits for several chains that a thread knows.
const KNOWN_WAITS: usize = 64;

thread_local! {
    /// Waits for several chains, by a hash of these.
    static WAITS: [Cell<(u64, WaitId)>; KNOWN_WAITS] =
        const { [const { Cell::new((0, UNKNOWN)) }; KNOWN_WAITS] };
}

/// Returns the wait for all these chains.
fn of_several(chains: &[ChainId]) -> WaitId {
    let mut hash = chains.len() as u64;
    for &chain in chains {
        hash = (hash.rotate_left(5) ^ u64::from(chain)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    WAITS.with(|waits| {
        let place = &waits[(hash >> 58) as usize % KNOWN_WAITS];
        if place.get().0 != hash {
            place.set((hash, table::intern_wait(chains)));
        }
        place.get().1
    })
}
