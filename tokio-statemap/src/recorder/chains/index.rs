//! Finds the chain that a thread is in, if it is known, without following the stack and without a lock.
//!
//! Chains of one depth begin with the same functions of this crate, and differ from some function on. Where two that are
//! known differ for the first time, both keep a return address at the same place of the stack, as all functions further in
//! are the same. So the index is a tree: its root is the depth, a node is such a place, a branch is the address there, and
//! a leaf is a chain, of which all addresses are compared. All branches are in one hash table, whose slots are words that
//! are written once, but for a leaf that becomes a node.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::chain::{Chain, ChainId};
use super::stack::{self, Registers, StackEnd};
use crate::recorder::record::WaitId;

/// A chain that is known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) chain: &'static Chain,
    pub(super) id: ChainId,
    /// The wait for this chain alone.
    pub(super) alone: WaitId,
}

/// The number of slots: four for each chain.
const SLOTS: usize = 1 << 17;
/// The most slots that are searched for a branch.
const PROBES: usize = 32;

/// The hash table. The upper half of a word tells branches apart that share a slot, and is not 0; the lower half is a
/// [`Target`].
static TABLE: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// The chains, in blocks.
static CHAINS: [OnceLock<Box<Block>>; SLOTS / 4 / BLOCK] =
    [const { OnceLock::new() }; SLOTS / 4 / BLOCK];
const BLOCK: usize = 256;
type Block = [OnceLock<Known>; BLOCK];

/// What a branch leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Chain(ChainId),
    /// The number of the node, and the place that it looks at: bytes above the stack pointer.
    Node(u32, u32),
}

const IS_NODE: u32 = 1 << 31;
const PLACE_BITS: u32 = 15;

impl Target {
    fn pack(self) -> Option<u32> {
        match self {
            Self::Chain(id) => (id < IS_NODE).then_some(id),
            Self::Node(number, offset) => {
                let place = offset / 8;
                let fits = number >> (31 - PLACE_BITS) == 0 && place >> PLACE_BITS == 0;
                fits.then_some(IS_NODE | number << PLACE_BITS | place)
            }
        }
    }

    #[inline]
    fn unpack(word: u32) -> Self {
        match word & IS_NODE {
            0 => Self::Chain(word),
            _ => {
                let place = word & ((1 << PLACE_BITS) - 1);
                Self::Node((word & !IS_NODE) >> PLACE_BITS, place * 8)
            }
        }
    }
}

/// The number that stands for the root in a branch; no node has it.
const ROOT: u32 = u32::MAX;

#[inline]
fn hash(node: u32, word: u64) -> u64 {
    let mixed = (word ^ u64::from(node).rotate_left(40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) | 1 << 32
}

#[inline]
fn root(depth: u32, calls_hash: u64) -> u64 {
    hash(ROOT, calls_hash ^ u64::from(depth) << 20)
}

/// Returns the slot of a branch, and what it leads to; or a free slot.
#[inline]
fn slot(hash: u64) -> Option<(&'static AtomicU64, Option<Target>)> {
    let mut place = hash as usize % SLOTS;
    for _ in 0..PROBES {
        let slot = &TABLE[place];
        let word = slot.load(Ordering::Acquire);
        if word == 0 {
            return Some((slot, None));
        }
        if word >> 32 == hash >> 32 {
            return Some((slot, Some(Target::unpack(word as u32))));
        }
        place = (place + 1) % SLOTS;
    }
    None
}

#[inline]
fn known(id: ChainId) -> Option<&'static Known> {
    let id = id as usize;
    CHAINS.get(id / BLOCK)?.get()?[id % BLOCK].get()
}

/// Returns the chain of this depth and these calls that the thread is in, if it is known.
#[inline]
pub(super) fn find(
    here: &Registers,
    end: StackEnd,
    depth: u32,
    calls_hash: u64,
) -> Option<&'static Known> {
    let mut target = slot(root(depth, calls_hash))?.1?;
    loop {
        match target {
            Target::Node(number, offset) => {
                let word = stack::word(here, end, offset)?;
                target = slot(hash(number, word))?.1?;
            }
            Target::Chain(id) => {
                let known = known(id)?;
                let chain = known.chain;
                let is_it = chain.depth == depth
                    && chain.calls_hash == calls_hash
                    && stack::is_at(here, end, &chain.returns);
                return is_it.then_some(known);
            }
        }
    }
}

/// Adds chains. One thread at a time has it.
#[derive(Debug)]
pub(super) struct Index {
    nodes: u32,
}

impl Index {
    pub(super) const fn new() -> Self {
        Self { nodes: 0 }
    }

