//! The verdict, in a few sentences.

use std::fmt;
use std::time::Duration;

use super::layout::{COLUMNS, keep_right};
use crate::analysis::{
    Culprit, Delay, Excused, LocationRow, LongPoll, Place, Verdict, source_line,
};
use crate::render::length::length;
use crate::trace::timeline::{ExhaustedPool, StackFrame};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_setting, moment, percent};

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongPolls { culprit, row, did_harm, long_poll, others } => {
                culprit_sentences(f, culprit, row, *did_harm, *long_poll)?;
                others_too(f, *others)
            }
            Self::Stall(stall) => stall.fmt(f),
            Self::NeverFinished(never) => never.fmt(f),
            Self::MaybeLeaked(leak) => leak.fmt(f),
            Self::Starved(starved) => starved.fmt(f),
            Self::LongPollsNotKept { row, did_harm, long_poll, others } => {
                not_kept_sentences(f, row, *did_harm, *long_poll)?;
                others_too(f, *others)
            }
            Self::Busy {
                row,
                taken_share,
                between_share,
                busy_share,
                excused,
                long_poll,
                off_worker,
            } => {
                write!(
                    f,
                    "No poll {}, but the workers were busy {} of the time. {} took most of it: {} of \
                     their time, in {}",
                    held(excused, *long_poll),
                    percent(*busy_share),
                    subject(row.place).0,
                    percent(*taken_share),
                    count(row.tasks, "task"),
                )?;
                // Where polls do less than what it takes to schedule them, their number is what costs.
                if *between_share > 0.5 {
                    let average_ns = row.held_ns / row.worker_polls.max(1);
                    write!(
                        f,
                        ", with {} of {}: {} of it went to scheduling them",
                        count(row.worker_polls, "poll"),
                        human(average_ns),
                        percent(*between_share),
                    )?;
                }
                f.write_str(".")?;
                off_the_workers(f, off_worker.as_ref())
            }
            Self::TooFewWorkers { workers, ready_tasks, row, busy_share, excused, long_poll } => {
                write!(
                    f,
                    "Too few workers for the load: {} were busy {} of the time, and {ready_tasks:.1} \
                 tasks were ready on average. No poll {}, and nobody stands out: most of it are the \
                 {} of {}.",
                    count(*workers as u64, "worker"),
                    percent(*busy_share),
                    held(excused, *long_poll),
                    count(row.tasks, "task"),
                    subject(row.place).0,
                )
            }
            Self::ExhaustedPool { pool, busy_share, has_long_polls, excused, long_poll } => {
                write!(f, "{}", pool_sentences(pool))?;
                let who = match has_long_polls {
                    true => {
                        f.write_str(" On the workers little was held up")?;
                        "they"
                    }
                    false => {
                        write!(f, " No poll {}", held(excused, *long_poll))?;
                        "the workers"
                    }
                };
                match busy_share {
                    Some(busy) => {
                        write!(f, ", and {who} were busy {} of the time.", percent(*busy))
                    }
                    None => f.write_str("."),
                }
            }
            Self::Healthy {
                busy_share,
                long_poll,
                off_worker,
                is_partial,
                excused,
                stuck,
                has_no_tasks,
            } => {
                let part = if *is_partial { " in what was recorded" } else { "" };
                let held = held(excused, *long_poll);
                write!(f, "Nothing held the runtime up{part}: no poll {held}")?;
                match busy_share {
                    Some(busy) => {
                        write!(f, ", and the workers were busy {} of the time.", percent(*busy))?;
                    }
                    None => f.write_str("; how busy the workers were isn't known.")?,
                }
                if let Some(stuck) = stuck {
                    let (place, tasks) = (subject(stuck.place).0, count(stuck.tasks, "task"));
                    let waited = human(stuck.waited_ns);
                    write!(f, " {tasks} of {place} waited longest, up to the end: {waited}.")?;
                }
                if *has_no_tasks {
                    f.write_str(
                        " No task was seen: what runs in a LocalSet, or on runtimes of its own as \
                         actix-web's, isn't recorded here.",
                    )?;
                }
                off_the_workers(f, off_worker.as_ref())
            }
            Self::TooShort { recorded_ns, long_poll } => write!(
                f,
                "Only {} were recorded: too short to tell who holds the runtime up. No poll held a \
                 worker over {}.",
                human(*recorded_ns),
                setting(*long_poll),
            ),
            Self::TasksUnknown { busy_share, task_hooks } => {
                let why = if *task_hooks {
                    "tasks were not recorded"
                } else {
                    "Tokio's task hooks need --cfg tokio_unstable"
                };
                unknown(f, why, *busy_share)
            }
            Self::TasksNotRead { busy_share } => {
                unknown(f, "the tasks' file is not here", *busy_share)
            }
            Self::NothingRecorded => f.write_str("Nothing was recorded."),
        }
    }
}

