//! The verdict: what held the runtime up, or what is known instead.

use std::fmt;
use std::time::Duration;

use super::computed::ComputedIn;
use super::critical_path::CriticalPath;
use super::culprits::Unattributed;
use super::issues::{self, Facts, Issue, Stuck};
use super::local_tasks::LocalTasks;
use super::long_polls::LongPoll;
use super::statement::{
    Statement, called_from, function_name, no_long_poll, off_worker_sentence, setting,
};
use super::waits::Waits;
use super::workers;
use crate::trace::state::WorkerState;
use crate::trace::timeline::Timeline;
use crate::util::quantity::{human, percent};

/// The verdict of a report: what held the runtime up, or what is known instead. `Display` writes it in a few sentences.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// There are issues: at least one, the worst first. The verdict is the first of them.
    Issues(Vec<Issue>),
    /// Nothing held the runtime up.
    Healthy(Box<Healthy>),
    /// Less than 10 ms were recorded, which is too little to tell, and no poll was long.
    TooShort {
        /// The time that was recorded, in ns.
        recorded_ns: u64,
        /// The length from which on a poll is called long.
        long_poll: Duration,
    },
    /// Tasks were not recorded, so none can be named.
    TasksUnknown {
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: Option<f64>,
        /// `true` if Tokio could report tasks, but they were not to be recorded.
        task_hooks: bool,
    },
    /// Tasks were recorded, but their file was not read.
    TasksNotRead {
        /// The share of the workers' time that they were running, from 0 to 1.
        busy_share: Option<f64>,
    },
    /// Nothing was recorded at all.
    NothingRecorded,
}

/// A run without issues.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Healthy {
    /// The share of the workers' time that they were running, from 0 to 1; `None` if workers were not recorded.
    pub busy_share: Option<f64>,
    /// The length from which on a poll is called long.
    pub long_poll: Duration,
    /// The longest of the long polls on threads that are no workers, if there were any.
    pub off_worker: Option<LongPoll>,
    /// `true` if events are missing, other than old ones that were dropped by design.
    pub is_partial: bool,
    /// The polls that were long, but are blamed on nobody.
    pub unattributed: Unattributed,
    /// Tasks that waited up to the end for most of the time. They may wait for a client that never came.
    pub stuck: Option<Stuck>,
    /// The time for which a thread of the blocking pool ran on after all workers had stopped, in ns, if that was long.
    pub end_waited_ns: Option<u64>,
    /// The function in which polls computed most. `None` unless the workers were busy for half of the time, polls
    /// computed for a third of that, and the function had a quarter of the CPU time.
    pub computed: Option<ComputedIn>,
    /// A sentence about the critical path of `main`, if it has ended and its length depended on other tasks:
    /// see [`Report::critical_path`](super::Report::critical_path).
    pub critical_path: Option<String>,
    /// `true` if no task was spawned in a second or more.
    pub has_no_tasks: bool,
    /// The tasks of `LocalSet`s that waited at the end.
    pub local_tasks: Option<LocalTasks>,
}

impl Verdict {
    /// Returns the first sentence: who, what and how much.
    pub fn headline(&self) -> String {
        self.statement().headline
    }

    /// Returns the sentences that follow: the harm, and where to look. Empty if there is nothing to add.
    pub fn details(&self) -> String {
        self.statement().details
    }

    /// Returns the issues, the worst first. Empty if there are none.
    pub fn issues(&self) -> &[Issue] {
        match self {
            Self::Issues(issues) => issues,
            Self::Healthy(_)
            | Self::TooShort { .. }
            | Self::TasksUnknown { .. }
            | Self::TasksNotRead { .. }
            | Self::NothingRecorded => &[],
        }
    }

