//! Finds entries by the hashes of their keys, without the keys themselves.

/// The indices of the entries, by their hashes: an open table with linear probing, at most half full.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    /// The hash of each entry.
    hashes: Vec<u64>,
    /// The index of an entry, plus one; 0 for an empty slot.
    slots: Vec<u32>,
}

impl Index {
    /// Finds the entry with this hash for which `is_it` returns `true`.
    #[inline(never)]
    pub(super) fn find(&self, hash: u64, is_it: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash as usize & mask;
        loop {
            let entry = self.slots[slot].checked_sub(1)? as usize;
            if self.hashes[entry] == hash && is_it(entry) {
                return Some(entry);
            }
            slot = (slot + 1) & mask;
        }
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
