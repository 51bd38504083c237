//! Finds the long polls that have no sample and are not blamed without one.
//!
//! A virtual machine may stand still in ways that its kernel counts as a thread's own time, such as while the host
//! reads a page of its memory. A poll that is long by its own doing is sampled sooner or later, or another poll of its
//! spawn location is. So if stacks are sampled, a spawn location without any sample is only blamed for many long polls.

use super::blocking_cause::PageFaults;
use super::delay::is_harm;
use super::locations::LocationRow;
use super::place::{Place, Places};
use super::poll::PollAt;
use crate::recorder::watch::LEAST_AGE;
use crate::trace::timeline::{Poll, SamplingState, Timeline};

/// The least number of unsampled long polls of a spawn location that can't be chance, if they are also at least
/// 1/[`REGULAR_PART`] of its polls. Polls of a millisecond are over before they are sampled.
const REGULAR_POLLS: u64 = 10;
const REGULAR_PART: u64 = 100;

/// The long polls that are not blamed because they have no sample although they could have one.
pub(super) struct Unsampled<'a> {
    timeline: &'a Timeline,
    /// `true` if stacks were sampled, and no sample is missing.
    is_sampled: bool,
    /// The spawn locations that have few long polls, none of which was sampled. They are sorted.
    places: Vec<Place>,
}

/// The polls of a spawn location.
#[derive(Default)]
struct Counts {
    long: u64,
    all: u64,
    is_any_sampled: bool,
}

impl<'a> Unsampled<'a> {
    /// `long` are the polls that held a worker over `long_poll` by their own doing, as far as that is measured.
    pub(super) fn from_long_polls(
        timeline: &'a Timeline,
        long: &mut dyn Iterator<Item = PollAt>,
    ) -> Self {
        let is_sampled = timeline.long_polls.sampling.sees_all();
        if !is_sampled || timeline.settings.long_poll < LEAST_AGE {
            return Self { timeline, is_sampled, places: Vec::new() };
        }
        let (mut seen, mut counts) = (Places::default(), Vec::new());
        for (task, poll) in long {
            let task = &timeline.tasks.seen()[task];
            let number = seen.number(Place::of_task(task));
            if number == counts.len() {
                counts.push(Counts::default());
            }
            let counts = &mut counts[number];
            counts.long += 1;
            counts.is_any_sampled |= is_sampled_poll(timeline, &task.polls[poll]);
        }
        for task in timeline.tasks.seen() {
            if let Some(number) = seen.number_of(Place::of_task(task)) {
                counts[number].all += task.polls.len() as u64;
            }
        }
        let mut places = Vec::new();
        for (place, number) in seen.sorted() {
            let counts = &counts[number];
            if !counts.is_any_sampled && !is_regular(counts.long, counts.all) {
                places.push(place);
            }
        }
        Self { timeline, is_sampled, places }
    }

    /// Returns whether a poll of a task of `place` is one of these polls.
    pub(super) fn has(&self, place: Place, poll: &Poll) -> bool {
        self.places.binary_search(&place).is_ok()
            || self.is_at_edge(poll) && !is_sampled_poll(self.timeline, poll)
    }

    /// Returns whether a poll is at an edge of the recording: it has no cause, although causes are known. In a part of
    /// a recording, long polls with a known cause lie across edges.
    fn is_at_edge(&self, poll: &Poll) -> bool {
        let has_causes = !self.timeline.long_polls.causes.is_empty() && !self.timeline.lacking.time;
        self.is_sampled && has_causes && self.timeline.cause(poll).is_none()
    }
}

/// Returns whether a location may be blamed for long polls none of which is kept. They must be too many, or one of them
/// too long, for the machine to be the cause; or no sample could show them anyway.
pub(super) fn is_blamed_without_sample(timeline: &Timeline, row: &LocationRow) -> bool {
    let is_sampled = timeline.long_polls.sampling.state == SamplingState::On
        && timeline.settings.long_poll >= LEAST_AGE;
    !is_sampled || is_regular(row.long_polls, row.polls) || did_longest_harm(timeline, row)
}

