//! The one reader of records.
//!
//! [`Notes`] decode: they turn a record into an [`Entry`], with what the notes before it say. [`ThreadState`] reads the
//! records of a thread in order: it knows which worker the thread is and the polls that it is in, and calls a
//! [`Visitor`] with what happens. Most records are whole polls, a start and the end right after it. A visitor gets each
//! as one call, and may go through as many of them at once as it likes.
//!
//! A new kind of record is decoded in [`Notes::read`].

use crate::recorder::record::{
    Kind, LOCATION_BITS, LocationId, Queue, Record, WaitId, WokenBy, unpack_ready, unpack_spawn,
    unpack_worker,
};

/// The meaning of a record, including the notes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Spawn {
        task: u64,
        location: Option<LocationId>,
    },
    /// `ready_ns` is how long the task had been ready.
    PollStart {
        task: u64,
        ready_ns: Option<u64>,
        woken_by: Option<WokenBy>,
    },
    /// `wait` is where the task waits, if the records say it; it is `UNKNOWN` if that isn't known now.
    PollEnd {
        task: u64,
        wait: Option<WaitId>,
    },
    Terminate {
        task: u64,
    },
    ThreadStart,
    ThreadStop,
    Park,
    Unpark,
    /// The task was spawned before recording started.
    LateOrigin {
        task: u64,
        location: Option<LocationId>,
    },
    /// The thread is this worker from now on, or none.
    Worker(Option<u32>),
    Usage(Usage),
    Queue(Queue),
    /// The task has the name with this number.
    Name {
        task: u64,
        name: u32,
    },
    /// The thread ended.
    End,
}

impl Entry {
    /// Returns whether it is an event, rather than a note.
    pub(crate) fn is_event(self) -> bool {
        matches!(
            self,
            Self::Spawn { .. }
                | Self::PollStart { .. }
                | Self::PollEnd { .. }
                | Self::Terminate { .. }
                | Self::ThreadStart
                | Self::ThreadStop
                | Self::Park
                | Self::Unpark
        )
    }
}

/// The processor time that a thread had used at a moment, in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    /// The time by which that moment was later than the record.
    pub(crate) late_ns: u64,
    pub(crate) cpu_ns: u64,
    /// The switches, as [`Switches::between`](super::Switches::between) takes them; `None` if the system doesn't report
    /// them.
    pub(crate) switches: Option<u64>,
    /// The time for which it was ready to run but did not; `None` if that was not asked for.
    pub(crate) run_delay_ns: Option<u64>,
}

/// The notes that were read and belong to records that follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// The location of the next spawn or late origin.
    location: Option<LocationId>,
    /// The time for which the task of the next poll had been ready.
    ready_ns: Option<u64>,
    /// The source of the wake for a poll, packed, and the start of that poll in ticks. A note is left over if there was
    /// no room for the poll.
    woken_by: (u64, u64),
    // These are the parts of the next reading.
    late_ns: u64,
    run_delay_ns: Option<u64>,
    switches: Option<u64>,
    /// The name of the next task that is named.
    name: Option<u32>,
    /// The place where the task of the next end of a poll waits.
    wait: Option<WaitId>,
}

impl Notes {
    /// Reads the next record of a stream. Returns what it says; `None` if it is a note about what follows.
    #[inline]
    pub(crate) fn read(&mut self, record: Record) -> Option<Entry> {
        let payload = record.payload();
        Some(match record.kind() {
            Kind::Spawn => Entry::Spawn { task: payload, location: self.location.take() },
            Kind::SpawnAt => {
                let (task, location) = unpack_spawn(record.packed_payload());
                Entry::Spawn { task, location: Some(location) }
            }
            Kind::PollStart => {
                self.wait = None;
                let (ready_ns, woken_by) = (self.ready_ns.take(), self.woken_by_at(record.ticks));
                Entry::PollStart { task: payload, ready_ns, woken_by }
            }
            Kind::PollStartReady => {
                self.wait = None;
                let (task, ready_ns) = unpack_ready(record.packed_payload());
                let woken_by = self.woken_by_at(record.ticks);
                Entry::PollStart { task, ready_ns: Some(ready_ns), woken_by }
            }
            Kind::PollEnd => Entry::PollEnd { task: payload, wait: self.wait.take() },
            Kind::PollEndAt => Entry::PollEnd { task: record.task()?, wait: record.wait() },
            Kind::Terminate => Entry::Terminate { task: payload },
            Kind::ThreadStart => Entry::ThreadStart,
            Kind::ThreadStop => Entry::ThreadStop,
            Kind::Park => Entry::Park,
            Kind::Unpark => Entry::Unpark,
            Kind::LateOrigin => Entry::LateOrigin { task: payload, location: self.location.take() },
            Kind::Role => Entry::Worker(unpack_worker(payload)),
            Kind::CpuTime => Entry::Usage(Usage {
                late_ns: std::mem::take(&mut self.late_ns),
                cpu_ns: payload,
                switches: self.switches.take(),
                run_delay_ns: self.run_delay_ns.take(),
            }),
            Kind::Queue => Entry::Queue(Queue::unpack(payload)),
            Kind::Named => Entry::Name { task: payload, name: self.name.take()? },
            Kind::End => Entry::End,
            // Each kind is named, so that one more doesn't compile before it is read.
            note @ (Kind::Location
            | Kind::Ready
            | Kind::Late
            | Kind::RunDelay
            | Kind::Switches
            | Kind::Name
            | Kind::Waits
            | Kind::WokenBy
            | Kind::Stream) => {
                self.note(note, payload, record.ticks);
                return None;
            }
        })
    }

