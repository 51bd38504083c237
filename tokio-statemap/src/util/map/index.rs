//! Finds entries by the hashes of their keys, without the keys themselves.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// What knows the key that is wanted, and the keys of the entries. With two closures instead, twice as many functions
/// would be compiled for each type.
pub(super) trait Search {
    fn hash(&self, hasher: &mut dyn Hasher);
    fn is_at(&self, entry: usize) -> bool;
}

/// The indices of the entries, by their hashes: an open table with linear probing, at most half full.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The keys of the hash function. They are random, because the author of a file chooses the keys of some maps: with
    /// known hashes, all entries could be made to collide.
    random: RandomState,
    /// The hash of each entry.
    hashes: Vec<u64>,
    /// The index of an entry, plus one; 0 for an empty slot.
    slots: Vec<u32>,
}

impl Index {
    /// Returns the entry that is wanted, or the hash of its key if there is none.
    #[inline(never)]
    pub(super) fn find(&self, wanted: &dyn Search) -> Result<usize, u64> {
        let mut hasher = self.random.build_hasher();
        wanted.hash(&mut hasher);
        let hash = hasher.finish();
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash as usize & mask;
        while let Some(entry) = self.slots.get(slot).and_then(|entry| entry.checked_sub(1)) {
            let entry = entry as usize;
            if self.hashes[entry] == hash && wanted.is_at(entry) {
                return Ok(entry);
            }
            slot = (slot + 1) & mask;
        }
        Err(hash)
    }

    /// Adds the next entry.
    #[inline(never)]
    pub(super) fn push(&mut self, hash: u64) {
        self.hashes.push(hash);
        let len = self.hashes.len();
        if len * 2 > self.slots.len() {
            self.slots = vec![0; (len * 4).next_power_of_two()];
            (0..len).for_each(|entry| self.place(entry));
        } else {
            self.place(len - 1);
        }
    }

    fn place(&mut self, entry: usize) {
        let mask = self.slots.len() - 1;
        let mut slot = self.hashes[entry] as usize & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = entry as u32 + 1;
    }
}
