//! Things that others refer to by index, each once.

use std::collections::HashMap;
use std::hash::Hash;

/// Things, each once.
pub(super) struct Once<T> {
    pub(super) all: Vec<T>,
    indices: HashMap<T, u32>,
}

impl<T> Default for Once<T> {
    fn default() -> Self {
        Self { all: Vec::new(), indices: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Once<T> {
    pub(super) fn index(&mut self, thing: T) -> u32 {
        let next = self.all.len() as u32;
        *self.indices.entry(thing).or_insert_with_key(|thing| {
            self.all.push(thing.clone());
            next
        })
    }
}
