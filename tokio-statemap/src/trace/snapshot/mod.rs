//! A snapshot: a [capture](crate::recorder::capture) of a recorder in nanoseconds, and how its records are read.

mod reading;
#[cfg(test)]
mod whole_run_tests;

use std::sync::OnceLock;

use crate::recorder::Recorder;
use crate::recorder::capture::{Capture, Then};
use crate::recorder::clock::{Rate, TickScale};
use crate::recorder::memory::live_tasks::LiveTasks;
use crate::recorder::memory::sums::Sums;
use crate::recorder::record::ROOT;
use crate::recorder::store::segment::Segment;
use crate::trace::clock::ClockChanges;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::profile::Profile;
pub(crate) use crate::trace::snapshot::reading::{QueueSeen, Reading, Usage};

/// The state of a recorder at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) capture: Capture,
    /// The windows of recording of which records are kept: start and end in ns, the last one up to the snapshot.
    pub(crate) windows: Vec<(u64, u64)>,
    /// All windows of recording, whether records are kept or not, except for those that [`Capture::windows_before`]
    /// covers.
    pub(crate) recorded: Vec<(u64, u64)>,
    /// The time from which on the kept records are complete, in ns.
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    /// The time at which the pinned windows end and the kept records become complete, in ns.
    pub(crate) detail_ns: u64,
    /// The time that the host had taken up to several moments, as the kernel counts it: times and sums, in ns.
    pub(crate) steal: Vec<(u64, u64)>,
    /// The ids and end times in ns of tasks that may be in pinned windows.
    pub(crate) ended: Vec<(u64, u64)>,
    pub(crate) clock: ClockChanges,
    pub(crate) profile: Profile,
    times: Times,
}

/// Converts ticks to nanoseconds since the first start.
#[derive(Clone, Debug)]
struct Times {
    scale: TickScale,
    zero_ns: u64,
}

impl Times {
    /// The same as [`ns`](Self::ns), but faster. `near` is the position where the last time was found.
    #[inline]
    fn ns_near(&self, ticks: u64, near: &mut usize) -> u64 {
        self.scale.ns_near(ticks, near).saturating_sub(self.zero_ns)
    }

    fn ns(&self, ticks: u64) -> u64 {
        self.scale.ns(ticks).saturating_sub(self.zero_ns)
    }
}

impl Snapshot {
    /// Takes a snapshot. With `drain`, its records are removed from the recorder.
    pub(crate) fn take(recorder: &Recorder, drain: bool) -> Self {
        Self::of_capture(recorder.capture(if drain { Then::Drain } else { Then::Keep }))
    }

    /// Takes a snapshot, after which the recorder's sums begin anew.
    pub(crate) fn take_and_reset_sums(recorder: &Recorder) -> Self {
        Self::of_capture(recorder.capture(Then::ResetSums))
    }

    pub(crate) fn of_capture(capture: Capture) -> Self {
        let scale = capture.scale.clone();
        let times = Times { zero_ns: scale.ns(capture.zero), scale };
        let ns_of = |windows: &[(u64, u64)]| {
            let mut windows = windows.to_vec();
            for (from, to) in &mut windows {
                (*from, *to) = (times.ns(*from), times.ns(*to));
            }
            windows
        };
        let (mut steal, mut ended) = (capture.steal.clone(), capture.ended.clone());
        for (at, _) in &mut steal {
            *at = times.ns(*at);
        }
        for (id, at) in &mut ended {
            (*id, *at) = (task_id(*id), times.ns(*at));
        }
        Self {
            windows: ns_of(&capture.windows),
            recorded: ns_of(&capture.recorded),
            begin_ns: times.ns(capture.begin),
            end_ns: times.ns(capture.end),
            detail_ns: times.ns(capture.detail),
            steal,
            ended,
            clock: ClockChanges::from_account(capture.clock),
            profile: Profile::from_calls(&capture.calls, times.scale.run_rate()),
            times,
            capture,
        }
    }

