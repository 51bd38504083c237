//! The live tasks and threads, as the evicted records left them.
//!
//! The size is bounded by the number of live tasks. So a flight recorder can run for any time and still name a task
//! that was spawned an hour ago.

#[cfg(has_black_box)]
mod boxed;
mod polled;
mod table;
mod tasks;
mod terminated;
#[cfg(test)]
mod tests;

use crate::recorder::memory::by_id::{find, place_of};
use crate::recorder::memory::by_window::Runs;
use crate::recorder::memory::live_tasks::polled::RecentlyPolled;
use crate::recorder::memory::live_tasks::table::{NO_LOCATION, PackedTask};
use crate::recorder::memory::live_tasks::tasks::TaskMap;
pub(crate) use crate::recorder::memory::live_tasks::tasks::{LiveTask, Liveness};
use crate::recorder::memory::live_tasks::terminated::TerminatedIds;
use crate::recorder::record::reader::{Entry, OpenPoll, ThreadState, Visitor, WholePoll};
use crate::recorder::record::{Kind, LocationId, ROOT, Record, WaitId, pack_wait};
use crate::recorder::store::segment::StreamId;
use crate::recorder::window::Window;
use crate::util::heapsort::heapsort;

#[derive(Clone, Debug, Default)]
pub(crate) struct LiveTasks {
    tasks: TaskMap,
    /// Sorted by id.
    streams: Vec<(StreamId, Stream)>,
    terminated: TerminatedIds,
    /// The tasks that were last marked as polled, so that most polls need no lookup.
    polled: RecentlyPolled,
    /// The place of the window of the records evicted last, among the windows that are kept.
    window: usize,
    /// The number of that window, of all windows that there ever were.
    number: usize,
    /// The number of the last window before which something may not have been recorded: that window, or an earlier one.
    known_from: usize,
    has_evicted: bool,
    /// Only used during an update; kept for its memory, as hooks evict.
    ended: Vec<(u64, u64)>,
    /// The threads that became workers in the records of this update, and the tasks from before recording began whose
    /// spawn locations became known in it. Kept for their memory, too.
    roles: Vec<Role>,
    newly_known: Vec<u64>,
}

/// A thread, as its last evicted record left it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) state: ThreadState,
    /// `true` if it is parked; `None` if it never parked or unparked.
    pub(crate) parked: Option<bool>,
    pub(crate) stopped: bool,
    /// The number of the window in which it was last seen.
    window: usize,
    /// The task that terminated last.
    terminated: Option<u64>,
}

/// A thread that became a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) worker: u32,
    pub(crate) stream: StreamId,
    pub(crate) at: u64,
}

/// Updates the live tasks from the records of one thread.
struct Update<'a> {
    live_tasks: &'a mut LiveTasks,
    id: StreamId,
    // These are the parts of its stream other than the state.
    parked: &'a mut Option<bool>,
    stopped: &'a mut bool,
    terminated: &'a mut Option<u64>,
}

impl Visitor for Update<'_> {
    type Poll = ();

    /// A whole poll changes only that the task was polled, and where it waits.
    #[inline]
    fn whole_poll<'a>(&mut self, thread: &mut ThreadState, poll: WholePoll<'a>) -> &'a [Record] {
        thread.notes.forget_ready();
        let live_tasks = &mut *self.live_tasks;
        if let Some(terminated) = poll.terminated {
            // Notes it as a lookup would do, so that a late end of a poll doesn't add the task again.
            live_tasks.is_polled(Record::new(poll.end.ticks, Kind::PollEnd, poll.task));
            *self.terminated = Some(poll.task);
            live_tasks.ended.push((poll.task, terminated));
            return poll.rest;
        }
        live_tasks.poll_ended(poll.task, *poll.end);
        live_tasks.polled.skip_known(poll.rest)
    }

    fn poll_starts(&mut self, _: &ThreadState, poll: &OpenPoll) {
        self.live_tasks.polled(poll.task, poll.start);
    }

    fn poll_ends(
        &mut self,
        _: &ThreadState,
        (task, wait): (u64, Option<WaitId>),
        _: Option<OpenPoll>,
        at: u64,
    ) {
        // A task that ended in this poll isn't added again.
        if *self.terminated != Some(task) {
            let payload = wait.and_then(|wait| pack_wait(task, wait));
            let end = match payload {
                Some(payload) => Record::new(at, Kind::PollEndAt, payload),
                None => Record::new(at, Kind::PollEnd, task),
            };
            self.live_tasks.poll_ended(task, end);
        }
    }

    fn other(&mut self, thread: &mut ThreadState, entry: Entry, at: u64) {
        match entry {
            Entry::Spawn { task, location } => {
                self.live_tasks.spawned(task, at, location, thread.polled());
            }
            Entry::LateOrigin { task, location } => self.live_tasks.has_origin(task, location),
            Entry::Terminate { task } => {
                *self.terminated = Some(task);
                self.live_tasks.ended.push((task, at));
            }
            Entry::Worker(Some(worker)) => {
                self.live_tasks.roles.push(Role { worker, stream: self.id, at });
            }
            Entry::ThreadStop => *self.stopped = true,
            Entry::Park => *self.parked = Some(true),
            Entry::Unpark => *self.parked = Some(false),
            // The rest concerns neither live tasks nor what a thread is or does.
            _ => {}
        }
    }
}

