//! The rows and workers whose sums a record belongs to.

use crate::recorder::boxed::boxed_array;
use crate::recorder::memory::by_id::place_of;
use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::memory::sums::{Key, LocationSums, RECENT, Sums, WorkerSums};
use crate::recorder::record::ROOT;

impl Sums {
    /// Returns the place in `rows` of a task's location.
    #[inline]
    pub(super) fn row_of(&mut self, task: u64, live_tasks: &LiveTasks) -> u32 {
        if let Some(row) = self.recent_row(task) {
            return row;
        }
        self.look_up(task, live_tasks)
    }

    #[inline(never)]
    fn look_up(&mut self, task: u64, live_tasks: &LiveTasks) -> u32 {
        if task & ROOT != 0 {
            return self.row(Key::Root(task & !ROOT));
        }
        let Some(location) = live_tasks.task(task).and_then(|known| known.location) else {
            // The location may be known later.
            return self.row(Key::Unknown);
        };
        let row = self.row(Key::At(location));
        self.remember_row(task, row);
        row
    }

    /// Returns the same for a task that was spawned or polled recently.
    #[inline]
    pub(super) fn recent_row(&self, task: u64) -> Option<u32> {
        let (known, row) = self.recent.as_ref()?[task as usize % RECENT];
        (known == task).then_some(row)
    }

    #[inline]
    pub(super) fn remember_row(&mut self, task: u64, row: u32) {
        let recent = self.recent.get_or_insert_with(|| boxed_array((u64::MAX, 0)));
        recent[task as usize % RECENT] = (task, row);
    }

    /// Returns the place in `rows` of a key.
    pub(super) fn row(&mut self, key: Key) -> u32 {
        let place = match key {
            Key::At(location) => {
                self.by_location.get(location as usize).and_then(|place| place.checked_sub(1))
            }
            _ => self.rows.iter().position(|row| row.key == key).map(|place| place as u32),
        };
        if let Some(place) = place {
            return place;
        }
        self.make_room_for(key);
        self.add_row(key)
    }

    // These are two functions, as one needs the stack of the allocator, and the other that of a row.

    #[inline(never)]
    fn make_room_for(&mut self, key: Key) {
        self.rows.reserve(1);
        if let Key::At(location) = key {
            let len = (location as usize + 1).max(self.by_location.len());
            self.by_location.resize(len, 0);
        }
    }

    #[inline(never)]
    fn add_row(&mut self, key: Key) -> u32 {
        let place = self.rows.len() as u32;
        self.rows.push(LocationSums::new(key));
        if let Key::At(location) = key {
            self.by_location[location as usize] = place + 1;
        }
        place
    }

    pub(super) fn worker(&mut self, index: u32) -> &mut WorkerSums {
        let place = place_of(&mut self.workers, index);
        &mut self.workers[place].1
    }
}
