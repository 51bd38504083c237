//! The live tasks.

use crate::recorder::boxed::boxed_array;
use crate::recorder::memory::live_tasks::table::{Entry, NO_LOCATION, NONE, PackedTask, Table};
use crate::recorder::record::{LocationId, ROOT, WaitId};

/// A task that was alive at the last of its evicted records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LiveTask {
    pub(crate) location: Option<LocationId>,
    pub(crate) parent: Option<u64>,
    pub(crate) polled: bool,
    /// The place where it waits, and since when in ticks, if that is known.
    pub(crate) wait: Option<(WaitId, u64)>,
    /// The number of the window in which it was last seen; it may have terminated in a gap since.
    pub(super) window: usize,
    /// The start of a root future, whose number is reused.
    pub(super) spawned_ticks: u64,
}

/// The knowledge of whether a task is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    Alive,
    /// Recording was stopped since it was last seen.
    Unknown,
}

/// The live tasks, by id.
///
/// Most tasks are so short-lived that their termination is evicted together with their spawn, or soon after. So a new
/// task goes to a direct-mapped cache, and is moved to the tables when another task needs its slot.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskMap {
    /// Allocated on first use: most programs with `keep = "first"` never evict.
    cache: Option<Box<Cache>>,
    long_lived: LongLived,
    /// The root futures: rarely more than one.
    roots: Vec<RootTask>,
}

type Cache = [Entry; TaskMap::CACHE_SLOTS];

#[derive(Clone, Copy, Debug)]
pub(super) struct RootTask {
    id: u64,
    pub(super) spawned_ticks: u64,
    pub(super) task: PackedTask,
}

impl TaskMap {
    /// About the number of tasks that are spawned in a chunk or two.
    const CACHE_SLOTS: usize = 512;

    fn place(id: u64) -> usize {
        id as usize % Self::CACHE_SLOTS
    }

    pub(super) fn get(&self, id: u64) -> Option<LiveTask> {
        if id & ROOT != 0 {
            return self.root_place(id).map(|place| self.roots[place].unpack());
        }
        match self.cache.as_ref().map(|cache| &cache[Self::place(id)]) {
            Some(cache) if cache.id == id => Some(cache.task.unpack()),
            _ => self.long_lived.get(id).map(PackedTask::unpack),
        }
    }

    /// Returns the task `id`, which is no root future. It is added if it is unknown, unless
    /// `is_terminated`.
    #[inline]
    pub(super) fn get_or_add(
        &mut self,
        id: u64,
        is_terminated: impl FnOnce() -> bool,
    ) -> Option<&mut PackedTask> {
        let cache = match &mut self.cache {
            Some(cache) => cache,
            none => none.insert(boxed_array(Entry::EMPTY)),
        };
        let place = &mut cache[Self::place(id)];
        if place.id != id {
            if self.long_lived.has(id) {
                return self.long_lived.get_mut(id);
            }
            if is_terminated() {
                return None;
            }
            if place.id != NONE {
                self.long_lived.insert(*place);
            }
            *place = Entry { id, task: PackedTask::NEW };
        }
        Some(&mut place.task)
    }

    fn root_place(&self, id: u64) -> Option<usize> {
        self.roots.iter().position(|root| root.id == id)
    }

    /// Returns the task `id`, which is no root future, if it is known.
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut PackedTask> {
        match &mut self.cache {
            Some(cache) if cache[Self::place(id)].id == id => {
                Some(&mut cache[Self::place(id)].task)
            }
            _ => self.long_lived.get_mut(id),
        }
    }

    /// Returns the root future `id`. It is added if it is unknown.
    pub(super) fn root(&mut self, id: u64) -> &mut RootTask {
        let place = match self.root_place(id) {
            Some(place) => place,
            None => {
                self.roots.push(RootTask { id, spawned_ticks: 0, task: PackedTask::NEW });
                self.roots.len() - 1
            }
        };
        &mut self.roots[place]
    }

