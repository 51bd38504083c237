//! Adds up whole polls in a row, as most records are, in one go.

use crate::recorder::memory::sums::thread::Begun;
use crate::recorder::memory::sums::{RECENT, Recent, Sums};
use crate::recorder::record::reader::ThreadState;
use crate::recorder::record::{Record, after_note, unpack_ready};

/// A stretch of time, in ticks, and the length below which a poll is not among the longest.
#[derive(Clone, Copy)]
struct Usual<'a> {
    from: u64,
    length: u64,
    least: u64,
    recent: &'a Recent,
}

/// A poll that needs no special treatment.
struct Poll {
    row: u32,
    length: u64,
    ready_ns: Option<u64>,
}

impl Usual<'_> {
    /// Returns the poll from `start` to `end`, if it is a usual one.
    #[inline(always)]
    fn poll(&self, start: Record, end: Record) -> Option<Poll> {
        let task = start.whole_poll(Some(&end))?;
        let (known, row) = self.recent[task as usize % RECENT];
        // A negative difference would wrap around, and is too long.
        let since = start.ticks.wrapping_sub(self.from);
        let length = end.ticks.wrapping_sub(start.ticks);
        let is_within = since < self.length && length <= self.length - since;
        if known != task || !is_within || length >= self.least {
            return None;
        }
        let is_ready_known = start.is_poll_start_ready();
        let ready_ns = is_ready_known.then(|| unpack_ready(start.packed_payload()).1);
        Some(Poll { row, length, ready_ns })
    }
}

impl Sums {
    /// Adds the whole polls that `records` begin with, as [`add_poll`](Self::add_poll) would add each. They are of a
    /// thread that runs, and nothing else changes for it. Stops before what is unusual: a task that wasn't polled
    /// recently, a poll that may be among the longest, or the end of a stretch of time. Returns the rest.
    #[inline(never)]
    pub(super) fn add_usual_polls<'a>(
        &mut self,
        thread: &ThreadState<Begun>,
        records: &'a [Record],
    ) -> &'a [Record] {
        let Self { rows, recent, workers, stretches, longest, long_poll, .. } = self;
        let is_noted = thread.notes.has_ready();
        let (Some(worker), false, Some(recent)) = (thread.worker, is_noted, recent) else {
            return records;
        };
        let worker = workers.get_mut(worker as usize).filter(|(index, _)| *index == worker);
        let (Some((_, worker)), [first, ..]) = (worker, records) else { return records };
        let Some((stretch, from, length)) = stretches.known(first.ticks) else { return records };
        let usual = Usual { from, length, least: longest.least(), recent };
        let mut later = records;
        // The polls of one location are added up together, so that its sums stay in registers.
        while let [start, end, ..] = after_note(later) {
            let Some(Poll { row, .. }) = usual.poll(*start, *end) else { break };
            let Some(sums) = rows.get_mut(row as usize) else { break };
            let (mut polls, mut held, mut longest_here) = (0, 0, 0);
            while let [start, end, rest @ ..] = after_note(later) {
                let Some(poll) = usual.poll(*start, *end).filter(|poll| poll.row == row) else {
                    break;
                };
                let length = poll.length;
                if length > *long_poll {
                    sums.long(length);
                }
                if let Some(ready_ns) = poll.ready_ns {
                    sums.was_ready(ready_ns);
                }
                sums.lengths.add(length);
                polls += 1;
                held += length;
                longest_here = length.max(longest_here);
                later = rest;
            }
            sums.held_worker(polls, held, longest_here);
            stretch.polls += polls;
            stretch.held += held;
            stretch.longest = stretch.longest.max((longest_here, row));
            worker.polls += polls;
        }
        later
    }
}
