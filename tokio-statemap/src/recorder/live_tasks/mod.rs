//! Who is who: what dropped records said about tasks that still live and threads that still run.
//!
//! Bounded by the tasks that live; that is what lets a flight recorder run for ever and still name
//! a task that was spawned an hour ago.

mod polled;
mod table;
mod tasks;
mod terminated;

use crate::recorder::Window;
use crate::recorder::live_tasks::polled::RecentlyPolled;
use crate::recorder::live_tasks::table::{NO_LOCATION, Packed};
use crate::recorder::live_tasks::tasks::TaskMap;
pub(crate) use crate::recorder::live_tasks::tasks::{LiveTask, Lives};
use crate::recorder::live_tasks::terminated::TerminatedIds;
use crate::recorder::record::{Kind, ROOT, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::{Segment, StreamId};

/// The index of a spawn location in [`crate::recorder::locations::Locations`].
pub(crate) type LocationId = u32;

#[derive(Clone, Debug, Default)]
pub(crate) struct LiveTasks {
    tasks: TaskMap,
    /// By their numbers.
    streams: Vec<(StreamId, Stream)>,
    terminated: TerminatedIds,
    /// The tasks that were marked as polled last, so that a poll seldom costs a look-up.
    polled: RecentlyPolled,
    /// The window of recording of what was dropped last.
    window: usize,
    has_absorbed: bool,
    /// Empty but while it learns; kept for its memory, as hooks do the dropping.
    ended: Vec<(u64, u64)>,
}

/// A thread, as its last dropped record left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) worker: Option<u32>,
    /// The polls that it is in, the inner last.
    pub(crate) polls: Vec<u64>,
    /// Whether it is parked, if it was ever seen to park or unpark.
    pub(crate) parked: Option<bool>,
    pub(crate) location: Option<LocationId>,
    pub(crate) ready_for_ns: Option<u64>,
    pub(crate) stopped: bool,
    /// The window of recording that it was last seen in.
    window: usize,
    terminated: Option<u64>,
}

impl LiveTasks {
    /// Whether anything was ever dropped.
    pub(crate) fn has_absorbed(&self) -> bool {
        self.has_absorbed
    }

    #[cfg(test)]
    pub(crate) fn task(&self, id: u64) -> Option<LiveTask> {
        self.tasks.get(id)
    }

