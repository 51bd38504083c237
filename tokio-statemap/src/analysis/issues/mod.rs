//! Finds everything that is worth a look, the worst first. The first issue is the verdict. The report and the page list
//! all issues in this order, so that every output begins with the same one.

mod busy_workers;
mod contended;
mod evidence;
mod exhausted_pool;
mod in_place;
mod leak;
mod long_polls;
mod meanwhile;
mod never_finished;
mod own_threads;
mod stall;
mod starved;
#[cfg(test)]
mod tests;

use std::fmt;

pub use busy_workers::BusyWorkers;
pub use contended::Contended;
pub use evidence::{Evidence, Explanation};
pub use exhausted_pool::PoolShortage;
pub(super) use exhausted_pool::pool_statement;
pub use in_place::{Besides, InPlace};
pub use leak::MaybeLeaked;
pub use long_polls::LongPollIssue;
pub use never_finished::{NeverFinished, Stuck, WhyNever};
pub use own_threads::OwnThreads;
pub use stall::Stall;
pub use starved::Starved;

use evidence::Finding;

use super::blockers::LastWaits;
use super::computed::Computed;
use super::critical_path::CriticalPath;
use super::culprits::LongPollBlame;
use super::locations::LocationRow;
use super::long_polls::LongPoll;
use super::own_time::own_ns;
use super::recording::Recording;
use super::spelling::Spelling;
use super::statement::Statement;
use super::waits::Waits;
use super::workers::WorkerShare;
use crate::trace::timeline::{Shutdown, Timeline};

/// Something that is worth a look. `Display` describes it in a few sentences.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Issue {
    /// Nothing was polled on any worker for a second or more, though tasks should have been.
    Stall(Box<Stall>),
    /// Polls held workers over `long_poll` by their own doing.
    LongPolls(Box<LongPollIssue>),
    /// Tasks that should have finished still waited at the end.
    NeverFinished(Box<NeverFinished>),
    /// The number of tasks of a spawn location only grew.
    MaybeLeaked(Box<MaybeLeaked>),
    /// Tasks were ready for long, though no poll was long.
    Starved(Box<Starved>),
    /// The workers were busy all the time, though few polls were long.
    BusyWorkers(Box<BusyWorkers>),
    /// Tasks waited for a thread of the blocking pool.
    ExhaustedPool(Box<PoolShortage>),
    /// Tasks queued at a line for something that other tasks had.
    Contended(Box<Contended>),
    /// A task that awaits several things at once stood still in `block_in_place`.
    InPlace(Box<InPlace>),
    /// Threads of the blocking pool took the processors from the workers.
    OwnThreads(Box<OwnThreads>),
}

impl Issue {
    fn finding(&self) -> &dyn Finding {
        match self {
            Self::Stall(stall) => &**stall,
            Self::LongPolls(polls) => &**polls,
            Self::NeverFinished(never) => &**never,
            Self::MaybeLeaked(leak) => &**leak,
            Self::Starved(starved) => &**starved,
            Self::BusyWorkers(busy) => &**busy,
            Self::ExhaustedPool(pool) => &**pool,
            Self::Contended(contended) => &**contended,
            Self::InPlace(in_place) => &**in_place,
            Self::OwnThreads(threads) => &**threads,
        }
    }

    /// Returns the name of this kind of issue, what it means, and what usually helps.
    pub fn explanation(&self) -> Explanation {
        self.finding().explanation()
    }

    /// Returns who or what the issue is about, and how much of it there is.
    pub fn evidence(&self) -> Evidence<'_> {
        self.finding().evidence()
    }

    /// Returns the first sentence: who, what and how much.
    pub fn headline(&self) -> String {
        self.statement().headline
    }

    /// Returns the sentences that follow: the harm, and where to look. Empty if there is nothing to add.
    pub fn details(&self) -> String {
        self.statement().details
    }

    pub(crate) fn statement(&self) -> Statement {
        self.finding().statement()
    }

    /// Returns whether something was certainly wrong, so that the report marks it.
    pub(crate) fn is_certain(&self) -> bool {
        self.finding().is_certain()
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement().fmt(f)
    }
}

/// The facts in which issues are found, besides the timeline.
pub(super) struct Facts<'a> {
    pub(super) recording: &'a Recording,
    pub(super) spelling: &'a Spelling,
    pub(super) workers: &'a [WorkerShare],
    /// All spawn locations: in the whole run, and in what is kept in detail.
    pub(super) rows: &'a [LocationRow],
    pub(super) kept_rows: &'a [LocationRow],
    pub(super) blame: &'a LongPollBlame,
    pub(super) computed: &'a Computed,
    pub(super) critical_path: Option<&'a CriticalPath>,
    /// The time that tasks were ready, in ns, summed over tasks.
    pub(super) ready_ns: u128,
    /// The number of tasks that were ready during all of the last events.
    pub(super) unpolled: u64,
    /// The number of tasks.
    pub(super) tasks: u64,
    /// The longest of the long polls that held no worker, if there are any.
    pub(super) off_worker: Option<LongPoll>,
}

/// The order of issues: those with a lower rank come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Stall,
    /// Tasks that waited for longer than long polls delayed others.
    WorstNeverFinished,
    /// Tasks that queued for longer than long polls delayed others.
    WorstQueue,
    /// Tasks were ready for longer than long polls account for.
    WorstOverload,
    /// A task stood still in `block_in_place` for longer than long polls delayed others.
    WorstInPlace,
    HarmfulLongPolls,
    Overload,
    NeverFinished,
    Queue,
    InPlace,
    Leak,
    Starved,
    HarmlessLongPolls,
    /// Tasks queued, most likely for something that tasks in long polls held.
    QueueByLongPolls,
}

