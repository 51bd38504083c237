//! Records → readings: each with the notes before it.

use crate::recorder::live_tasks::{Stream, role};
use crate::recorder::pool::Queue;
use crate::recorder::record::{Kind, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::Segment;
use crate::recorder::waits::names::NameId;
use crate::trace::event::{Event, Seen, SpawnLocation};
use crate::trace::snapshot::{Snapshot, task_id};
use crate::trace::timeline::WaitId;

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
    /// As [`Switches::between`](crate::recorder::watch::Switches::between) takes them; `None` if the system doesn't say.
    pub(crate) switches: Option<u64>,
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
    last_ns: u64,
    /// Where the scale had it.
    piece: usize,
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
            last_ns: 0,
            piece: 0,
        }
    }

    fn read(&mut self, thread: u32, record: Record) -> Option<Reading> {
        let ns = self.snapshot.times.ns_near(record.ticks, &mut self.piece);
        // A counter that goes back doesn't take the time back.
        let time_ns = ns.max(self.last_ns);
        self.last_ns = time_ns;
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
                let switches = self.switches.take();
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

impl Snapshot {
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
}
