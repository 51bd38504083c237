//! Finds the chain that a thread is in, if it is known, without following the stack and without a lock.
//!
//! Chains of equal depth begin with the same functions of this crate, share some more, and differ from there on. So
//! both of two such chains keep a return address at the place of the stack where they first differ. That makes a tree:
//!
//! - The root is the depth.
//! - A node is a place at which all chains below it keep an address.
//! - A branch is the address at that place.
//! - A leaf is a chain. All its addresses are compared with those in the stack.
//!
//! All branches are in one hash table, whose slots are words.
//!
//! A function that aligns its frame keeps its address at several places. Chains that can't be told apart for that
//! reason are listed by their depth in the same table, and compared one after the other.

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

/// The position of a thread, by which its chain is looked up.
#[derive(Clone, Copy)]
pub(super) struct Position<'a> {
    pub(super) here: &'a Registers,
    pub(super) end: StackEnd,
    /// The distance of `here` from `end`.
    pub(super) depth: u32,
    /// A hash of the instrumented functions that are being polled.
    pub(super) calls_hash: u64,
}

impl Known {
    /// Returns whether a thread there is in this chain.
    #[inline]
    pub(super) fn is_at(&self, position: Position<'_>) -> bool {
        let (chain, Position { here, end, depth, calls_hash }) = (self.chain, position);
        chain.depth == depth
            && chain.calls_hash == calls_hash
            && stack::is_at(here, end, &chain.returns)
    }
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

/// The end of a branch.
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

/// The numbers that stand for the root, and for a list, in a branch; no node has them.
const ROOT: u32 = u32::MAX;
const LIST: u32 = u32::MAX - 1;

#[inline]
fn hash(node: u32, word: u64) -> u64 {
    let mixed = (word ^ u64::from(node).rotate_left(40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) | 1 << 32
}

/// Returns the hash at which the search for this depth and these calls begins: at the [`ROOT`], or in the [`LIST`].
#[inline]
fn beginning(of: u32, depth: u32, calls_hash: u64) -> u64 {
    hash(of, calls_hash ^ u64::from(depth) << 20)
}

/// Returns the slot of a branch and what it leads to, or a free slot.
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

/// Returns the chain that a thread there is in, if it is known.
#[inline(never)]
pub(super) fn find(position: Position<'_>) -> Option<&'static Known> {
    let Position { here, end, depth, calls_hash } = position;
    let is_it = |known: &&Known| known.is_at(position);
    let in_tree = || {
        let mut target = slot(beginning(ROOT, depth, calls_hash))?.1?;
        let mut inside = 0;
        loop {
            match target {
                // Each step must be farther out, or the branch is another node's.
                Target::Node(number, offset) if offset > inside => {
                    inside = offset;
                    let word = stack::word(here, end, offset)?;
                    target = slot(hash(number, word))?.1?;
                }
                Target::Node(..) => return None,
                Target::Chain(id) => return known(id).filter(is_it),
            }
        }
    };
    in_tree().or_else(|| listed(depth, calls_hash).find(is_it))
}

/// Returns the chains that are listed by this depth and these calls.
#[inline]
fn listed(depth: u32, calls_hash: u64) -> impl Iterator<Item = &'static Known> {
    let hash = beginning(LIST, depth, calls_hash);
    let first = hash as usize % SLOTS;
    (first..first + PROBES)
        .map(|place| TABLE[place % SLOTS].load(Ordering::Acquire))
        .take_while(|word| *word != 0)
        .filter(move |word| word >> 32 == hash >> 32)
        .filter_map(|word| match Target::unpack(word as u32) {
            Target::Chain(id) => known(id),
            Target::Node(..) => None,
        })
}

/// Adds chains. Only one thread at a time uses it.
#[derive(Debug)]
pub(super) struct Index {
    /// The number of the first node.
    first: u32,
    /// For each node, a chain below it.
    below: Vec<ChainId>,
}

impl Index {
    pub(super) const fn new() -> Self {
        Self { first: 0, below: Vec::new() }
    }

    /// Adds a chain that isn't in the index. If there is no room, it won't be found.
    pub(super) fn add(&mut self, new: Known) {
        let (chain, id) = (new.chain, new.id);
        let Some(block) = CHAINS.get(id as usize / BLOCK) else { return };
        let block = block.get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
        // It must be there before any branch leads to it.
        if block[id as usize % BLOCK].set(new).is_ok() && self.add_to_tree(chain, id).is_none() {
            add_to_list(chain, id);
        }
    }

    /// Returns `None` if the chain can't be told from another one by the address at one place.
    fn add_to_tree(&mut self, chain: &Chain, id: ChainId) -> Option<()> {
        let mut at = beginning(ROOT, chain.depth, chain.calls_hash);
        loop {
            let (place, target) = slot(at)?;
            let (below, node_at) = match target {
                None => {
                    put(place, at, Target::Chain(id));
                    return Some(());
                }
                Some(Target::Chain(other)) => (other, u32::MAX),
                Some(Target::Node(number, offset)) => {
                    (*self.below.get(number.checked_sub(self.first)? as usize)?, offset)
                }
            };
            let other = known(below)?.chain;
            let (a, b) = first_difference(other, chain)?;
            match target {
                // They differ there or farther out. If farther out, they have the same address there.
                Some(Target::Node(number, offset)) if a.offset().min(b.offset()) >= node_at => {
                    at = hash(number, word_of(chain, offset)?);
                }
                Some(before) if a.offset() == b.offset() => {
                    let (new, was) = ((b.address, Target::Chain(id)), (a.address, before));
                    return self.split((place, at), a.offset(), below, [was, new]);
                }
                _ => return None,
            }
        }
    }

    /// Puts a node before what was at a slot.
    fn split(
        &mut self,
        (place, at): (&AtomicU64, u64),
        offset: u32,
        below: ChainId,
        branches: [(u64, Target); 2],
    ) -> Option<()> {
        let number = self.first + self.below.len() as u32;
        let node = Target::Node(number, offset);
        node.pack()?;
        // Added even if this fails, as some of its branches may be there.
        self.below.push(below);
        for (word, target) in branches {
            let at = hash(number, word);
            // The branches of a new node are free, unless hashes of others are the same.
            let (place, None) = slot(at)? else { return None };
            put(place, at, target);
        }
        // Stored last, so that whoever sees the node sees its branches.
        put(place, at, node);
        Some(())
    }
}

/// Lists a chain by its depth, if there is room.
fn add_to_list(chain: &Chain, id: ChainId) {
    let hash = beginning(LIST, chain.depth, chain.calls_hash);
    let first = hash as usize % SLOTS;
    for place in first..first + PROBES {
        let slot = &TABLE[place % SLOTS];
        if slot.load(Ordering::Relaxed) == 0 {
            return put(slot, hash, Target::Chain(id));
        }
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

    /// Returns a chain of functions whose frames are on a stack of the test: one for each list of addresses.
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
        use crate::recorder::chains::recent;
        use crate::sys::threads::stack::own::StackEnd;

        // Numbers that other tests don't get to.
        const FROM: ChainId = 20_000;
        let mut index = Index { first: 40_000, below: Vec::new() };
        let mut words = [0_u64; 64];
        let end = StackEnd::of_words(&words);
        let here =
            Registers { stack_pointer: words.as_ptr().addr() as u64, ..Registers::default() };
        let position = Position { here: &here, end, depth: 512, calls_hash: 0xFEED };
        // A frame after the second function is as large as that function says, and some align theirs.
        let returns_of = |n: u64| {
            let (second, third) = (2 + n / 1000, 40 + 8 * (n % 5) as u32);
            let aligned = if n % 500 == 499 { 8 } else { 0 };
            [
                (8, 1),
                (24, second),
                (32, 70 + n % 5),
                (third + aligned, 3 + n % 1000),
                (88, 4 + n % 7),
            ]
        };
        let mut chains = Vec::new();
        for n in 0..3000 {
            let (chain, id) = (chain(&words, &returns_of(n)), FROM + n as ChainId);
            index.add(Known { chain, id, alone: UNKNOWN });
            chains.push(chain);
        }
        for n in (0..3000).rev() {
            words.fill(n * 7);
            for (offset, address) in returns_of(n) {
                words[offset as usize / 8] = std::hint::black_box(address);
            }
            std::hint::black_box(&mut words);
            let found = find(position).expect("it is there");
            assert_eq!(found.id, FROM + n as ChainId);
            // All these have one place among the recent ones.
            let recent = || recent::find(position).map(|known| known.id);
            assert_eq!([recent(), recent()], [Some(found.id); 2]);
            words[11] = std::hint::black_box(99);
            std::hint::black_box(&mut words);
            assert!(find(position).is_none(), "another function");
            assert_eq!(recent(), None, "nor is it the recent one");
        }
        let others = [Position { depth: 504, ..position }, Position { calls_hash: 1, ..position }];
        assert!(others.into_iter().all(|other| find(other).is_none()));
    }
}