/// What no poll did.
fn held(excused: &Excused, long_poll: Duration) -> String {
    let is_seen = excused.unseen_polls == 0 && excused.dropped_polls == 0;
    let held = if is_seen { "held" } else { "was seen to hold" };
    let is_any = excused.polls > 0 || !is_seen;
    let own = if is_any { " by its own doing" } else { "" };
    format!("{held} a worker over {}{own}", setting(long_poll))
}

fn others_too(f: &mut fmt::Formatter<'_>, others: usize) -> fmt::Result {
    match others {
        0 => Ok(()),
        1 => f.write_str(" Another had such polls, too."),
        n => write!(f, " {n} others had such polls, too."),
    }
}

/// How tasks waited for the blocking pool, and for whom.
pub(super) fn pool_sentences(pool: &ExhaustedPool) -> String {
    let waited = count(pool.most_waiting, "task");
    let threads = match pool.threads {
        1 => "its only thread".to_owned(),
        n => format!("its {n} threads"),
    };
    let mut text = format!(
        "The blocking pool was exhausted: up to {waited} waited at once for {threads}, {} in sum, the \
         longest {}.",
        human(pool.waited_ns),
        human(pool.longest_ns),
    );
    if pool.tasks == 0 {
        text.push_str(" None of the tasks that had them was seen to end.");
        return text;
    }
    let place = Place::new(pool.location, false);
    let which = if pool.other_locations > 0 { "Mostly" } else { "Meanwhile" };
    let each = human(pool.ran_ns / pool.tasks);
    let ran = if pool.tasks == 1 {
        format!("one task of {each}")
    } else {
        format!("{} of {each} on average", count(pool.tasks, "task"))
    };
    match pool.location {
        Some(_) => {
            let place = keep_right(&place.to_string(), COLUMNS);
            text.push_str(&format!(" {which} it ran {ran}, spawned at {place}."));
        }
        None => text.push_str(&format!(" {which} it ran {ran}, spawned at unknown locations.")),
    }
    text
}

fn unknown(f: &mut fmt::Formatter<'_>, why: &str, busy_share: Option<f64>) -> fmt::Result {
    write!(f, "Which task held the runtime isn't known: {why}.")?;
    match busy_share {
        Some(busy) => write!(f, " The workers were busy {} of the time.", percent(busy)),
        None => Ok(()),
    }
}

/// How the verdict names a place, and whether it has *its* or *their* polls.
pub(super) fn subject(place: Place) -> (String, &'static str) {
    if place.location.is_none() && !place.is_root {
        ("Tasks of unknown spawn location".to_owned(), "their")
    } else {
        (keep_right(&place.to_string(), COLUMNS), "its")
    }
}

/// Who did what to whom.
fn culprit_sentences(
    f: &mut fmt::Formatter<'_>,
    culprit: &Culprit,
    row: &LocationRow,
    did_harm: bool,
    long_poll: Duration,
) -> fmt::Result {
    if !did_harm {
        f.write_str("Little was held up: ")?;
    }
    match &culprit.frame {
        Some(frame) => {
            let name = function(frame);
            let (act, over) = (&culprit.act, setting(long_poll));
            match did_harm {
                true => write!(f, "{name} held the runtime up: it {act}")?,
                false => write!(f, "{name} {act}")?,
            }
            if is_all_kept(row) {
                // Not all polls of a location are those of one function, or are seen.
                let (seen, all) = match is_some_of_location(culprit) {
                    true => ("seen ", culprit.location_polls),
                    false => ("", row.polls),
                };
                write!(f, ", {seen}in {} over {over}", polls_of(culprit.polls, all))?;
                if culprit.polls > 1 {
                    write!(f, ", {} in all", human(culprit.own_ns))?;
                }
                write!(f, ", of tasks spawned at {}", subject(row.place).0)?;
                match culprit.other_places {
                    0 => {}
                    1 => f.write_str(" and elsewhere")?,
                    n => write!(f, " and {n} other places")?,
                }
            } else {
                write!(f, ". Of tasks spawned at {}, ", subject(row.place).0)?;
                in_the_whole_run(f, row, long_poll)?;
                match culprit.other_places {
                    0 if culprit.polls == row.kept_long_polls => {}
                    0 => write!(f, ", and it was seen in {}", of_these(culprit.polls))?,
                    _ => write!(f, "; of all that are kept it was seen in {}", culprit.polls)?,
                }
            }
            f.write_str(".")?;
        }
        None if !is_all_kept(row) => {
            let (subject, _) = subject(row.place);
            if did_harm {
                write!(f, "{subject} held the runtime up: ")?;
            } else {
                write!(f, "of {subject}, ")?;
            }
            in_the_whole_run(f, row, long_poll)?;
            f.write_str(".")?;
        }
        None => {
            let (subject, its) = subject(row.place);
            if did_harm {
                write!(f, "{subject} held the runtime up: ")?;
                long_polls(f, culprit, row, its, long_poll)?;
            } else {
                let (polls, over) = (polls_of(culprit.polls, row.polls), setting(long_poll));
                let sum = human(culprit.own_ns);
                write!(f, "{polls} of {subject} ran over {over}, {sum} in all.")?;
            }
        }
    }
    if culprit.frame.is_none() && !culprit.act.is_empty() {
        let they = if culprit.polls == 1 { "It" } else { "They" };
        write!(f, " {they} {}, in a function that isn't known.", culprit.act)?;
    }
    the_longest(f, culprit, row)?;
    meanwhile(f, culprit, row)?;
    unseen(f, culprit)
}

