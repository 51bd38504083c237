//! Cuts a window out of data.

use super::align::Alignment;
use super::format::Datum;
use super::format::Native;
use super::read::Statemap;
use super::read::facts::Facts;
use super::read::long_polls::LongPolls;
use super::read::run::Run;
use super::read::value::Number;
use super::timeline::real_times;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::{Handover, PollKey, PollSample};

const RUNNING: u32 = TaskState::Running as u32;

impl Statemap {
    /// Keeps only the data in a window: from `begin_ns`, for `duration_ns` (`None`: to the end), both in ns.
    ///
    /// Times then count from the window's left edge, and so does the start. The state of an entity at the left edge is
    /// kept, and so is the last one at the right edge. An entity without a state in the window stays, but has no data.
    /// In this crate's own data, the same holds for an entity that had ended before.
    ///
    /// # Examples
    ///
    /// ```
    /// use tokio_statemap::statemap::read::read;
    ///
    /// let data = br#"{"start":[5,0],"title":"cpus","states":{"idle":{"value":0},"busy":{"value":1}}}
    /// {"time":"0","entity":"cpu-0","state":0}
    /// {"time":"70","entity":"cpu-0","state":1}
    /// {"time":"90","entity":"cpu-0","state":0}
    /// "#;
    /// let mut statemap = read(&data[..])?;
    /// statemap.cut(50, Some(30));
    /// let changes: Vec<_> =
    ///     statemap.entities[0].data.iter().map(|datum| (datum.time_ns, datum.state)).collect();
    /// assert_eq!(changes, [(0, 0), (20, 1)]);
    /// assert_eq!(statemap.end_ns, 30);
    /// assert_eq!(statemap.metadata.start, [5, 50]);
    /// # Ok::<(), tokio_statemap::statemap::read::ReadError>(())
    /// ```
    pub fn cut(&mut self, begin_ns: u64, duration_ns: Option<u64>) {
        let length_ns = self.end_ns;
        let end_ns = duration_ns
            .map_or(self.end_ns, |duration| begin_ns.saturating_add(duration))
            .min(self.end_ns);
        let is_whole_to_the_right = end_ns == self.end_ns;
        // A state that begins at the end is included only if it is the end of all data.
        let is_before_end = |time_ns: u64| time_ns < end_ns || is_whole_to_the_right;
        let ended = match self.metadata.native() {
            Some(Native::Tasks { .. }) => Some(u32::from(TaskState::Completed.value())),
            Some(Native::Workers) => Some(u32::from(WorkerState::Stopped.value())),
            None => None,
        };
        let mut run = self.run.take();
        let is_tasks = matches!(self.metadata.native(), Some(Native::Tasks { .. }));
        let edges = run.as_ref().map(|run| run.facts.window(begin_ns, duration_ns));
        let mut across = Across::default();
        for entity in &mut self.entities {
            let data = &mut entity.data;
            let whole = data.len();
            data.truncate(data.partition_point(|datum| is_before_end(datum.time_ns)));
            if let (true, Some(last), true) = (data.len() < whole, data.last_mut(), is_tasks) {
                if last.state == RUNNING {
                    last.mark = last.mark.cut_right();
                }
            }
            if begin_ns >= self.end_ns {
                data.clear();
            }
            let passed = data.partition_point(|datum| datum.time_ns <= begin_ns);
            let before = passed.saturating_sub(1);
            let first_ns = real_times(&data[..passed]).last();
            data.drain(..before);
            if passed > 0 && begin_ns > 0 && data.iter().all(|datum| Some(datum.state) == ended) {
                data.clear();
            }
            if let (Some(run), Some(first), true) = (&run, data.first_mut(), is_tasks) {
                if first.state == RUNNING && first.time_ns < begin_ns {
                    across.handed_over.extend(run.handed_over_before(first, begin_ns));
                    across.polls.extend(first_ns.and_then(|ns| run.poll_key(first, ns)));
                    first.mark = first.mark.cut_left();
                }
            }
            for datum in data.iter_mut() {
                datum.time_ns = datum.time_ns.saturating_sub(begin_ns);
            }
        }
        self.events.retain_mut(|event| {
            let is_within = event.time_ns >= begin_ns && is_before_end(event.time_ns);
            event.time_ns = event.time_ns.saturating_sub(begin_ns);
            is_within
        });
        self.end_ns = end_ns.saturating_sub(begin_ns);
        self.is_part |= self.end_ns < length_ns;
        if let (Some(run), Some(edges)) = (&mut run, edges) {
            self.is_part |= edges != (run.facts.begin_ns.0, run.facts.end_ns.0);
            run.cut(edges, across);
        }
        self.run = run;
        let [seconds, ns] = &mut self.metadata.start;
        let begin_ns = u128::from(*ns) + u128::from(begin_ns);
        *seconds = seconds.saturating_add((begin_ns / 1_000_000_000) as u64);
        *ns = (begin_ns % 1_000_000_000) as u64;
    }
}

impl Facts {
    /// Returns the edges of a window, in the time of the run.
    fn window(&self, begin_ns: u64, duration_ns: Option<u64>) -> (u64, u64) {
        let begin_ns = self.begin_ns.0.saturating_add(begin_ns).min(self.end_ns.0);
        let end_ns =
            duration_ns.map_or(u64::MAX, |duration_ns| begin_ns.saturating_add(duration_ns));
        (begin_ns, end_ns.min(self.end_ns.0))
    }
}

/// The polls that lie across the left edge.
#[derive(Default)]
struct Across {
    polls: Vec<PollKey>,
    /// The threads and workers of polls that had handed their worker over before the left edge.
    handed_over: Vec<(u32, u32)>,
}

