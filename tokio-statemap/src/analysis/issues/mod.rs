//! What is worth a look, the worst first. The verdict is the first of it, and report and page list all of it in this
//! order: so what is said first is the same everywhere.

mod awaited;
mod leak;
mod lengths;
mod long_polls;
mod never_finished;
mod spots;
mod stall;
mod starved;
#[cfg(test)]
mod tests;

use std::fmt;

pub use leak::MaybeLeaked;
pub use lengths::Lengths;
pub use never_finished::{NeverFinished, Stuck, WhyNever};
pub(crate) use spots::Spot;
pub use stall::Stall;
pub use starved::Starved;

use super::culprits::Culprit;
use super::place::Place;
use super::report::Report;
use super::verdict::{self, Facts, Verdict};
use crate::trace::timeline::{StackFrame, Timeline};

/// Something that is worth a look. `Display` says it in a few sentences, as the report begins if it is the first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Issue {
    /// What it is.
    pub kind: IssueKind,
    /// The function and line to blame; `None` if that isn't known, or it is of no function.
    pub frame: Option<StackFrame>,
    /// Where the tasks were spawned that it is about; `None` if it is about none.
    pub place: Option<Place>,
    /// How many polls, tasks or waits, as [`IssueKind::noun`] says.
    pub number: u64,
    /// How long these took in sum, in ns. Of tasks that never finished, the longest wait.
    pub total_ns: u64,
    /// How long each took; `None` if that isn't known.
    pub lengths: Option<Lengths>,
    /// The verdict, if it is the first.
    pub finding: Verdict,
    /// Which of the culprits it is.
    pub(crate) culprit: Option<usize>,
    /// Where it can be seen, the worst first; of a culprit that is known of its polls.
    pub(crate) spots: Vec<Spot>,
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.finding.fmt(f)
    }
}

/// What an issue is. `Display` is its name, such as `long polls`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IssueKind {
    /// Nothing was polled on any worker, though tasks should have been.
    Stall,
    /// Polls held workers for long by their own doing.
    LongPolls,
    /// Tasks still waited at the end that should have finished.
    NeverFinished,
    /// There were only ever more tasks of a spawn location.
    MaybeLeaked,
    /// Tasks were ready for long, though no poll was long.
    Starved,
    /// The workers were busy all the time.
    BusyWorkers,
    /// Tasks waited for a thread of the blocking pool.
    ExhaustedPool,
}

impl IssueKind {
    /// The name, as the report and the page have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stall => "stall",
            Self::LongPolls => "long polls",
            Self::NeverFinished => "never finished",
            Self::MaybeLeaked => "maybe leaked",
            Self::Starved => "starved",
            Self::BusyWorkers => "busy workers",
            Self::ExhaustedPool => "blocking pool",
        }
    }

    /// What [`Issue::number`] counts, in the singular.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Stall => "time",
            Self::LongPolls => "poll",
            Self::Starved => "wait",
            Self::NeverFinished | Self::MaybeLeaked | Self::BusyWorkers | Self::ExhaustedPool => {
                "task"
            }
        }
    }

    /// What it means, in one line.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Stall => "Nothing was polled on any worker, though tasks should have been.",
            Self::LongPolls => {
                "Between two awaits it took so long that others could not be polled."
            }
            Self::NeverFinished => "Tasks waited up to the end that should have finished.",
            Self::MaybeLeaked => {
                "There were only ever more of these tasks, and most do nothing any more."
            }
            Self::Starved => {
                "Tasks were ready for long before they were polled, though no poll was long."
            }
            Self::BusyWorkers => "The workers had no time left.",
            Self::ExhaustedPool => {
                "All threads of the blocking pool were in use, and tasks waited."
            }
        }
    }

    /// What usually helps, in one line.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Stall => {
                "Move what blocks to spawn_blocking or a thread of its own; hold no std lock for long."
            }
            Self::LongPolls => {
                "Use the async counterpart of what blocks, or spawn_blocking; yield_now in long loops."
            }
            Self::NeverFinished => {
                "Look for locks taken in another order, for a sender or a waker that was dropped or forgotten; set timeouts."
            }
            Self::MaybeLeaked => {
                "Give them an end: a timeout, a CancellationToken, or a JoinSet that is dropped."
            }
            Self::Starved => {
                "Spawn fewer at once (a semaphore, a JoinSet), do less in each poll, or add workers."
            }
            Self::BusyWorkers => "Do less, or use more workers or processors.",
            Self::ExhaustedPool => {
                "Raise max_blocking_threads, or limit what is spawned there; what computes belongs on a pool of its own."
            }
        }
    }
}