/// Whether tasks that were spawned where those of a culprit were had other long polls, too.
fn is_some_of_location(culprit: &Culprit) -> bool {
    culprit.location_polls > culprit.polls
}

/// ` In 10 other long polls of these tasks, 258 ms in all, no function was seen: what they did isn't known.`
fn unseen(f: &mut fmt::Formatter<'_>, culprit: &Culprit) -> fmt::Result {
    match (culprit.unseen_polls, culprit.unseen_ns) {
        (0, _) if culprit.frame.is_none() && is_some_of_location(culprit) => {
            f.write_str(" No function was seen in them.")
        }
        (0, _) => Ok(()),
        (1, ns) => write!(
            f,
            " In another long poll of tasks spawned there, {}, no function was seen: what it did isn't known.",
            human(ns)
        ),
        (n, ns) => write!(
            f,
            " In {n} other long polls of tasks spawned there, {} in all, no function was seen: what they did isn't \
             known.",
            human(ns)
        ),
    }
}

/// The same of polls of which none is kept.
fn not_kept_sentences(
    f: &mut fmt::Formatter<'_>,
    row: &LocationRow,
    did_harm: bool,
    long_poll: Duration,
) -> fmt::Result {
    let (subject, _) = subject(row.place);
    match did_harm {
        true => write!(f, "{subject} held the runtime up: ")?,
        false => write!(f, "Little was held up: of {subject}, ")?,
    }
    in_the_whole_run(f, row, long_poll)?;
    if row.off_worker_ns == 0 {
        write!(f, ". The longest took {} of wall time", human(row.longest_ns))?;
    }
    f.write_str(". What they did, and who waited meanwhile, isn't known.")
}

/// `16 of these`
fn of_these(n: u64) -> String {
    if n == 1 { "one of these".to_owned() } else { format!("{n} of these") }
}

/// Whether all long polls of a location are kept in detail.
fn is_all_kept(row: &LocationRow) -> bool {
    row.kept_long_polls >= row.long_polls
}

/// `310 of 90000 polls ran over 1 ms in the whole run, 6.20 s of wall time in all; 14 of them are kept in detail`. What the
/// machine took of those that aren't kept isn't known.
fn in_the_whole_run(
    f: &mut fmt::Formatter<'_>,
    row: &LocationRow,
    long_poll: Duration,
) -> fmt::Result {
    let (polls, over) = (polls_of(row.long_polls, row.polls), setting(long_poll));
    let sum = human(row.long_polls_ns);
    write!(f, "{polls} ran over {over} in the whole run, {sum} of wall time in all; ")?;
    match (row.kept_long_polls, row.long_polls) {
        (0, 1) => f.write_str("it isn't kept in detail"),
        (1, 1) => f.write_str("only a part of it is kept in detail"),
        (0, _) => f.write_str("none of them is kept in detail"),
        (1, _) => f.write_str("one of them is kept in detail"),
        (n, _) => write!(f, "{n} of them are kept in detail"),
    }
}

/// `shop::render_invoice at src/shop.rs:21`, each part as far as there is room.
pub(super) fn function(frame: &StackFrame) -> String {
    let name = keep_right(&clean(&frame.function), COLUMNS);
    let word = if frame.line.is_some() { "at" } else { "in" };
    match source_line(frame) {
        Some(place) => format!("{name} {word} {}", keep_right(&clean(&place), COLUMNS)),
        None => name,
    }
}