impl LiveTasks {
    /// Returns whether anything was ever evicted.
    pub(crate) fn has_evicted(&self) -> bool {
        self.has_evicted
    }

    /// Returns the task `id`, as far as is known.
    pub(crate) fn task(&self, id: u64) -> Option<LiveTask> {
        self.tasks.get(id).map(|task| self.with_last_end(id, task))
    }

    /// Returns the task with the end of its last poll, which may not have been noted for it yet.
    fn with_last_end(&self, id: u64, mut task: LiveTask) -> LiveTask {
        if let (Some((_, since)), Some(end)) = (&mut task.wait, self.polled.last_end(id)) {
            *since = end.max(*since);
        }
        task
    }

    /// Calls `see` with the tasks that are alive, and with those that may have terminated in a gap.
    pub(crate) fn each_task(&self, see: &mut dyn FnMut(u64, LiveTask, Liveness)) {
        self.tasks.each(&mut |id, task| {
            let lives =
                if task.window == self.known_from { Liveness::Alive } else { Liveness::Unknown };
            see(id, self.with_last_end(id, task), lives);
        });
    }

    /// Returns the number of spawned tasks that are alive, or that may have terminated in a gap.
    pub(crate) fn spawned_tasks(&self) -> u64 {
        let mut n = 0;
        self.tasks.each(&mut |id, _| n += u64::from(id & ROOT == 0));
        n
    }

    #[cfg(test)]
    pub(crate) fn tasks(&self) -> Vec<(u64, LiveTask, Liveness)> {
        let mut all = Vec::new();
        self.each_task(&mut |id, task, lives| all.push((id, task, lives)));
        all
    }

    /// Returns an upper bound of the number of tasks.
    pub(crate) fn max_tasks(&self) -> usize {
        self.tasks.max_len()
    }

    /// Returns whether the task `id` is alive, as far as is known.
    pub(crate) fn lives(&self, id: u64) -> bool {
        self.task(id).is_some()
    }

