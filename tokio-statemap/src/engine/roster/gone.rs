//! Whose end is known before their beginning.

use std::collections::VecDeque;

use crate::engine::id_map::IdMap;

/// Tasks whose termination was dropped before their spawn was: while a runtime shuts down the one
/// can be seen before the other. Closures of the blocking pool end here too, and push out the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Gone {
    ids: IdMap<()>,
    order: VecDeque<u64>,
}

impl Gone {
    const MOST: usize = 1024;

    pub(super) fn insert(&mut self, id: u64) {
        if self.order.len() == Self::MOST {
            if let Some(oldest) = self.order.pop_front() {
                self.ids.remove(&oldest);
            }
        }
        self.order.push_back(id);
        self.ids.insert(id, ());
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.ids.contains_key(&id)
    }
}
