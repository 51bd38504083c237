//! The verdict: who held the runtime up.

use std::time::Duration;

use super::locations::LocationRow;
use super::long_polls::LongPoll;
use super::report::Report;
use super::workers;
use crate::util::quantity::share;

/// From which share of running time on the workers are called busy.
const BUSY: f64 = 0.9;

/// From which share of the workers' time on a location is named for keeping them busy. In a program
/// of a millisecond the workers are busy with their own start, for which no task is to blame.
const NAMED: f64 = 0.01;

/// For how long must have been recorded for anyone to be named for keeping the workers busy. In less
/// they hardly do anything but start.
const ENOUGH_RECORDED_NS: u64 = 10_000_000;

/// For how long a location must have held workers to be named so: for `long_poll`, or this if that
/// is longer.
const ENOUGH_HELD: Duration = Duration::from_millis(10);

/// Who held the runtime up, if anyone did. `Display` says it in a few sentences.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// Polls held workers longer than `long_poll`. This is the location where these polls took
    /// longest in sum.
    LongPolls {
        /// The location, with the number and the sum of its long polls.
        row: LocationRow,
        /// Its longest poll.
        longest: LongPoll,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// How many other locations had such polls.
        other_places: usize,
    },
    /// No poll on a worker was long, but the workers were busy for all of 10 ms or more. This is the
    /// location that held them most.
    Busy {
        /// The location.
        row: LocationRow,
        /// The share of the workers' time that it held them, from 0 to 1.
        held_share: f64,
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: f64,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// The longest of the long polls on threads that are no workers, if there were any.
        off_worker: Option<LongPoll>,
    },
    /// Nothing held the runtime up.
    Healthy {
        /// The share of the workers' time that they were running, from 0 to 1; `None` if workers
        /// were not recorded.
        busy_share: Option<f64>,
        /// From when on a poll is called long.
        long_poll: Duration,
        /// The longest of the long polls on threads that are no workers, if there were any.
        off_worker: Option<LongPoll>,
        /// Whether events are missing (other than old ones that were dropped by design).
        is_partial: bool,
    },
    /// Tasks were not recorded, so that nobody can be named.
    TasksUnknown {
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: Option<f64>,
        /// Whether Tokio could tell about tasks, that is, whether it was asked not to.
        task_hooks: bool,
    },
    /// Tasks were recorded, but the file of them was not read.
    TasksNotRead {
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: Option<f64>,
    },
    /// Nothing was recorded at all.
    NothingRecorded,
}

pub(super) fn decide(
    report: &Report,
    worst: Option<(LocationRow, LongPoll)>,
    off_worker: Option<LongPoll>,
) -> Verdict {
    let long_poll = report.long_poll;
    let busy_share = workers::busy_share(&report.workers);
    if let Some((row, longest)) = worst {
        let places = report.locations.iter().filter(|row| row.long_polls > 0);
        return Verdict::LongPolls {
            row,
            longest,
            long_poll,
            other_places: places.count().saturating_sub(1),
        };
    }
    if report.events == 0 {
        return Verdict::NothingRecorded;
    }
    if !report.task_hooks || !report.trace_target.tracks_tasks() {
        return Verdict::TasksUnknown { busy_share, task_hooks: report.task_hooks };
    }
    if report.lacking.tasks {
        return Verdict::TasksNotRead { busy_share };
    }
    let time = workers::time_ns(&report.workers);
    let busiest = report.locations.first();
    let named = busiest.and_then(|row| Some((row, share(row.held_ns, time)?)));
    match (busy_share, named) {
        (Some(busy_share), Some((row, held_share)))
            if busy_share > BUSY
                && held_share >= NAMED
                && report.recorded_ns >= ENOUGH_RECORDED_NS
                && Duration::from_nanos(row.held_ns) >= long_poll.min(ENOUGH_HELD) =>
        {
            return Verdict::Busy { row: *row, held_share, busy_share, long_poll, off_worker };
        }
        _ => {}
    }
    Verdict::Healthy {
        busy_share,
        long_poll,
        off_worker,
        is_partial: report.lost.total() > report.lost.dropped_events,
    }
}