    /// Removes the task `id`. Returns whether it was known.
    #[inline]
    pub(super) fn remove(&mut self, id: u64) -> bool {
        if let Some(cache) = &mut self.cache {
            let place = &mut cache[Self::place(id)];
            if place.id == id {
                place.id = NONE;
                return true;
            }
        }
        self.long_lived.remove(id)
    }

    /// Removes the root future `id` if it started no later than `ticks`.
    pub(super) fn remove_root(&mut self, id: u64, ticks: u64) {
        if let Some(place) = self.root_place(id) {
            if self.roots[place].spawned_ticks <= ticks {
                self.roots.remove(place);
            }
        }
    }

    /// Returns an upper bound of the number of tasks.
    pub(super) fn max_len(&self) -> usize {
        let cache = if self.cache.is_some() { Self::CACHE_SLOTS } else { 0 };
        cache + self.long_lived.len() + self.roots.len()
    }

    /// Calls `see` with each task.
    pub(super) fn each(&self, see: &mut dyn FnMut(u64, LiveTask)) {
        for root in &self.roots {
            see(root.id, root.unpack());
        }
        if let Some(cache) = &self.cache {
            see_entries(&cache[..], see);
        }
        for (_, table) in &self.long_lived.tables {
            see_entries(table.entries(), see);
        }
    }

    /// Removes all tasks that were not seen in `window`.
    pub(super) fn retain_seen_in(&mut self, window: usize) {
        if let Some(cache) = &mut self.cache {
            for place in &mut cache[..] {
                if place.task.window() != window {
                    place.id = NONE;
                }
            }
        }
        self.long_lived.retain_seen_in(window);
        self.roots.retain(|root| root.task.window() == window);
    }
}

fn see_entries(entries: &[Entry], see: &mut dyn FnMut(u64, LiveTask)) {
    for entry in entries {
        if entry.id != NONE {
            see(entry.id, entry.task.unpack());
        }
    }
}

impl RootTask {
    fn unpack(&self) -> LiveTask {
        LiveTask { spawned_ticks: self.spawned_ticks, ..self.task.unpack() }
    }
}

impl PackedTask {
    fn unpack(&self) -> LiveTask {
        LiveTask {
            location: if self.location == NO_LOCATION { None } else { Some(self.location) },
            parent: if self.parent == NONE { None } else { Some(self.parent) },
            polled: self.is_polled(),
            wait: self.wait(),
            window: self.window(),
            spawned_ticks: 0,
        }
    }

    pub(super) fn set_origin(&mut self, location: Option<LocationId>, parent: Option<u64>) {
        self.location = location.unwrap_or(NO_LOCATION);
        self.parent = parent.unwrap_or(NONE);
    }
}

/// The longer-lived tasks, in one table for each range of some thousand ids. So no table takes long to grow, which a
/// hook would wait for, and the memory of terminated tasks is freed.
#[derive(Clone, Debug, Default)]
struct LongLived {
    /// Sorted by id; none is empty.
    tables: Vec<(u64, Table)>,
}

impl LongLived {
    /// The number of ids for each table, which has its maximum load with 2¹⁴ slots if all are alive.
    const NUMBERS: u64 = 13_000;

    /// Returns the index of the table of `id`, or else the index where it would be.
    #[inline]
    fn find(&self, id: u64) -> Result<usize, usize> {
        let number = id / Self::NUMBERS;
        let (mut from, mut to) = (0, self.tables.len());
        // Usually it is the last.
        if let Some(last) = to.checked_sub(1) {
            match self.tables[last].0 {
                here if here == number => return Ok(last),
                here if here < number => return Err(to),
                _ => to = last,
            }
        }
        while from < to {
            let middle = from.midpoint(to);
            match self.tables[middle].0 {
                here if here == number => return Ok(middle),
                here if here < number => from = middle + 1,
                _ => to = middle,
            }
        }
        Err(from)
    }

    #[inline]
    fn get(&self, id: u64) -> Option<&PackedTask> {
        match self.find(id) {
            Ok(place) => self.tables[place].1.get(id),
            Err(_) => None,
        }
    }

