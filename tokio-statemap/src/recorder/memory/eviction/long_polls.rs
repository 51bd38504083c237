//! Finds the long polls among evicted records.

use std::collections::BTreeMap;

use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::record::reader::{Entry, Notes, OpenPoll, ThreadState, Visitor, WholePoll};
use crate::recorder::record::{LocationId, Record};
use crate::recorder::store::segment::{Segment, StreamId};
use crate::recorder::window::{Window, window_of};

/// A long poll that held a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongPoll {
    pub(super) stream: StreamId,
    pub(super) task: u64,
    pub(super) start: u64,
    /// The time when it ended, or its worker moved to another thread.
    pub(super) end: u64,
}

impl LongPoll {
    pub(super) fn length(&self) -> u64 {
        self.end - self.start
    }

    /// Returns what identifies it among polls.
    pub(super) fn id(&self) -> (StreamId, u64) {
        (self.stream, self.start)
    }
}

/// The state of each thread, up to where its records were read.
#[derive(Debug, Default)]
pub(super) struct Scan {
    threads: BTreeMap<StreamId, ThreadState>,
    /// The threads that became workers in the batch that is read.
    claims: Vec<Claim>,
    found: Vec<(LongPoll, u32)>,
}

#[derive(Debug)]
struct Claim {
    worker: u32,
    stream: StreamId,
    at: u64,
}

/// Finds the long polls in the records of one thread.
struct Finder<'a> {
    stream: StreamId,
    long_poll: u64,
    found: &'a mut Vec<(LongPoll, u32)>,
    claims: &'a mut Vec<Claim>,
    has_ended: bool,
}

impl Visitor for Finder<'_> {
    type Poll = ();

    /// Nothing is to be remembered of a whole poll.
    #[inline]
    fn whole_poll<'a>(&mut self, thread: &mut ThreadState, poll: WholePoll<'a>) -> &'a [Record] {
        self.ended(thread, poll.task, poll.start.ticks, poll.end);
        skip_short(poll.rest, self.long_poll)
    }

    fn poll_starts(&mut self, _: &ThreadState, _: &OpenPoll) {}

    fn poll_ends(&mut self, thread: &ThreadState, task: u64, open: Option<OpenPoll>, at: u64) {
        if let Some(open) = open {
            self.ended(thread, task, open.start, at);
        }
    }

    fn other(&mut self, _: &mut ThreadState, entry: Entry, at: u64) {
        match entry {
            Entry::Worker(Some(worker)) => {
                self.claims.push(Claim { worker, stream: self.stream, at });
            }
            Entry::End => self.has_ended = true,
            _ => {}
        }
    }
}

impl Finder<'_> {
    #[inline]
    fn ended(&mut self, thread: &ThreadState, task: u64, start: u64, end: u64) {
        if end.saturating_sub(start) < self.long_poll {
            return;
        }
        // Elsewhere it holds nobody up.
        if let Some(worker) = thread.worker {
            self.found.push((LongPoll { stream: self.stream, task, start, end }, worker));
        }
    }
}

impl Scan {
    /// Reads the next records, those of each stream in order, of which polls of `long_poll` or more are found.
    pub(super) fn read(&mut self, segments: &[Segment], long_poll: u64, live_tasks: &LiveTasks) {
        self.claims.clear();
        for of_stream in segments.chunk_by(|a, b| a.stream == b.stream) {
            let stream = of_stream[0].stream;
            // As the records that were dropped left it.
            let thread = self.threads.entry(stream).or_insert_with(|| ThreadState {
                worker: live_tasks.stream(stream).and_then(|known| known.state.worker),
                ..ThreadState::default()
            });
            let (found, claims) = (&mut self.found, &mut self.claims);
            let mut finder = Finder { stream, long_poll, found, claims, has_ended: false };
            for segment in of_stream {
                thread.read(skip_short(segment.records(), long_poll), &mut finder);
            }
            if finder.has_ended {
                self.threads.remove(&stream);
            }
        }
        let claims = &self.claims;
        self.found.retain_mut(|(poll, worker)| {
            let taken = claims.iter().filter(|claim| {
                claim.worker == *worker && claim.stream != poll.stream && claim.at > poll.start
            });
            if let Some(at) = taken.map(|claim| claim.at).min() {
                poll.end = poll.end.min(at);
            }
            poll.length() >= long_poll
        });
    }

    /// Forgets the polls that were open when recording stopped, if it is read up to `until`.
    pub(super) fn forget_before(&mut self, until: u64, windows: &[Window]) {
        let begin = window_of(until, windows).map_or(0, |window| window.from);
        for thread in self.threads.values_mut() {
            thread.polls.retain(|poll| poll.start >= begin);
        }
    }

    /// Returns the polls that were found since the last time, by their starts.
    pub(super) fn take_found(&mut self) -> Vec<LongPoll> {
        let mut found: Vec<_> = self.found.drain(..).map(|(poll, _)| poll).collect();
        crate::util::sort::by_key(&mut found, |poll| poll.start);
        found
    }

    /// Returns when the oldest poll that still runs began, of those that began after `after`, on a worker.
    pub(super) fn oldest_open(&self, after: u64) -> Option<u64> {
        self.open().map(|poll| poll.start).filter(|&start| start > after).min()
    }

    /// Returns the polls that ran on workers where it was read to, as if they ended right where they began.
    pub(super) fn open(&self) -> impl Iterator<Item = LongPoll> {
        let on_workers = self.threads.iter().filter(|(_, thread)| thread.worker.is_some());
        on_workers.flat_map(|(&stream, thread)| {
            let poll = move |&OpenPoll { task, start, .. }: &OpenPoll| LongPoll {
                stream,
                task,
                start,
                end: start,
            };
            thread.polls.iter().map(poll)
        })
    }
}

/// Skips the whole polls at the start of `records`, as most are, that aren't long.
fn skip_short(mut records: &[Record], long_poll: u64) -> &[Record] {
    while let [start, end, rest @ ..] = records {
        let is_short = end.ticks.saturating_sub(start.ticks) < long_poll;
        if !is_short || start.whole_poll(Some(end)).is_none() {
            break;
        }
        records = rest;
    }
    records
}

/// Returns where the task was spawned, if that is among these records.
pub(super) fn location(segments: &[Segment], task: u64) -> Option<LocationId> {
    let mut notes = Notes::default();
    let spawned_at = |record: &Record| match notes.read(*record)? {
        Entry::Spawn { task: spawned, location } if spawned == task => Some(location),
        _ => None,
    };
    segments.iter().flat_map(Segment::records).find_map(spawned_at).flatten()
}