    /// Those that live, as far as is known, and those that may have ended in a gap.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (u64, LiveTask, Lives)> {
        self.tasks.iter().map(|(id, task)| {
            let lives = if task.window == self.window { Lives::Surely } else { Lives::Perhaps };
            (id, task, lives)
        })
    }

    /// How many of them there are at most.
    pub(crate) fn most_tasks(&self) -> usize {
        self.tasks.most()
    }

    /// Whether the task `id` lives, as far as is known.
    pub(crate) fn lives(&self, id: u64) -> bool {
        self.tasks.get(id).is_some()
    }

    pub(crate) fn stream(&self, id: StreamId) -> Option<&Stream> {
        self.streams
            .binary_search_by_key(&id, |(id, _)| *id)
            .ok()
            .map(|place| &self.streams[place].1)
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = (StreamId, &Stream)> {
        self.streams.iter().map(|(id, stream)| (*id, stream))
    }

    /// Whether another thread was seen as the worker that `stream` was, in a later window of recording: it
    /// has lost it in between, which nobody saw.
    pub(crate) fn has_lost_worker(&self, stream: &Stream) -> bool {
        stream.worker.is_some_and(|worker| {
            let mut others = self.streams.iter().map(|(_, other)| other);
            others.any(|other| other.worker == Some(worker) && other.window > stream.window)
        })
    }

    /// Learns from records that are dropped: those of one stream in their order. `windows` are the
    /// starts of recording, in ticks.
    pub(crate) fn absorb(&mut self, segments: &[Segment], windows: &[Window]) {
        let last = segments.iter().filter_map(|segment| segment.records().last());
        let Some(last_ticks) = last.map(|record| record.ticks).max() else { return };
        self.has_absorbed = true;
        // There is nothing before the first window that would be known.
        let mut from_ticks = if self.window == 0 { 0 } else { windows[self.window].from };
        while let Some(next) = windows.get(self.window + 1).filter(|next| next.from <= last_ticks) {
            self.absorb_until(segments, next.from, from_ticks);
            self.enter_window(self.window + 1);
            from_ticks = next.from;
        }
        self.absorb_until(segments, u64::MAX, from_ticks);
    }

    /// What is known is looked at from `ticks` on: windows that began since are entered.
    pub(crate) fn look_from(&mut self, ticks: u64, windows: &[Window]) {
        while windows.get(self.window + 1).is_some_and(|window| window.from <= ticks) {
            self.enter_window(self.window + 1);
        }
    }

    /// Between two windows anyone may have ended. Who was seen in the last one is remembered, in
    /// case they turn up again.
    fn enter_window(&mut self, window: usize) {
        let before = self.window;
        self.window = window;
        self.tasks.retain_seen_in(before);
        for (_, stream) in &mut self.streams {
            stream.polls.clear();
        }
        self.polled.clear();
    }

    /// Learns from what lies before `until_ticks`; what is before `from_ticks` is known.
    ///
    /// Terminations come last, whatever the order of the streams: a task's id is never used again,
    /// so that whoever terminated anywhere in `segments` does not live.
    fn absorb_until(&mut self, segments: &[Segment], until_ticks: u64, from_ticks: u64) {
        for segment in segments {
            let records = segment.records();
            let until = records.partition_point(|record| record.ticks < until_ticks);
            let from = records.partition_point(|record| record.ticks < from_ticks);
            if from < until {
                self.absorb_records(segment.stream, &records[from..until]);
            }
        }
        self.remove_ended();
    }

    /// Learns from records of one stream.
    fn absorb_records(&mut self, id: StreamId, records: &[Record]) {
        // For its own time, so that the rest can be changed meanwhile.
        let (place, mut stream) = self.take_stream(id);
        stream.window = self.window;
        let mut ended = false;
        let mut later = records;
        while let [record, rest @ ..] = later {
            // Whole polls are most of all there is, and leave nothing behind but that the task
            // was polled.
            if let Some(id) = record.whole_poll(rest.first()) {
                stream.ready_for_ns = None;
                self.polled(id, record.ticks);
                later = self.polled.skip_known(&rest[1..]);
                continue;
            }
            // So are last polls where tasks come and go, and of a task that has ended nothing
            // else is told.
            if let Some(end) = record.last_poll(rest) {
                let id = end.payload();
                // As if it was looked up: no late end of a poll brings it back.
                self.polled.is_news(id);
                stream.ready_for_ns = None;
                stream.terminated = Some(id);
                self.ended.push((id, end.ticks));
                later = &rest[2..];
                continue;
            }
            later = rest;
            match record.kind() {
                Kind::Terminate => {
                    stream.terminated = Some(record.payload());
                    self.ended.push((record.payload(), record.ticks));
                }
                Kind::End => ended = true,
                _ => self.absorb_one(&mut stream, *record),
            }
        }
        if ended {
            self.streams.remove(place);
        } else {
            self.streams[place].1 = stream;
        }
    }

    /// Takes the stream `id` out of its place, which may be new.
    #[inline(never)]
    fn take_stream(&mut self, id: StreamId) -> (usize, Stream) {
        match self.streams.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(place) => (place, std::mem::take(&mut self.streams[place].1)),
            Err(place) => {
                self.streams.insert(place, (id, Stream::default()));
                (place, Stream::default())
            }
        }
    }

    /// Takes those that terminated out.
    #[inline(never)]
    fn remove_ended(&mut self) {
        let mut ended = std::mem::take(&mut self.ended);
        for &(id, ticks) in &ended {
            if id & ROOT != 0 {
                self.tasks.remove_root(id, ticks);
            } else if !self.tasks.remove(id) {
                self.terminated.insert(id);
            }
        }
        ended.clear();
        self.ended = ended;
    }

    fn absorb_one(&mut self, stream: &mut Stream, record: Record) {
        let id = record.payload();
        match record.kind() {
            Kind::Location => stream.location = Some(id as LocationId),
            Kind::Spawn => {
                let (location, parent) = (stream.location.take(), stream.polls.last().copied());
                self.spawned(id, record.ticks, location, parent);
            }
            Kind::SpawnAt => {
                let (id, location) = unpack_spawn(record.packed_payload());
                let parent = stream.polls.last().copied();
                self.spawned(id, record.ticks, Some(location), parent);
            }
            Kind::LateOrigin => {
                let location = stream.location.take();
                if let Some(task) = self.find(id) {
                    task.location = location.unwrap_or(NO_LOCATION);
                }
            }
            Kind::PollStart => self.poll_started(stream, id, record.ticks),
            Kind::PollStartReady => {
                let (id, _) = unpack_ready(record.packed_payload());
                self.poll_started(stream, id, record.ticks);
            }
            Kind::PollEnd => match stream.polls.iter().rposition(|&poll| poll == id) {
                Some(place) => {
                    stream.polls.remove(place);
                }
                // It began before what was recorded.
                None if stream.terminated != Some(id) => self.polled(id, record.ticks),
                None => {}
            },
            Kind::ThreadStop => stream.stopped = true,
            Kind::Park => stream.parked = Some(true),
            Kind::Unpark => stream.parked = Some(false),
            Kind::Role => stream.worker = role(id),
            Kind::Ready => stream.ready_for_ns = Some(id),
            // The rest is of no task that lives, nor of what a thread is or does.
            _ => {}
        }
    }

    fn poll_started(&mut self, stream: &mut Stream, id: u64, ticks: u64) {
        stream.polls.push(id);
        stream.ready_for_ns = None;
        self.polled(id, ticks);
    }

    fn spawned(
        &mut self,
        id: u64,
        spawned_ticks: u64,
        location: Option<LocationId>,
        parent: Option<u64>,
    ) {
        if id & ROOT != 0 {
            let window = self.window;
            let root = self.tasks.root(id);
            if root.spawned_ticks <= spawned_ticks {
                root.spawned_ticks = spawned_ticks;
                root.task = Packed::NEW;
                root.task.set_window(window);
                root.task.set_origin(location, parent);
            }
        } else if let Some(task) = self.find(id) {
            task.set_origin(location, parent);
        }
    }

    #[inline]
    fn polled(&mut self, id: u64, ticks: u64) {
        if id & ROOT != 0 {
            let window = self.window;
            let root = self.tasks.root(id);
            root.task.set_window(window);
            if root.spawned_ticks <= ticks {
                root.task.set_polled();
            }
        } else if self.polled.is_news(id) {
            if let Some(task) = self.find(id) {
                task.set_polled();
            }
        }
    }

    /// The task `id`, which is seen; `None` if it has terminated.
    fn find(&mut self, id: u64) -> Option<&mut Packed> {
        let task = self.tasks.get_or_add(id, || self.terminated.contains(id))?;
        task.set_window(self.window);
        Some(task)
    }
}

