//! Finds the long polls among evicted records.

use std::collections::BTreeMap;

use crate::recorder::Window;
use crate::recorder::live_tasks::{LiveTasks, LocationId, role};
use crate::recorder::record::{Kind, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::{Segment, StreamId};

/// A long poll that held a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongPoll {
    pub(super) stream: StreamId,
    pub(super) task: u64,
    pub(super) start: u64,
    /// When it ended, or its worker was given to another thread.
    pub(super) end: u64,
}

impl LongPoll {
    pub(super) fn length(&self) -> u64 {
        self.end - self.start
    }

    /// No other poll has both.
    pub(super) fn id(&self) -> (StreamId, u64) {
        (self.stream, self.start)
    }
}

/// The state of each thread where it was read to.
#[derive(Debug, Default)]
pub(super) struct Scan {
    threads: BTreeMap<StreamId, Thread>,
    /// Which thread became which worker: of the batch that is read.
    claims: Vec<Claim>,
    found: Vec<(LongPoll, u32)>,
}

#[derive(Debug)]
struct Claim {
    worker: u32,
    stream: StreamId,
    at: u64,
}

#[derive(Debug, Default)]
struct Thread {
    worker: Option<u32>,
    /// The polls that it is in, and since when.
    polls: Vec<(u64, u64)>,
}

impl Scan {
    /// Reads the next records, those of each stream in order, of which polls of `long_poll` or more are found.
    pub(super) fn read(&mut self, segments: &[Segment], long_poll: u64, live_tasks: &LiveTasks) {
        self.claims.clear();
        for of_stream in segments.chunk_by(|a, b| a.stream == b.stream) {
            let stream = of_stream[0].stream;
            // As it was left when the last of its records were dropped.
            let thread = self.threads.entry(stream).or_insert_with(|| Thread {
                worker: live_tasks.stream(stream).and_then(|known| known.worker),
                polls: Vec::new(),
            });
            let mut has_ended = false;
            for segment in of_stream {
                let found = &mut self.found;
                let claims = &mut self.claims;
                has_ended |= thread.read(segment, long_poll, found, claims);
            }
            if has_ended {
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
        let begin = super::window_of(until, windows).map_or(0, |window| window.from);
        for thread in self.threads.values_mut() {
            thread.polls.retain(|&(_, start)| start >= begin);
        }
    }

    /// The polls that were found since the last time, by their starts.
    pub(super) fn take_found(&mut self) -> Vec<LongPoll> {
        let mut found: Vec<_> = self.found.drain(..).map(|(poll, _)| poll).collect();
        found.sort_unstable_by_key(|poll| poll.start);
        found
    }

    /// When the oldest poll that still runs began, of those that began after `after`, on a worker.
    pub(super) fn oldest_open(&self, after: u64) -> Option<u64> {
        self.open().map(|poll| poll.start).filter(|&start| start > after).min()
    }

    /// The polls that ran on workers where it was read to, as if they ended right where they began.
    pub(super) fn open(&self) -> impl Iterator<Item = LongPoll> {
        let on_workers = self.threads.iter().filter(|(_, thread)| thread.worker.is_some());
        on_workers.flat_map(|(&stream, thread)| {
            let poll =
                move |&(task, start): &(u64, u64)| LongPoll { stream, task, start, end: start };
            thread.polls.iter().map(poll)
        })
    }
}

impl Thread {
    /// Returns whether it ended.
    fn read(
        &mut self,
        segment: &Segment,
        long_poll: u64,
        found: &mut Vec<(LongPoll, u32)>,
        claims: &mut Vec<Claim>,
    ) -> bool {
        let stream = segment.stream;
        let mut ended = false;
        let mut later = segment.records();
        loop {
            later = skip_short(later, long_poll);
            let [record, rest @ ..] = later else { break };
            // Whole polls that are long, and the last ones of their tasks: nothing is to be remembered of them.
            let whole = match record.whole_poll(rest.first()) {
                Some(id) => Some((id, &rest[0], 1)),
                None => record.last_poll(rest).map(|end| (end.payload(), &rest[1], 2)),
            };
            if let Some((task, end, read)) = whole {
                self.ended(stream, (task, record.ticks), end.ticks, long_poll, found);
                later = &rest[read..];
                continue;
            }
            later = rest;
            match record.kind() {
                Kind::PollStart => self.polls.push((record.payload(), record.ticks)),
                Kind::PollStartReady => {
                    let (id, _) = unpack_ready(record.packed_payload());
                    self.polls.push((id, record.ticks));
                }
                Kind::PollEnd => {
                    let task = record.payload();
                    if let Some(place) = self.polls.iter().rposition(|&(id, _)| id == task) {
                        let poll = self.polls.remove(place);
                        self.ended(stream, poll, record.ticks, long_poll, found);
                    }
                }
                Kind::Role => {
                    self.worker = role(record.payload());
                    let claim = |worker| Claim { worker, stream, at: record.ticks };
                    claims.extend(self.worker.map(claim));
                }
                Kind::End => ended = true,
                _ => {}
            }
        }
        ended
    }

    #[inline]
    fn ended(
        &self,
        stream: StreamId,
        (task, start): (u64, u64),
        end: u64,
        long_poll: u64,
        found: &mut Vec<(LongPoll, u32)>,
    ) {
        if end.saturating_sub(start) < long_poll {
            return;
        }
        // Elsewhere it holds nobody up.
        if let Some(worker) = self.worker {
            found.push((LongPoll { stream, task, start, end }, worker));
        }
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

/// Where the task was spawned, if that is among these records.
pub(super) fn location(segments: &[Segment], task: u64) -> Option<LocationId> {
    let mut location = None;
    let spawned_at = |record: &Record| match record.kind() {
        Kind::Location => {
            location = Some(record.payload() as LocationId);
            None
        }
        Kind::SpawnAt => {
            let (id, at) = unpack_spawn(record.packed_payload());
            (id == task).then_some(Some(at))
        }
        Kind::Spawn => {
            let at = location.take();
            (record.payload() == task).then_some(at)
        }
        _ => None,
    };
    segments.iter().flat_map(Segment::records).find_map(spawned_at).flatten()
}