    /// Converts lengths by the rate that is `kept`, or keeps the rate of this snapshot, once it is known to some millionths.
    pub(crate) fn keep_rate(&mut self, kept: &OnceLock<Rate>) {
        if self.end_ns >= 1_000_000_000 {
            self.times.scale.keep_rate(kept);
        }
    }

    pub(crate) fn live_tasks(&self) -> &LiveTasks {
        &self.capture.memory.live_tasks
    }

    /// Returns the sums of everything that was recorded, in ticks.
    pub(crate) fn sums(&self) -> &Sums {
        &self.capture.memory.sums
    }

    /// Converts a time in ticks to ns.
    #[inline(never)]
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.times.ns(ticks)
    }

    /// Converts a length in ticks to ns, by the clock rate of the whole run.
    pub(crate) fn length_ns(&self, ticks: u64) -> u64 {
        self.times.scale.length_ns(ticks)
    }

    /// Returns the rate by which lengths are converted.
    #[cfg(feature = "tracing")]
    pub(crate) fn rate(&self) -> Rate {
        self.times.scale.run_rate()
    }

    /// Returns the location of the root future with this number.
    pub(crate) fn root_location(&self, number: u64) -> Option<SpawnLocation> {
        let location =
            usize::try_from(number).ok().and_then(|n| self.capture.root_locations.get(n))?;
        location.map(Into::into)
    }

    /// Returns the spawn location with this index.
    pub(crate) fn location(&self, id: u32) -> Option<SpawnLocation> {
        self.capture.locations.get(id as usize).map(|&place| place.into())
    }

    /// Splits the segments into at most `n` parts with about equal numbers of records. Each part has whole streams.
    pub(crate) fn parts(&self, n: usize) -> Vec<&[Segment]> {
        let len = |segments: &[Segment]| segments.iter().map(|s| s.records().len()).sum::<usize>();
        let segments = &self.capture.segments;
        let all = len(segments).max(1);
        let mut parts = Vec::new();
        let (mut from, mut to, mut before, mut part) = (0, 0, 0, 0);
        for stream in streams(segments) {
            // A stream goes to the part that contains its middle. That is beyond the last part if none of its records
            // are kept.
            let records = len(stream);
            let its_part = ((before + records / 2) * n / all).min(n.saturating_sub(1));
            if its_part != part {
                if from < to {
                    parts.push(&segments[from..to]);
                }
                (from, part) = (to, its_part);
            }
            to += stream.len();
            before += records;
        }
        if from < segments.len() {
            parts.push(&segments[from..]);
        }
        parts
    }

    /// Returns the events of all threads, sorted by time.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut started: Option<(u32, usize)> = None;
        self.read(&self.capture.segments, &mut |stream, reading| match reading {
            Reading::PollEnd(event, _) => events.push(event),
            Reading::Event(event) => {
                if let Event::WorkerStart { worker: None, .. } = event {
                    started = Some((stream, events.len()));
                }
                events.push(event);
            }
            // When a worker's thread starts, it isn't known yet that it is one.
            Reading::Worker(becomes @ Some(_)) => {
                if let Some((_, place)) = started.take_if(|(started, _)| *started == stream) {
                    if let Event::WorkerStart { worker, .. } = &mut events[place] {
                        *worker = becomes;
                    }
                }
            }
            Reading::Worker(..)
            | Reading::LateOrigin(..)
            | Reading::Usage(..)
            | Reading::Queue(..)
            | Reading::Name(..) => {}
        });
        // Stable, so that the events of one thread stay in order if the clock is coarse.
        crate::util::sort::by_key(&mut events, Event::time_ns);
        events
    }
}

/// Splits segments by stream.
fn streams(segments: &[Segment]) -> impl Iterator<Item = &[Segment]> {
    segments.chunk_by(|a, b| a.stream == b.stream)
}

/// Returns the public id of the task in a record's payload.
pub(crate) fn task_id(payload: u64) -> u64 {
    if payload & ROOT == 0 {
        return payload;
    }
    match payload & !ROOT {
        0 => Event::ROOT,
        further => u64::MAX - (further - 1),
    }
}
