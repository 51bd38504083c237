//! Sums of the last second of a timeline, and the longest poll of its last minute.

use super::blame::Blame;
use crate::symbols::StackFrame;
use crate::trace::timeline::{Poll, Task, Timeline};
use crate::util::quantity;

const SECOND_NS: u64 = 1_000_000_000;
const MINUTE_NS: u64 = 60 * SECOND_NS;

/// The figures of the last second and the last minute.
#[derive(Debug)]
pub(crate) struct Recent<'a> {
    /// The length of the last second, as far as it is recorded in detail, in ns.
    pub(crate) second_ns: u64,
    /// The polls that went on in that second, and their longest, in ns.
    pub(crate) polls: u64,
    pub(crate) longest_ns: Option<u64>,
    /// The share of the workers' time that polls held, from 0 to 1.
    pub(crate) held: Option<f64>,
    /// The 99th percentile of the times for which tasks were ready before polls that began in that second, in ns.
    pub(crate) ready_p99_ns: Option<u64>,
    /// The length of the last minute, as far as it is recorded in detail, in ns.
    pub(crate) minute_ns: u64,
    /// The poll that held a worker longest of those that went on in that minute.
    pub(crate) longest: Option<(&'a Task, &'a Poll)>,
}

impl<'a> Recent<'a> {
    pub(crate) fn from_timeline(timeline: &'a Timeline) -> Self {
        let end_ns = timeline.end_ns;
        let detail_ns = timeline.recent_ns.max(timeline.begin_ns).min(end_ns);
        let from = |length_ns: u64| end_ns.saturating_sub(length_ns).max(detail_ns);
        let (second, minute) = (from(SECOND_NS), from(MINUTE_NS));
        let mut recent = Self {
            second_ns: end_ns - second,
            polls: 0,
            longest_ns: None,
            held: None,
            ready_p99_ns: None,
            minute_ns: end_ns - minute,
            longest: None,
        };
        let (mut held_ns, mut ready) = (0_u64, Vec::new());
        let mut longest_held_ns = 0;
        for task in timeline.tasks.seen() {
            for poll in task.polls.iter().rev() {
                let poll_end_ns = poll.end_ns().unwrap_or(end_ns);
                if poll_end_ns < minute {
                    break;
                }
                let poll_held_ns = poll.worker().map_or(0, |_| timeline.held_ns(poll));
                if poll_held_ns > longest_held_ns {
                    (longest_held_ns, recent.longest) = (poll_held_ns, Some((task, poll)));
                }
                if poll_end_ns < second {
                    continue;
                }
                recent.polls += 1;
                recent.longest_ns = recent.longest_ns.max(Some(poll.length_ns(end_ns)));
                let held_until_ns = poll.start_ns().saturating_add(poll_held_ns);
                let in_second_ns = held_until_ns.saturating_sub(poll.start_ns().max(second));
                held_ns = held_ns.saturating_add(in_second_ns);
                if poll.start_ns() >= second {
                    ready.extend(poll.ready_for_ns());
                }
            }
        }
        let workers = timeline.workers.len() as u64;
        let held = quantity::share(held_ns, workers.saturating_mul(recent.second_ns));
        recent.held = held.map(|held| held.min(1.0));
        crate::util::sort::by_key(&mut ready, |ready_ns| *ready_ns);
        // Less than 1 % of them come after it.
        recent.ready_p99_ns = ready.get(ready.len().saturating_sub(1) * 99 / 100).copied();
        recent
    }

    /// Returns the function that the longest poll of the minute is blamed on, with its file, and with its line if it was
    /// blocked there.
    pub(crate) fn blamed(&self, timeline: &Timeline) -> Option<StackFrame> {
        let (_, poll) = self.longest?;
        Blame::from_samples(timeline, poll)?.place_in_file()
    }

    /// Returns the polls a second.
    pub(crate) fn polls_a_second(&self) -> u64 {
        quantity::scale(self.polls, SECOND_NS, self.second_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::trace::state::WorkerState;
    use crate::trace::timeline::{TaskKey, Worker};
    use std::time::Duration;

    fn task(id: u64, polls: Vec<Poll>) -> Task {
        Task::planted(TaskKey::Spawned(id), 0, polls)
    }

    #[test]
    fn the_last_second_and_the_last_minute() {
        const MS: u64 = 1_000_000;
        let end_ns = 100 * SECOND_NS;
        let ago = |ms: u64| end_ns - ms * MS;
        let poll = |from: u64, to: u64| {
            Poll::open(ago(from), 0, Some(0)).ready(Some(ago(from) - 7)).ended(ago(to))
        };
        let mut timeline =
            Timeline::from_events(&[], &CollectorConfig::default(), Duration::from_secs(1));
        (timeline.begin_ns, timeline.end_ns) = (0, end_ns);
        let worker =
            |index| Worker { index, transitions: vec![(0, WorkerState::Running)], parks: 0 };
        timeline.workers = vec![worker(0), worker(1)];
        timeline.tasks = vec![
            task(1, vec![poll(70_000, 65_000), poll(30_000, 29_000), poll(1_100, 900)]),
            task(2, vec![poll(500, 400), Poll::open(ago(300), 1, Some(1))]),
        ]
        .into();
        let recent = Recent::from_timeline(&timeline);
        assert_eq!((recent.polls, recent.polls_a_second()), (3, 3));
        assert_eq!(recent.longest_ns, Some(300 * MS));
        assert_eq!(recent.held, Some(0.25));
        assert_eq!(recent.ready_p99_ns, Some(7));
        let (task, poll) = recent.longest.unwrap();
        assert_eq!((task.key, poll.start_ns()), (TaskKey::Spawned(1), ago(30_000)));

        // Where less is kept in detail, the time is shorter.
        timeline.recent_ns = ago(500);
        let recent = Recent::from_timeline(&timeline);
        assert_eq!((recent.second_ns, recent.minute_ns), (500 * MS, 500 * MS));
        assert_eq!((recent.polls, recent.polls_a_second()), (2, 4));
        timeline.recent_ns = end_ns;
        let recent = Recent::from_timeline(&timeline);
        assert_eq!((recent.second_ns, recent.held, recent.polls_a_second()), (0, None, 0));
    }
}