/// Returns whether the longest poll of a location alone did harm.
pub(super) fn did_longest_harm(timeline: &Timeline, row: &LocationRow) -> bool {
    // If polls also ran on threads that are no workers, the longest may be one of these.
    let longest_ns = row.longest_ns.min(row.long_polls_ns);
    is_harm(0, longest_ns, timeline.settings.long_poll)
}

/// Returns whether `long` of `all` polls are too many for chance.
pub(super) fn is_regular(long: u64, all: u64) -> bool {
    long >= REGULAR_POLLS && long >= all / REGULAR_PART
}

/// Returns whether it is known what a poll did. Page faults need no sample, as a thread that waits for one page after
/// another is hardly ever sampled.
fn is_sampled_poll(timeline: &Timeline, poll: &Poll) -> bool {
    !timeline.samples(poll).is_empty() || PageFaults::from_poll(timeline, poll).took_most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::picture::why_tests::explained;
    use crate::trace::timeline::{NoStack, NoStacks};

    #[test]
    fn few_long_polls_without_a_sample_are_not_blamed() {
        let (mut timeline, longest) = explained("shop::compute");
        timeline.settings.long_poll = LEAST_AGE;
        let polls = timeline.tasks.seen().iter().enumerate().flat_map(|(index, task)| {
            task.polls.iter().enumerate().map(move |(i, poll)| ((index, i), poll.key()))
        });
        let (at, _) = polls.into_iter().find(|(_, key)| *key == longest).expect("it is there");
        let has = |timeline: &Timeline, long: &[PollAt]| {
            let task = &timeline.tasks.seen()[at.0];
            Unsampled::from_long_polls(timeline, &mut long.iter().copied())
                .has(Place::of_task(task), &task.polls[at.1])
        };
        assert!(!has(&timeline, &[at]), "its samples are there");
        timeline.long_polls.samples.clear();
        assert!(has(&timeline, &[at]));
        assert!(!has(&timeline, &[at; 20]), "so many are no chance");
        let cause = timeline.long_polls.causes.iter_mut().find(|(key, _)| *key == longest);
        let (_, cause) = cause.expect("it is known");
        let before = *cause;
        (cause.blocked_ns, cause.on_cpu_ns, cause.major_faults) = (cause.on_cpu_ns, 0, 9);
        assert!(!has(&timeline, &[at]), "it waited for pages");
        timeline.long_polls.causes.iter_mut().for_each(|(key, cause)| {
            *cause = if *key == longest { before } else { *cause };
        });
        timeline.long_polls.sampling.dropped = 1;
        assert!(!has(&timeline, &[at]), "there may have been a sample");
        timeline.long_polls.sampling.dropped = 0;
        timeline.long_polls.sampling.no_stacks.add(NoStack::NoProc, 1);
        assert!(!has(&timeline, &[at]), "no thread could be sampled");
        timeline.long_polls.sampling.no_stacks = NoStacks::default();
        timeline.settings.long_poll = LEAST_AGE / 2;
        assert!(!has(&timeline, &[at]), "it may be too short for that");
        timeline.settings.long_poll = LEAST_AGE;
        timeline.long_polls.sampling.state = SamplingState::NotBuilt;
        assert!(!has(&timeline, &[at]), "stacks were not sampled");
    }

    #[test]
    fn a_poll_at_an_edge_needs_a_sample_of_its_own() {
        let (mut timeline, longest) = explained("shop::compute");
        timeline.settings.long_poll = LEAST_AGE;
        let cause = timeline.long_polls.causes.remove(0);
        timeline.long_polls.causes = vec![((u32::MAX, 0), cause.1)];
        let tasks = timeline.tasks.seen();
        let task = tasks.iter().find(|task| task.polls.iter().any(|poll| poll.key() == longest));
        let task = task.expect("it is there");
        let unsampled = Unsampled::from_long_polls(&timeline, &mut std::iter::empty());
        for poll in &task.polls {
            assert_eq!(unsampled.has(Place::of_task(task), poll), poll.key() != longest);
        }
    }
}