impl Run {
    /// Returns the key of a poll that really began at `start_ns` of the data.
    fn poll_key(&self, poll: &Datum, start_ns: u64) -> Option<PollKey> {
        let &(thread, _) = self.ran_on.get(poll.mark.ran_on())?;
        Some((thread, self.facts.begin_ns.0.saturating_add(start_ns)))
    }

    /// Returns the thread and worker of a handover in a poll, if it was before `begin_ns` of the data.
    fn handed_over_before(&self, poll: &Datum, begin_ns: u64) -> Option<(u32, u32)> {
        let &(thread, _) = self.ran_on.get(poll.mark.ran_on())?;
        let at = |ns: u64| (thread, self.facts.begin_ns.0.saturating_add(ns));
        let next = self.handovers.partition_point(|h| (h.thread, h.time_ns) < at(poll.time_ns));
        let handover = self.handovers.get(next)?;
        let is_before = (handover.thread, handover.time_ns) < at(begin_ns);
        is_before.then_some((handover.thread, handover.worker))
    }

    /// Returns the recorded time, in ns.
    fn recorded_ns(&self) -> u64 {
        let gaps = self.gaps.iter().map(|(from_ns, to_ns)| to_ns - from_ns);
        self.facts.end_ns.0 - self.facts.begin_ns.0 - gaps.sum::<u64>()
    }

    /// Keeps only what lies between these edges.
    fn cut(&mut self, (begin_ns, end_ns): (u64, u64), across: Across) {
        let Across { mut polls, handed_over } = across;
        if (begin_ns, end_ns) != (self.facts.begin_ns.0, self.facts.end_ns.0) {
            let end_ns = (end_ns < self.facts.end_ns.0).then_some(end_ns);
            polls.sort_unstable();
            self.long_polls.cut(begin_ns, end_ns, &polls);
            // For a part of a part, it stays the recorded time of the whole.
            self.whole_ns = self.whole_ns.or(Some(self.recorded_ns()));
        }
        (self.facts.begin_ns, self.facts.end_ns) = (Number(begin_ns), Number(end_ns));
        for gap in &mut self.gaps {
            *gap = (gap.0.clamp(begin_ns, end_ns), gap.1.clamp(begin_ns, end_ns));
        }
        self.gaps.retain(|(from_ns, to_ns)| from_ns < to_ns);
        self.handovers.retain(|handover| (begin_ns..=end_ns).contains(&handover.time_ns));
        let from_left = |(thread, worker)| Handover { thread, time_ns: begin_ns, worker };
        self.handovers.extend(handed_over.into_iter().map(from_left));
        self.handovers.sort_unstable();
        self.blocking_threads.retain(|thread| {
            thread.started_ns <= end_ns && thread.stopped_ns.is_none_or(|ns| ns >= begin_ns)
        });
    }
}

impl LongPolls {
    /// Keeps the samples between these edges. `end_ns` is `None` if the right edge is unchanged. `across` has the polls
    /// that lie across the left edge, in order.
    ///
    /// Such a poll then starts at the edge, with the last sample before it: otherwise nothing may be known about a poll
    /// that does one thing for long. The causes of polls that are cut are removed together with the polls.
    fn cut(&mut self, begin_ns: u64, end_ns: Option<u64>, across: &[PollKey]) {
        let all = std::mem::take(&mut self.samples);
        let mut last: Option<PollSample> = None;
        for sample in all {
            // Samples are sorted by poll, and those of a poll by time.
            let key = sample.poll_key();
            self.samples
                .extend(last.take_if(|last| last.poll_key() != key || sample.at_ns >= begin_ns));
            if sample.at_ns < begin_ns {
                last = across.binary_search(&key).is_ok().then_some(sample);
            } else if end_ns.is_none_or(|end_ns| sample.at_ns <= end_ns) {
                // The samples of the last moment may have been taken just after the end.
                self.samples.push(sample);
            }
        }
        self.samples.extend(last);
        for sample in &mut self.samples {
            sample.poll_start_ns = sample.poll_start_ns.max(begin_ns);
            sample.at_ns = sample.at_ns.max(begin_ns);
        }
        self.samples.sort_by_key(PollSample::order);
        self.beside.retain(|sample| {
            let goes_on = || across.binary_search(&sample.poll_key()).is_ok();
            (sample.at_ns >= begin_ns || goes_on())
                && end_ns.is_none_or(|end_ns| sample.at_ns <= end_ns)
        });
        for sample in &mut self.beside {
            sample.poll_start_ns = sample.poll_start_ns.max(begin_ns);
            sample.at_ns = sample.at_ns.max(begin_ns);
        }
        self.beside.sort_by_key(PollSample::order);
    }
}

/// Keeps only what lies in a window of the time axis of all files, as [`Statemap::cut`] does for one file.
///
/// `begin_ns` counts from the left edge of the picture of all files, in ns: from the start of the first file, or from
/// the start of each if they are from different times.
pub fn cut(files: &mut [Statemap], begin_ns: u64, duration_ns: Option<u64>) {
    let alignment = Alignment::from_files(files);
    let end_ns = duration_ns.map(|duration| begin_ns.saturating_add(duration));
    for (file, shift_ns) in files.iter_mut().zip(alignment.shifts_ns) {
        let from_ns = begin_ns.saturating_sub(shift_ns);
        let to_ns = end_ns.map(|end_ns| end_ns.saturating_sub(shift_ns));
        file.cut(from_ns, to_ns.map(|to_ns| to_ns.saturating_sub(from_ns)));
    }
}
