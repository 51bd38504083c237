//! Finds the long polls among evicted records.

use crate::recorder::memory::by_id::find;
use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::record::reader::{Entry, Notes, OpenPoll, ThreadState, Visitor, WholePoll};
use crate::recorder::record::{LocationId, Record, WaitId, after_note};
use crate::recorder::store::segment::{Segment, StreamId};
use crate::recorder::window::{Window, window_of};

/// A long poll that held a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongPoll {
    pub(super) worker: u32,
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

    /// Returns the identity of the poll.
    pub(super) fn id(&self) -> (StreamId, u64) {
        (self.stream, self.start)
    }
}

/// The state of each thread, up to where its records were read.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// By their streams.
    threads: Vec<(StreamId, ThreadState)>,
    /// The threads that became workers in the batch that is read.
    claims: Vec<Claim>,
    found: Vec<LongPoll>,
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
    found: &'a mut Vec<LongPoll>,
    claims: &'a mut Vec<Claim>,
    has_ended: bool,
}

impl Visitor for Finder<'_> {
    type Poll = ();

    /// Nothing is to be remembered of a whole poll.
    #[inline]
    fn whole_poll<'a>(&mut self, thread: &mut ThreadState, poll: WholePoll<'a>) -> &'a [Record] {
        self.ended(thread, poll.task, poll.start.ticks, poll.end.ticks);
        skip_short(poll.rest, self.long_poll)
    }

    fn poll_starts(&mut self, _: &ThreadState, _: &OpenPoll) {}

    fn poll_ends(
        &mut self,
        thread: &ThreadState,
        (task, _): (u64, Option<WaitId>),
        open: Option<OpenPoll>,
        at: u64,
    ) {
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
        // On a thread that is no worker it delays no other task.
        if let Some(worker) = thread.worker {
            self.found.push(LongPoll { worker, stream: self.stream, task, start, end });
        }
    }
}

impl Scan {
    /// Reads the next records, those of each stream in order, and finds the polls of `long_poll` or more in them.
    pub(super) fn read(&mut self, segments: &[Segment], long_poll: u64, live_tasks: &LiveTasks) {
        self.claims.clear();
        for segment in segments {
            let stream = segment.stream;
            let place = find(&self.threads, stream).unwrap_or_else(|place| {
                // The worker that the thread was after the dropped records.
                let worker = live_tasks.stream(stream).and_then(|known| known.state.worker);
                let thread = ThreadState { worker, ..ThreadState::default() };
                self.threads.insert(place, (stream, thread));
                place
            });
            let (found, claims) = (&mut self.found, &mut self.claims);
            let mut finder = Finder { stream, long_poll, found, claims, has_ended: false };
            let records = skip_short(segment.records(), long_poll);
            self.threads[place].1.read(records, &mut finder);
            if finder.has_ended {
                self.threads.remove(place);
            }
        }
        for poll in &mut self.found {
            for claim in &self.claims {
                let is_its = claim.worker == poll.worker && claim.stream != poll.stream;
                if is_its && claim.at > poll.start {
                    poll.end = poll.end.min(claim.at);
                }
            }
        }
        self.found.retain(|poll| poll.length() >= long_poll);
    }

    /// Forgets the polls that were open when recording stopped. Everything up to `until` was read.
    pub(super) fn forget_before(&mut self, until: u64, windows: &[Window]) {
        let begin = window_of(until, windows).map_or(0, |window| window.from);
        for (_, thread) in &mut self.threads {
            thread.polls.retain(|poll| poll.start >= begin);
        }
    }

    /// Returns the polls that were found since the last call, by their starts.
    pub(super) fn take_found(&mut self) -> Vec<LongPoll> {
        let mut found = std::mem::take(&mut self.found);
        crate::util::sort::by_key(&mut found, |poll| poll.start);
        found
    }

    /// Returns the polls that began after `after` and still run on workers where the records read so far end. They are
    /// returned as if they ended where they began.
    pub(super) fn open(&self, after: u64) -> Vec<LongPoll> {
        let mut open = Vec::new();
        for (stream, thread) in &self.threads {
            let Some(worker) = thread.worker else { continue };
            for &OpenPoll { task, start, .. } in &thread.polls {
                if start > after {
                    open.push(LongPoll { worker, stream: *stream, task, start, end: start });
                }
            }
        }
        open
    }
}

/// Skips the whole polls at the start of `records` that aren't long, as most aren't.
fn skip_short(mut records: &[Record], long_poll: u64) -> &[Record] {
    while let [start, end, rest @ ..] = after_note(records) {
        let is_short = end.ticks.saturating_sub(start.ticks) < long_poll;
        if !is_short || start.whole_poll(Some(end)).is_none() {
            break;
        }
        records = rest;
    }
    records
}

/// Returns where the task was spawned, if its spawn is among these records.
pub(super) fn location(segments: &[Segment], task: u64) -> Option<LocationId> {
    let mut notes = Notes::default();
    for segment in segments {
        for record in segment.records() {
            match notes.read(*record) {
                Some(Entry::Spawn { task: spawned, location }) if spawned == task => {
                    return location;
                }
                _ => {}
            }
        }
    }
    None
}