/// The worker that a `Role` note's payload names.
pub(crate) fn role(payload: u64) -> Option<u32> {
    payload.checked_sub(1).and_then(|worker| u32::try_from(worker).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &[Window] = &[Window { from: 0, to: None }];

    fn of(stream: StreamId, records: impl Iterator<Item = Record>) -> Segment {
        Segment::of(stream, 0, &records.collect::<Vec<_>>())
    }

    fn segment(stream: StreamId, records: &[(Kind, u64)]) -> Segment {
        let records = (0..).zip(records).map(|(t, &(kind, id))| Record::new(t, kind, id));
        of(stream, records)
    }

    #[test]
    fn it_knows_who_lives_where_they_come_from_and_whether_they_ran() {
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(
            &[segment(
                0,
                &[
                    (Kind::Role, 3),
                    (Kind::PollStart, 5),
                    (Kind::Location, 7),
                    (Kind::Spawn, 6),
                    (Kind::PollEnd, 5),
                    (Kind::PollStart, 6),
                ],
            )],
            ONE,
        );
        let spawned =
            LiveTask { location: Some(7), parent: Some(5), polled: true, ..LiveTask::default() };
        assert_eq!(live_tasks.task(6), Some(spawned));
        assert!(live_tasks.task(5).unwrap().polled);
        let (_, stream) = live_tasks.streams().next().unwrap();
        assert_eq!((stream.worker, &*stream.polls), (Some(2), &[6][..]));
        live_tasks.absorb(&[segment(0, &[(Kind::Terminate, 6), (Kind::PollEnd, 6)])], ONE);
        assert_eq!(live_tasks.task(6), None);
    }

    #[test]
    fn a_termination_counts_whichever_stream_is_dropped_first() {
        let mut live_tasks = LiveTasks::default();
        let dies = segment(0, &[(Kind::PollStart, 9), (Kind::Terminate, 9)]);
        let dies_on = segment(0, &[(Kind::PollEnd, 9)]);
        let born = segment(1, &[(Kind::Spawn, 9)]);
        live_tasks.absorb(&[dies, born.clone()], ONE);
        live_tasks.absorb(&[dies_on], ONE);
        assert_eq!(live_tasks.tasks().count(), 0);
        // Even in a later round, as when a runtime shuts down.
        live_tasks.absorb(&[segment(0, &[(Kind::Terminate, 10)])], ONE);
        live_tasks.absorb(&[segment(1, &[(Kind::Spawn, 10)])], ONE);
        assert_eq!(live_tasks.tasks().count(), 0);
    }

    #[test]
    fn threads_that_ended_are_forgotten() {
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(
            &[segment(4, &[(Kind::ThreadStart, 0), (Kind::ThreadStop, 0), (Kind::End, 0)])],
            ONE,
        );
        assert_eq!(live_tasks.streams().count(), 0);
    }

    #[test]
    fn a_late_end_of_a_poll_brings_nobody_back() {
        let mut live_tasks = LiveTasks::default();
        let first = segment(0, &[(Kind::Spawn, 9), (Kind::PollStart, 9)]);
        let last = segment(1, &[(Kind::PollStart, 9), (Kind::Terminate, 9), (Kind::PollEnd, 9)]);
        live_tasks.absorb(&[first, last], ONE);
        live_tasks.absorb(&[segment(0, &[(Kind::PollEnd, 9)])], ONE);
        assert_eq!(live_tasks.tasks().count(), 0);
    }

    /// The last poll of a task in one go, as most are, leaves the same behind.
    #[test]
    fn a_last_poll_in_one_go_leaves_nobody_behind() {
        let last = [(Kind::PollStart, 9), (Kind::Terminate, 9), (Kind::PollEnd, 9)];
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(&[segment(1, &[(Kind::Spawn, 9), (Kind::Ready, 5)])], ONE);
        live_tasks.absorb(&[segment(1, &last)], ONE);
        assert!(live_tasks.stream(1).unwrap().polls.is_empty());
        assert_eq!(live_tasks.stream(1).unwrap().ready_for_ns, None);
        live_tasks
            .absorb(&[segment(1, &[(Kind::PollEnd, 9)]), segment(0, &[(Kind::PollEnd, 9)])], ONE);
        assert_eq!(live_tasks.tasks().count(), 0);
        // Its spawn may come last, while a runtime shuts down.
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(&[segment(1, &last)], ONE);
        live_tasks.absorb(&[segment(0, &[(Kind::Spawn, 9)])], ONE);
        assert_eq!(live_tasks.tasks().count(), 0);
    }

    #[test]
    fn who_is_not_seen_again_after_a_gap_is_forgotten_in_the_end() {
        let windows = [0, 10, 20].map(|from| Window { from, to: None });
        let at = |from: u64, records: &[(Kind, u64)]| {
            let records = (from..).zip(records).map(|(t, &(kind, id))| Record::new(t, kind, id));
            of(0, records)
        };
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(
            &[at(0, &[(Kind::Spawn, 1), (Kind::Spawn, 2), (Kind::PollStart, 2)])],
            &windows,
        );
        live_tasks.absorb(&[at(10, &[(Kind::PollStart, 1)])], &windows);
        let mut tasks: Vec<_> = live_tasks.tasks().map(|(id, _, lives)| (id, lives)).collect();
        tasks.sort_unstable_by_key(|&(id, _)| id);
        assert_eq!(tasks, [(1, Lives::Surely), (2, Lives::Perhaps)]);
        assert_eq!(live_tasks.streams().next().unwrap().1.polls, [1]);
        // In one go over two windows.
        live_tasks.absorb(&[at(12, &[(Kind::PollEnd, 1)]), at(20, &[(Kind::Spawn, 3)])], &windows);
        let lives = live_tasks.tasks().filter(|(.., lives)| *lives == Lives::Surely);
        assert_eq!(lives.map(|(id, ..)| id).collect::<Vec<_>>(), [3]);
        assert!(live_tasks.task(2).is_none());
    }

    #[test]
    fn who_is_polled_in_the_next_window_too_lives() {
        let windows = [0, 10].map(|from| Window { from, to: None });
        let poll = [Kind::PollStart, Kind::PollEnd];
        let at = |from: u64| of(0, (from..).zip(poll).map(|(t, kind)| Record::new(t, kind, 1)));
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(&[at(1), at(11)], &windows);
        assert!(live_tasks.tasks().all(|(id, _, lives)| (id, lives) == (1, Lives::Surely)));
        assert_eq!(live_tasks.tasks().count(), 1);
    }

    #[test]
    fn a_worker_is_whose_it_was_seen_to_be_last() {
        let windows = [0, 10].map(|from| Window { from, to: None });
        let parked = |stream, from: u64| {
            of(
                stream,
                [(Kind::Role, 1), (Kind::Park, 0)]
                    .map(|(kind, id)| Record::new(from, kind, id))
                    .into_iter(),
            )
        };
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(&[parked(7, 1)], &windows);
        let lost = |live_tasks: &LiveTasks| {
            let lost =
                live_tasks.streams().filter(|(_, stream)| live_tasks.has_lost_worker(stream));
            lost.map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert!(lost(&live_tasks).is_empty());
        live_tasks.look_from(11, &windows);
        assert!(lost(&live_tasks).is_empty(), "it may be idle");
        live_tasks.absorb(&[parked(2, 11)], &windows);
        assert_eq!(lost(&live_tasks), [7]);
    }

    #[test]
    fn a_last_poll_is_remembered_though_others_come_between() {
        let other = 9 + RecentlyPolled::PLACES as u64;
        let mut live_tasks = LiveTasks::default();
        live_tasks.absorb(&[segment(0, &[(Kind::Spawn, 9)])], ONE);
        let polls = [
            (Kind::PollStart, 9),
            (Kind::Terminate, 9),
            (Kind::PollEnd, 9),
            (Kind::PollStart, other),
            (Kind::PollEnd, other),
        ];
        live_tasks.absorb(&[segment(1, &polls)], ONE);
        live_tasks.absorb(&[segment(1, &[(Kind::PollEnd, 9)])], ONE);
        assert_eq!(live_tasks.tasks().map(|(id, ..)| id).collect::<Vec<_>>(), [other]);
    }

    /// Another thread's records of it may come first.
    #[test]
    fn a_root_is_what_it_was_last() {
        let at = |stream, ticks, records: &[Kind]| {
            let records = (ticks..).zip(records).map(|(t, &kind)| Record::new(t, kind, ROOT));
            of(stream, records)
        };
        let mut live_tasks = LiveTasks::default();
        let now = at(0, 20, &[Kind::Spawn]);
        let before = at(1, 10, &[Kind::Spawn, Kind::PollStart, Kind::PollEnd, Kind::Terminate]);
        live_tasks.absorb(&[now, before], ONE);
        let root = live_tasks.task(ROOT).expect("it lives");
        assert_eq!((root.spawned_ticks, root.polled), (20, false));
    }

    #[test]
    fn a_root_that_begins_anew_lives() {
        let mut live_tasks = LiveTasks::default();
        let (spawn, end) = ((Kind::Spawn, ROOT), (Kind::Terminate, ROOT));
        live_tasks.absorb(&[segment(0, &[spawn, end, spawn])], ONE);
        assert_eq!(live_tasks.tasks().count(), 1);
    }
}
