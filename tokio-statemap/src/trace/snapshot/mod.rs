//! A snapshot: the kept records at one moment, limited to `max_events`, and how they are read.

mod oldest;

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{CollectorConfig, Keep};
use crate::recorder::clock::TickScale;
use crate::recorder::eviction::islands::Island;
use crate::recorder::live_tasks::{LiveTask, LiveTasks, Stream, role};
use crate::recorder::lost::Lost;
use crate::recorder::pool::Queue;
use crate::recorder::record::{Kind, ROOT, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::{Segment, events_of};
use crate::recorder::waits::cell::TaskSeen;
use crate::recorder::waits::names::{self, NameId};
use crate::recorder::waits::table::Places;
use crate::recorder::watch::Samples;
use crate::recorder::{CpuLimit, Recorder, Window};
use crate::trace::event::{Event, Seen, SpawnLocation};
use crate::trace::profile::Profile;
use crate::trace::snapshot::oldest::oldest;
use crate::trace::timeline::WaitId;
use crate::util::sync::lock;

/// The state of a recorder at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) config: CollectorConfig,
    pub(crate) runtime: Option<String>,
    pub(crate) utc_at_zero: Duration,
    pub(crate) lost: Lost,
    /// The live tasks and threads before the first record.
    pub(crate) live_tasks: LiveTasks,
    /// Sorted by stream, and within a stream by time.
    pub(crate) segments: Vec<Segment>,
    /// The windows of recording: start and end in ns, the last one up to the snapshot.
    pub(crate) windows: Vec<(u64, u64)>,
    /// The time from which on the kept records are complete, in ns.
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) root_locations: Vec<Option<&'static Location<'static>>>,
    pub(crate) locations: Vec<&'static Location<'static>>,
    /// Of the stacks of long polls.
    pub(crate) samples: Samples,
    pub(crate) cpu_limit: Option<CpuLimit>,
    /// The tasks that have waited and not ended.
    pub(crate) waiting: Vec<TaskSeen>,
    /// Where they wait.
    pub(crate) places: Places,
    /// The names of tasks.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) profile: Profile,
    /// What is kept of before, by time.
    pub(crate) islands: Vec<IslandSeen>,
    /// Where the islands end, and the kept records are complete, in ns.
    pub(crate) detail_ns: u64,
    /// When tasks ended that are in islands, in ns.
    pub(crate) ended: Vec<(u64, u64)>,
    times: Times,
}

/// The events around one of the longest polls of the run; its records are among the segments.
#[derive(Debug)]
pub(crate) struct IslandSeen {
    /// In ticks.
    from: u64,
    to: u64,
    pub(crate) from_ns: u64,
    /// The threads where it begins, with whether the tasks lived that they polled.
    pub(crate) threads: Vec<(u32, Stream, Vec<bool>)>,
    /// The tasks that are in it, and were there before.
    pub(crate) tasks: Vec<(u64, LiveTask)>,
}

/// Converts ticks to nanoseconds since the first start.
#[derive(Clone, Copy, Debug)]
struct Times {
    scale: TickScale,
    zero_ns: u64,
}

impl Times {
    fn ns(&self, ticks: u64) -> u64 {
        self.scale.ns(ticks).saturating_sub(self.zero_ns)
    }
}

