//! The sums in a black box: all but what is found again from the rest.
//!
//! Somebody may have forged them, so what is added to sums wraps around instead of panicking.

use crate::recorder::memory::sums::Sums;
use crate::util::plain::Plain;
#[cfg(feature = "read")]
use crate::{recorder::memory::sums::Key, util::plain::Bytes};

impl Plain for Sums {
    fn write(&self, into: &mut Vec<u8>) {
        let Self {
            rows,
            by_location: _,
            recent: _,
            workers,
            stretches,
            longest,
            cut_polls,
            missed_before,
            running_polls,
            threads,
            window,
            has_begun,
            window_from,
            reset_at,
            long_poll,
            counts,
            claims: _,
            // Known once the sums are finished.
            running: _,
            live_tasks: _,
        } = self;
        rows.write(into);
        workers.write(into);
        stretches.write(into);
        longest.write(into);
        [*cut_polls, *missed_before, *running_polls, *window_from, *reset_at, *long_poll]
            .write(into);
        threads.write(into);
        (*window, *has_begun, *counts).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let mut sums = Self {
            rows: <_>::read(from)?,
            workers: <_>::read(from)?,
            stretches: <_>::read(from)?,
            longest: <_>::read(from)?,
            ..Self::default()
        };
        let [cut_polls, missed_before, running_polls, window_from, reset_at, long_poll] =
            <[u64; 6]>::read(from)?;
        sums.threads = <_>::read(from)?;
        (sums.window, sums.has_begun, sums.counts) = <_>::read(from)?;
        (sums.cut_polls, sums.missed_before, sums.running_polls) =
            (cut_polls, missed_before, running_polls);
        (sums.window_from, sums.reset_at, sums.long_poll) = (window_from, reset_at, long_poll);
        for (place, row) in (1..).zip(&sums.rows) {
            if let Key::At(location) = row.key {
                // There are fewer locations than a box has bytes.
                let location = usize::try_from(location).ok().filter(|at| *at < 1 << 24)?;
                sums.by_location.resize(sums.by_location.len().max(location + 1), 0);
                sums.by_location[location] = place;
            }
        }
        sums.are_whole().then_some(sums)
    }
}

#[cfg(feature = "read")]
impl Sums {
    /// Returns whether all that refers to rows refers to one that is there, and lists that are sorted are.
    fn are_whole(&self) -> bool {
        let is_row = |row: u32| (row as usize) < self.rows.len();
        let of_threads = self.threads.iter().flat_map(|(_, thread)| &thread.state.polls);
        of_threads.into_iter().all(|poll| is_row(poll.more.row))
            && self.longest.are_whole(&is_row)
            && self.stretches.are_whole(&is_row)
            && self.threads.is_sorted_by(|a, b| a.0 < b.0)
            && self.workers.is_sorted_by(|a, b| a.0 < b.0)
            && self.rows.iter().all(|row| row.lengths.is_whole() && row.ready.is_whole())
            && self.are_counts_possible()
    }

    /// Returns whether counts are so small that those of all records can be added.
    fn are_counts_possible(&self) -> bool {
        const MOST: u64 = 1 << 62;
        let own = [self.cut_polls, self.missed_before, self.running_polls];
        let of_workers = self.workers.iter().flat_map(|(_, of)| [of.polls, of.parks]);
        let of_stretches = self.stretches.all().iter();
        let of_stretches =
            of_stretches.flat_map(|of| [of.held, of.polls, of.spawned, of.terminated]);
        let counts = own.into_iter().chain(of_workers).chain(of_stretches);
        let of_rows = self.rows.iter();
        let of_rows = of_rows.flat_map(|of| [of.tasks, of.worker_polls, of.off_worker_polls]);
        counts.chain(of_rows).all(|count| count < MOST)
    }
}
