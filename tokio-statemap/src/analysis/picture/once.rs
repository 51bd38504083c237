//! Tables of distinct things, to which others refer by index.

use crate::util::map::Map;
use std::hash::Hash;

/// Distinct things.
pub(super) struct Once<T> {
    pub(super) all: Vec<T>,
    indices: Map<T, u32>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { all: Vec::new(), indices: Map::default() }
    }
}

impl<T: Clone + Eq + Hash> Once<T> {
    /// Returns the index of a thing, and adds the thing if it is new.
    pub(super) fn index(&mut self, thing: T) -> u32 {
        let next = self.all.len() as u32;
        *self.indices.get_or_insert_with(thing.clone(), || {
            self.all.push(thing);
            next
        })
    }
}
