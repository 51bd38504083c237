//! The tasks that live.

use crate::recorder::boxed::boxed_array;
use crate::recorder::live_tasks::LocationId;
use crate::recorder::live_tasks::table::{Entry, NO_LOCATION, NONE, Packed, Table};
use crate::recorder::record::ROOT;

/// A task that lived when the last of its dropped records was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LiveTask {
    pub(crate) location: Option<LocationId>,
    pub(crate) parent: Option<u64>,
    pub(crate) polled: bool,
    /// The window that it was last seen in; it may have ended in a gap since.
    pub(super) window: usize,
    /// Of a root future, whose number is used again: when it began.
    pub(super) spawned_ticks: u64,
}

/// Whether a task of the live_tasks lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lives {
    Surely,
    /// Recording was stopped since it was seen.
    Perhaps,
}

/// The tasks that live, by their number.
///
/// Most live so briefly that their end is dropped with their spawn, or soon after. So a new one is
/// where the lower bits of its number say, and is moved to the others when another one needs its
/// place.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskMap {
    /// None until there was one: most programs that keep the first events never drop any.
    cache: Option<Box<Places>>,
    others: Others,
    /// The root futures: seldom more than one.
    roots: Vec<Root>,
}

type Places = [Entry; TaskMap::CACHE_SLOTS];

#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    id: u64,
    pub(super) spawned_ticks: u64,
    pub(super) task: Packed,
}

impl TaskMap {
    /// As many as are spawned in a chunk or two.
    const CACHE_SLOTS: usize = 512;

    fn place(id: u64) -> usize {
        id as usize % Self::CACHE_SLOTS
    }

    pub(super) fn get(&self, id: u64) -> Option<LiveTask> {
        if id & ROOT != 0 {
            let root = self.roots.iter().find(|root| root.id == id)?;
            return Some(LiveTask { spawned_ticks: root.spawned_ticks, ..root.task.unpack() });
        }
        match self.cache.as_ref().map(|cache| &cache[Self::place(id)]) {
            Some(cache) if cache.id == id => Some(cache.task.unpack()),
            _ => self.others.get(id).map(Packed::unpack),
        }
    }

    /// The task `id`, which is no root future. If it isn't here it is from now on, unless it
    /// `is_gone`.
    #[inline]
    pub(super) fn get_or_add(
        &mut self,
        id: u64,
        is_gone: impl FnOnce() -> bool,
    ) -> Option<&mut Packed> {
        let cache = match &mut self.cache {
            Some(cache) => cache,
            none => none.insert(boxed_array(Entry::EMPTY)),
        };
        let place = &mut cache[Self::place(id)];
        if place.id != id {
            if self.others.has(id) {
                return self.others.get_mut(id);
            }
            if is_gone() {
                return None;
            }
            if place.id != NONE {
                self.others.insert(*place);
            }
            *place = Entry { id, task: Packed::NEW };
        }
        Some(&mut place.task)
    }

    /// The root future `id`. If it isn't here it is from now on.
    pub(super) fn root(&mut self, id: u64) -> &mut Root {
        let place = match self.roots.iter().position(|root| root.id == id) {
            Some(place) => place,
            None => {
                self.roots.push(Root { id, spawned_ticks: 0, task: Packed::NEW });
                self.roots.len() - 1
            }
        };
        &mut self.roots[place]
    }

    /// Takes out the task `id`; whether it was here.
    #[inline]
    pub(super) fn remove(&mut self, id: u64) -> bool {
        if let Some(cache) = &mut self.cache {
            let place = &mut cache[Self::place(id)];
            if place.id == id {
                place.id = NONE;
                return true;
            }
        }
        self.others.remove(id)
    }

    /// Takes out the root future `id` if it began no later than `ticks`.
    pub(super) fn remove_root(&mut self, id: u64, ticks: u64) {
        self.roots.retain(|root| root.id != id || root.spawned_ticks > ticks);
    }

    /// How many there are at most.
    pub(super) fn most(&self) -> usize {
        let cache = if self.cache.is_some() { Self::CACHE_SLOTS } else { 0 };
        cache + self.others.len() + self.roots.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, LiveTask)> {
        let cache = self.cache.iter().flat_map(|cache| cache.iter().filter(|e| e.id != NONE));
        let spawned = cache.chain(self.others.iter()).map(|e| (e.id, e.task.unpack()));
        let roots = self.roots.iter().map(|root| {
            (root.id, LiveTask { spawned_ticks: root.spawned_ticks, ..root.task.unpack() })
        });
        roots.chain(spawned)
    }

