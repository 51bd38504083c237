//! Every single poll, as the exports tell of it: how long it held its worker, why, and who is to blame.
//!
//! Whom a poll is blamed on is what the report says: the function of the culprit that it counts for.

use super::Report;
use super::blame::{Blame, is_in_runtime, weighted};
use super::long_polls::{PollAt, length_ns, ready_since};
use super::own::own_ns;
use crate::trace::timeline::{Poll, PollCause, PollSample, StackFrame, Task, Timeline};

/// The polls of a timeline, and what its report says of each.
pub(crate) struct Polls<'a> {
    timeline: &'a Timeline,
    report: &'a Report,
    /// The polls of culprits with the culprits' indices, sorted.
    accused: Vec<(PollAt, u32)>,
    /// The long polls of which nobody is accused, sorted.
    excused: Vec<PollAt>,
}

/// What is known of a poll.
#[derive(Clone, Debug)]
pub(crate) struct PollFacts {
    /// How long it held its worker, in ns; on a thread that is no worker, how long it ran.
    pub(crate) held_ns: u64,
    /// How much of that is its own: without what the machine took, and without waits for locks of the runtime's, in ns.
    pub(crate) own_ns: u64,
    /// For how long the task was ready before, in ns; `None` if that isn't known.
    pub(crate) ready_ns: Option<u64>,
    /// What became of its time.
    pub(crate) cause: Option<PollCause>,
    /// Whom it is blamed on.
    pub(crate) blame: Option<BlamedOn>,
    /// Whether it is long, and nobody's.
    pub(crate) is_excused: bool,
}

/// Whom a poll is blamed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlamedOn {
    /// The function and line; `None` where it is the spawn location.
    pub(crate) frame: Option<StackFrame>,
    /// What it did, in words: empty if that isn't known.
    pub(crate) act: String,
}

impl<'a> Polls<'a> {
    /// Those of `timeline`, of which `report` is.
    pub(crate) fn of(timeline: &'a Timeline, report: &'a Report) -> Self {
        let culprits = (0..).zip(&report.culprits);
        let mut accused: Vec<_> =
            culprits.flat_map(|(index, of)| of.at.iter().map(move |&at| (at, index))).collect();
        accused.sort_unstable();
        let mut excused = [&report.excused_at[..], &report.unseen_at[..]].concat();
        excused.sort_unstable();
        Self { timeline, report, accused, excused }
    }

    /// What is known of the poll `poll` of the task `task` of [`Tasks::seen`](crate::timeline::Tasks), both indices.
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
            is_excused: self.excused.binary_search(&at).is_ok(),
        }
    }

    fn ready_ns(&self, task: &Task, index: usize) -> Option<u64> {
        let since_ns =
            self.timeline.schedule_latency.then(|| ready_since(self.timeline, task, index))??;
        Some(task.polls[index].start_ns().saturating_sub(since_ns))
    }

    fn blame(&self, poll: &Poll, at: PollAt) -> Option<BlamedOn> {
        let place = self.accused.binary_search_by_key(&at, |(at, _)| *at);
        if let Ok(place) = place {
            let culprit = &self.report.culprits[self.accused[place].1 as usize];
            return Some(BlamedOn { frame: culprit.frame.clone(), act: culprit.act.clone() });
        }
        // Off the workers it held nobody up, but what it did is to be seen.
        let blame = Blame::of(self.timeline, poll).filter(|_| poll.worker().is_none())?;
        Some(BlamedOn {
            frame: blame.frames.heaviest().cloned(),
            act: blame.acts.heaviest().cloned().unwrap_or_default(),
        })
    }
}

impl PollCause {
    /// What took most of its time: `on-CPU`, `blocked`, `taken away` or `unknown`; of equals the first.
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

/// The stacks of a poll, and how much of its own time each stands for, in ns: together all of it. None if no stack is
/// known.
pub(crate) fn stacks<'a>(
    timeline: &'a Timeline,
    poll: &Poll,
    own_ns: u64,
) -> impl Iterator<Item = (&'a PollSample, u64)> + use<'a> {
    let is_shown = |sample: &PollSample| !sample.frames.is_empty() && !is_in_runtime(sample);
    let shown: Vec<_> = weighted(timeline, poll).filter(|(sample, _)| is_shown(sample)).collect();
    let weight = |ns: u64| u128::from(ns.max(1));
    let sum: u128 = shown.iter().map(|&(_, ns)| weight(ns)).sum();
    let (mut so_far, mut given_ns) = (0, 0);
    shown.into_iter().map(move |(sample, ns)| {
        so_far += weight(ns);
        // Up to all of it, whatever is rounded on the way.
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
        let polls = Polls::of(&timeline, &report);
        assert!(!report.culprits.is_empty());
        for culprit in &report.culprits {
            let facts: Vec<_> =
                culprit.at.iter().map(|&(task, poll)| polls.facts(task, poll)).collect();
            assert_eq!(facts.iter().map(|facts| facts.own_ns).sum::<u64>(), culprit.own_ns);
            let blamed = BlamedOn { frame: culprit.frame.clone(), act: culprit.act.clone() };
            assert!(facts.iter().all(|facts| facts.blame.as_ref() == Some(&blamed)));
        }
    }

    #[test]
    fn what_took_most_is_told() {
        let of = |on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns| {
            let unknown_ns = 4;
            let major_faults = 0;
            PollCause { on_cpu_ns, blocked_ns, run_delay_ns, stolen_ns, unknown_ns, major_faults }
                .most()
        };
        assert_eq!(of(5, 4, 0, 0), "on-CPU");
        assert_eq!(of(5, 6, 3, 2), "blocked");
        assert_eq!(of(5, 4, 3, 3), "taken away");
        assert_eq!((of(3, 3, 1, 2), of(3, 4, 2, 2)), ("unknown", "blocked"));
    }
}