impl fmt::Display for IssueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// All issues and the verdict: that of the first, or what there is to say without one. `unpolled` tasks were ready all
/// the time of the last events.
pub(super) fn judge(
    timeline: &Timeline,
    report: &Report,
    facts: Facts,
    unpolled: u64,
) -> (Vec<Issue>, Verdict) {
    let unknown = verdict::unknown(report);
    let long_polls = long_polls::find(report);
    let has_long_polls = !long_polls.is_empty();
    let mut issues = Vec::new();
    if let Some((stall, spots, lengths)) = stall::find(timeline, &report.culprits, unpolled) {
        issues.push((0, Issue::of_stall(stall, spots, lengths)));
    }
    let worst_ns = long_polls.first().map_or(0, |first| first.harm_ns);
    for found in long_polls {
        issues.push((if found.did_harm { 2 } else { 7 }, found.issue));
    }
    let mut stuck = None;
    if unknown.is_none() {
        if let Some((verdict, row)) = verdict::busy(report, &facts).filter(|_| !has_long_polls) {
            let (place, number, total_ns) = (Some(row.place), row.tasks, row.held_ns);
            let issue = Issue::new(IssueKind::BusyWorkers, place, number, total_ns, verdict);
            issues.push((3, issue));
        }
        if let Some(pool) = verdict::pool(report) {
            let place = Place::new(pool.location, false);
            let verdict = verdict::of_pool(report, pool, has_long_polls);
            let (number, total_ns) = (pool.most_waiting, pool.waited_ns);
            let place = (pool.tasks > 0).then_some(place);
            issues
                .push((3, Issue::new(IssueKind::ExhaustedPool, place, number, total_ns, verdict)));
        }
        let found = never_finished::find(timeline);
        stuck = found.stuck;
        for (never, spots) in found.never {
            let is_worst = never.is_sure() && u128::from(never.waited_ns) > worst_ns;
            issues.push((if is_worst { 1 } else { 4 }, Issue::of_never(never, spots)));
        }
        for (leak, spots) in leak::find(timeline) {
            issues.push((5, Issue::of_leak(leak, spots)));
        }
        for (starved, spots, lengths) in starved::find(timeline) {
            issues.push((6, Issue::of_starved(starved, spots, lengths)));
        }
    }
    // Stable: those of one rank are in order.
    issues.sort_by_key(|(rank, _)| *rank);
    let issues: Vec<Issue> = issues.into_iter().map(|(_, issue)| issue).collect();
    let verdict = match (issues.first(), unknown) {
        (Some(first), _) => first.finding.clone(),
        (None, Some(unknown)) => unknown,
        (None, None) => verdict::healthy(report, facts, stuck),
    };
    (issues, verdict)
}

impl Issue {
    fn new(
        kind: IssueKind,
        place: Option<Place>,
        number: u64,
        total_ns: u64,
        finding: Verdict,
    ) -> Self {
        Self {
            kind,
            frame: None,
            place,
            number,
            total_ns,
            lengths: None,
            finding,
            culprit: None,
            spots: Vec::new(),
        }
    }

    fn of_stall(stall: Stall, spots: Vec<Spot>, lengths_ns: Vec<u64>) -> Self {
        let Culprit { frame, place, .. } = &stall.culprit;
        let (frame, place, lengths) = (frame.clone(), Some(*place), Lengths::of(lengths_ns));
        let (number, total_ns) = (stall.times, stall.total_ns);
        let finding = Verdict::Stall(Box::new(stall));
        let issue = Self::new(IssueKind::Stall, place, number, total_ns, finding);
        Self { frame, spots, lengths: Some(lengths), ..issue }
    }

    fn of_never(never: NeverFinished, spots: Vec<Spot>) -> Self {
        let (place, number, total_ns) = (Some(never.place), never.tasks, never.waited_ns);
        let finding = Verdict::NeverFinished(Box::new(never));
        let issue = Self::new(IssueKind::NeverFinished, place, number, total_ns, finding);
        Self { spots, ..issue }
    }

    fn of_leak(leak: MaybeLeaked, spots: Vec<Spot>) -> Self {
        let (place, number, total_ns) = (Some(leak.place), leak.alive, leak.over_ns);
        let finding = Verdict::MaybeLeaked(Box::new(leak));
        let issue = Self::new(IssueKind::MaybeLeaked, place, number, total_ns, finding);
        Self { spots, ..issue }
    }

    fn of_starved(starved: Starved, spots: Vec<Spot>, lengths: Lengths) -> Self {
        let (place, number, total_ns) = (Some(starved.place), starved.times, starved.total_ns);
        let finding = Verdict::Starved(Box::new(starved));
        let issue = Self::new(IssueKind::Starved, place, number, total_ns, finding);
        Self { spots, lengths: Some(lengths), ..issue }
    }
}
