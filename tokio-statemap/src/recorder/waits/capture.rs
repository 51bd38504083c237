//! Captures the functions that a thread is in when the waker of a poll is cloned.

use std::cell::Cell;
use std::sync::Arc;

use super::known::{self, Known, KnownChain};
use super::stack::{self, Registers, StackEnd};
use super::table::{self, Chain, ChainId, UNKNOWN, WaitId};
use crate::recorder::calls::call_stack;

/// The most things that a task is said to wait for at the same time.
const MOST: usize = 8;
/// The most instrumented calls whose first polls are kept.
pub(super) const MOST_CALLS: usize = 16;

thread_local! {
    /// The number of chains captured so far in the poll of the innermost probe; [`OUTSIDE`] of any.
    static NUMBER: Cell<usize> = const { Cell::new(OUTSIDE) };
}

const OUTSIDE: usize = usize::MAX;

/// Returns whether nothing is captured on this thread.
#[inline]
pub(crate) fn is_outside() -> bool {
    number() == OUTSIDE
}

/// Returns how many chains were captured so far in this thread's innermost poll of a probed task.
#[inline]
pub(crate) fn number() -> usize {
    NUMBER.with(Cell::get)
}

/// Forgets what was captured after the first `number`: what waited there is over.
#[inline]
pub(crate) fn forget_after(number: usize) {
    NUMBER.with(|captured| captured.set(captured.get().min(number)));
}

/// The chains that were captured in one poll, in their order. While it lives they are those of the thread's
/// innermost poll.
pub(super) struct Captures {
    /// The end of the poll's stack.
    end: StackEnd,
    /// The number of instrumented calls that were being polled on this thread before.
    calls_before: usize,
    chains: [Cell<Captured>; MOST],
    /// [`NUMBER`] of the poll that this one is in.
    outer: usize,
    /// `true` if some chain isn't among them.
    is_more: Cell<bool>,
    /// The times, in ticks, when the instrumented calls of all chains were first polled, one chain after the other.
    entered: [Cell<u64>; MOST_CALLS],
}

/// A chain that was captured.
#[derive(Clone, Copy, Default)]
struct Captured {
    id: ChainId,
    /// The wait, if it is for this chain alone.
    alone: WaitId,
    /// The number of instrumented calls of this chain and those before.
    calls: u8,
}

impl Captures {
    /// Begins the captures of a poll of the function that this is inlined into.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            end: StackEnd::here(),
            calls_before: call_stack::depth(),
            chains: [const { Cell::new(Captured { id: 0, alone: UNKNOWN, calls: 0 }) }; MOST],
            outer: NUMBER.with(|number| number.replace(0)),
            is_more: Cell::new(false),
            entered: [const { Cell::new(0) }; MOST_CALLS],
        }
    }

    /// Captures where the thread is. Never inlined, so that its stack is the same each time.
    #[inline(never)]
    pub(super) fn capture(&self) {
        let here = stack::here();
        let Some(depth) = self.end.depth_of(&here) else { return self.is_more.set(true) };
        let added = known::with(|known| {
            let calls_hash = call_stack::hash_above(self.calls_before);
            let is_it = |chain: &Chain| stack::is_at(&here, self.end, &chain.returns);
            if let Some(found) = known.find(depth, calls_hash, is_it) {
                let (id, alone) = (found.id, found.alone);
                self.add(id, alone);
                return Some(());
            }
            // Another thread may have followed it: that takes long.
            let seen = table::find_chain(depth, calls_hash, is_it);
            let (id, chain) = seen.or_else(|| self.follow(&here, depth, calls_hash))?;
            let alone = table::intern_wait(&[id]);
            known.add(KnownChain { chain, id, alone });
            self.add(id, alone);
            Some(())
        });
        if added.flatten().is_none() {
            self.is_more.set(true);
        }
    }

    /// Follows a chain that no thread has seen.
    #[cold]
    fn follow(
        &self,
        here: &Registers,
        depth: u32,
        calls_hash: u64,
    ) -> Option<(ChainId, Arc<Chain>)> {
        let returns = stack::follow(here, self.end)?;
        let mut calls = Vec::new();
        call_stack::calls_above(self.calls_before, |call| calls.push(call.function));
        table::intern_chain(Chain { depth, returns, calls_hash, calls })
    }

    fn add(&self, id: ChainId, alone: WaitId) {
        let number = number();
        if self.chains[..number].iter().any(|chain| chain.get().id == id) {
            return; // some clone twice
        }
        let Some(place) = self.chains.get(number) else { return self.is_more.set(true) };
        let mut calls = self.calls(number);
        call_stack::calls_above(self.calls_before, |call| {
            if let Some(entered) = self.entered.get(usize::from(calls)) {
                entered.set(call.entered_ticks);
                calls += 1;
            }
        });
        place.set(Captured { id, alone, calls });
        NUMBER.with(|captured| captured.set(number + 1));
    }

    /// Returns how many instrumented calls the first `number` chains have.
    fn calls(&self, number: usize) -> u8 {
        let last = number.checked_sub(1).and_then(|last| self.chains.get(last));
        last.map_or(0, |last| last.get().calls)
    }

    /// Returns when the instrumented calls of all chains were first polled, in ticks.
    pub(super) fn entered(&self) -> &[Cell<u64>] {
        &self.entered[..usize::from(self.calls(number()))]
    }

    /// Returns whether nothing was captured: nothing cloned the waker.
    pub(super) fn is_empty(&self) -> bool {
        number() == 0 && !self.is_more.get()
    }

    /// Returns what the task waits for.
    pub(super) fn wait(&self) -> WaitId {
        let wait = match number() {
            0 => UNKNOWN,
            1 => self.chains[0].get().alone,
            number => {
                let mut chains = [0; MOST];
                for (id, chain) in chains.iter_mut().zip(&self.chains[..]) {
                    *id = chain.get().id;
                }
                let look_up = |known: &mut Known| known.wait(&chains[..number], table::intern_wait);
                known::with(look_up).unwrap_or(UNKNOWN)
            }
        };
        if wait == UNKNOWN {
            table::not_kept();
        }
        wait
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        NUMBER.with(|number| number.set(self.outer));
    }
}