    pub(crate) fn stream(&self, id: StreamId) -> Option<&Stream> {
        match find(&self.streams, id) {
            Ok(place) => Some(&self.streams[place].1),
            Err(_) => None,
        }
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = (StreamId, &Stream)> {
        self.streams.iter().map(|(id, stream)| (*id, stream))
    }

    /// Returns whether another thread became the worker that `stream` was: in a later window, before which `stream`
    /// lost it unrecorded, or while `stream` was in a poll that is over by now.
    pub(crate) fn has_lost_worker(&self, stream: &Stream) -> bool {
        let state = &stream.state;
        state.worker.is_some_and(|worker| {
            self.streams.iter().any(|(_, other)| {
                let is_later = other.window > stream.window
                    || state.polls.is_empty() && other.state.worker_since > state.worker_since;
                other.state.worker == Some(worker) && is_later
            })
        })
    }

    /// Returns the threads that became workers in the records of this update, by worker and time.
    pub(crate) fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Returns whether this task was spawned before recording began, and became known in the records of this update.
    pub(crate) fn is_newly_known(&self, id: u64) -> bool {
        self.newly_known.binary_search(&id).is_ok()
    }

    /// Returns the next window, if it began no later than `ticks`.
    pub(super) fn next_window(&self, ticks: u64, windows: &[Window]) -> Option<Window> {
        let next = *windows.get(self.window + 1)?;
        if next.from <= ticks { Some(next) } else { None }
    }

    /// Enters the windows that began no later than `ticks`.
    pub(crate) fn advance_to(&mut self, ticks: u64, windows: &[Window]) {
        while self.next_window(ticks, windows).is_some() {
            self.enter_next_window(windows);
        }
    }

    /// Returns the place of the window of the records evicted last, among those that are kept.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Forgets the first `n` windows, which are before that of the records evicted last.
    pub(crate) fn forget_windows(&mut self, n: usize) {
        self.window -= n;
        self.has_evicted |= n > 0;
    }

    /// Enters the next window. Between two windows any task may have terminated, unless the clock jumped. Tasks seen in
    /// the previous window are kept, as they may be polled again.
    pub(super) fn enter_next_window(&mut self, windows: &[Window]) {
        self.window += 1;
        self.number += 1;
        if !windows[self.window].is_after_jump {
            self.tasks.retain_seen_in(self.known_from);
            self.known_from = self.number;
        }
        for (_, stream) in &mut self.streams {
            stream.state.polls.clear();
        }
        for slot in 0..RecentlyPolled::SLOTS {
            if let Some(end) = self.polled.remove(slot) {
                self.note_end(end);
            }
        }
    }

    /// Updates the state from records of its window, except for the tasks that terminated.
    ///
    /// Inlined, as the stack of a hook is bounded.
    #[inline(always)]
    pub(super) fn update(&mut self, runs: Runs<'_>) {
        self.has_evicted = true;
        for (stream, records) in runs {
            self.update_stream(stream, records);
        }
        heapsort(&mut self.newly_known, &|a, b| a < b);
        let order = |role: &Role| (role.worker, role.at, role.stream);
        heapsort(&mut self.roles, &|a, b| order(a) < order(b));
    }

    /// Ends an update.
    ///
    /// Terminations are applied last, whatever the order of the streams: a task id is never reused,
    /// so a task that terminated in any of them is not alive.
    #[inline(never)]
    pub(super) fn end_update(&mut self) {
        self.roles.clear();
        self.newly_known.clear();
        self.remove_ended();
    }

    /// Updates the state from records of one stream.
    ///
    /// Never inlined, as hooks evict, and the stack of a hook is bounded: it would add to that of
    /// [`end_update`](Self::end_update).
    #[inline(never)]
    fn update_stream(&mut self, id: StreamId, records: &[Record]) {
        // The streams are taken out, so that the rest of `self` can be changed meanwhile. All of them are, as a single
        // one would be copied.
        let mut streams = std::mem::take(&mut self.streams);
        let place = place_of(&mut streams, id);
        let Stream { state, parked, stopped, window, terminated } = &mut streams[place].1;
        *window = self.known_from;
        let mut update = Update { live_tasks: self, id, parked, stopped, terminated };
        state.read(records, &mut update);
        // This is the last record of a thread.
        if records.last().is_some_and(|last| last.kind() == Kind::End) {
            streams.remove(place);
        }
        self.streams = streams;
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

    /// Notes the spawn location of a task that was spawned before recording began.
    fn has_origin(&mut self, id: u64, location: Option<LocationId>) {
        if let Some(task) = self.find(id) {
            let known = std::mem::replace(&mut task.location, location.unwrap_or(NO_LOCATION));
            if known == NO_LOCATION {
                self.newly_known.push(id);
            }
        }
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

    /// Notes a poll of the task `id` that began at `ticks`.
    #[inline]
    fn polled(&mut self, id: u64, ticks: u64) {
        if id & ROOT != 0 {
            let window = self.known_from;
            let root = self.tasks.root(id);
            root.task.set_window(window);
            if root.spawned_ticks <= ticks {
                root.task.set_polled();
            }
        } else if let Some(task) = self.find(id) {
            task.set_polled();
        }
    }

    /// Notes a poll of the task `id`, by its end.
    #[inline]
    fn poll_ended(&mut self, id: u64, end: Record) {
        if id & ROOT != 0 {
            // Its probe knows where it waits.
            self.polled(id, end.ticks);
        } else if self.is_polled(end) {
            if let Some(task) = self.find(id) {
                task.set_polled();
                if let Some(wait) = end.wait() {
                    task.set_wait(wait, end.ticks);
                }
            }
        }
    }

    /// Notes a poll by its end. Returns whether it is yet to be noted for the task that it was polled, and where it
    /// waits.
    #[inline]
    fn is_polled(&mut self, end: Record) -> bool {
        match self.polled.insert(end) {
            Some(before) => {
                self.note_end(before);
                true
            }
            None => false,
        }
    }

    /// Notes for a task when its last poll in the cache ended, if the task is known.
    fn note_end(&mut self, end: Record) {
        if let Some(task) = end.poll_end().and_then(|id| self.tasks.get_mut(id)) {
            task.set_since(end.ticks);
        }
    }

    /// Returns the task `id`, marked as seen; `None` if it has terminated.
    fn find(&mut self, id: u64) -> Option<&mut PackedTask> {
        let task = self.tasks.get_or_add(id, || self.terminated.contains(id))?;
        if task.window() != self.known_from {
            // The task may have gone on in between.
            task.forget_wait();
        }
        task.set_window(self.known_from);
        Some(task)
    }
}
