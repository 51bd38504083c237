//! The rows of a file.

use crate::analysis::picture::{Source, Transition};
use crate::statemap::read::{Entity, Statemap};
use crate::statemap::{Datum, is_root};

/// The rows of a file: its entities, by their indices.
pub(super) struct Rows<'a> {
    pub(super) file: &'a Statemap,
    /// How long after the picture's left edge the file begins.
    pub(super) shift_ns: u64,
    /// Whether the tags of the data are shown as such.
    pub(super) has_tags: bool,
    /// The state that says that nothing is known any more, if the file ends before the picture.
    pub(super) over: Option<u32>,
    /// The states that end a row.
    pub(super) ends: Option<u32>,
    pub(super) are_workers: bool,
}

impl Rows<'_> {
    fn entity(&self, row: u32) -> &Entity {
        &self.file.entities[row as usize]
    }
}

impl Source for Rows<'_> {
    fn name(&self, row: u32, to: &mut String) {
        to.push_str(&self.entity(row).name);
    }

    fn description(&self, row: u32) -> Option<&str> {
        self.entity(row).description.as_deref()
    }

    fn is_root(&self, row: u32) -> bool {
        self.ends.is_some() && !self.are_workers && is_root(&self.entity(row).name)
    }

    fn worker_index(&self, row: u32) -> Option<u32> {
        let index = || {
            let (_, index) = self.entity(row).name.rsplit_once("worker-")?;
            index.parse().ok()
        };
        self.are_workers.then(|| index().unwrap_or(row))
    }

    fn knows_workers(&self) -> bool {
        false
    }

    fn walk(&self, row: u32, each: &mut dyn FnMut(Transition)) {
        let data = changes(self.file, self.entity(row), self.ends.is_some());
        for datum in data {
            each(Transition {
                tag: datum.tag.filter(|_| self.has_tags).map(|tag| tag as u32),
                ..Transition::new(datum.time_ns + self.shift_ns, datum.state)
            });
        }
        let is_ended = data.last().is_some_and(|last| Some(last.state) == self.ends);
        if let Some(over) = self.over.filter(|_| !is_ended) {
            each(Transition::new(self.file.end_ns + self.shift_ns, over));
        }
    }
}

/// The changes of state of an entity. In our own data the last record of all only marks the end.
pub(super) fn changes<'a>(file: &Statemap, entity: &'a Entity, is_ours: bool) -> &'a [Datum] {
    match entity.data.as_slice() {
        [data @ .., before, end]
            if is_ours
                && end.time_ns == file.end_ns
                && (end.state, end.tag) == (before.state, before.tag) =>
        {
            &entity.data[..=data.len()]
        }
        data => data,
    }
}
