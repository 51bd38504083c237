//! The verdict: who held the runtime up, in a few sentences.

use std::fmt;
use std::time::Duration;

use super::Report;
use super::format::{self, COLUMNS, count, human, moment, percent};
use super::locations::LocationRow;
use super::place::Place;
use super::polls::LongPoll;
use super::workers;

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
    let time = workers::time_ns(&report.workers);
    let busiest = report.locations.first();
    let named = busiest.and_then(|row| Some((row, format::share(row.held_ns, time)?)));
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

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::LongPolls { row, longest, long_poll, other_places } => {
                let (subject, its) = subject(row.place);
                write!(f, "{subject} held the runtime up: ")?;
                long_polls(f, &row, its, long_poll)?;
                the_longest(f, &row, &longest)?;
                match other_places {
                    0 => Ok(()),
                    1 => f.write_str(" Another location had such polls, too."),
                    n => write!(f, " {n} other locations had such polls, too."),
                }
            }
            Self::Busy { row, held_share, busy_share, long_poll, off_worker } => {
                write!(
                    f,
                    "No poll held a worker over {}, but the workers were busy {} of the time. {} \
                     held them most: {} of their time, in {}.",
                    setting(long_poll),
                    percent(busy_share),
                    subject(row.place).0,
                    percent(held_share),
                    count(row.tasks, "task"),
                )?;
                off_the_workers(f, off_worker)
            }
            Self::Healthy { busy_share, long_poll, off_worker, is_partial } => {
                let part = if is_partial { " in what was recorded" } else { "" };
                let over = setting(long_poll);
                write!(f, "Nothing held the runtime up{part}: no poll held a worker over {over}")?;
                match busy_share {
                    Some(busy) => {
                        write!(f, ", and the workers were busy {} of the time.", percent(busy))?;
                    }
                    None => f.write_str("; how busy the workers were isn't known.")?,
                }
                off_the_workers(f, off_worker)
            }
            Self::TasksUnknown { busy_share, task_hooks } => {
                let why = if task_hooks {
                    "tasks were not recorded"
                } else {
                    "Tokio's task hooks need --cfg tokio_unstable"
                };
                write!(f, "Which task held the runtime isn't known: {why}.")?;
                match busy_share {
                    Some(busy) => {
                        write!(f, " The workers were busy {} of the time.", percent(busy))
                    }
                    None => Ok(()),
                }
            }
            Self::NothingRecorded => f.write_str("Nothing was recorded."),
        }
    }
}

/// How the verdict names a place, and whether it has *its* or *their* polls.
fn subject(place: Place) -> (String, &'static str) {
    if place.location.is_none() && !place.is_root {
        ("Tasks of unknown spawn location".to_owned(), "their")
    } else {
        (place.fit(COLUMNS), "its")
    }
}

/// `14 of its 900 polls ran over 1 ms, 358 ms in all.`
fn long_polls(
    f: &mut fmt::Formatter<'_>,
    row: &LocationRow,
    its: &str,
    long_poll: Duration,
) -> fmt::Result {
    let over = setting(long_poll);
    match (row.long_polls, row.polls) {
        (1, 1) => write!(f, "{its} only poll ran over {over}."),
        (1, polls) => write!(f, "one of {its} {polls} polls ran over {over}."),
        (long, polls) => {
            let n = if long == polls { "all".to_owned() } else { long.to_string() };
            let sum = human(row.long_polls_ns);
            write!(f, "{n} of {its} {polls} polls ran over {over}, {sum} in all.")
        }
    }
}

/// ` The longest took 25.6 ms, on worker-1 at 0.731 s; 37 other tasks were ready meanwhile.`
fn the_longest(f: &mut fmt::Formatter<'_>, row: &LocationRow, longest: &LongPoll) -> fmt::Result {
    let which = if row.long_polls == 1 { "It" } else { "The longest" };
    let took = match (longest.is_running, longest.is_cut) {
        (true, _) => "still ran at the end, after",
        (false, true) => "took at least",
        (false, false) => "took",
    };
    write!(f, " {which} {took} {}", human(longest.length_ns))?;
    if let Some(worker) = longest.worker {
        write!(f, ", on worker-{worker}")?;
    }
    write!(f, " at {}", moment(longest.start_ns))?;
    match longest.ready_meanwhile {
        None => f.write_str(" (ready times were not recorded)."),
        Some(0) => f.write_str("; no other task was ready meanwhile."),
        Some(1) => f.write_str("; one other task was ready meanwhile."),
        Some(n) => write!(f, "; {n} other tasks were ready meanwhile."),
    }
}

/// ` The longest poll of main, 54.8 ms, was on a thread that is no worker.`
fn off_the_workers(f: &mut fmt::Formatter<'_>, longest: Option<LongPoll>) -> fmt::Result {
    let Some(longest) = longest else {
        return Ok(());
    };
    let whose = match longest.place.is_root {
        true => "main".to_owned(),
        false => longest.place.fit(COLUMNS),
    };
    let least = if longest.is_running || longest.is_cut { "at least " } else { "" };
    let length = human(longest.length_ns);
    write!(f, " The longest poll of {whose}, {least}{length}, was on a thread that is no worker.")
}

fn setting(time: Duration) -> String {
    format::human_setting(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
