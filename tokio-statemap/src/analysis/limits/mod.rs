//! Limits that a run must keep to, for `tokio-statemap check` and for tests.
//!
//! Time that the machine took doesn't count, as far as it is known.

mod ready;
#[cfg(has_requests)]
mod spans;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::culprits::Culprit;
use super::issues::Issue;
use super::locations::LocationRow;
use super::own_time::own_ns;
use super::place::Place;
use super::report::Report;
use super::verdict::Verdict;
#[cfg(has_requests)]
use crate::trace::requests::Request;
use crate::trace::summary::Summary;
use crate::trace::timeline::{FrameOrigin, SamplingState, Timeline};
use crate::util::source_path::shown;

pub(crate) use ready::ReadyWait;

/// Returns the pattern that the path of a file matches, if no long poll may be from that file. For a file of the
/// program itself, the pattern may match an end of the path.
pub type Files<'a> = dyn Fn(&str, FileOf) -> Option<String> + 'a;

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOf {
    /// The program itself.
    Program,
    /// A package that it depends on: the path begins with the package.
    Dependency,
}

/// The limits; `None` where there is none.
#[derive(Default)]
pub struct Limits<'a> {
    /// The longest time that a poll may hold its worker.
    pub max_poll: Option<Duration>,
    /// The longest time that a task may be ready before it is polled.
    pub max_ready: Option<Duration>,
    /// The longest time that spans of `tracing` may be open: their names, as in
    /// [`Request::is_named`](crate::Request::is_named), with a limit for each.
    #[cfg(has_requests)]
    pub max_spans: &'a [(String, Duration)],
    /// The files that no long poll may be from.
    pub no_long_polls_from: Option<&'a Files<'a>>,
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("max_poll", &self.max_poll)
            .field("max_ready", &self.max_ready)
            .finish_non_exhaustive()
    }
}

/// A limit that a run exceeded.
#[derive(Clone, Debug, PartialEq)]
pub enum Exceeded {
    /// Polls held workers for longer.
    Poll {
        /// The limit.
        limit: Duration,
        /// The polls that took longer.
        issue: Box<Issue>,
        /// The length from which on it is known what the machine took of a poll; `None` if that isn't known for any
        /// poll.
        causes_from: Option<Duration>,
    },
    /// Tasks were ready for longer.
    Ready {
        /// The limit.
        limit: Duration,
        /// The longest such wait.
        wait: Box<ReadyWait>,
        /// The number of further such waits.
        others: u64,
    },
    /// Spans of `tracing` were open for longer.
    #[cfg(has_requests)]
    Span {
        /// The limit.
        limit: Duration,
        /// The row with the longest of them.
        request: Box<Request>,
        /// The number of further rows with such spans.
        others: usize,
    },
    /// Long polls are from a place that they must not be from.
    LongPollFrom {
        /// The pattern that its file matches.
        pattern: String,
        /// The length from which on a poll is called long.
        long_poll: Duration,
        /// The function or location to blame.
        from: From,
        /// The number of others from such files.
        others: usize,
    },
}

/// The origin of long polls.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// A function, or a spawn location.
    Culprit(Box<Culprit>),
    /// A spawn location of whose long polls none is kept.
    NotKept(LocationRow),
}

