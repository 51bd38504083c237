//! Nobody is accused without a witness, where there could be one.
//!
//! A virtual machine may stand still in ways that its kernel takes for a thread's own time: while the host
//! brings a page of its memory, say. A poll that is long by its own doing is sampled sooner or later, or
//! another of its spawn location is.

use std::collections::{HashMap, HashSet};

use super::act::PageFaults;
use super::culprits::is_harm;
use super::locations::LocationRow;
use super::long_polls::PollAt;
use super::place::Place;
use crate::recorder::watch::LEAST_AGE;
use crate::trace::timeline::{Poll, SamplingState, Timeline};

/// How many long polls of a spawn location are no chance, though nobody saw them do anything, and which part
/// of its polls they must be. Those of a millisecond are over before they are sampled.
const REGULAR_POLLS: u64 = 10;
const REGULAR_PART: u64 = 100;

/// The long polls that nobody saw do anything, where that proves nothing: a virtual machine may stand still
/// without counting it.
pub(super) struct Unwitnessed<'a> {
    timeline: &'a Timeline,
    /// Whether stacks were sampled, and all samples are there.
    is_sampled: bool,
    /// The spawn locations of which no long poll was seen to do anything, and which have few.
    places: HashSet<Place>,
}

impl<'a> Unwitnessed<'a> {
    /// `long` are polls that held a worker over `long_poll` by their own doing, as far as that is counted.
    pub(super) fn of(timeline: &'a Timeline, long: impl Iterator<Item = PollAt>) -> Self {
        let sampling = &timeline.sampling;
        let is_sampled = sampling.sees_all();
        let mut places = HashSet::new();
        if !is_sampled || timeline.long_poll < LEAST_AGE {
            return Self { timeline, is_sampled, places };
        }
        // How many long polls each place has, and how many polls.
        let mut numbers: HashMap<Place, (u64, u64)> = HashMap::new();
        let mut seen = HashSet::new();
        for (task, poll) in long {
            let task = &timeline.tasks.seen()[task];
            let place = Place::of(task);
            numbers.entry(place).or_default().0 += 1;
            if is_witnessed(timeline, &task.polls[poll]) {
                seen.insert(place);
            }
        }
        for task in timeline.tasks.seen() {
            if let Some((_, polls)) = numbers.get_mut(&Place::of(task)) {
                *polls += task.polls.len() as u64;
            }
        }
        for (place, (long, all)) in numbers {
            if !seen.contains(&place) && !is_regular(long, all) {
                places.insert(place);
            }
        }
        Self { timeline, is_sampled, places }
    }

    /// Whether a poll of a task of `place` is one of them.
    pub(super) fn has(&self, place: Place, poll: &Poll) -> bool {
        self.places.contains(&place) || self.is_at_edge(poll) && !is_witnessed(self.timeline, poll)
    }

    /// Where causes are known in general, one that isn't is of a poll at an edge. In a part of a recording
    /// there are edges that polls lie across that are long.
    fn is_at_edge(&self, poll: &Poll) -> bool {
        let has_causes = !self.timeline.causes.is_empty() && !self.timeline.lacking.time;
        self.is_sampled && has_causes && self.timeline.cause(poll).is_none()
    }
}

/// Whether a location may be accused of long polls of which none is kept: they are too many for the machine, or one is too
/// long, or nobody could have seen them anyway.
pub(super) fn needs_none(timeline: &Timeline, row: &LocationRow) -> bool {
    let is_sampled =
        timeline.sampling.state == SamplingState::On && timeline.long_poll >= LEAST_AGE;
    !is_sampled || is_regular(row.long_polls, row.polls) || did_harm(timeline, row)
}

/// Whether the longest poll of a location did harm all by itself.
pub(super) fn did_harm(timeline: &Timeline, row: &LocationRow) -> bool {
    // Where polls ran off the workers, too, the longest may be one of these.
    let longest_ns = row.longest_ns.min(row.long_polls_ns);
    is_harm(0, longest_ns, timeline.long_poll)
}

/// Whether so many long polls of all are no chance.
pub(super) fn is_regular(long: u64, all: u64) -> bool {
    long >= REGULAR_POLLS && long >= all / REGULAR_PART
}

/// Page faults tell of themselves: a thread that waits for one page after the other is hardly ever seen.
fn is_witnessed(timeline: &Timeline, poll: &Poll) -> bool {
    !timeline.samples(poll).is_empty() || PageFaults::from_poll(timeline, poll).took_most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::why_tests::explained;
    use crate::trace::timeline::{NoStack, NoStacks};

    #[test]
    fn nobody_is_accused_without_a_witness() {
        let (mut timeline, longest) = explained("shop::compute");
        timeline.long_poll = LEAST_AGE;
        let polls = timeline.tasks.seen().iter().enumerate().flat_map(|(index, task)| {
            task.polls.iter().enumerate().map(move |(i, poll)| ((index, i), poll.key()))
        });
        let (at, _) = polls.into_iter().find(|(_, key)| *key == longest).expect("it is there");
        let has = |timeline: &Timeline, long: &[PollAt]| {
            let task = &timeline.tasks.seen()[at.0];
            Unwitnessed::of(timeline, long.iter().copied()).has(Place::of(task), &task.polls[at.1])
        };
        assert!(!has(&timeline, &[at]), "its samples are there");
        timeline.samples.clear();
        assert!(has(&timeline, &[at]));
        assert!(!has(&timeline, &[at; 20]), "so many are no chance");
        let cause = timeline.causes.iter_mut().find(|(key, _)| *key == longest);
        let (_, cause) = cause.expect("it is known");
        let before = *cause;
        (cause.blocked_ns, cause.on_cpu_ns, cause.major_faults) = (cause.on_cpu_ns, 0, 9);
        assert!(!has(&timeline, &[at]), "it waited for pages");
        timeline.causes.iter_mut().for_each(|(key, cause)| {
            *cause = if *key == longest { before } else { *cause };
        });
        timeline.sampling.dropped = 1;
        assert!(!has(&timeline, &[at]), "there may have been a sample");
        timeline.sampling.dropped = 0;
        timeline.sampling.no_stacks.add(NoStack::NoProc, 1);
        assert!(!has(&timeline, &[at]), "nobody could see what threads did");
        timeline.sampling.no_stacks = NoStacks::default();
        timeline.long_poll = LEAST_AGE / 2;
        assert!(!has(&timeline, &[at]), "it may be too short for that");
        timeline.long_poll = LEAST_AGE;
        timeline.sampling.state = SamplingState::NotBuilt;
        assert!(!has(&timeline, &[at]), "nobody could see it");
    }

    #[test]
    fn a_poll_at_an_edge_needs_a_witness_of_its_own() {
        let (mut timeline, longest) = explained("shop::compute");
        timeline.long_poll = LEAST_AGE;
        let cause = timeline.causes.remove(0);
        timeline.causes = vec![((u32::MAX, 0), cause.1)];
        let tasks = timeline.tasks.seen();
        let task = tasks.iter().find(|task| task.polls.iter().any(|poll| poll.key() == longest));
        let task = task.expect("it is there");
        let unwitnessed = Unwitnessed::of(&timeline, std::iter::empty());
        for poll in &task.polls {
            assert_eq!(unwitnessed.has(Place::of(task), poll), poll.key() != longest);
        }
    }
}
