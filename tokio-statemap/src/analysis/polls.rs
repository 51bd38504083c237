//! Every single poll, as the exports show it: how long it held its worker, why, and who is to blame.
//!
//! A poll is blamed as in the report: on the function of the culprit to which it belongs.

use super::blame::{Blame, is_internal, weighted};
use super::own_time::own_ns;
use super::poll::{PollAt, length_ns, ready_since};
use super::{LongPollBlame, Report};
use crate::trace::timeline::{Poll, PollCause, PollSample, StackFrame, Task, Timeline};

/// The polls of a timeline, with what its report says about each.
pub(crate) struct Polls<'a> {
    timeline: &'a Timeline,
    report: &'a Report,
    /// The polls of culprits with the culprits' indices, sorted.
    blamed: Vec<(PollAt, u32)>,
    /// The long polls that are blamed on nobody, sorted.
    unattributed: Vec<PollAt>,
}

/// The facts known of one poll.
#[derive(Clone, Debug)]
pub(crate) struct PollFacts {
    /// The time that it held its worker, in ns; on a thread that is no worker, the time that it ran.
    pub(crate) held_ns: u64,
    /// Its own time, in ns: without the time that the machine took, and without waits for locks of the runtime's.
    pub(crate) own_ns: u64,
    /// The time that the task was ready before the poll, in ns; `None` if that isn't known.
    pub(crate) ready_ns: Option<u64>,
    /// The way in which its time was spent.
    pub(crate) cause: Option<PollCause>,
    /// The function or location that it is blamed on.
    pub(crate) blame: Option<BlamedOn>,
    /// `true` if it is long, but blamed on nobody.
    pub(crate) is_unattributed: bool,
}

/// The function or location that a poll is blamed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlamedOn {
    /// The function and line; `None` if the spawn location is blamed.
    pub(crate) frame: Option<StackFrame>,
    /// The words for what the function did; empty if that isn't known.
    pub(crate) blocking_cause: String,
}

impl<'a> Polls<'a> {
    /// `report` is that of `timeline`.
    pub(crate) fn new(timeline: &'a Timeline, report: &'a Report) -> Self {
        let mut blamed: Vec<(PollAt, u32)> = Vec::new();
        for (index, culprit) in (0..).zip(&report.blame.culprits) {
            blamed.extend(culprit.at.iter().map(|&at| (at, index)));
        }
        blamed.sort_unstable();
        let LongPollBlame { unattributed_at, unseen_at, .. } = &report.blame;
        let mut unattributed = [&unattributed_at[..], &unseen_at[..]].concat();
        unattributed.sort_unstable();
        Self { timeline, report, blamed, unattributed }
    }

    /// Returns the facts known of a poll. `task` is an index into [`Tasks::seen`](crate::timeline::Tasks), and `poll`
    /// an index into the task's polls.
    ///
    /// # Panics
    ///
    /// If there is no such poll.
    pub(crate) fn facts(&self, task: usize, poll: usize) -> PollFacts {
        let (timeline, at) = (self.timeline, (task, poll));
        let task = &timeline.tasks.seen()[task];
        let poll = &task.polls[poll];
        let held_ns = length_ns(timeline, poll);
        PollFacts {
            held_ns,
            own_ns: own_ns(timeline, poll),
            ready_ns: self.ready_ns(task, at.1),
            cause: timeline.cause(poll),
            blame: self.blame(poll, at),
            is_unattributed: self.unattributed.binary_search(&at).is_ok(),
        }
    }

    fn ready_ns(&self, task: &Task, index: usize) -> Option<u64> {
        let since_ns = self
            .timeline
            .settings
            .schedule_latency
            .then(|| ready_since(self.timeline, task, index))??;
        Some(task.polls[index].start_ns().saturating_sub(since_ns))
    }

