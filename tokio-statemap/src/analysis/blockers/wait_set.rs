//! Sets of waits.

use crate::trace::timeline::{Timeline, Wait, WaitId};

/// Some of the waits of a timeline.
pub(in crate::analysis) struct WaitSet(Vec<bool>);

impl WaitSet {
    pub(in crate::analysis) fn new(timeline: &Timeline, ids: impl Iterator<Item = WaitId>) -> Self {
        let mut set = Self(vec![false; timeline.places.waits.len()]);
        set.add(ids);
        set
    }

    pub(super) fn add(&mut self, ids: impl Iterator<Item = WaitId>) {
        for id in ids {
            if let Some(has) = self.0.get_mut(id.index()) {
                *has = true;
            }
        }
    }

    /// Returns all waits at the line of this one.
    pub(super) fn like(timeline: &Timeline, wait: &Wait) -> Self {
        let lines = wait.lines();
        let same = timeline.all_waits().filter(|(_, other)| other.lines() == lines);
        Self::new(timeline, same.map(|(id, _)| id))
    }

    /// Returns whether this wait of the timeline is one of them.
    pub(super) fn has_wait(&self, timeline: &Timeline, wait: &Wait) -> bool {
        timeline.all_waits().any(|(id, other)| std::ptr::eq(other, wait) && self.has(Some(id)))
    }

    pub(in crate::analysis) fn has(&self, wait: Option<WaitId>) -> bool {
        wait.and_then(|id| self.0.get(id.index())).is_some_and(|&has| has)
    }
}
