//! A hash table with few bytes per entry, which needs hardly any stack.

use crate::recorder::record::{UNKNOWN, WaitId};

/// The state of a task, in 24 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedTask {
    /// [`NONE`] if it has none.
    pub(super) parent: u64,
    /// [`NO_LOCATION`] if it is unknown.
    pub(super) location: u32,
    /// The number of the window in which it was last seen, and whether it was polled (the lowest
    /// bit).
    window_polled: u32,
    /// The place where it waits ([`WaitId`]), in the upper bits, and the end of its last poll in ticks, without the
    /// lowest bits: it is accurate to some µs.
    wait_since: u64,
}

/// The lowest bits of a time in ticks aren't kept. The bits that are kept are enough for some twelve years at 3 GHz.
const SINCE_SHIFT: u32 = 12;
const SINCE_BITS: u32 = 48;
const SINCE: u64 = (1 << SINCE_BITS) - 1;

/// The id of no task.
pub(super) const NONE: u64 = u64::MAX;
pub(super) const NO_LOCATION: u32 = u32::MAX;

impl PackedTask {
    pub(super) const NEW: Self =
        Self { parent: NONE, location: NO_LOCATION, window_polled: 0, wait_since: 0 };

    /// Returns where it waits, and the end of its last poll in ticks; `None` if it isn't known where.
    pub(super) fn wait(&self) -> Option<(WaitId, u64)> {
        let wait = (self.wait_since >> SINCE_BITS) as WaitId;
        (wait != UNKNOWN).then_some((wait, self.since() << SINCE_SHIFT))
    }

    /// Sets where it waits after a poll that ended at `ticks`, unless a later one is known.
    pub(super) fn set_wait(&mut self, wait: WaitId, ticks: u64) {
        if ticks >> SINCE_SHIFT >= self.since() {
            self.wait_since = u64::from(wait) << SINCE_BITS | ticks >> SINCE_SHIFT & SINCE;
        }
    }

    /// Sets the end of a poll, unless a later one is known.
    pub(super) fn set_since(&mut self, ticks: u64) {
        let since = (ticks >> SINCE_SHIFT & SINCE).max(self.since());
        self.wait_since = self.wait_since & !SINCE | since;
    }

    /// Forgets where it waits.
    pub(super) fn forget_wait(&mut self) {
        self.wait_since &= SINCE;
    }

    fn since(&self) -> u64 {
        self.wait_since & SINCE
    }

    pub(super) fn is_polled(&self) -> bool {
        self.window_polled & 1 != 0
    }

    pub(super) fn set_polled(&mut self) {
        self.window_polled |= 1;
    }

    pub(super) fn window(&self) -> usize {
        (self.window_polled >> 1) as usize
    }

    pub(super) fn set_window(&mut self, window: usize) {
        self.window_polled = (window as u32) << 1 | self.window_polled & 1;
    }
}

/// A task and its state: 32 bytes, as there may be millions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// [`NONE`] if the slot is free.
    pub(super) id: u64,
    pub(super) task: PackedTask,
}

impl Entry {
    pub(super) const EMPTY: Self = Self { id: NONE, task: PackedTask::NEW };
}

/// Tasks by id, in an open-addressed hash table with linear probing.
///
/// Hooks look up and insert tasks here, on threads that may have little stack: unlike the standard library's map, this
/// needs almost none (the test `a_hook_needs_little_stack` holds hooks to 2.4 KiB). It takes 40 bytes per entry at its
/// maximum load.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    entries: Vec<Entry>,
    len: usize,
}