/// Returns for how long a poll went on at the end by its own doing, in ns; 0 if none did.
fn longest_running_ns(timeline: &Timeline) -> u64 {
    let mut longest_ns = 0;
    for task in timeline.tasks.seen() {
        if let Some(poll) = task.polls.last().filter(|poll| poll.end_ns().is_none()) {
            longest_ns = own_ns(timeline, poll).max(longest_ns);
        }
    }
    longest_ns
}

/// Finds all issues, the worst first. The second result is the tasks that waited longest, if they are not an issue.
pub(super) fn find(
    timeline: &Timeline,
    facts: &Facts<'_>,
    waits: &Waits,
) -> (Vec<Issue>, Option<Stuck>) {
    let mut issues: Vec<(Rank, Issue)> = Vec::new();
    if let Some(stall) = stall::find(timeline, &facts.blame.culprits, facts.unpolled) {
        issues.push((Rank::Stall, Issue::Stall(Box::new(stall))));
    }
    let long_polls = long_polls::find(facts);
    let has_long_polls = !long_polls.is_empty();
    let worst_ns = long_polls.first().map_or(0, |first| first.harm_ns);
    let all_ns: u128 = long_polls.iter().map(|polls| polls.harm_ns).sum();
    for polls in long_polls {
        let rank = if polls.did_harm { Rank::HarmfulLongPolls } else { Rank::HarmlessLongPolls };
        issues.push((rank, Issue::LongPolls(Box::new(polls))));
    }
    let mut stuck = None;
    let recording = facts.recording;
    if recording.has_tasks() && !recording.is_empty() && !recording.is_too_short() {
        if let Some(busy) = busy_workers::find(timeline, facts) {
            // The long polls explain some of the time that tasks were ready.
            let is_worst = busy.ready_tasks >= 1.0 && facts.ready_ns > 2 * all_ns;
            let rank = if is_worst { Rank::WorstOverload } else { Rank::Overload };
            issues.push((rank, Issue::BusyWorkers(Box::new(busy))));
        }
        if let Some(pool) = exhausted_pool::find(timeline, facts, has_long_polls) {
            let is_worst = u128::from(pool.pool.waited_ns) > all_ns;
            let rank = if is_worst { Rank::WorstOverload } else { Rank::Overload };
            issues.push((rank, Issue::ExhaustedPool(Box::new(pool))));
        }
        if let Some(threads) = own_threads::find(timeline, facts, has_long_polls) {
            let is_worst = u128::from(threads.workers_waited_ns) > all_ns;
            let rank = if is_worst { Rank::WorstOverload } else { Rank::Overload };
            issues.push((rank, Issue::OwnThreads(Box::new(threads))));
        }
        let last = LastWaits::find(timeline, Shutdown::from_timeline(timeline));
        let found = never_finished::find(timeline, facts.spelling, waits, &last);
        stuck = found.stuck;
        let mut never_finished = found.never;
        // If two issues are about one line, only the one that says more is kept.
        let mut told = Vec::new();
        for never in &never_finished {
            told.extend(never.at.clone().filter(|_| never.names_holder()));
        }
        let running_ns = longest_running_ns(timeline);
        let long_polls = (has_long_polls, running_ns);
        let contended = contended::find(timeline, facts, (waits, &last), &told, long_polls);
        never_finished.retain(|never| !contended.iter().any(|contended| contended.covers(never)));
        for contended in contended {
            if never_finished.iter().any(|never| never.at.as_ref() == Some(&contended.at)) {
                continue;
            }
            // If the holders are in long polls, these may be why others wait.
            let is_worst = contended.is_by_itself() && contended.total_ns > all_ns;
            let rank = match contended.is_by_itself() {
                _ if is_worst => Rank::WorstQueue,
                false if has_long_polls => Rank::QueueByLongPolls,
                _ => Rank::Queue,
            };
            issues.push((rank, Issue::Contended(Box::new(contended))));
        }
        for never in never_finished {
            // The poll that goes on is polled by nobody else, so what it holds is not released.
            let may_be_held = never.why == WhyNever::Lock
                && !never.names_holder()
                && running_ns >= never.waited_ns / 2;
            let is_worst = never.is_sure() && !may_be_held && never.total_ns > worst_ns;
            let rank = if is_worst { Rank::WorstNeverFinished } else { Rank::NeverFinished };
            issues.push((rank, Issue::NeverFinished(Box::new(never))));
        }
        if let Some(in_place) = in_place::find(timeline, facts.spelling) {
            let is_worst = in_place.besides.is_line() && u128::from(in_place.total_ns) > all_ns;
            let rank = if is_worst { Rank::WorstInPlace } else { Rank::InPlace };
            issues.push((rank, Issue::InPlace(Box::new(in_place))));
        }
        for leak in leak::find(timeline, facts.spelling) {
            issues.push((Rank::Leak, Issue::MaybeLeaked(Box::new(leak))));
        }
        for starved in starved::find(timeline, facts.spelling) {
            issues.push((Rank::Starved, Issue::Starved(Box::new(starved))));
        }
    }
    // Nothing is worse.
    if let [(_, Issue::Contended(contended))] = &mut issues[..] {
        if contended.goes_on() {
            contended.stuck = stuck.clone();
            contended.is_alone = true;
        }
    }
    // The sort is stable: issues of one rank keep their order.
    crate::util::sort::by_key(&mut issues, |(rank, _)| *rank);
    let mut found = Vec::with_capacity(issues.len());
    for (_, issue) in issues {
        found.push(issue);
    }
    (found, stuck)
}