impl Snapshot {
    /// Takes a snapshot. With `drain`, its records are removed from the recorder.
    pub(crate) fn take(recorder: &Recorder, drain: bool) -> Self {
        let mut segments = Vec::new();
        // While this is locked nothing is evicted.
        let mut live_tasks_now = lock(&recorder.live_tasks);
        let now = recorder.clock.ticks();
        recorder.flush();
        let (windows, is_full) = {
            let windows = lock(&recorder.windows);
            (windows.all.clone(), windows.are_full())
        };
        // The buffers are flushed one after the other, so that records after `now` are incomplete.
        if drain {
            lock(&recorder.store).drain_until(now, &mut segments);
        } else {
            lock(&recorder.store).segments(&mut segments);
            for segment in &mut segments {
                let n = segment.records().partition_point(|record| record.ticks <= now);
                segment.truncate(n);
            }
        }
        // What has left the store and isn't dropped yet, and what stays. Locked for no longer than that, as a hook
        // may wait for it; nobody changes it without the lock of `live_tasks`.
        let (max_stored, islands, ended, done_until) = {
            let eviction = lock(&recorder.eviction);
            segments.extend(eviction.staged.iter().cloned());
            let islands: Vec<_> = eviction.islands.iter().map(Arc::clone).collect();
            let max_stored = recorder.max_stored(&eviction);
            (max_stored, islands, eviction.islands.ended(), eviction.done_until())
        };
        segments.retain(|segment| !segment.records().is_empty());
        segments.sort_unstable_by_key(Segment::order);
        let stored_events = events_of(&segments);
        let lost = recorder.lost(stored_events, max_stored);
        let live_tasks = live_tasks_now.clone();
        if drain {
            live_tasks_now.update(&segments, &windows);
            recorder.note_drained(stored_events, max_stored);
            lock(&recorder.eviction).clear(now);
        }
        drop(live_tasks_now);

        let scale = recorder.clock.scale();
        let first = windows.first().map_or(now, |window| window.from);
        let times = Times { scale, zero_ns: scale.ns(first) };
        // Records of the last instant may be slightly later than `now`.
        let last = segments.iter().filter_map(last_event).map(|r| r.ticks).max();
        let end_of = |window: &Window| window.to.unwrap_or(now.max(last.unwrap_or(now)));
        let end = windows.last().map_or(now, end_of).max(last.unwrap_or(0));
        let mut snapshot = Self {
            config: recorder.config.clone(),
            runtime: recorder.runtime_name.get().cloned(),
            utc_at_zero: recorder.utc_at_zero(),
            lost,
            live_tasks,
            segments,
            windows: windows.iter().map(|w| (times.ns(w.from), times.ns(end_of(w)))).collect(),
            begin_ns: 0,
            end_ns: times.ns(end),
            root_locations: (0..recorder.roots.count())
                .map(|n| recorder.roots.location(n))
                .collect(),
            locations: recorder.locations.to_vec(),
            samples: lock(&recorder.samples).clone(),
            cpu_limit: recorder.cpu_limit(),
            waiting: recorder.waiting_tasks(),
            // After the records, and the tasks, so that each place that they name is there.
            places: Places::now(),
            names: names::all(),
            profile: Profile::of(recorder),
            islands: Vec::new(),
            detail_ns: 0,
            ended: Vec::new(),
            times,
        };
        snapshot.cut(stored_events, max_stored, is_full, &windows);
        snapshot.detail_ns = snapshot.begin_ns;
        snapshot.add_islands(islands, done_until, &ended);
        snapshot
    }

    /// Removes the events beyond `max_stored`: the oldest or the newest, over all threads.
    fn cut(&mut self, stored_events: u64, max_stored: u64, is_full: bool, windows: &[Window]) {
        let surplus = stored_events.saturating_sub(max_stored);
        match self.config.keep {
            Keep::Last if surplus > 0 => self.cut_oldest(surplus, stored_events, windows),
            Keep::First if surplus > 0 => {
                self.cut_newest(self.config.max_events as u64, stored_events)
            }
            _ => {}
        }
        if is_full || self.config.keep == Keep::First && surplus > 0 {
            // Nothing is known after the last kept event.
            let records = self.segments.iter().filter_map(last_event);
            let last = records.map(|record| record.ticks).max();
            self.end_ns = last.map_or(self.begin_ns, |ticks| self.times.ns(ticks));
            self.windows.retain(|&(from, _)| from <= self.end_ns);
            if let Some((_, to)) = self.windows.last_mut() {
                *to = self.end_ns;
            }
        }
        if self.live_tasks.has_evicted() {
            let records = self.segments.iter().filter_map(first_event);
            let first = records.map(|record| record.ticks).min();
            self.begin_ns = first.map_or(self.end_ns, |ticks| self.times.ns(ticks));
            self.live_tasks.advance_to(first.unwrap_or(u64::MAX), windows);
        }
    }