    /// Takes out all that were not seen in `window`.
    pub(super) fn retain_seen_in(&mut self, window: usize) {
        for place in self.cache.iter_mut().flat_map(|cache| cache.iter_mut()) {
            if place.task.window() != window {
                place.id = NONE;
            }
        }
        self.others.retain(&|task| task.window() == window);
        self.roots.retain(|root| root.task.window() == window);
    }
}

impl Packed {
    fn unpack(&self) -> LiveTask {
        LiveTask {
            location: Some(self.location).filter(|&location| location != NO_LOCATION),
            parent: Some(self.parent).filter(|&parent| parent != NONE),
            polled: self.is_polled(),
            window: self.window(),
            spawned_ticks: 0,
        }
    }

    pub(super) fn set_origin(&mut self, location: Option<LocationId>, parent: Option<u64>) {
        self.location = location.unwrap_or(NO_LOCATION);
        self.parent = parent.unwrap_or(NONE);
    }
}

/// The tasks that live longer, in tables of some thousand numbers each: so that none takes long to
/// grow, as a hook waits for that, and the memory of those that ended is given back.
#[derive(Clone, Debug, Default)]
struct Others {
    /// By rising number; none is empty.
    tables: Vec<(u64, Table)>,
}

impl Others {
    /// So that a table of tasks which all live is as full as it may be, with 2¹⁴ places.
    const NUMBERS: u64 = 13_000;

    /// Where the table of `id` is, or else where it would be.
    #[inline]
    fn find(&self, id: u64) -> Result<usize, usize> {
        let number = id / Self::NUMBERS;
        let (mut from, mut to) = (0, self.tables.len());
        // Most times it is of late.
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
    fn get(&self, id: u64) -> Option<&Packed> {
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
    fn get_mut(&mut self, id: u64) -> Option<&mut Packed> {
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
        self.tables.iter().map(|(_, table)| table.len()).sum()
    }

    fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.tables.iter().flat_map(|(_, table)| table.iter())
    }

    fn retain(&mut self, is_kept: &impl Fn(&Packed) -> bool) {
        self.tables.retain_mut(|(_, table)| {
            table.retain(is_kept);
            table.len() > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME_PLACE: u64 = 7 + TaskMap::CACHE_SLOTS as u64;
    const FAR: u64 = 7 + TaskMap::CACHE_SLOTS as u64 * 1000;

    fn of(ids: &[u64]) -> TaskMap {
        let mut tasks = TaskMap::default();
        for &id in ids {
            tasks.get_or_add(id, || false).unwrap().location = id as LocationId;
        }
        tasks
    }

    fn ids(tasks: &TaskMap) -> Vec<u64> {
        let mut ids: Vec<u64> = tasks.iter().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn who_needs_the_same_place_is_here_as_well() {
        // The second time each is found where it is.
        let tasks = of(&[7, SAME_PLACE, FAR, 7, SAME_PLACE, FAR]);
        assert_eq!(ids(&tasks), [7, SAME_PLACE, FAR]);
        for id in [7, SAME_PLACE, FAR] {
            assert_eq!(tasks.get(id).unwrap().location, Some(id as LocationId));
        }
    }

    #[test]
    fn who_leaves_was_here_once() {
        let mut tasks = of(&[7, SAME_PLACE, FAR, 8]);
        for id in [SAME_PLACE, 7, FAR] {
            assert!(tasks.remove(id));
            assert!(!tasks.remove(id));
        }
        assert_eq!(ids(&tasks), [8]);
        assert!(tasks.others.tables.is_empty());
    }

    #[test]
    fn who_is_gone_is_not_added() {
        let mut tasks = of(&[7, SAME_PLACE]);
        assert!(tasks.get_or_add(9, || true).is_none());
        assert!(tasks.get_or_add(7, || true).is_some());
        assert!(tasks.get_or_add(SAME_PLACE, || true).is_some());
        assert_eq!(ids(&tasks), [7, SAME_PLACE]);
    }

    #[test]
    fn who_was_not_seen_in_a_window_leaves_every_place() {
        let mut tasks = of(&[7, 8, SAME_PLACE, FAR]);
        tasks.get_or_add(8, || false).unwrap().set_window(1);
        tasks.root(ROOT).task.set_window(1);
        tasks.root(ROOT | 1);
        tasks.retain_seen_in(1);
        assert_eq!(ids(&tasks), [8, ROOT]);
    }

    #[test]
    fn many_take_few_bytes_each() {
        let all: Vec<u64> = (1000..201_000).collect();
        let tasks = of(&all);
        let places: usize = tasks.others.tables.iter().map(|(_, table)| table.places()).sum();
        let bytes = places * size_of::<Entry>();
        assert!(bytes <= 32 * all.len(), "{bytes}");
        assert_eq!(ids(&tasks), all);
    }
}