    pub(crate) fn statement(&self) -> Statement {
        match self {
            Self::Issues(issues) => issues.first().map(Issue::statement).unwrap_or_default(),
            Self::Healthy(healthy) => healthy.statement(),
            Self::TooShort { recorded_ns, long_poll } => {
                let mut said = Statement::new(format!(
                    "Only {} were recorded: that is too short to tell what holds the runtime up.",
                    human(*recorded_ns),
                ));
                said.add(format!("No poll held a worker over {}.", setting(*long_poll)));
                said
            }
            Self::TasksUnknown { busy_share, task_hooks } => {
                let why = match task_hooks {
                    true => "tasks were not recorded",
                    false => "Tokio's task hooks need --cfg tokio_unstable",
                };
                unknown(why, *busy_share)
            }
            Self::TasksNotRead { busy_share } => {
                unknown("the tasks' file was not read", *busy_share)
            }
            Self::NothingRecorded => Statement::new("Nothing was recorded."),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statement().fmt(f)
    }
}

fn unknown(why: &str, busy_share: Option<f64>) -> Statement {
    let mut said = Statement::new(format!("No task can be named that held the runtime up: {why}."));
    if let Some(busy) = busy_share {
        said.add(format!("The workers were busy {} of the time.", percent(busy)));
    }
    said
}

impl Healthy {
    fn statement(&self) -> Statement {
        let part = if self.is_partial { " in what was recorded" } else { "" };
        let busy = match self.busy_share {
            Some(busy) => format!(", and the workers were busy {} of the time", percent(busy)),
            None => "; how busy the workers were isn't known".to_owned(),
        };
        let no_long_poll = no_long_poll(&self.unattributed, self.long_poll);
        let (headline, rest) = match &self.stuck {
            Some(stuck) if stuck.is_owed => {
                (stuck.headline() + &stuck.more(), format!("No poll{part} {no_long_poll}{busy}."))
            }
            stuck => (
                format!("Nothing held the runtime up{part}: no poll {no_long_poll}{busy}."),
                stuck.as_ref().map(Stuck::sentence).unwrap_or_default(),
            ),
        };
        let mut said = Statement::new(headline);
        said.add(rest);
        if let Some(ns) = self.end_waited_ns {
            said.add(format!(
                "A thread of the blocking pool ran on for {} after the workers had stopped. Unless a runtime is shut down in the background, Tokio waits for blocking tasks at its end, such as a read of standard input.",
                human(ns)
            ));
        }
        if let Some(computed) = &self.computed {
            let (share, name) = (percent(computed.share), function_name(&computed.frame));
            said.add(format!("Of what polls computed, {share} was in {name}."));
            said.add(called_from(&computed.callers, computed.are_all_callers));
        }
        said.add(self.critical_path.clone().unwrap_or_default());
        match &self.local_tasks {
            Some(local) if self.has_no_tasks => said.add(local.to_string()),
            None if self.has_no_tasks => said.add(
                "No spawned task was recorded. The polls of a LocalSet's tasks are not recorded, nor are runtimes that a library builds, as actix-web does.",
            ),
            _ => {}
        }
        said.add(off_worker_sentence(self.off_worker.as_ref()));
        said
    }
}

/// The least share of the time that the workers must be busy for the function in which polls computed to be named.
const BUSY: f64 = 0.5;

/// The least length of a run without any spawned task that suggests that some runtimes are not recorded.
const NO_TASKS_NS: u64 = 1_000_000_000;

/// Finds all issues, or what is known without them.
pub(super) fn judge(timeline: &Timeline, facts: &Facts<'_>, waits: &Waits) -> Verdict {
    let (issues, stuck) = issues::find(timeline, facts, waits);
    match issues.is_empty() {
        true => without_issues(timeline, facts, stuck),
        false => Verdict::Issues(issues),
    }
}

/// The least time for which the end of a runtime waits for blocking tasks for that to be told, in ns.
const SLOW_END_NS: u64 = 1_000_000_000;

/// Returns for how long threads of the blocking pool went on after all workers had stopped, if that was long.
fn end_waited_ns(timeline: &Timeline) -> Option<u64> {
    if !timeline.gaps.is_empty() {
        // The end of a thread may have been in one.
        return None;
    }
    let mut stopped_ns = None;
    for worker in &timeline.workers {
        let &(at_ns, state) = worker.transitions.last()?;
        stopped_ns = stopped_ns.max((state == WorkerState::Stopped).then_some(at_ns));
        if state != WorkerState::Stopped {
            return None;
        }
    }
    let stopped_ns = stopped_ns?;
    let of_pool = timeline.pool.threads.iter();
    let last_ns = of_pool.map(|thread| thread.stopped_ns.unwrap_or(timeline.end_ns)).max()?;
    last_ns.checked_sub(stopped_ns).filter(|&ns| ns >= SLOW_END_NS)
}

fn without_issues(timeline: &Timeline, facts: &Facts<'_>, stuck: Option<Stuck>) -> Verdict {
    let recording = facts.recording;
    let busy_share = workers::busy_share(facts.workers);
    if recording.is_empty() {
        return Verdict::NothingRecorded;
    }
    let task_hooks = recording.task_hooks;
    if !task_hooks || !recording.trace_target.tracks_tasks() {
        return Verdict::TasksUnknown { busy_share, task_hooks };
    }
    if recording.lacking.tasks {
        return Verdict::TasksNotRead { busy_share };
    }
    let (recorded_ns, long_poll) = (recording.recorded_ns, recording.long_poll);
    if recording.is_too_short() {
        return Verdict::TooShort { recorded_ns, long_poll };
    }
    let lost = recording.lost;
    Verdict::Healthy(Box::new(Healthy {
        busy_share,
        long_poll,
        off_worker: facts.off_worker.clone(),
        is_partial: lost.total() > lost.dropped_events,
        unattributed: facts.blame.unattributed,
        stuck,
        end_waited_ns: end_waited_ns(timeline),
        computed: facts
            .computed
            .most(workers::running_ns(facts.workers))
            .filter(|_| busy_share.is_some_and(|busy| busy >= BUSY))
            .cloned(),
        critical_path: facts.critical_path.and_then(CriticalPath::sentence),
        has_no_tasks: facts.tasks == 0
            && recorded_ns >= NO_TASKS_NS
            && lost.total() == 0
            && !recording.lacking.time,
        local_tasks: LocalTasks::find(timeline),
    }))
}