impl Table {
    /// The minimum number of slots, once there are any.
    const MIN: usize = 8;

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the slot of `id`, or the free slot where it would be. There always is one.
    #[inline]
    fn place(&self, id: u64) -> usize {
        let mut place = home(id, self.entries.len());
        loop {
            let here = self.entries[place].id;
            if here == id || here == NONE {
                return place;
            }
            place += 1;
            if place == self.entries.len() {
                place = 0;
            }
        }
    }

    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<&PackedTask> {
        if self.len == 0 {
            return None;
        }
        let entry = &self.entries[self.place(id)];
        if entry.id == id { Some(&entry.task) } else { None }
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut PackedTask> {
        if self.len == 0 {
            return None;
        }
        let place = self.place(id);
        let entry = &mut self.entries[place];
        if entry.id == id { Some(&mut entry.task) } else { None }
    }

    /// Adds a task that is not in the table.
    pub(super) fn insert(&mut self, entry: Entry) {
        // At most four fifths full, so that runs of occupied slots are short.
        if (self.len + 1) * 5 > self.entries.len() * 4 {
            self.resize(larger(self.entries.len()));
        }
        let place = self.place(entry.id);
        self.entries[place] = entry;
        self.len += 1;
    }

    /// Removes a task. Returns whether it was in the table.
    pub(super) fn remove(&mut self, id: u64) -> bool {
        if self.len == 0 {
            return false;
        }
        let mut free = self.place(id);
        if self.entries[free].id == NONE {
            return false;
        }
        self.len -= 1;
        // An entry that can't be found any more, as there is a free slot before it, is moved to that slot.
        let places = self.entries.len();
        let mut place = free;
        loop {
            place += 1;
            if place == places {
                place = 0;
            }
            let here = self.entries[place];
            if here.id == NONE {
                break;
            }
            let from_home = distance(home(here.id, places), place, places);
            if from_home >= distance(free, place, places) {
                self.entries[free] = here;
                free = place;
            }
        }
        self.entries[free] = Entry::EMPTY;
        if self.len * 4 < places && places > Self::MIN {
            self.resize((places / 2).max(Self::MIN));
        }
        true
    }

    /// Returns all slots, of which some are free.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Removes the tasks that `is_kept` rejects.
    pub(super) fn retain(&mut self, is_kept: &dyn Fn(&PackedTask) -> bool) {
        let mut place = 0;
        let before = std::mem::take(&mut self.len);
        while place < self.entries.len() {
            let entry = &mut self.entries[place];
            if entry.id != NONE && is_kept(&entry.task) {
                self.len += 1;
            } else {
                *entry = Entry::EMPTY;
            }
            place += 1;
        }
        if self.len < before {
            // The tasks that are left may not be found in their slots.
            self.resize((self.len * 2).max(Self::MIN));
        }
    }

    #[cold]
    #[inline(never)]
    fn resize(&mut self, places: usize) {
        let before = std::mem::take(&mut self.entries);
        self.entries = vec![Entry::EMPTY; places];
        let mut i = 0;
        while i < before.len() {
            let entry = before[i];
            if entry.id != NONE {
                let place = self.place(entry.id);
                self.entries[place] = entry;
            }
            i += 1;
        }
    }
}

/// Returns the home slot of `id`, of `places` slots: fewer than 2³².
#[inline]
fn home(id: u64, places: usize) -> usize {
    // Fibonacci hashing: the upper bits of the product with the golden ratio are far apart for
    // consecutive ids.
    let hash = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    ((hash * places as u64) >> 32) as usize
}

/// Returns the distance from one slot to another, wrapping around.
#[inline]
fn distance(from: usize, to: usize, places: usize) -> usize {
    if to >= from { to - from } else { to + places - from }
}

/// Returns the next larger number of slots: a power of two, or one and a half times that.
fn larger(places: usize) -> usize {
    match places.max(Table::MIN / 2) {
        places if places.is_power_of_two() => (places + places / 2).max(Table::MIN),
        places => places.next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn entry(id: u64) -> Entry {
        Entry { id, task: PackedTask { location: id as u32, ..PackedTask::NEW } }
    }

    #[test]
    fn it_equals_a_map() {
        let mut seed = 1_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888);
            (seed >> 33) % below
        };
        // Ids that are close together, and ids with a common factor.
        for (range, step) in [(20, 1), (300, 1), (5000, 1), (5000, 1 << 32), (700, 64)] {
            let (mut table, mut map) = (Table::default(), BTreeMap::new());
            for round in 0..20_000_u64 {
                let id = random(range) * step;
                // Phases with more inserts, and phases with more removals.
                if random(10) < if round % 8000 < 4000 { 7 } else { 3 } {
                    if map.insert(id, ()).is_none() {
                        table.insert(entry(id));
                    }
                } else {
                    assert_eq!(table.remove(id), map.remove(&id).is_some());
                }
                assert_eq!(table.len(), map.len());
                assert_eq!(table.get(id).is_some(), map.contains_key(&id));
            }
            let mut ids: Vec<u64> = table.entries().iter().map(|entry| entry.id).collect();
            ids.retain(|&id| id != NONE);
            ids.sort_unstable();
            assert!(ids.iter().eq(map.keys()));
            for &id in map.keys() {
                assert_eq!(table.get_mut(id).map(|task| task.location), Some(id as u32));
            }
            table.retain(&|task| task.location % 3 == 0);
            map.retain(|&id, ()| id as u32 % 3 == 0);
            assert_eq!(table.len(), map.len());
            assert!(map.keys().all(|&id| table.get(id).is_some()));
        }
    }

    #[test]
    fn its_memory_shrinks_with_its_entries() {
        let mut table = Table::default();
        (0..100_000).for_each(|id| table.insert(entry(id)));
        assert!(table.entries.len() <= 200_000);
        (0..100_000).for_each(|id| assert!(table.remove(id)));
        assert_eq!(table.entries.len(), Table::MIN);
    }

    #[test]
    fn an_entry_is_small() {
        assert_eq!((size_of::<PackedTask>(), size_of::<Entry>()), (24, 32));
        let mut task = PackedTask::NEW;
        task.set_window(77);
        task.set_polled();
        assert!(task.is_polled() && task.window() == 77);
        task.set_window(78);
        assert!(task.is_polled() && task.window() == 78);
        assert_eq!(task.wait(), None);
        for (wait, ticks) in [(1, 4096), (7, 4096 * 999), (16_000, 1 << 59)] {
            task.set_wait(wait, ticks);
            task.set_wait(wait + 1, ticks - 4096);
            task.set_since(ticks / 2);
            assert_eq!(task.wait(), Some((wait, ticks)), "what is older changes nothing");
        }
        task.forget_wait();
        assert_eq!(task.wait(), None);
    }
}
