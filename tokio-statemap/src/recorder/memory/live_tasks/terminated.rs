//! Tasks whose termination is known before their spawn.

use crate::recorder::memory::live_tasks::table::{Entry, Table};

/// Tasks whose termination was evicted before their spawn: while a runtime shuts down the terminate
/// hook can run first. Closures of the blocking pool, which have no spawn, are added too, and
/// replace the oldest entries.
#[derive(Clone, Debug, Default)]
pub(super) struct TerminatedIds {
    ids: Table,
    /// A ring in the order of insertion, whose first entry is at `oldest`.
    order: Vec<u64>,
    oldest: usize,
}

impl TerminatedIds {
    const CAPACITY: usize = 1024;

    pub(super) fn insert(&mut self, id: u64) {
        if self.contains(id) {
            return;
        }
        if self.order.len() < Self::CAPACITY {
            self.order.push(id);
        } else {
            let oldest = std::mem::replace(&mut self.order[self.oldest], id);
            self.ids.remove(oldest);
            self.oldest = (self.oldest + 1) % Self::CAPACITY;
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
        let all = 0..TerminatedIds::CAPACITY as u64 + 10;
        for id in all.clone() {
            terminated.insert(id);
            terminated.insert(id);
        }
        let known: Vec<u64> = all.filter(|&id| terminated.contains(id)).collect();
        assert_eq!(known, (10..TerminatedIds::CAPACITY as u64 + 10).collect::<Vec<_>>());
    }
}