/// Why it can't be known whether a run keeps to a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// Nothing was recorded.
    Nothing,
    /// Tasks were not recorded: the configuration excluded them, or Tokio has no hooks for them.
    Tasks {
        /// `true` if Tokio could report tasks.
        task_hooks: bool,
    },
    /// The file of the tasks was not read.
    TasksNotRead,
    /// The times at which tasks became ready were not recorded.
    ReadyTimes,
    /// No span of `tracing` has this name.
    #[cfg(has_requests)]
    NoSpan {
        /// The name.
        name: String,
    },
    /// Events were refused, so it isn't known what happened then.
    Refused {
        /// The number of events.
        events: u64,
    },
    /// Polls seem to have held workers for longer by their own doing, but no sample shows them, so the machine may have
    /// been the cause. Much longer polls are always sampled.
    PollsNotSeen {
        /// The limit.
        limit: Duration,
        /// The number of polls.
        polls: u64,
        /// The length from which on polls are always sampled, in ns.
        always_seen_ns: u64,
    },
    /// Polls of a spawn location held workers for longer, but none of them is kept, so the machine may have been the
    /// cause.
    PollsNotKept {
        /// The limit.
        limit: Duration,
        /// The spawn location with most of them.
        place: Place,
        /// The number of polls there.
        polls: u64,
        /// The length of the longest there, in ns.
        longest_ns: u64,
    },
    /// A task was ready for longer, but the events of that time are not kept.
    ReadyNotKept {
        /// The limit.
        limit: Duration,
        /// The place where the task was spawned.
        place: Place,
        /// The time that it was ready, in ns.
        waited_ns: u64,
    },
}

/// The result of judging a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// The limits that were exceeded.
    pub exceeded: Vec<Exceeded>,
    /// The limits that can't be judged, with the reasons.
    pub unknown: Vec<Unknown>,
}

impl Judgement {
    /// Returns whether the run is known to keep to all limits.
    pub fn is_kept(&self) -> bool {
        self.exceeded.is_empty() && self.unknown.is_empty()
    }
}

/// Judges a run. The timeline is unchanged afterwards.
pub fn judge(timeline: &mut Timeline, limits: &Limits<'_>) -> Judgement {
    let mut judgement = Judgement::default();
    if let Some(unknown) = unknown(timeline) {
        judgement.unknown.push(unknown);
        return judgement;
    }
    if let Some(limit) = limits.max_poll {
        poll(timeline, limit, &mut judgement);
    }
    if let Some(limit) = limits.max_ready {
        match ready::judge(timeline, limit) {
            Ok(exceeded) => judgement.exceeded.extend(exceeded),
            Err(unknown) => judgement.unknown.push(unknown),
        }
    }
    #[cfg(has_requests)]
    for (name, limit) in limits.max_spans {
        spans::judge(timeline, name, *limit, &mut judgement);
    }
    if let Some(files) = limits.no_long_polls_from {
        judgement.exceeded.extend(long_polls_from(&timeline.report(), files));
    }
    let refused = timeline.lost.refused_events + timeline.lost.reentrant_events;
    if judgement.exceeded.is_empty() && refused > 0 {
        judgement.unknown.push(Unknown::Refused { events: refused });
    }
    judgement
}

/// Returns the reason why nothing is known of its tasks, if there is one.
fn unknown(timeline: &Timeline) -> Option<Unknown> {
    let task_hooks = timeline.settings.task_hooks;
    if !task_hooks || !timeline.settings.trace_target.tracks_tasks() {
        return Some(Unknown::Tasks { task_hooks });
    }
    if timeline.lacking.tasks {
        return Some(Unknown::TasksNotRead);
    }
    (timeline.events == 0).then_some(Unknown::Nothing)
}

/// Judges by the verdict of a report for which the limit is the length of a long poll.
fn poll(timeline: &mut Timeline, limit: Duration, judgement: &mut Judgement) {
    let recorded = std::mem::replace(&mut timeline.settings.long_poll, limit);
    let sums = timeline.whole_run.clone();
    if let Some(sums) = &mut timeline.whole_run {
        *sums = Arc::new(recount(sums, recorded, limit));
    }
    let report = timeline.report();
    (timeline.settings.long_poll, timeline.whole_run) = (recorded, sums);
    // Other issues may be worse, but aren't about polls.
    let is_it = |issue: &Issue| matches!(issue, Issue::LongPolls(_));
    let Some(place) = report.issues().iter().position(is_it) else {
        judgement.unknown.extend(polls_not_seen(timeline, limit, &report));
        judgement.unknown.extend(polls_not_kept(limit, &report));
        return;
    };
    let Verdict::Issues(mut issues) = report.verdict else { return };
    let are_causes_known = timeline.long_polls.sampling.state == SamplingState::On;
    judgement.exceeded.push(Exceeded::Poll {
        limit,
        issue: Box::new(issues.swap_remove(place)),
        causes_from: are_causes_known.then_some(recorded),
    });
}

