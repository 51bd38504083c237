//! Samples of polls that started before what is recorded.

use crate::recorder::watch::ALWAYS_SEEN_NS;
use crate::trace::timeline::{PollSample, Timeline};

impl Timeline {
    /// Gives the samples of polls that started before what is recorded to these polls, which now start where
    /// it begins: the last one from before, which shows what the thread went on with, and those after.
    pub(super) fn carry_samples(&mut self, begin_ns: u64) {
        let polls = self.tasks.seen().iter().filter_map(|task| {
            task.polls.get(task.polls.partition_point(|poll| poll.start_ns() < begin_ns))
        });
        let carried = polls.filter(|poll| poll.is_cut_left() && poll.start_ns() == begin_ns);
        let mut carried: Vec<_> = carried.map(|poll| (poll.thread(), self.held_ns(poll))).collect();
        carried.sort_unstable();
        carried.dedup_by_key(|(thread, _)| *thread);
        for (thread, rest_ns) in carried {
            let of_thread = |sample: &PollSample| (sample.thread, sample.poll_start_ns);
            let to = self.samples.partition_point(|sample| of_thread(sample) < (thread, begin_ns));
            let Some(key) = self.samples[..to].last().map(of_thread) else { continue };
            let from = self.samples.partition_point(|sample| of_thread(sample) < key);
            let group = &mut self.samples[from..to];
            let is_it = key.0 == thread
                && (rest_ns >= ALWAYS_SEEN_NS || group.iter().any(|s| s.at_ns >= begin_ns));
            if !is_it {
                continue;
            }
            let last = group.iter().rposition(|sample| sample.at_ns <= begin_ns).unwrap_or(0);
            for sample in &mut group[last..] {
                sample.poll_start_ns = begin_ns;
                sample.at_ns = sample.at_ns.max(begin_ns);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::trace::state::TaskState;
    use crate::trace::timeline::{Poll, Quiet, Task, TaskKey, Tasks};
    use std::time::Duration;

    fn samples_of(poll: Poll, times: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let task = Task {
            key: TaskKey::Spawned(7),
            location: None,
            parent: None,
            spawned_ns: None,
            first_ns: 1000,
            first_state: TaskState::Running,
            terminated_ns: None,
            polls: vec![poll],
            name: None,
            carried_wait: None,
            ready_ns: None,
        };
        let sample = |&(poll_start_ns, at_ns): &(u64, u64)| PollSample {
            thread: 1,
            poll_start_ns,
            at_ns,
            blocked_in: None,
            frames: Vec::new(),
            is_complete: false,
        };
        let config = CollectorConfig::default();
        let mut timeline = Timeline::from_events(&[], &config, Duration::ZERO);
        (timeline.begin_ns, timeline.end_ns) = (1000, 2000);
        timeline.tasks = Tasks::new(vec![task], Quiet::default());
        timeline.samples = times.iter().map(sample).collect();
        timeline.carry_samples(1000);
        let of_poll = timeline.samples(&poll).iter();
        of_poll.map(|sample| (sample.poll_start_ns, sample.at_ns)).collect()
    }

    #[test]
    fn a_poll_across_the_edge_has_the_last_sample_before_it_and_those_after() {
        let poll = Poll::open(1000, 1, Some(0)).cut_left();
        let times = [(10, 20), (500, 600), (500, 900), (500, 1400)];
        assert_eq!(samples_of(poll, &times), [(1000, 1000), (1000, 1400)]);
        assert_eq!(samples_of(poll, &times[..3]), [], "they may be of another poll");
        assert_eq!(samples_of(Poll::open(1000, 2, Some(0)).cut_left(), &times), []);
        assert_eq!(samples_of(Poll::open(1000, 1, Some(0)), &times), [], "it starts there");
    }
}
