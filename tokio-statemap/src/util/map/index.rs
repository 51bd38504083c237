//! Finds entries by the hashes of their keys, without the keys themselves.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// It knows the key that is wanted, and the keys of the entries. With two closures instead, twice as many functions
/// would be compiled for each type.
pub(super) trait Search {
    fn hash(&self, hasher: &mut dyn Hasher);
    fn is_at(&self, entry: usize) -> bool;
}

/// The indices of the entries, by their hashes: an open table with linear probing, at most half full.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// The keys of the hash function. They are random, because the author of a file chooses the keys of some maps: with
    /// known hashes, all entries could be made to collide.
    random: RandomState,
    /// The hash of an entry's key, and its index plus one; 0 for an empty slot.
    slots: Vec<(u32, u32)>,
}

impl Index {
    #[inline(never)]
    pub(super) fn new() -> Self {
        Self { random: RandomState::new(), slots: Vec::new() }
    }

    /// Returns the entry that is wanted, or the hash of its key if there is none.
    #[inline(never)]
    pub(super) fn find(&self, wanted: &dyn Search) -> Result<usize, u32> {
        let mut hasher = self.random.build_hasher();
        wanted.hash(&mut hasher);
        let hash = hasher.finish() as u32;
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash as usize & mask;
        while let Some(&(its_hash, entry @ 1..)) = self.slots.get(slot) {
            let entry = entry as usize - 1;
            if its_hash == hash && wanted.is_at(entry) {
                return Ok(entry);
            }
            slot = (slot + 1) & mask;
        }
        Err(hash)
    }

    /// Adds an entry, which is the next one.
    #[inline(never)]
    pub(super) fn push(&mut self, hash: u32, entry: usize) {
        let len = entry + 1;
        if len * 2 > self.slots.len() {
            let larger = vec![(0, 0); (len * 2).next_power_of_two()];
            for slot in std::mem::replace(&mut self.slots, larger) {
                if slot.1 != 0 {
                    self.place(slot);
                }
            }
        }
        self.place((hash, len as u32));
    }

    fn place(&mut self, entry: (u32, u32)) {
        let mask = self.slots.len() - 1;
        let mut slot = entry.0 as usize & mask;
        while self.slots[slot].1 != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry;
    }
}