    fn blame(&self, poll: &Poll, at: PollAt) -> Option<BlamedOn> {
        let place = self.blamed.binary_search_by_key(&at, |(at, _)| *at);
        if let Ok(place) = place {
            let culprit = &self.report.blame.culprits[self.blamed[place].1 as usize];
            let (frame, blocking_cause) = (culprit.frame.clone(), culprit.blocking_cause.clone());
            return Some(BlamedOn { frame, blocking_cause });
        }
        // A poll on a thread that is no worker held nothing up, but its function is shown.
        let blame = Blame::from_samples(self.timeline, poll).filter(|_| poll.worker().is_none())?;
        Some(BlamedOn {
            frame: blame.frames.heaviest().cloned(),
            blocking_cause: blame.causes.heaviest().map(ToString::to_string).unwrap_or_default(),
        })
    }
}

impl PollCause {
    /// Returns the way in which most of its time was spent: `on-CPU`, `blocked`, `taken away` or `unknown`; of equals,
    /// the first.
    pub(crate) fn most(&self) -> &'static str {
        let parts = [
            ("on-CPU", self.on_cpu_ns),
            ("blocked", self.blocked_ns),
            ("taken away", self.taken_ns()),
            ("unknown", self.unknown_ns),
        ];
        let most = parts.into_iter().rev().max_by_key(|(_, ns)| *ns);
        most.map_or("unknown", |(name, _)| name)
    }
}

/// Returns the stacks of a poll, each with the part of the poll's own time that it stands for, in ns. The parts add up
/// to all of the own time. Empty if no stack is known.
pub(crate) fn stacks<'a>(
    timeline: &'a Timeline,
    poll: &Poll,
    own_ns: u64,
) -> impl Iterator<Item = (&'a PollSample, u64)> + use<'a> {
    let is_shown = |sample: &PollSample| !sample.frames.is_empty() && !is_internal(sample);
    let shown: Vec<_> = weighted(timeline, poll).filter(|(sample, _)| is_shown(sample)).collect();
    let weight = |ns: u64| u128::from(ns.max(1));
    let sum: u128 = shown.iter().map(|&(_, ns)| weight(ns)).sum();
    let (mut so_far, mut given_ns) = (0, 0);
    shown.into_iter().map(move |(sample, ns)| {
        so_far += weight(ns);
        // The last part reaches the end, whatever was rounded before.
        let until_ns = (u128::from(own_ns) * so_far / sum) as u64;
        (sample, until_ns - std::mem::replace(&mut given_ns, until_ns))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::why_tests::explained;

    #[test]
    fn the_stacks_of_a_poll_share_its_own_time() {
        let (timeline, longest) = explained("shop::compute");
        let tasks = timeline.tasks.seen().iter();
        let poll = tasks.flat_map(|task| &task.polls).find(|poll| poll.key() == longest);
        let poll = poll.expect("it is there");
        for own_ns in [0, 1, 7, 1_000_003, u64::MAX] {
            let stacks: Vec<_> = stacks(&timeline, poll, own_ns).collect();
            assert!(!stacks.is_empty());
            assert_eq!(stacks.iter().map(|(_, ns)| ns).sum::<u64>(), own_ns);
        }
    }

    #[test]
    fn all_of_a_culprits_time_is_that_of_its_polls() {
        let (timeline, _) = explained("shop::compute");
        let report = timeline.report();
        let polls = Polls::new(&timeline, &report);
        assert!(!report.blame.culprits.is_empty());
        for culprit in &report.blame.culprits {
            let facts: Vec<_> =
                culprit.at.iter().map(|&(task, poll)| polls.facts(task, poll)).collect();
            assert_eq!(facts.iter().map(|facts| facts.own_ns).sum::<u64>(), culprit.own_ns);
            let (frame, blocking_cause) = (culprit.frame.clone(), culprit.blocking_cause.clone());
            let blamed = BlamedOn { frame, blocking_cause };
            assert!(facts.iter().all(|facts| facts.blame.as_ref() == Some(&blamed)));
        }
    }

    #[test]
    fn the_largest_part_has_a_name() {
        let most = |on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns| {
            let unknown_ns = 4;
            let major_faults = 0;
            PollCause { on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns, unknown_ns, major_faults }
                .most()
        };
        assert_eq!(most(5, 4, 0, 0), "on-CPU");
        assert_eq!(most(5, 6, 3, 2), "blocked");
        assert_eq!(most(5, 4, 3, 3), "taken away");
        assert_eq!((most(3, 3, 1, 2), most(3, 4, 2, 2)), ("unknown", "blocked"));
    }
}