/// `14 of 900 polls`
fn polls_of(long: u64, all: u64) -> String {
    match (long, all) {
        (1, 1) => "one poll".to_owned(),
        (1, all) => format!("one of {all} polls"),
        (long, all) if long >= all => format!("all {long} polls"),
        (long, all) => format!("{long} of {all} polls"),
    }
}

/// `14 of its 900 polls ran over 1 ms, 358 ms in all.`
fn long_polls(
    f: &mut fmt::Formatter<'_>,
    culprit: &Culprit,
    row: &LocationRow,
    its: &str,
    long_poll: Duration,
) -> fmt::Result {
    let over = setting(long_poll);
    match (culprit.polls, row.polls) {
        (1, 1) => write!(f, "{its} only poll ran over {over}."),
        (1, polls) => write!(f, "one of {its} {polls} polls ran over {over}."),
        (long, polls) => {
            let n = if long == polls { "all".to_owned() } else { long.to_string() };
            let sum = human(culprit.own_ns);
            write!(f, "{n} of {its} {polls} polls ran over {over}, {sum} in all.")
        }
    }
}

/// ` The longest took 25.6 ms, on worker-1 at 0.731 s.`
fn the_longest(f: &mut fmt::Formatter<'_>, culprit: &Culprit, row: &LocationRow) -> fmt::Result {
    let longest = &culprit.longest;
    let which = match (is_all_kept(row), culprit.polls) {
        (true, 1) if is_some_of_location(culprit) => "That one",
        (true, 1) => "It",
        (true, _) => "The longest",
        // The place's longest may be blamed on another.
        (false, 1) => "That",
        (false, _) => "The longest of those",
    };
    let took = match (longest.is_running, longest.is_cut) {
        (true, _) => "still ran at the end, after",
        (false, true) => "took at least",
        (false, false) => "took",
    };
    write!(f, " {which} {took} {}", length(longest.own_ns, longest.length_ns))?;
    if let Some(worker) = longest.worker {
        write!(f, ", on worker-{worker}")?;
    }
    write!(f, " at {}", moment(longest.start_ns))?;
    match longest.delay.waited_ns {
        None => f.write_str(" (ready times were not recorded)."),
        Some(_) => f.write_str("."),
    }
}

fn meanwhile(f: &mut fmt::Formatter<'_>, culprit: &Culprit, row: &LocationRow) -> fmt::Result {
    // It isn't known who waited during the others.
    let meanwhile = match (is_all_kept(row), culprit.polls) {
        (true, _) | (false, 1) => "Meanwhile",
        (false, _) => "During those",
    };
    delayed_sentence(f, culprit.delay, meanwhile)
}

/// ` Meanwhile other tasks waited 3.20 s for a worker, in sum, and timers and I/O came up to 8.00 s late.`
pub(super) fn delayed_sentence(
    f: &mut fmt::Formatter<'_>,
    delay: Delay,
    meanwhile: &str,
) -> fmt::Result {
    let late = match delay.latest_ns {
        0 => None,
        latest_ns => Some(format!("timers and I/O came up to {} late", human(latest_ns))),
    };
    match (delay.waited_ns, late) {
        (None, None) => Ok(()),
        (Some(0), None) => f.write_str(" No other task waited meanwhile."),
        (None | Some(0), Some(late)) => write!(f, " Meanwhile nothing else ran: {late}."),
        (Some(waited_ns), late) => {
            let waited = human(waited_ns);
            write!(f, " {meanwhile} other tasks waited {waited} for a worker, in sum")?;
            match late {
                Some(late) => write!(f, ", and {late}."),
                None => f.write_str("."),
            }
        }
    }
}

/// ` The longest poll of main, 54.8 ms, was on a thread that is no worker.`
fn off_the_workers(f: &mut fmt::Formatter<'_>, longest: Option<&LongPoll>) -> fmt::Result {
    let Some(longest) = longest else {
        return Ok(());
    };
    let whose = match longest.place.is_root {
        true => "main".to_owned(),
        false => keep_right(&longest.place.to_string(), COLUMNS),
    };
    let least = if longest.is_running || longest.is_cut { "at least " } else { "" };
    let length = length(longest.own_ns, longest.length_ns);
    write!(f, " The longest poll of {whose}, {least}{length}, was on a thread that is no worker.")
}

fn setting(time: Duration) -> String {
    human_setting(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