    fn cut_oldest(&mut self, surplus: u64, stored_events: u64, windows: &[Window]) {
        let oldest = oldest(&self.segments, surplus, stored_events);
        let segments = self.segments.iter_mut().zip(oldest);
        let dropped: Vec<_> = segments.map(|(segment, n)| segment.split_front(n)).collect();
        self.live_tasks.update(&dropped, windows);
    }

    fn cut_newest(&mut self, kept: u64, stored_events: u64) {
        let oldest = oldest(&self.segments, kept, stored_events);
        for (segment, n) in self.segments.iter_mut().zip(oldest) {
            segment.truncate(n);
        }
    }

    /// Adds what was kept of before, up to `done_until`: its records, its windows, and what was known where each
    /// begins.
    fn add_islands(&mut self, islands: Vec<Arc<Island>>, done_until: u64, ended: &[(u64, u64)]) {
        if islands.is_empty() {
            return;
        }
        let (detail_ns, end_ns) = (self.begin_ns, self.end_ns);
        // What was cut.
        self.segments.retain(|segment| !segment.records().is_empty());
        self.windows.retain(|&(_, to)| to > detail_ns || to == end_ns);
        if let Some((from, _)) = self.windows.first_mut() {
            *from = (*from).max(detail_ns);
        }
        let mut windows = Vec::new();
        for island in islands {
            self.segments.extend(island.segments());
            let (from, to) = (island.from, island.to.min(done_until));
            let (from_ns, to_ns) = (self.ns(from), self.ns(to));
            let to_ns = to_ns.min(detail_ns).max(from_ns);
            windows.push((from_ns, to_ns));
            let known = island.tasks.iter().filter_map(|(&id, task)| Some((id, (*task)?)));
            self.islands.push(IslandSeen {
                from,
                to,
                from_ns,
                tasks: known.collect(),
                threads: island.threads.clone(),
            });
        }
        self.segments.sort_unstable_by_key(Segment::order);
        self.begin_ns = windows[0].0;
        windows.append(&mut self.windows);
        self.windows = windows;
        self.ended = ended.iter().map(|&(id, at)| (task_id(id), self.ns(at))).collect();
    }

    /// What was known of the stream where `segment` begins: where the recent records begin, or its island.
    fn known(&self, segment: &Segment) -> (usize, Option<&Stream>) {
        let stream = segment.stream;
        let first = segment.records().first().map_or(0, |record| record.ticks);
        if self.islands.last().is_none_or(|last| first > last.to) {
            return (self.islands.len(), self.live_tasks.stream(stream));
        }
        let after = self.islands.partition_point(|island| island.from <= first);
        let Some(place) = after.checked_sub(1) else { return (0, None) };
        let threads = &self.islands[place].threads;
        let known = threads.iter().find(|(id, ..)| *id == stream).map(|(_, known, _)| known);
        (place, known)
    }

