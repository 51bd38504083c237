//! The verdict, in a few sentences.

use std::fmt;
use std::time::Duration;

use super::layout::{COLUMNS, keep_right};
use crate::analysis::{LocationRow, LongPoll, Place, Verdict};
use crate::util::quantity::{count, human, human_setting, moment, percent};

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
                unknown(f, why, busy_share)
            }
            Self::TasksNotRead { busy_share } => {
                unknown(f, "the tasks' file is not here", busy_share)
            }
            Self::NothingRecorded => f.write_str("Nothing was recorded."),
        }
    }
}

fn unknown(f: &mut fmt::Formatter<'_>, why: &str, busy_share: Option<f64>) -> fmt::Result {
    write!(f, "Which task held the runtime isn't known: {why}.")?;
    match busy_share {
        Some(busy) => write!(f, " The workers were busy {} of the time.", percent(busy)),
        None => Ok(()),
    }
}

/// How the verdict names a place, and whether it has *its* or *their* polls.
fn subject(place: Place) -> (String, &'static str) {
    if place.location.is_none() && !place.is_root {
        ("Tasks of unknown spawn location".to_owned(), "their")
    } else {
        (keep_right(&place.to_string(), COLUMNS), "its")
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
        false => keep_right(&longest.place.to_string(), COLUMNS),
    };
    let least = if longest.is_running || longest.is_cut { "at least " } else { "" };
    let length = human(longest.length_ns);
    write!(f, " The longest poll of {whose}, {least}{length}, was on a thread that is no worker.")
}

fn setting(time: Duration) -> String {
    human_setting(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
