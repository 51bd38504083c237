//! Reads records: combines each with the notes before it, and converts it to nanoseconds.
//!
//! It takes [entries](Entry), and is no visitor: each record becomes an event of its own, in order, even of a poll that
//! visitors are told of as a whole, and open polls are of no interest.

use crate::recorder::memory::live_tasks::Stream;
use crate::recorder::record::reader::{self, Entry, Notes};
use crate::recorder::record::{LocationId, Queue, Record};
use crate::recorder::store::segment::Segment;
use crate::recorder::waits::names::NameId;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::snapshot::{Snapshot, streams, task_id};
use crate::trace::wait_id::WaitId;
use crate::trace::woken_by::WokenBy;

/// A record, resolved with the notes before it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reading {
    Event(Event),
    /// The end of a poll, which is an event, and where the task waits, if that is recorded.
    PollEnd(Event, Option<WaitId>),
    /// The spawn location of a task that was spawned before recording started.
    LateOrigin(u64, Option<SpawnLocation>),
    /// The thread became another worker.
    Worker(Option<u32>),
    /// The processor time that the thread had used.
    Usage(Usage),
    /// The queue of the blocking pool.
    Queue(QueueSeen),
    /// The task has a name, by its number.
    Name(u64, NameId),
}

/// The queue of the blocking pool at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSeen {
    pub(crate) time_ns: u64,
    /// The number of tasks that waited while no thread was idle.
    pub(crate) waiting: u64,
    pub(crate) threads: u64,
    /// `Some` if the next event is the end of a task of the pool, with the spawn location of that task.
    pub(crate) ended: Option<Option<SpawnLocation>>,
}

/// The processor time that a thread had used up to a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) time_ns: u64,
    /// The difference by which that moment is later than the next event of the thread, in ns.
    pub(crate) late_ns: u64,
    pub(crate) cpu_ns: u64,
    /// The counts as [`Switches::between`](crate::recorder::record::Switches::between) takes them; `None` if the system
    /// doesn't report them.
    pub(crate) switches: Option<u64>,
    /// The time that it was ready to run but did not, in ns; `None` if that was not read.
    pub(crate) run_delay_ns: Option<u64>,
}

/// Reads the records of one stream.
struct StreamReader<'a> {
    snapshot: &'a Snapshot,
    notes: Notes,
    worker: Option<u32>,
    last_ns: u64,
    /// The position in the clock's scale at which the last time was found.
    piece: usize,
}

impl<'a> StreamReader<'a> {
    fn new(snapshot: &'a Snapshot, known: Option<&Stream>) -> Self {
        let notes = known.map(|known| known.state.notes.clone()).unwrap_or_default();
        let worker = known.and_then(|known| known.state.worker);
        Self { snapshot, notes, worker, last_ns: 0, piece: 0 }
    }

    fn read(&mut self, thread: u32, record: Record) -> Option<Reading> {
        let ns = self.snapshot.times.ns_near(record.ticks, &mut self.piece);
        // If the counter goes back, the time doesn't.
        let time_ns = ns.max(self.last_ns);
        self.last_ns = time_ns;
        let entry = self.notes.read(record)?;
        let location = |at: Option<LocationId>| at.and_then(|id| self.snapshot.location(id));
        let worker = self.worker;
        Some(Reading::Event(match entry {
            Entry::Spawn { task, location: at } => {
                let (task_id, location) = (task_id(task), location(at));
                Event::TaskSpawn { task_id, time_ns, thread, location }
            }
            Entry::PollStart { task, ready_ns, woken_by } => {
                let (task_id, ready_ns) =
                    (task_id(task), ready_ns.map(|ready_ns| time_ns.saturating_sub(ready_ns)));
                let woken_by = woken_by.map(WokenBy::from_record);
                Event::TaskPollStart { task_id, time_ns, thread, worker, ready_ns, woken_by }
            }
            Entry::PollEnd { task, wait } => {
                let end = Event::TaskPollEnd { task_id: task_id(task), time_ns, thread, worker };
                let wait = wait.map(|wait| WaitId::new(wait).unwrap_or(WaitId::ELSEWHERE));
                return Some(Reading::PollEnd(end, wait));
            }
            Entry::Terminate { task } => {
                Event::TaskTerminate { task_id: task_id(task), time_ns, thread }
            }
            Entry::ThreadStart => Event::WorkerStart { time_ns, thread, worker },
            Entry::ThreadStop => Event::WorkerStop { time_ns, thread, worker },
            Entry::Park => Event::WorkerPark { time_ns, thread, worker },
            Entry::Unpark => Event::WorkerUnpark { time_ns, thread, worker },
            Entry::LateOrigin { task, location: at } => {
                return Some(Reading::LateOrigin(task_id(task), location(at)));
            }
            Entry::Worker(worker) => {
                self.worker = worker;
                return Some(Reading::Worker(worker));
            }
            Entry::Usage(usage) => {
                let reader::Usage { late_ns, cpu_ns, switches, run_delay_ns } = usage;
                let time_ns = time_ns.saturating_add(late_ns);
                let usage = Usage { time_ns, late_ns, cpu_ns, switches, run_delay_ns };
                return Some(Reading::Usage(usage));
            }
            Entry::Queue(Queue { waiting, threads, ended }) => {
                let ended = ended.map(location);
                return Some(Reading::Queue(QueueSeen { time_ns, waiting, threads, ended }));
            }
            Entry::Name { task, name } => return Some(Reading::Name(task_id(task), name)),
            Entry::End => return None,
        }))
    }
}

impl Snapshot {
    /// Calls `listener` with all records of `segments`, which are whole streams, one stream after
    /// the other.
    pub(crate) fn read(&self, segments: &[Segment], listener: &mut dyn FnMut(u32, Reading)) {
        for segments in streams(segments) {
            let stream = segments[0].stream;
            let (mut place, known) = self.capture.known(&segments[0]);
            let mut reader = StreamReader::new(self, known);
            for segment in segments {
                // Continues with the next pinned window, or with the recent records.
                let (next, known) = match self.capture.pinned.len() > place {
                    true => self.capture.known(segment),
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
