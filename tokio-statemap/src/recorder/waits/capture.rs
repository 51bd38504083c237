//! Where a thread is when the waker of a poll is cloned.

use std::cell::Cell;

use super::known::{self, Known, KnownChain};
use super::stack::{self, StackEnd};
use super::table::{self, Chain, ChainId, UNKNOWN, WaitId};
use crate::recorder::functions::call_stack;

/// The most things that a task is said to wait for at the same time.
const MOST: usize = 8;
/// Of the most instrumented calls it is known since when they go on.
pub(super) const MOST_CALLS: usize = 16;

/// The chains that were captured in one poll, in their order.
pub(super) struct Captures {
    /// Where the stack of the poll ends.
    end: StackEnd,
    /// How many instrumented calls were polled on this thread before.
    calls_before: usize,
    chains: [Cell<ChainId>; MOST],
    number: Cell<u8>,
    /// The wait, if it is for the first chain alone.
    alone: Cell<WaitId>,
    /// Whether some chain isn't among them.
    is_more: Cell<bool>,
    /// When the instrumented calls of all chains were first polled, in ticks, one chain after the other.
    entered: [Cell<u64>; MOST_CALLS],
    calls: Cell<u8>,
}

impl Captures {
    /// For a poll of the function that this is inlined into.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            end: StackEnd::here(),
            calls_before: call_stack::depth(),
            chains: [const { Cell::new(0) }; MOST],
            number: Cell::new(0),
            alone: Cell::new(UNKNOWN),
            is_more: Cell::new(false),
            entered: [const { Cell::new(0) }; MOST_CALLS],
            calls: Cell::new(0),
        }
    }

    /// Captures where the thread is. Never inlined, so that its stack is the same each time.
    #[inline(never)]
    pub(super) fn capture(&self) {
        let here = stack::here();
        let Some(depth) = self.end.depth_of(&here) else { return self.is_more.set(true) };
        let added = known::with(|known| {
            let calls_hash = call_stack::hash_above(self.calls_before);
            let is_it = |chain: &Chain| stack::is_at(&here, self.end, chain);
            if let Some(found) = known.find(depth, calls_hash, is_it) {
                let (id, alone) = (found.id, found.alone);
                return Some(self.add(id, alone));
            }
            let returns = stack::follow(&here, self.end)?;
            let mut calls = Vec::new();
            call_stack::calls_above(self.calls_before, |call| calls.push(call.function));
            let calls = calls.into();
            let (id, chain) = table::intern_chain(Chain { depth, returns, calls_hash, calls })?;
            let alone = table::intern_wait(&[id]);
            known.add(KnownChain { chain, id, alone });
            Some(self.add(id, alone))
        });
        if added.flatten().is_none() {
            self.is_more.set(true);
        }
    }

    fn add(&self, id: ChainId, alone: WaitId) {
        let number = usize::from(self.number.get());
        if self.chains[..number].iter().any(|chain| chain.get() == id) {
            return; // some clone twice
        }
        let Some(place) = self.chains.get(number) else { return self.is_more.set(true) };
        place.set(id);
        self.number.set(number as u8 + 1);
        self.alone.set(alone);
        call_stack::calls_above(self.calls_before, |call| {
            let number = self.calls.get();
            if let Some(place) = self.entered.get(usize::from(number)) {
                place.set(call.entered_ticks);
                self.calls.set(number + 1);
            }
        });
    }

    /// When the instrumented calls of all chains were first polled, in ticks.
    pub(super) fn entered(&self) -> impl ExactSizeIterator<Item = u64> {
        self.entered[..usize::from(self.calls.get())].iter().map(Cell::get)
    }

    /// Whether nothing was captured: nothing cloned the waker.
    pub(super) fn is_empty(&self) -> bool {
        self.number.get() == 0 && !self.is_more.get()
    }

    /// What the task waits for.
    pub(super) fn wait(&self) -> WaitId {
        let wait = match usize::from(self.number.get()) {
            0 => UNKNOWN,
            1 => self.alone.get(),
            number => {
                let chains = self.chains.each_ref().map(Cell::get);
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