    /// The time in ns of a time in ticks.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.times.ns(ticks)
    }

    /// The spawn location with this index.
    pub(crate) fn location(&self, id: u32) -> Option<SpawnLocation> {
        self.locations.get(id as usize).map(|&location| location.into())
    }

    /// Splits the segments into at most `n` parts of about as many records, each of whole streams.
    pub(crate) fn parts(&self, n: usize) -> Vec<&[Segment]> {
        let len = |segments: &[Segment]| segments.iter().map(|s| s.records().len()).sum::<usize>();
        let all = len(&self.segments).max(1);
        let mut parts = Vec::new();
        let (mut from, mut to, mut before, mut part) = (0, 0, 0, 0);
        for stream in self.segments.chunk_by(|a, b| a.stream == b.stream) {
            // The part of its middle, which is beyond the last one if none of its records are kept.
            let records = len(stream);
            let its_part = ((before + records / 2) * n / all).min(n.saturating_sub(1));
            if its_part != part {
                parts.push(&self.segments[from..to]);
                (from, part) = (to, its_part);
            }
            to += stream.len();
            before += records;
        }
        parts.push(&self.segments[from..]);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// Calls `listener` with all records of `segments`, which are whole streams, one stream after
    /// the other.
    pub(crate) fn read(&self, segments: &[Segment], mut listener: impl FnMut(u32, Reading)) {
        for segments in segments.chunk_by(|a, b| a.stream == b.stream) {
            let stream = segments[0].stream;
            let (mut place, known) = self.known(&segments[0]);
            let mut reader = StreamReader::new(self, known);
            for segment in segments {
                // From one island to the next, or to the recent records.
                let (next, known) = match self.islands.len() > place {
                    true => self.known(segment),
                    false => (place, None),
                };
                if next != place {
                    (place, reader) = (next, StreamReader::new(self, known));
                }
                for &record in segment.records() {
                    if let Some(reading) = reader.read(stream, record) {
                        listener(stream, reading);
                    }
                }
            }
        }
    }

    /// The events of all threads, sorted by time.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut started: Option<(u32, usize)> = None;
        self.read(&self.segments, |stream, reading| match reading {
            Reading::Event(event) => {
                if let Event::WorkerStart { worker: None, .. } = event {
                    started = Some((stream, events.len()));
                }
                events.push(event);
            }
            // When a worker's thread starts, it isn't known yet that it is one.
            Reading::Worker(becomes @ Some(_)) => {
                if let Some((_, place)) = started.take_if(|(started, _)| *started == stream) {
                    if let Event::WorkerStart { worker, .. } = &mut events[place] {
                        *worker = becomes;
                    }
                }
            }
            Reading::Worker(..)
            | Reading::LateOrigin(..)
            | Reading::Usage(..)
            | Reading::Queue(..)
            | Reading::Waits(..)
            | Reading::Name(..) => {}
        });
        // Stable, so that the events of one thread stay in order if the clock is coarse.
        events.sort_by_key(Event::time_ns);
        events
    }
}

// Only events move the edges: a thread's end is recorded even while recording is stopped.

fn first_event(segment: &Segment) -> Option<&Record> {
    segment.records().iter().find(|record| record.is_event())
}

fn last_event(segment: &Segment) -> Option<&Record> {
    segment.records().iter().rfind(|record| record.is_event())
}

/// A record, resolved with the notes before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading {
    Event(Event),
    /// The spawn location of a task that was spawned before recording started.
    LateOrigin(u64, Option<SpawnLocation>),
    /// The thread became another worker.
    Worker(Option<u32>),
    /// What the thread had used of the processor.
    Usage(Usage),
    /// How many tasks waited for a thread of the blocking pool.
    Queue(QueueSeen),
    /// The poll that ends next ends in waiting.
    Waits(WaitId),
    /// The task has a name, by its number.
    Name(u64, NameId),
}

/// The queue of the blocking pool at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSeen {
    pub(crate) time_ns: u64,
    /// How many tasks waited while no thread was idle.
    pub(crate) waiting: u64,
    pub(crate) threads: u64,
    /// Whether the next event is the end of a task of the pool; and where that was spawned.
    pub(crate) ended: Option<Option<SpawnLocation>>,
}

/// What a thread had used of the processor at a moment, in all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) time_ns: u64,
    /// How much later that is than the next event of the thread.
    pub(crate) late_ns: u64,
    pub(crate) cpu_ns: u64,
    /// As [`Switches::between`](crate::recorder::watch::Switches::between) takes them.
    pub(crate) switches: u64,
    /// For how long it was ready to run and did not; `None` if that was not asked for.
    pub(crate) run_delay_ns: Option<u64>,
}

struct StreamReader<'a> {
    snapshot: &'a Snapshot,
    worker: Option<u32>,
    location: Option<u32>,
    ready_for_ns: Option<u64>,
    run_delay_ns: Option<u64>,
    switches: Option<u64>,
    late_ns: u64,
    name: Option<NameId>,
}