    /// Adds a chain that isn't there. If there is no room it isn't found.
    pub(super) fn add(&mut self, new: Known) {
        let (chain, id) = (new.chain, new.id);
        let Some(block) = CHAINS.get(id as usize / BLOCK) else { return };
        let block = block.get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
        // Before any branch leads to it.
        if block[id as usize % BLOCK].set(new).is_err() {
            return;
        }
        let mut at = root(chain.depth, chain.calls_hash);
        loop {
            let Some((place, target)) = slot(at) else { return };
            match target {
                None => return put(place, at, Target::Chain(id)),
                Some(Target::Node(number, offset)) => {
                    let Some(word) = word_of(chain, offset) else { return };
                    at = hash(number, word);
                }
                Some(Target::Chain(other)) => {
                    let Some(known) = known(other) else { return };
                    return self.split(place, at, known, chain, id);
                }
            }
        }
    }

    /// Makes a leaf, which is `other`, a node that leads to both chains.
    fn split(&mut self, leaf: &AtomicU64, at: u64, other: &Known, chain: &Chain, id: ChainId) {
        let Some((a, b)) = first_difference(other.chain, chain) else { return };
        let node = Target::Node(self.nodes, a.offset());
        if a.offset() != b.offset() || node.pack().is_none() {
            return;
        }
        for (word, id) in [(a.address, other.id), (b.address, id)] {
            let at = hash(self.nodes, word);
            // The branches of a new node are free, unless hashes of others are the same.
            let Some((place, None)) = slot(at) else { return };
            put(place, at, Target::Chain(id));
        }
        self.nodes += 1;
        // Last, so that whoever sees the node sees its branches.
        put(leaf, at, node);
    }
}

fn put(place: &AtomicU64, hash: u64, target: Target) {
    if let Some(target) = target.pack() {
        place.store(hash >> 32 << 32 | u64::from(target), Ordering::Release);
    }
}

fn first_difference<'a>(
    a: &'a Chain,
    b: &'a Chain,
) -> Option<(&'a stack::Return, &'a stack::Return)> {
    a.returns.iter().zip(&b.returns).find(|(a, b)| a != b)
}

/// Returns the address that a chain has at a place.
fn word_of(chain: &Chain, offset: u32) -> Option<u64> {
    let found = chain.returns.iter().find(|to| to.offset() == offset);
    found.map(|to| to.address)
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(has_stacks)]
    use crate::recorder::record::UNKNOWN;

    #[test]
    fn targets_are_packed() {
        for target in [
            Target::Chain(0),
            Target::Chain(32_767),
            Target::Node(0, 0),
            Target::Node(65_535, (256 << 10) - 8),
        ] {
            assert_eq!(target.pack().map(Target::unpack), Some(target));
        }
        assert_eq!(Target::Node(65_536, 0).pack(), None);
        assert_eq!(Target::Node(0, 256 << 10).pack(), None);
    }

    /// Functions whose frames are on a stack of the test's: a chain for each list of addresses.
    #[cfg(has_stacks)]
    fn chain(words: &[u64], returns: &[(u32, u64)]) -> &'static Chain {
        let returns = returns.iter().map(|&(offset, address)| stack::Return { offset, address });
        let (depth, calls_hash) = (words.len() as u32 * 8, 0xFEED);
        Box::leak(Box::new(Chain {
            depth,
            returns: returns.collect(),
            calls_hash,
            calls: Vec::new(),
        }))
    }

    #[test]
    #[cfg(has_stacks)]
    fn of_thousands_of_chains_each_is_found() {
        use crate::sys::threads::stack::own::StackEnd;

        // Numbers that other tests don't get to.
        const FROM: ChainId = 20_000;
        let mut index = Index { nodes: 40_000 };
        let mut words = [0_u64; 64];
        let end = StackEnd::of_words(&words);
        let here =
            Registers { stack_pointer: words.as_ptr().addr() as u64, ..Registers::default() };
        let returns_of = |n: u64| [(8, 1), (24, 2 + n / 1000), (40, 3 + n % 1000), (80, 4 + n % 7)];
        let mut chains = Vec::new();
        for n in 0..3000 {
            let (chain, id) = (chain(&words, &returns_of(n)), FROM + n as ChainId);
            index.add(Known { chain, id, alone: UNKNOWN });
            chains.push(chain);
        }
        for n in (0..3000).rev() {
            for (offset, address) in returns_of(n) {
                words[offset as usize / 8] = std::hint::black_box(address);
            }
            std::hint::black_box(&mut words);
            let found = find(&here, end, 512, 0xFEED).expect("it is there");
            assert_eq!(found.id, FROM + n as ChainId);
            words[10] = std::hint::black_box(99);
            std::hint::black_box(&mut words);
            assert!(find(&here, end, 512, 0xFEED).is_none(), "another function");
        }
        assert!(find(&here, end, 504, 0xFEED).is_none() && find(&here, end, 512, 1).is_none());
    }
}