/// Returns the number of polls over the limit that the machine may have made long.
fn polls_not_seen(timeline: &Timeline, limit: Duration, report: &Report) -> Option<Unknown> {
    let mut polls = 0;
    let always_seen_ns = timeline.long_polls.sampling.always_seen_ns();
    for &(task, poll) in report.blame.unseen_at.iter() {
        // A poll that is longer by its own doing would have been sampled.
        let own_ns = own_ns(timeline, &timeline.tasks.seen()[task].polls[poll]);
        polls += u64::from(own_ns < always_seen_ns);
    }
    (polls > 0).then_some(Unknown::PollsNotSeen { limit, polls, always_seen_ns })
}

/// Returns the location with the most polls over the limit, of the locations none of whose polls is kept. If some polls
/// of a location are kept and the machine made these long, it is also blamed for the others.
fn polls_not_kept(limit: Duration, report: &Report) -> Option<Unknown> {
    let mut most: Option<&LocationRow> = None;
    for row in &report.locations {
        let is_kept = row.long_polls == 0 || row.kept_long_polls > 0;
        if !is_kept && most.is_none_or(|most| row.long_polls >= most.long_polls) {
            most = Some(row);
        }
    }
    let row = most?;
    let longest_ns = row.longest_ns.min(row.long_polls_ns);
    let (place, polls) = (row.place, row.long_polls);
    Some(Unknown::PollsNotKept { limit, place, polls, longest_ns })
}

/// Returns the sums of the run with another length of a long poll. As lengths are known to 1 %, only polls that are
/// certainly longer count.
fn recount(sums: &Summary, recorded: Duration, limit: Duration) -> Summary {
    let mut sums = sums.clone();
    if recorded == limit {
        return sums;
    }
    let certain_ns = limit.as_nanos().saturating_mul(101) / 100;
    for location in &mut sums.locations {
        let (mut polls, mut ns) = (0_u64, 0_u64);
        for &(bound_ns, n) in &location.polls.steps {
            if u128::from(bound_ns) > certain_ns {
                polls = polls.saturating_add(n);
                ns = ns.saturating_add(bound_ns.saturating_mul(n));
            }
        }
        let (most, most_ns) = match limit > recorded {
            true => (location.long_polls, location.long_polls_ns),
            false => (location.worker_polls, location.held_ns),
        };
        (location.long_polls, location.long_polls_ns) = (polls.min(most), ns.min(most_ns));
    }
    sums
}

fn long_polls_from(report: &Report, files: &Files<'_>) -> Option<Exceeded> {
    let pattern_of_place = |place: Place| {
        let file = place.location?.file;
        let is_own = !place.is_of_dependency();
        files(&shown(file), if is_own { FileOf::Program } else { FileOf::Dependency })
    };
    let pattern_of_culprit = |culprit: &Culprit| {
        let Some(frame) = &culprit.frame else { return pattern_of_place(culprit.place) };
        // Without line tables, only the spawn location is known.
        let Some(file) = &frame.file else { return pattern_of_place(culprit.place) };
        let is_own = frame.origin == FrameOrigin::Program;
        files(&shown(file), if is_own { FileOf::Program } else { FileOf::Dependency })
    };
    let mut found = Vec::new();
    for culprit in &report.blame.culprits {
        if let Some(pattern) = pattern_of_culprit(culprit) {
            found.push((pattern, From::Culprit(Box::new(culprit.clone()))));
        }
    }
    for row in &report.blame.unexplained {
        if let Some(pattern) = pattern_of_place(row.place) {
            found.push((pattern, From::NotKept(*row)));
        }
    }
    if found.is_empty() {
        return None;
    }
    let others = found.len() - 1;
    let (pattern, from) = found.swap_remove(0);
    Some(Exceeded::LongPollFrom { pattern, long_poll: report.recording.long_poll, from, others })
}