impl<'a> StreamReader<'a> {
    fn new(snapshot: &'a Snapshot, known: Option<&Stream>) -> Self {
        Self {
            snapshot,
            worker: known.and_then(|s| s.worker),
            location: known.and_then(|s| s.location),
            ready_for_ns: known.and_then(|s| s.ready_for_ns),
            run_delay_ns: None,
            switches: None,
            late_ns: 0,
            name: None,
        }
    }

    fn read(&mut self, thread: u32, record: Record) -> Option<Reading> {
        let time_ns = self.snapshot.times.ns(record.ticks);
        let (payload, worker) = (record.payload(), self.worker);
        let task_id = task_id(payload);
        let event = match record.kind() {
            Kind::Spawn => {
                Event::TaskSpawn { task_id, time_ns, thread, location: self.take_location() }
            }
            Kind::SpawnAt => {
                let (task_id, location) = unpack_spawn(record.packed_payload());
                let location = self.snapshot.location(location);
                Event::TaskSpawn { task_id, time_ns, thread, location }
            }
            Kind::PollStart => Event::TaskPollStart {
                task_id,
                time_ns,
                thread,
                worker,
                ready_ns: self.ready_for_ns.take().map(|ns| time_ns.saturating_sub(ns)),
            },
            Kind::PollStartReady => {
                let (id, ready_for_ns) = unpack_ready(record.packed_payload());
                Event::TaskPollStart {
                    task_id: id,
                    time_ns,
                    thread,
                    worker,
                    ready_ns: Some(time_ns.saturating_sub(ready_for_ns)),
                }
            }
            Kind::LateOrigin => {
                return Some(Reading::LateOrigin(task_id, self.take_location()));
            }
            Kind::Role => {
                self.worker = role(payload);
                return Some(Reading::Worker(self.worker));
            }
            Kind::Location => {
                self.location = Some(payload as u32);
                return None;
            }
            Kind::Ready => {
                self.ready_for_ns = Some(payload);
                return None;
            }
            Kind::RunDelay => {
                self.run_delay_ns = Some(payload);
                return None;
            }
            Kind::Switches => {
                self.switches = Some(payload);
                return None;
            }
            Kind::Queue => {
                let Queue { waiting, threads, ended } = Queue::unpack(payload);
                let ended = ended.map(|at| at.and_then(|id| self.snapshot.location(id)));
                return Some(Reading::Queue(QueueSeen { time_ns, waiting, threads, ended }));
            }
            Kind::Waits => {
                return WaitId::new(payload as u16).map(Reading::Waits);
            }
            Kind::Name => {
                self.name = Some(payload as NameId);
                return None;
            }
            Kind::Named => return self.name.take().map(|name| Reading::Name(task_id, name)),
            Kind::Late => {
                self.late_ns = payload;
                return None;
            }
            Kind::CpuTime => {
                let run_delay_ns = self.run_delay_ns.take();
                let late_ns = std::mem::take(&mut self.late_ns);
                let switches = self.switches.take()?;
                let time_ns = time_ns.saturating_add(late_ns);
                let usage = Usage { time_ns, late_ns, cpu_ns: payload, switches, run_delay_ns };
                return Some(Reading::Usage(usage));
            }
            kind => Event::of_kind(kind, Seen { task_id, time_ns, thread, worker })?,
        };
        Some(Reading::Event(event))
    }

    /// The location that was noted for this record.
    fn take_location(&mut self) -> Option<SpawnLocation> {
        self.location.take().and_then(|id| self.snapshot.location(id))
    }
}

/// The public id of the task in a record's payload.
pub(crate) fn task_id(payload: u64) -> u64 {
    if payload & ROOT == 0 {
        return payload;
    }
    match payload & !ROOT {
        0 => Event::ROOT,
        further => u64::MAX - (further - 1),
    }
}
