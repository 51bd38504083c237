//! Describes exceeded limits in a few sentences.

use std::fmt;
use std::time::Duration;

use crate::analysis::limits::{Exceeded, From, ReadyWait, Unknown};
#[cfg(has_requests)]
use crate::render::report::shares;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_setting, moment, own_and_wall};

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poll { limit, issue, causes_from } => {
                write!(f, "A poll may hold a worker for {} at most. {issue}", setting(*limit))?;
                match causes_from {
                    None => {
                        f.write_str(" The part of that time that the machine took isn't known.")
                    }
                    Some(from) if from > limit => write!(
                        f,
                        " The time that the machine took is known only for polls of {} or longer.",
                        setting(*from)
                    ),
                    Some(_) => Ok(()),
                }
            }
            Self::Ready { limit, wait, others } => {
                write!(f, "A task may be ready for {} at most. {wait}", setting(*limit))?;
                match others {
                    0 => Ok(()),
                    1 => f.write_str(" It happened once more."),
                    n => write!(f, " It happened {n} times more."),
                }
            }
            #[cfg(has_requests)]
            Self::Span { limit, request, others } => {
                let (name, count) = (request.to_string(), count(request.count, "span"));
                let (name, longest) = (clean(&name), human(request.times.longest_ns));
                let limit = setting(*limit);
                write!(f, "A span {name} may be open for {limit} at most. ")?;
                write!(f, "The longest of {count} was open for {longest}")?;
                if request.slowest.spans > 0 {
                    let shares = shares(&request.slowest, true);
                    write!(f, "; of the time of the slowest {}: {shares}", request.slowest.spans)?;
                }
                match others {
                    0 => f.write_str("."),
                    1 => f.write_str(". There is one other kind of such spans."),
                    n => write!(f, ". There are {n} other kinds of such spans."),
                }
            }
            Self::LongPollFrom { pattern, long_poll, from, others } => {
                write!(f, "No long poll may be from `{}`. {from}", clean(pattern))?;
                write!(f, ", over {} at a time.", setting(*long_poll))?;
                match others {
                    0 => Ok(()),
                    1 => f.write_str(" Another is from such files, too."),
                    n => write!(f, " {n} others are from such files, too."),
                }
            }
        }
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Culprit(culprit) => {
                match &culprit.frame {
                    Some(frame) => write!(f, "{}", clean(&frame.to_string()))?,
                    None => write!(f, "A task of {}", culprit.place)?,
                }
                let cause = match &*culprit.blocking_cause {
                    "" => "held workers",
                    cause => cause,
                };
                let (polls, own) = (count(culprit.polls, "poll"), human(culprit.own_ns));
                write!(f, " {} for {own} in {polls}", clean(cause))
            }
            Self::NotKept(row) => {
                let (polls, held) = (count(row.long_polls, "poll"), human(row.long_polls_ns));
                write!(f, "Tasks of {} held workers for {held} in {polls}", row.place)
            }
        }
    }
}

impl fmt::Display for ReadyWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = moment(self.since_ns);
        let until =
            if self.is_polled { "before it was polled" } else { "and wasn't polled any more" };
        write!(
            f,
            "{} of {} was ready for {} {until}, from {since} on",
            self.task,
            self.place,
            human(self.length_ns),
        )?;
        // The machine causes a part of most waits; a small part isn't worth mentioning.
        if self.own_ns < self.length_ns - self.length_ns / 10 {
            write!(f, "; {} of that is the program's doing", human(self.own_ns))?;
        }
        f.write_str(".")?;
        let Some(poll) = &self.meanwhile else {
            return f.write_str(" Meanwhile the workers polled others.");
        };
        let of = match &poll.frame {
            Some(frame) => format!("{}, ", clean(&frame.to_string())),
            None => String::new(),
        };
        let length = own_and_wall(poll.own_ns, poll.length_ns);
        write!(
            f,
            " Meanwhile a poll of {length} held a worker: {of}{} of {}.",
            poll.task, poll.place
        )
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing was recorded"),
            Self::Tasks { task_hooks: true } => f.write_str("tasks were not recorded"),
            Self::Tasks { task_hooks: false } => {
                f.write_str("tasks were not recorded, which takes --cfg tokio_unstable")
            }
            Self::TasksNotRead => f.write_str("the tasks' file was not read"),
            Self::ReadyTimes => f.write_str(
                "how long tasks were ready was not recorded: it takes schedule_latency (the key and the \
                 feature)",
            ),
            #[cfg(has_requests)]
            Self::NoSpan { name } => write!(f, "no span of tracing is named `{}`", clean(name)),
            Self::Refused { events } => write!(
                f,
                "{} were refused, so what happened then isn't known: a larger max_events, or keep = \"last\", \
                 keeps them",
                count(*events, "event"),
            ),
            Self::PollsNotSeen { limit, polls, always_seen_ns } => {
                let it = if *polls == 1 { "it" } else { "they" };
                write!(
                    f,
                    "{} held a worker for over {}, and no stack sample shows what {it} did, so the machine may have caused \
                     that: only polls of {} or more are always sampled",
                    count(*polls, "poll"),
                    setting(*limit),
                    human(*always_seen_ns),
                )
            }
            Self::PollsNotKept { limit, place, polls, longest_ns } => {
                let (took, them) = match *polls {
                    1 => ("it took", "it"),
                    _ => ("the longest took", "them"),
                };
                write!(
                    f,
                    "{} of tasks of {place} held a worker for over {}; {took} {} of wall time. No detail of {them} is kept, \
                     so the machine may have caused {them}: a larger max_events keeps detail",
                    count(*polls, "poll"),
                    setting(*limit),
                    human(*longest_ns),
                )
            }
            Self::ReadyNotKept { limit, place, waited_ns } => write!(
                f,
                "a task of {place} was ready for {}, over {}, but what happened meanwhile is not kept: a larger \
                 max_events keeps it",
                human(*waited_ns),
                setting(*limit),
            ),
        }
    }
}

fn setting(duration: Duration) -> String {
    human_setting(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