    #[inline]
    fn note(&mut self, kind: Kind, payload: u64, ticks: u64) {
        match kind {
            // A forged box may have any number here, and each up to it takes memory.
            Kind::Location => {
                self.location = (payload >> LOCATION_BITS == 0).then_some(payload as LocationId);
            }
            Kind::Ready => self.ready_ns = Some(payload),
            Kind::Late => self.late_ns = payload,
            Kind::RunDelay => self.run_delay_ns = Some(payload),
            Kind::Switches => self.switches = Some(payload),
            Kind::Name => self.name = Some(payload as u32),
            Kind::Waits => self.wait = Some(payload as WaitId),
            Kind::WokenBy => self.woken_by = (payload, ticks),
            // A run of a stream has no note of its stream. All other kinds are entries.
            _ => {}
        }
    }

    /// Returns how long the task of a whole poll had been ready.
    #[inline]
    pub(crate) fn ready_ns_of(&mut self, start: Record) -> Option<u64> {
        match start.is_poll_start_ready() {
            true => Some(unpack_ready(start.packed_payload()).1),
            false => self.ready_ns.take(),
        }
    }

    /// Returns whether there is a note of how long the task of the next poll had been ready.
    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        self.ready_ns.is_some()
    }

    /// Forgets how long the task of the next poll had been ready.
    #[inline]
    pub(crate) fn forget_ready(&mut self) {
        self.ready_ns = None;
    }

    /// Returns who woke the task of the poll that starts at `ticks`, and forgets it.
    #[inline]
    fn woken_by_at(&mut self, ticks: u64) -> Option<WokenBy> {
        let (by, start) = std::mem::take(&mut self.woken_by);
        if start == ticks { WokenBy::unpack(by) } else { None }
    }

    /// Returns the location that is noted for the next spawn.
    pub(crate) fn location(&self) -> Option<LocationId> {
        self.location
    }
}

/// A poll that still runs. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenPoll<P = ()> {
    pub(crate) task: u64,
    pub(crate) start: u64,
    /// The time for which the task had been ready, in ns.
    pub(crate) ready_ns: Option<u64>,
    /// The visitor's own data of the poll.
    pub(crate) more: P,
}

/// A start of a poll and the end right after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WholePoll<'a> {
    pub(crate) task: u64,
    pub(crate) start: &'a Record,
    pub(crate) end: &'a Record,
    /// The time when the task terminated in it, in ticks, if it did.
    pub(crate) terminated: Option<u64>,
    /// The records that follow.
    pub(crate) rest: &'a [Record],
}

/// A thread at the place up to which its records were read. Times are in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadState<P = ()> {
    pub(crate) worker: Option<u32>,
    /// The time since which it has been that worker.
    pub(crate) worker_since: u64,
    /// The polls that it is in, the innermost last.
    pub(crate) polls: Vec<OpenPoll<P>>,
    pub(crate) notes: Notes,
}

impl<P> Default for ThreadState<P> {
    fn default() -> Self {
        Self { worker: None, worker_since: 0, polls: Vec::new(), notes: Notes::default() }
    }
}

/// A visitor of the records of one thread. Times are in ticks.
pub(crate) trait Visitor {
    /// The visitor's own data of a poll that still runs.
    type Poll;

