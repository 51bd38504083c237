//! The live tasks in a black box: one by one, as a reader can't trust a table that somebody else made.

use crate::recorder::memory::live_tasks::{LiveTask, LiveTasks, Stream};
use crate::util::plain::{Plain, plain};
#[cfg(feature = "read")]
use crate::{
    recorder::memory::live_tasks::table::NONE, recorder::record::ROOT, recorder::window::Window,
    util::plain::Bytes,
};

/// The most root futures: each has a thread.
#[cfg(feature = "read")]
const MOST_ROOTS: usize = 4096;

plain! {
    LiveTask { location, parent, polled, wait, window, spawned_ticks }
    Stream { state, parked, stopped, window, terminated }
}

impl Plain for LiveTasks {
    fn write(&self, into: &mut Vec<u8>) {
        // The rest is only used during an update, or makes updates faster.
        let Self { streams, window, number, known_from, has_evicted, .. } = self;
        let mut tasks = Vec::new();
        self.each_task(&mut |id, task, _| tasks.push((id, task)));
        tasks.write(into);
        streams.write(into);
        (*window, *number, *known_from, *has_evicted).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let mut all = Self::default();
        let mut tasks = <Vec<(u64, LiveTask)>>::read(from)?;
        // In the order of their ids they take little time to insert.
        crate::util::sort::by_key(&mut tasks, |task| task.0);
        if tasks.iter().filter(|task| task.0 & ROOT != 0).count() > MOST_ROOTS {
            return None;
        }
        for (id, task) in tasks {
            all.restore(id, task)?;
        }
        all.streams = <_>::read(from)?;
        (all.window, all.number, all.known_from, all.has_evicted) = <_>::read(from)?;
        all.streams.is_sorted_by(|a, b| a.0 < b.0).then_some(all)
    }
}

#[cfg(feature = "read")]
impl LiveTasks {
    /// Checks that the window of the last records is one of these.
    pub(crate) fn window_is_one_of(&self, windows: &[Window]) -> Option<()> {
        (self.window < windows.len()).then_some(())
    }

    fn restore(&mut self, id: u64, from: LiveTask) -> Option<()> {
        let task = if id & ROOT != 0 {
            let root = self.tasks.root(id);
            root.spawned_ticks = from.spawned_ticks;
            &mut root.task
        } else {
            self.tasks.get_or_add(id, || id == NONE)?
        };
        task.set_origin(from.location, from.parent);
        task.set_window(from.window);
        if from.polled {
            task.set_polled();
        }
        if let Some((wait, since)) = from.wait {
            task.set_wait(wait, since);
        }
        Some(())
    }
}

#[cfg(all(test, feature = "read"))]
mod tests {
    use super::*;
    use crate::recorder::memory::Memory;
    use crate::recorder::record::{Kind, Record};
    use crate::recorder::store::segment::Segment;

    #[test]
    fn live_tasks_come_out_of_a_box_as_they_went_in() {
        let record = |ticks, kind, payload| Record::new(ticks, kind, payload);
        let records = [
            record(10, Kind::Role, 1),
            record(11, Kind::Location, 7),
            record(12, Kind::Spawn, 1),
            record(13, Kind::Spawn, 513),
            record(14, Kind::PollStart, 1),
            record(20, Kind::PollEnd, 1),
            record(21, Kind::PollStart, 513),
        ];
        let mut memory = Memory::default();
        memory.sums.expect_long_poll(&|| 5);
        memory.update(&[Segment::from_records(3, 0, &records)], &[Window::new(1, None)]);
        let mut bytes = Vec::new();
        memory.write(&mut bytes);
        let mut from = Bytes(&bytes);
        let again = Memory::read(&mut from).unwrap();
        assert!(from.0.is_empty());
        let (mut one, mut other) = (memory.live_tasks.tasks(), again.live_tasks.tasks());
        one.sort_by_key(|task| task.0);
        other.sort_by_key(|task| task.0);
        assert_eq!(one, other);
        assert_eq!((one.len(), one[0].1.location, one[0].1.polled), (2, Some(7), true));
        assert_eq!(again.live_tasks.stream(3), memory.live_tasks.stream(3));
        // What follows is added up as it would have been.
        let later = [record(30, Kind::PollEnd, 513), record(31, Kind::Park, 0)];
        let later = [Segment::from_records(3, 1, &later)];
        let mut both = [memory, again];
        for memory in &mut both {
            memory.update(&later, &[Window::new(1, None)]);
            memory.sums.finish(40, &[Window::new(1, None)]);
        }
        let [one, other] = both.map(|memory| memory.sums);
        assert_eq!((one.rows, one.workers), (other.rows, other.workers));
        assert_eq!((one.running_polls, one.cut_polls), (other.running_polls, other.cut_polls));
    }

    #[test]
    fn what_refers_to_nothing_is_refused() {
        let mut memory = Memory::default();
        memory.sums.expect_long_poll(&|| 5);
        let records = [Record::new(10, Kind::Role, 1), Record::new(11, Kind::PollStart, 9)];
        memory.update(&[Segment::from_records(3, 0, &records)], &[Window::new(1, None)]);
        let mut bytes = Vec::new();
        memory.write(&mut bytes);
        let mut refused = 0;
        for place in 0..bytes.len() {
            for value in [0xff, bytes[place] ^ 1] {
                let mut bytes = bytes.clone();
                bytes[place] = value;
                if let Some(memory) = Memory::read(&mut Bytes(&bytes)) {
                    // Whatever it says, it can be used.
                    memory.live_tasks.tasks();
                    let _ = memory.sums.longest.clone().into_sorted();
                } else {
                    refused += 1;
                }
            }
        }
        assert!(refused > 50, "{refused}");
    }
}
