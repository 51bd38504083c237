//! The causes and stack samples of long polls.

use crate::trace::timeline::Timeline;
use crate::trace::timeline::cause::PollCause;
use crate::trace::timeline::machine::Sampling;
use crate::trace::timeline::poll::{Poll, PollKey};
use crate::trace::timeline::sample::{PollSample, blocked_at_most_ns};

/// The causes and stack samples of long polls. [`Timeline::cause`] and [`Timeline::samples`] return
/// those of one poll.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LongPolls {
    /// The state of the sampler of long polls' stacks.
    pub sampling: Sampling,
    /// The causes of long polls, sorted by poll key.
    pub(crate) causes: Vec<(PollKey, PollCause)>,
    /// The stack samples of long polls, sorted by poll key, then by time.
    pub(crate) samples: Vec<PollSample>,
    /// The samples of other threads while polls waited for locks, sorted like the samples. Their threads are those of
    /// the polls. Samples of polls that begin at the right edge are of threads of the blocking pool, where tasks wait
    /// for it.
    pub(crate) beside: Vec<PollSample>,
}

impl Timeline {
    /// Returns the cause of the length of `poll`; `None` if it is unknown.
    ///
    /// It is known for whole polls of `long_poll` or longer, on Linux (x86-64, aarch64), in a build
    /// with the feature `stacks`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::Timeline;
    ///
    /// fn print_blocked(timeline: &Timeline) {
    ///     for task in timeline.tasks.one_by_one() {
    ///         for cause in task.polls.iter().filter_map(|poll| timeline.cause(poll)) {
    ///             let name = timeline.task_name(task.key);
    ///             println!("{name}: a long poll was blocked for {} ns", cause.blocked_ns);
    ///         }
    ///     }
    /// }
    /// ```
    #[inline(never)]
    pub fn cause(&self, poll: &Poll) -> Option<PollCause> {
        // A cut poll may have the key of another poll that begins at the edge.
        if poll.is_cut_left() || poll.is_cut_right() {
            return None;
        }
        let causes = &self.long_polls.causes;
        let place = causes.binary_search_by_key(&poll.key(), |(key, _)| *key).ok()?;
        Some(causes[place].1)
    }

    /// Returns the stack samples of `poll` in order of time, at most 16.
    ///
    /// A poll of 10 ms or more usually has at least one, unless the program uses all processors;
    /// shorter polls sometimes do, as sampling starts after 1 ms. There is none if the processor was taken away the whole time, or if the
    /// program handles SIGURG itself (then only blocked threads are sampled). If there are over
    /// 4096 samples, those of the shortest polls are dropped.
    pub fn samples(&self, poll: &Poll) -> &[PollSample] {
        let samples = &self.long_polls.samples;
        let from = &samples[first_from(samples, poll.key())..];
        &from[..from.partition_point(|sample| sample.poll_key() == poll.key())]
    }

    /// Returns what other threads did while `poll` waited for a lock, in order of time: stacks of up to four threads at a
    /// time, which were on a processor, or in a task and blocked in something other than a lock. One of them may hold the
    /// lock.
    ///
    /// A recording keeps 1024 of them. They are known where [`samples`](Self::samples) are.
    pub fn samples_beside(&self, poll: &Poll) -> &[PollSample] {
        let beside = &self.long_polls.beside;
        let from = &beside[first_from(beside, poll.key())..];
        &from[..from.partition_point(|sample| sample.poll_key() == poll.key())]
    }

    /// Corrects the causes by what the samples show.
    pub(super) fn apply_samples(&mut self) {
        let LongPolls { causes, samples, .. } = &mut self.long_polls;
        for of_poll in samples.chunk_by(|a, b| a.poll_key() == b.poll_key()) {
            let Some(first) = of_poll.first() else { continue };
            let found = causes.binary_search_by_key(&first.poll_key(), |(key, _)| *key);
            let Ok(place) = found else { continue };
            let cause = &mut causes[place].1;
            let end_ns = first.poll_start_ns + cause.length_ns();
            let not_stolen_ns = cause.was_blocked(blocked_at_most_ns(of_poll, end_ns));
            self.machine.stolen_ns = self.machine.stolen_ns.saturating_sub(not_stolen_ns);
        }
    }

    /// Assigns the samples of polls that started before `begin_ns` to the cut polls that start
    /// there: the last sample before it, which shows what the thread was doing at that time, and
    /// all later ones.
    pub(super) fn carry_samples(&mut self, begin_ns: u64) {
        let mut carried: Vec<(u32, u64)> = Vec::new();
        for task in self.tasks.seen() {
            let first = task.polls.partition_point(|poll| poll.start_ns() < begin_ns);
            let Some(poll) = task.polls.get(first) else { continue };
            if poll.is_cut_left() && poll.start_ns() == begin_ns {
                carried.push((poll.thread(), self.held_ns(poll)));
            }
        }
        crate::util::sort::sort(&mut carried);
        let always_seen_ns = self.long_polls.sampling.always_seen_ns();
        let LongPolls { samples, beside, .. } = &mut self.long_polls;
        let mut thread_before = None;
        for (thread, rest_ns) in carried {
            if thread_before.replace(thread) == Some(thread) {
                continue;
            }
            let to = first_from(samples, (thread, begin_ns));
            let Some(last) = samples[..to].last() else { continue };
            let from = first_from(samples, last.poll_key());
            let key = last.poll_key();
            let is_it = last.thread == thread
                && (rest_ns >= always_seen_ns
                    || samples[from..to].iter().any(|sample| sample.at_ns >= begin_ns));
            if !is_it {
                continue;
            }
            // Starts from the last sample before the edge, or from the first of all.
            let mut first = to - 1;
            while first > from && samples[first].at_ns > begin_ns {
                first -= 1;
            }
            let first_beside = first_from(beside, key);
            let of_poll = beside[first_beside..].partition_point(|of| of.poll_key() == key);
            let beside = &mut beside[first_beside..first_beside + of_poll];
            for sample in samples[first..to].iter_mut().chain(beside) {
                sample.poll_start_ns = begin_ns;
                sample.at_ns = sample.at_ns.max(begin_ns);
            }
        }
        crate::util::sort::by_key(beside, PollSample::order);
    }
}

/// Returns the place of the first sample of this poll or a later one.
fn first_from(samples: &[PollSample], key: PollKey) -> usize {
    samples.partition_point(|sample| sample.poll_key() < key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::trace::state::TaskState;
    use crate::trace::timeline::{Quiet, Task, TaskKey, Tasks};
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
            waits_since_ns: None,
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
        timeline.long_polls.samples = times.iter().map(sample).collect();
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