    #[inline]
    fn has(&self, id: u64) -> bool {
        self.get(id).is_some()
    }

    #[inline]
    fn get_mut(&mut self, id: u64) -> Option<&mut PackedTask> {
        match self.find(id) {
            Ok(place) => self.tables[place].1.get_mut(id),
            Err(_) => None,
        }
    }

    fn insert(&mut self, entry: Entry) {
        let place = match self.find(entry.id) {
            Ok(place) => place,
            Err(place) => {
                self.tables.insert(place, (entry.id / Self::NUMBERS, Table::default()));
                place
            }
        };
        self.tables[place].1.insert(entry);
    }

    fn remove(&mut self, id: u64) -> bool {
        let Ok(place) = self.find(id) else { return false };
        let table = &mut self.tables[place].1;
        let was_here = table.remove(id);
        if table.len() == 0 {
            self.tables.remove(place);
        }
        was_here
    }

    fn len(&self) -> usize {
        let mut len = 0;
        for (_, table) in &self.tables {
            len += table.len();
        }
        len
    }

    fn retain_seen_in(&mut self, window: usize) {
        self.tables.retain_mut(|(_, table)| {
            table.retain(&|task| task.window() == window);
            table.len() > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME_PLACE: u64 = 7 + TaskMap::CACHE_SLOTS as u64;
    const FAR: u64 = 7 + TaskMap::CACHE_SLOTS as u64 * 1000;

    fn tasks_of(ids: &[u64]) -> TaskMap {
        let mut tasks = TaskMap::default();
        for &id in ids {
            tasks.get_or_add(id, || false).unwrap().location = id as LocationId;
        }
        tasks
    }

    fn ids(tasks: &TaskMap) -> Vec<u64> {
        let mut ids = Vec::new();
        tasks.each(&mut |id, _| ids.push(id));
        ids.sort_unstable();
        ids
    }

    #[test]
    fn tasks_that_share_a_slot_are_all_kept() {
        // The second access finds each of them.
        let tasks = tasks_of(&[7, SAME_PLACE, FAR, 7, SAME_PLACE, FAR]);
        assert_eq!(ids(&tasks), [7, SAME_PLACE, FAR]);
        for id in [7, SAME_PLACE, FAR] {
            assert_eq!(tasks.get(id).unwrap().location, Some(id as LocationId));
        }
    }

    #[test]
    fn a_task_is_removed_once() {
        let mut tasks = tasks_of(&[7, SAME_PLACE, FAR, 8]);
        for id in [SAME_PLACE, 7, FAR] {
            assert!(tasks.remove(id));
            assert!(!tasks.remove(id));
        }
        assert_eq!(ids(&tasks), [8]);
        assert!(tasks.long_lived.tables.is_empty());
    }

    #[test]
    fn a_terminated_task_is_not_added() {
        let mut tasks = tasks_of(&[7, SAME_PLACE]);
        assert!(tasks.get_or_add(9, || true).is_none());
        assert!(tasks.get_or_add(7, || true).is_some());
        assert!(tasks.get_or_add(SAME_PLACE, || true).is_some());
        assert_eq!(ids(&tasks), [7, SAME_PLACE]);
    }

    #[test]
    fn tasks_not_seen_in_a_window_are_removed_everywhere() {
        let mut tasks = tasks_of(&[7, 8, SAME_PLACE, FAR]);
        tasks.get_or_add(8, || false).unwrap().set_window(1);
        tasks.root(ROOT).task.set_window(1);
        tasks.root(ROOT | 1);
        tasks.retain_seen_in(1);
        assert_eq!(ids(&tasks), [8, ROOT]);
    }

    #[test]
    fn many_tasks_take_few_bytes_each() {
        let all: Vec<u64> = (1000..201_000).collect();
        let tasks = tasks_of(&all);
        let places: usize =
            tasks.long_lived.tables.iter().map(|(_, table)| table.entries().len()).sum();
        let bytes = places * size_of::<Entry>();
        assert!(bytes <= 42 * all.len(), "{bytes}");
        assert_eq!(ids(&tasks), all);
    }
}
