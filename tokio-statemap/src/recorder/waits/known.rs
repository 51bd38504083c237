//! The chains that a thread has seen, so that it follows its stack once for each.

use std::cell::RefCell;
use std::sync::Arc;

use super::table::{Chain, ChainId, WaitId};

/// The number of sets of chains, and of chains in each: a thread knows up to 1024.
const SETS: usize = 256;
const WAYS: usize = 4;
/// The number of waits for several things that a thread knows.
const SEVERAL: usize = 64;

/// The chains and waits that a thread knows.
pub(super) struct Known {
    /// Chains by a hash of their depths; in a set the last used first.
    chains: Vec<[Option<KnownChain>; WAYS]>,
    /// Waits by a hash of their chains.
    several: Vec<(u64, WaitId)>,
}

pub(super) struct KnownChain {
    pub(super) chain: Arc<Chain>,
    pub(super) id: ChainId,
    /// The wait for this chain alone.
    pub(super) alone: WaitId,
}

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
}

/// Calls `f` with the chains that this thread knows. Returns `None` if the thread is ending, or while `f` runs.
pub(super) fn with<R>(f: impl FnOnce(&mut Known) -> R) -> Option<R> {
    let known = KNOWN.try_with(|known| {
        let mut known = known.try_borrow_mut().ok()?;
        Some(f(known.get_or_insert_with(Known::new)))
    });
    known.ok().flatten()
}

impl Known {
    #[cold]
    fn new() -> Self {
        let mut chains = Vec::with_capacity(SETS);
        while chains.len() < SETS {
            chains.push([const { None }; WAYS]);
        }
        Self { chains, several: vec![(0, 0); SEVERAL] }
    }

    /// Returns the chain of this depth, and of instrumented functions with this hash, for which `is_it` returns
    /// `true`.
    #[inline]
    pub(super) fn find(
        &mut self,
        depth: u32,
        calls_hash: u64,
        is_it: impl Fn(&Chain) -> bool,
    ) -> Option<&KnownChain> {
        let set = &mut self.chains[set_of(depth)];
        let is_it = |known: &Option<KnownChain>| {
            known.as_ref().is_some_and(|KnownChain { chain, .. }| {
                chain.depth == depth && chain.calls_hash == calls_hash && is_it(chain)
            })
        };
        let place = set.iter().position(is_it)?;
        move_first(set, place);
        set[0].as_ref()
    }

    /// Adds a chain, in the place of the one of its set that was used least recently.
    pub(super) fn add(&mut self, chain: KnownChain) {
        let set = &mut self.chains[set_of(chain.chain.depth)];
        move_first(set, WAYS - 1);
        set[0] = Some(chain);
    }

    /// Returns the number of the wait for all of `chains`, which `number` looks up if it isn't known.
    pub(super) fn wait(
        &mut self,
        chains: &[ChainId],
        number: impl FnOnce(&[ChainId]) -> WaitId,
    ) -> WaitId {
        let mut hash = chains.len() as u64;
        for &chain in chains {
            hash = (hash.rotate_left(5) ^ u64::from(chain)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        let place = &mut self.several[(hash >> 58) as usize];
        if place.0 != hash {
            *place = (hash, number(chains));
        }
        place.1
    }
}

/// Moves what is at `place` to the front, before those that were there.
fn move_first(set: &mut [Option<KnownChain>], place: usize) {
    for place in (0..place).rev() {
        set.swap(place, place + 1);
    }
}

fn set_of(depth: u32) -> usize {
    // Stack pointers of functions that call others are multiples of 16.
    (depth >> 4).wrapping_mul(0x9E37_79B9) as usize >> (u32::BITS - SETS.ilog2())
}
