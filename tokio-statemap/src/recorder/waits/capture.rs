//! Where a thread is when the waker of a poll is cloned.

use std::cell::Cell;

use super::known::{self, Known, KnownChain};
use super::stack::{self, StackEnd};
use super::table::{self, ChainId, UNKNOWN, WaitId};

/// The most things that a task is said to wait for at the same time.
const MOST: usize = 8;

/// The chains that were captured in one poll, in their order.
pub(super) struct Captures {
    /// Where the stack of the poll ends.
    end: StackEnd,
    chains: [Cell<ChainId>; MOST],
    number: Cell<u8>,
    /// The wait, if it is for the first chain alone.
    alone: Cell<WaitId>,
    /// Whether some chain isn't among them.
    is_more: Cell<bool>,
}

impl Captures {
    /// For a poll of the function that this is inlined into.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            end: StackEnd::here(),
            chains: [const { Cell::new(0) }; MOST],
            number: Cell::new(0),
            alone: Cell::new(UNKNOWN),
            is_more: Cell::new(false),
        }
    }

    /// Captures where the thread is. Never inlined, so that its stack is the same each time.
    #[inline(never)]
    pub(super) fn capture(&self) {
        let here = stack::here();
        let Some(depth) = self.end.depth_of(&here) else { return self.is_more.set(true) };
        let added = known::with(|known| {
            if let Some(found) = known.find(depth, |chain| stack::is_at(&here, self.end, chain)) {
                let (id, alone) = (found.id, found.alone);
                return Some(self.add(id, alone));
            }
            let chain = table::intern_chain(stack::follow(&here, self.end, depth)?);
            let (id, chain) = chain?;
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
