//! The live tasks and threads, as the evicted records left them.
//!
//! The size is bounded by the number of live tasks. It lets a flight recorder run for any time and
//! still name a task that was spawned an hour ago.

mod by_window;
mod polled;
mod table;
mod tasks;
mod terminated;
#[cfg(test)]
mod tests;

use crate::recorder::Window;
use crate::recorder::live_tasks::by_window::ByWindow;
use crate::recorder::live_tasks::polled::RecentlyPolled;
use crate::recorder::live_tasks::table::{NO_LOCATION, PackedTask};
use crate::recorder::live_tasks::tasks::TaskMap;
pub(crate) use crate::recorder::live_tasks::tasks::{LiveTask, Liveness};
use crate::recorder::live_tasks::terminated::TerminatedIds;
use crate::recorder::record::{Kind, ROOT, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::{Segment, StreamId};
use crate::recorder::sums::{Role, Sums};
use crate::util::heapsort::heapsort;

/// The index of a spawn location in [`crate::recorder::locations::Locations`].
pub(crate) type LocationId = u32;

#[derive(Clone, Debug, Default)]
pub(crate) struct LiveTasks {
    tasks: TaskMap,
    /// Sorted by id.
    streams: Vec<(StreamId, Stream)>,
    terminated: TerminatedIds,
    /// The tasks that were last marked as polled, so that most polls need no lookup.
    polled: RecentlyPolled,
    /// The place, among the windows of recording that are kept, of that of the records evicted last.
    window: usize,
    /// The number of that window, of all that there ever were.
    number: usize,
    /// The number of the last window before which something may not have been recorded: that, or one before.
    known_from: usize,
    has_evicted: bool,
    /// Only used during an update; kept for its memory, as hooks evict.
    ended: Vec<(u64, u64)>,
    /// Which threads became workers in the records that it is updated from, and of which tasks, that were spawned
    /// before recording began, it is known now where. Kept for their memory as well.
    roles: Vec<Role>,
    newly_known: Vec<u64>,
    by_window: ByWindow,
}

/// A thread, as its last evicted record left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) worker: Option<u32>,
    /// Since when it is that worker, in ticks.
    worker_since: u64,
    /// The polls that it is in, the innermost last: the task, and since when, in ticks.
    pub(crate) polls: Vec<(u64, u64)>,
    /// Whether it is parked, if it ever parked or unparked.
    pub(crate) parked: Option<bool>,
    pub(crate) location: Option<LocationId>,
    pub(crate) ready_for_ns: Option<u64>,
    pub(crate) stopped: bool,
    /// The number of the window in which it was last seen.
    window: usize,
    terminated: Option<u64>,
}

impl Stream {
    /// The task that it polls.
    fn polled(&self) -> Option<u64> {
        self.polls.last().map(|&(task, _)| task)
    }
}

impl LiveTasks {
    /// Whether anything was ever evicted.
    pub(crate) fn has_evicted(&self) -> bool {
        self.has_evicted
    }

    /// The task `id`, as far as is known.
    pub(crate) fn task(&self, id: u64) -> Option<LiveTask> {
        self.tasks.get(id)
    }

