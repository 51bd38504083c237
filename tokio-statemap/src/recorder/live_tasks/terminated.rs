//! Whose end is known before their beginning.

use crate::recorder::live_tasks::table::{Entry, Table};

/// Tasks whose termination was dropped before their spawn was: while a runtime shuts down the one
/// can be seen before the other. Closures of the blocking pool end here too, and push out the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct TerminatedIds {
    ids: Table,
    /// In the order in which they came, from `oldest` on, around.
    order: Vec<u64>,
    oldest: usize,
}

impl TerminatedIds {
    const MOST: usize = 1024;

    pub(super) fn insert(&mut self, id: u64) {
        if self.contains(id) {
            return;
        }
        if self.order.len() < Self::MOST {
            self.order.push(id);
        } else {
            let oldest = std::mem::replace(&mut self.order[self.oldest], id);
            self.ids.remove(oldest);
            self.oldest = (self.oldest + 1) % Self::MOST;
        }
        self.ids.insert(Entry { id, ..Entry::EMPTY });
    }

    pub(super) fn contains(&self, id: u64) -> bool {
        self.ids.get(id).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_forgotten() {
        let mut terminated = TerminatedIds::default();
        let all = 0..TerminatedIds::MOST as u64 + 10;
        for id in all.clone() {
            terminated.insert(id);
            terminated.insert(id);
        }
        let known: Vec<u64> = all.filter(|&id| terminated.contains(id)).collect();
        assert_eq!(known, (10..TerminatedIds::MOST as u64 + 10).collect::<Vec<_>>());
    }
}