    /// Called with a whole poll. `thread` knows nothing of it but the notes before it. Returns the records to continue
    /// with: those after the poll, or fewer if the visitor has read more.
    fn whole_poll<'a>(
        &mut self,
        thread: &mut ThreadState<Self::Poll>,
        poll: WholePoll<'a>,
    ) -> &'a [Record];

    /// Called at the start of a poll that isn't whole. Returns what to remember of it.
    fn poll_starts(&mut self, thread: &ThreadState<Self::Poll>, poll: &OpenPoll) -> Self::Poll;

    /// Called at the end of a poll that isn't whole. The poll is `open`, unless its start was not recorded. `end` is
    /// the task, and where it waits if the records say it.
    fn poll_ends(
        &mut self,
        thread: &ThreadState<Self::Poll>,
        end: (u64, Option<WaitId>),
        open: Option<OpenPoll<Self::Poll>>,
        at: u64,
    );

    /// Called with anything else. `thread` knows already which worker the thread is.
    fn other(&mut self, thread: &mut ThreadState<Self::Poll>, entry: Entry, at: u64);
}

impl<P> ThreadState<P> {
    /// Reads the next records of the thread.
    ///
    /// Inlined into a function of each visitor, as hooks evict, and the stack of a hook is bounded.
    #[inline(always)]
    pub(crate) fn read<V: Visitor<Poll = P>>(&mut self, mut later: &[Record], visitor: &mut V) {
        while let [start, rest @ ..] = later {
            if let Some(task) = start.whole_poll(rest.first()) {
                let (end, rest) = (&rest[0], &rest[1..]);
                let poll = WholePoll { task, start, end, terminated: None, rest };
                later = visitor.whole_poll(self, poll);
            } else if let Some(termination) = start.last_poll(rest) {
                // This is common where tasks are short-lived.
                let (task, terminated) = (termination.payload(), Some(termination.ticks));
                let (end, rest) = (&rest[1], &rest[2..]);
                later = visitor.whole_poll(self, WholePoll { task, start, end, terminated, rest });
            } else if let Some(woken_by) = start.woken_by() {
                // Most polls have one before them.
                self.notes.woken_by = (woken_by, start.ticks);
                later = rest;
            } else {
                later = rest;
                self.read_one(*start, visitor);
            }
        }
    }

    /// Reads the next record, even if it begins a whole poll.
    #[inline(never)]
    pub(crate) fn read_one<V: Visitor<Poll = P>>(&mut self, record: Record, visitor: &mut V) {
        let at = record.ticks;
        match self.notes.read(record) {
            None => {}
            Some(Entry::PollStart { task, ready_ns, .. }) => {
                let poll = OpenPoll { task, start: at, ready_ns, more: () };
                let more = visitor.poll_starts(self, &poll);
                self.polls.push(OpenPoll { task, start: at, ready_ns, more });
            }
            Some(Entry::PollEnd { task, wait }) => {
                let place = self.polls.iter().rposition(|poll| poll.task == task);
                let open = place.map(|place| self.polls.remove(place));
                visitor.poll_ends(self, (task, wait), open, at);
            }
            Some(entry) => {
                if let Entry::Worker(worker) = entry {
                    (self.worker, self.worker_since) = (worker, at);
                }
                visitor.other(self, entry, at);
            }
        }
    }

    /// Returns the task that it polls.
    pub(crate) fn polled(&self) -> Option<u64> {
        self.polls.last().map(|poll| poll.task)
    }
}

#[cfg(has_black_box)]
crate::util::plain::plain! {
    Notes { location, ready_ns, woken_by, late_ns, run_delay_ns, switches, name, wait }
    OpenPoll<P> { task, start, ready_ns, more }
    ThreadState<P> { worker, worker_since, polls, notes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::record::pack_ready;

    #[test]
    fn who_woke_is_told_of_the_poll_that_starts_then() {
        let by = WokenBy::Task(7);
        let note = Record::new(50, Kind::WokenBy, by.pack().unwrap());
        let plain = |ticks| Record::new(ticks, Kind::PollStart, 3);
        let ready = |ticks| Record::event(ticks, Kind::PollStartReady, pack_ready(3, 9).unwrap());
        let mut notes = Notes::default();
        for (record, expected) in [
            (plain(50), None),
            (note, None),
            // There was no room for the poll.
            (plain(51), None),
            (note, None),
            (ready(50), Some(by)),
        ] {
            let woken_by = match notes.read(record) {
                Some(Entry::PollStart { woken_by, .. }) => woken_by,
                _ => None,
            };
            assert_eq!(woken_by, expected, "{record:?}");
        }
    }

    #[test]
    fn a_location_that_cannot_be_is_unknown() {
        for (payload, location) in [((1 << 24) - 1, Some((1 << 24) - 1)), (1 << 24, None)] {
            let mut notes = Notes::default();
            assert_eq!(notes.read(Record::new(50, Kind::Location, payload)), None);
            let spawn = notes.read(Record::event(51, Kind::Spawn, 3));
            assert_eq!(spawn, Some(Entry::Spawn { task: 3, location }));
        }
    }
}