    /// The tasks that are alive, and those that may have terminated in a gap.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (u64, LiveTask, Liveness)> {
        self.tasks.iter().map(|(id, task)| {
            let lives =
                if task.window == self.known_from { Liveness::Alive } else { Liveness::Unknown };
            (id, task, lives)
        })
    }

    /// An upper bound of their number.
    pub(crate) fn max_tasks(&self) -> usize {
        self.tasks.max_len()
    }

    /// Whether the task `id` is alive, as far as is known.
    pub(crate) fn lives(&self, id: u64) -> bool {
        self.task(id).is_some()
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

    /// Whether another thread became the worker that `stream` was: in a later window, in between of which `stream` lost
    /// it, unrecorded, or while it was in a poll that is over by now.
    pub(crate) fn has_lost_worker(&self, stream: &Stream) -> bool {
        stream.worker.is_some_and(|worker| {
            let mut others = self.streams.iter().map(|(_, other)| other);
            others.any(|other| {
                let is_later = other.window > stream.window
                    || stream.polls.is_empty() && other.worker_since > stream.worker_since;
                other.worker == Some(worker) && is_later
            })
        })
    }

    /// Which threads became workers in the records that it was updated from last, by worker and time.
    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Whether this task was spawned before recording began, and became known in the records that it was updated from
    /// last.
    pub(crate) fn is_newly_known(&self, id: u64) -> bool {
        self.newly_known.binary_search(&id).is_ok()
    }

    /// Updates the state from evicted records, those of each stream in their order, and adds them up. `windows` are
    /// the windows of recording, in ticks.
    pub(crate) fn update(&mut self, segments: &[Segment], windows: &[Window], sums: &mut Sums) {
        let last = segments.iter().filter_map(|segment| segment.records().last());
        let Some(last_ticks) = last.map(|record| record.ticks).max() else { return };
        self.has_evicted = true;
        if self.next_window(last_ticks, windows).is_some() {
            self.update_by_window(segments, last_ticks, windows, sums);
        } else {
            let runs = segments.iter().map(|segment| (segment.stream, segment.records()));
            self.update_from(runs, windows, sums);
        }
    }

    /// The same over several windows.
    #[inline(never)]
    fn update_by_window(
        &mut self,
        segments: &[Segment],
        last_ticks: u64,
        windows: &[Window],
        sums: &mut Sums,
    ) {
        let mut by_window = std::mem::take(&mut self.by_window);
        by_window.begin(segments);
        // What is earlier is late: its hook read the clock in an earlier window, and recorded it in this one.
        while let Some(next) = self.next_window(last_ticks, windows) {
            by_window.take_until(segments, next.from);
            self.update_from(by_window.runs(segments), windows, sums);
            self.enter_window(self.window + 1, windows);
        }
        by_window.take_all(segments);
        self.update_from(by_window.runs(segments), windows, sums);
        by_window.end();
        self.by_window = by_window;
    }

    /// The next window, if it began until `ticks`.
    fn next_window(&self, ticks: u64, windows: &[Window]) -> Option<Window> {
        windows.get(self.window + 1).copied().filter(|next| next.from <= ticks)
    }

    /// Enters the windows that began until `ticks`.
    pub(crate) fn advance_to(&mut self, ticks: u64, windows: &[Window]) {
        while self.next_window(ticks, windows).is_some() {
            self.enter_window(self.window + 1, windows);
        }
    }

    /// The number of windows before that of the records evicted last.
    pub(crate) fn windows_before(&self) -> usize {
        self.window
    }

    /// The first `n` windows, which are before that, are kept no longer.
    pub(crate) fn forget_windows(&mut self, n: usize) {
        self.window -= n;
        self.has_evicted |= n > 0;
    }

    /// Between two windows any task may have terminated, unless the clock jumped. Tasks seen in the previous window are
    /// kept, as they may be polled again.
    fn enter_window(&mut self, window: usize, windows: &[Window]) {
        self.window = window;
        self.number += 1;
        if !windows[window].is_after_jump {
            self.tasks.retain_seen_in(self.known_from);
            self.known_from = self.number;
        }
        for (_, stream) in &mut self.streams {
            stream.polls.clear();
        }
        self.polled.clear();
    }

    /// Updates the state from these records, which are of its window.
    ///
    /// Terminations are applied last, whatever the order of the streams: a task id is never reused,
    /// so a task that terminated anywhere in `runs` is not alive.
    ///
    /// Inlined, as the stack of a hook is bounded.
    #[inline(always)]
    fn update_from<'a>(
        &mut self,
        runs: impl Iterator<Item = (StreamId, &'a [Record])> + Clone,
        windows: &[Window],
        sums: &mut Sums,
    ) {
        for (stream, records) in runs.clone().filter(|(_, records)| !records.is_empty()) {
            self.update_stream(stream, records);
        }
        // While all tasks are known.
        heapsort(&mut self.newly_known, |id| *id);
        heapsort(&mut self.roles, |role| (role.worker, role.at, role.stream));
        sums.add(runs, self, windows, self.window);
        self.roles.clear();
        self.newly_known.clear();
        self.remove_ended();
    }

    /// Updates the state from records of one stream.
    ///
    /// Never inlined, as hooks evict, and the stack of a hook is bounded: it would add to that of
    /// [`remove_ended`](Self::remove_ended).
    #[inline(never)]
    fn update_stream(&mut self, id: StreamId, records: &[Record]) {
        // Taken out, so that the rest of `self` can be changed meanwhile.
        let place = self.place_of(id);
        let mut stream = std::mem::take(&mut self.streams[place].1);
        stream.window = self.known_from;
        let mut ended = false;
        let mut later = records;
        while let [record, rest @ ..] = later {
            // Most records are whole polls. All they change is that the task was polled.
            if let Some(id) = record.whole_poll(rest.first()) {
                stream.ready_for_ns = None;
                self.polled(id, record.ticks);
                later = self.polled.skip_known(&rest[1..]);
                continue;
            }
            // A last poll is common where tasks are short-lived, and is the last that is recorded
            // of a task.
            if let Some(end) = record.last_poll(rest) {
                let id = end.payload();
                // As a lookup would do, so that a late end of a poll doesn't add it again.
                self.polled.insert(id);
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
                Kind::Role => {
                    (stream.worker, stream.worker_since) = (role(record.payload()), record.ticks);
                    let role = |worker| Role { worker, stream: id, at: record.ticks };
                    self.roles.extend(stream.worker.map(role));
                }
                _ => self.apply(&mut stream, *record),
            }
        }
        if ended {
            self.streams.remove(place);
        } else {
            self.streams[place].1 = stream;
        }
    }

    /// The place of the stream `id`, which is created if necessary.
    #[inline(never)]
    fn place_of(&mut self, id: StreamId) -> usize {
        self.streams.binary_search_by_key(&id, |(id, _)| *id).unwrap_or_else(|place| {
            self.streams.insert(place, (id, Stream::default()));
            place
        })
    }

    /// Removes the tasks that terminated.
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

    fn apply(&mut self, stream: &mut Stream, record: Record) {
        let id = record.payload();
        match record.kind() {
            Kind::Location => stream.location = Some(id as LocationId),
            Kind::Spawn => {
                let (location, parent) = (stream.location.take(), stream.polled());
                self.spawned(id, record.ticks, location, parent);
            }
            Kind::SpawnAt => {
                let (id, location) = unpack_spawn(record.packed_payload());
                let parent = stream.polled();
                self.spawned(id, record.ticks, Some(location), parent);
            }
            Kind::LateOrigin => {
                let location = stream.location.take();
                if let Some(task) = self.find(id) {
                    let known =
                        std::mem::replace(&mut task.location, location.unwrap_or(NO_LOCATION));
                    if known == NO_LOCATION {
                        self.newly_known.push(id);
                    }
                }
            }
            Kind::PollStart => self.poll_started(stream, id, record.ticks),
            Kind::PollStartReady => {
                let (id, _) = unpack_ready(record.packed_payload());
                self.poll_started(stream, id, record.ticks);
            }
            Kind::PollEnd => match stream.polls.iter().rposition(|&(poll, _)| poll == id) {
                Some(place) => {
                    stream.polls.remove(place);
                }
                // Its start was not recorded.
                None if stream.terminated != Some(id) => self.polled(id, record.ticks),
                None => {}
            },
            Kind::ThreadStop => stream.stopped = true,
            Kind::Park => stream.parked = Some(true),
            Kind::Unpark => stream.parked = Some(false),
            Kind::Ready => stream.ready_for_ns = Some(id),
            // The rest is of no task that lives, nor of what a thread is or does.
            _ => {}
        }
    }

    fn poll_started(&mut self, stream: &mut Stream, id: u64, ticks: u64) {
        stream.polls.push((id, ticks));
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
            let window = self.known_from;
            let root = self.tasks.root(id);
            if root.spawned_ticks <= spawned_ticks {
                root.spawned_ticks = spawned_ticks;
                root.task = PackedTask::NEW;
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
            let window = self.known_from;
            let root = self.tasks.root(id);
            root.task.set_window(window);
            if root.spawned_ticks <= ticks {
                root.task.set_polled();
            }
        } else if self.polled.insert(id) {
            if let Some(task) = self.find(id) {
                task.set_polled();
            }
        }
    }

    /// The task `id`, marked as seen; `None` if it has terminated.
    fn find(&mut self, id: u64) -> Option<&mut PackedTask> {
        let task = self.tasks.get_or_add(id, || self.terminated.contains(id))?;
        task.set_window(self.known_from);
        Some(task)
    }
}

/// The worker in the payload of a `Role` note.
pub(crate) fn role(payload: u64) -> Option<u32> {
    payload.checked_sub(1).and_then(|worker| u32::try_from(worker).ok())
}
