//! A snapshot: the kept records at one moment, limited to `max_events`, and how they are read.

mod islands;
mod oldest;
mod reading;
#[cfg(test)]
mod whole_run_tests;

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{CollectorConfig, Keep};
use crate::recorder::clock::TickScale;
use crate::recorder::eviction::islands::Island;
use crate::recorder::live_tasks::LiveTasks;
use crate::recorder::lost::Lost;
use crate::recorder::record::{Kind, ROOT, Record};
use crate::recorder::store::segment::{Segment, events_of};
use crate::recorder::sums::Sums;
use crate::recorder::waits::cell::TaskSeen;
use crate::recorder::waits::names;
use crate::recorder::waits::table::Places;
use crate::recorder::watch::Samples;
use crate::recorder::{CpuLimit, Recorder, Window, WindowsBefore};
use crate::trace::clock::ClockChanges;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::profile::Profile;
use crate::trace::snapshot::islands::IslandSeen;
use crate::trace::snapshot::oldest::oldest;
pub(crate) use crate::trace::snapshot::reading::{QueueSeen, Reading, Usage};
use crate::util::sync::lock;

/// The state of a recorder at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) config: CollectorConfig,
    pub(crate) runtime: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) utc_at_zero: Duration,
    pub(crate) lost: Lost,
    /// The live tasks and threads before the first record.
    pub(crate) live_tasks: LiveTasks,
    /// Sorted by stream, and within a stream by time.
    pub(crate) segments: Vec<Segment>,
    /// The windows of recording: start and end in ns, the last one up to the snapshot.
    pub(crate) windows: Vec<(u64, u64)>,
    /// The same of all the time, also of that of which nothing is kept, but for those before.
    pub(crate) recorded: Vec<(u64, u64)>,
    pub(crate) windows_before: WindowsBefore,
    /// The time from which on the kept records are complete, in ns.
    pub(crate) begin_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) root_locations: Vec<Option<&'static Location<'static>>>,
    pub(crate) locations: Vec<&'static Location<'static>>,
    /// Of the stacks of long polls.
    pub(crate) samples: Samples,
    pub(crate) cpu_limit: Option<CpuLimit>,
    /// What the kernel had counted up to several moments that the host took: their times, and sums, in ns.
    pub(crate) steal: Vec<(u64, u64)>,
    pub(crate) clock: ClockChanges,
    /// The tasks that have waited and not ended.
    pub(crate) waiting: Vec<TaskSeen>,
    /// Where they wait.
    pub(crate) places: Places,
    /// The names of tasks.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) profile: Profile,
    /// What is kept of before, by time.
    pub(crate) islands: Vec<IslandSeen>,
    /// Where the islands end, and the kept records are complete, in ns.
    pub(crate) detail_ns: u64,
    /// When tasks ended that may be in islands, in ns.
    pub(crate) ended: Vec<(u64, u64)>,
    /// All that was recorded, added up, in ticks.
    pub(crate) sums: Sums,
    times: Times,
}

/// Converts ticks to nanoseconds since the first start.
#[derive(Clone, Debug)]
struct Times {
    scale: TickScale,
    zero_ns: u64,
}

impl Times {
    /// The same as [`ns`](Self::ns); `near` is where the last one was found.
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
        Self::take_and(recorder, drain, |_, _, _| {})
    }

    /// Takes a snapshot, from which on the recorder's sums begin anew.
    pub(crate) fn take_and_reset_sums(recorder: &Recorder) -> Self {
        Self::take_and(recorder, false, Sums::reset)
    }

    /// Takes a snapshot, and calls `after` with the recorder's sums, the snapshot's time in ticks, and what isn't added up
    /// yet in that.
    fn take_and(
        recorder: &Recorder,
        drain: bool,
        after: impl FnOnce(&mut Sums, u64, &[Segment]),
    ) -> Self {
        recorder.take_anchor();
        recorder.note_steal();
        if !drain {
            recorder.clock.check_source();
        }
        let mut segments = Vec::new();
        // While this is locked nothing is evicted.
        let mut live_tasks_now = lock(&recorder.live_tasks);
        let now = recorder.clock.ticks();
        recorder.flush();
        let (windows, windows_before, first, is_full) = {
            let windows = lock(&recorder.windows);
            (windows.all.clone(), windows.before.clone(), windows.first(), windows.are_full())
        };
        // The buffers are flushed one after the other, so that records after `now` are incomplete.
        if drain {
            lock(&recorder.store).drain_until(now, &mut segments);
        } else {
            lock(&recorder.store).segments(&mut segments);
            for segment in &mut segments {
                let n = segment.records().partition_point(|record| record.ticks <= now);
                segment.truncate(n);
            }
        }
        // What has left the store and isn't dropped yet, and what stays. Locked for no longer than that, as a hook
        // may wait for it; nobody changes it without the lock of `live_tasks`.
        let (max_stored, islands, ended, done_until) = {
            let eviction = lock(&recorder.eviction);
            segments.extend(eviction.staged.iter().cloned());
            let islands: Vec<_> = eviction.islands.iter().map(Arc::clone).collect();
            let max_stored = recorder.max_stored(&eviction);
            (max_stored, islands, eviction.islands.ended(), eviction.done_until())
        };
        segments.retain(|segment| !segment.records().is_empty());
        segments.sort_unstable_by_key(Segment::order);
        let stored_events = events_of(&segments);
        let lost = recorder.lost(stored_events, max_stored);
        let live_tasks = live_tasks_now.clone();
        let mut sums_now = lock(&recorder.sums);
        sums_now.expect_long_poll(|| recorder.long_poll_ticks());
        let sums = sums_now.clone();
        if drain {
            if recorder.config.keep == Keep::First && stored_events > max_stored {
                // What is beyond isn't drained, and counts as refused; who is who is known from it all the same.
                let (kept, windows) = first_of(&segments, max_stored, stored_events, &windows);
                live_tasks_now.clone().update(&kept, &windows, &mut sums_now);
                live_tasks_now.update(&segments, &windows, &mut Sums::default());
            } else {
                live_tasks_now.update(&segments, &windows, &mut sums_now);
            }
            recorder.note_drained(stored_events, max_stored);
            lock(&recorder.eviction).clear(now);
            lock(&recorder.windows).forget(now, &mut live_tasks_now, &mut sums_now);
        }
        after(&mut sums_now, now, &segments);
        if sums_now.reset_at() == now {
            sums_now.missed_before = lost.refused_events + lost.reentrant_events;
        }
        drop((sums_now, live_tasks_now));

        let samples = lock(&recorder.samples).clone();
        let steal = recorder.steal_counts();
        let waiting = recorder.waiting_tasks();
        // After all that has a time: what it says of these won't change.
        let scale = recorder.clock.scale();
        let profile = Profile::of(recorder, scale.run_rate());
        let times = Times { zero_ns: scale.ns(first.unwrap_or(now)), scale };
        // Records of the last instant may be slightly later than `now`.
        let last = segments.iter().filter_map(last_event).map(|r| r.ticks).max();
        let end_of = |window: &Window| window.to.unwrap_or(now.max(last.unwrap_or(now)));
        let end = windows.last().map_or(now, end_of).max(last.unwrap_or(0));
        let mut snapshot = Self {
            config: recorder.config.clone(),
            runtime: recorder.runtime_name.get().cloned(),
            version: recorder.version.get().cloned(),
            utc_at_zero: recorder.utc_at_zero(),
            lost,
            live_tasks,
            segments,
            windows: windows.iter().map(|w| (times.ns(w.from), times.ns(end_of(w)))).collect(),
            recorded: Vec::new(),
            windows_before,
            begin_ns: 0,
            end_ns: times.ns(end),
            root_locations: (0..recorder.roots.count())
                .map(|n| recorder.roots.location(n))
                .collect(),
            locations: recorder.locations.to_vec(),
            samples,
            cpu_limit: recorder.cpu_limit(),
            steal: steal.iter().map(|&(ticks, stolen_ns)| (times.ns(ticks), stolen_ns)).collect(),
            clock: ClockChanges::of(&recorder.clock),
            waiting,
            // After the records, and the tasks, so that each place that they name is there.
            places: Places::now(),
            names: names::all(),
            profile,
            islands: Vec::new(),
            detail_ns: 0,
            ended: Vec::new(),
            sums,
            times,
        };
        snapshot.cut(stored_events, max_stored, is_full, &windows);
        snapshot.add_up(end, &windows);
        snapshot.add_before(islands, done_until, &ended);
        snapshot
    }

    /// Adds what was kept of before the recent records.
    fn add_before(&mut self, islands: Vec<Arc<Island>>, done_until: u64, ended: &[(u64, u64)]) {
        self.recorded.clone_from(&self.windows);
        self.detail_ns = self.begin_ns;
        self.add_islands(islands, done_until, ended);
    }

    /// Removes the events beyond `max_stored`: the oldest or the newest, over all threads.
    fn cut(&mut self, stored_events: u64, max_stored: u64, is_full: bool, windows: &[Window]) {
        let surplus = stored_events.saturating_sub(max_stored);
        match self.config.keep {
            Keep::Last if surplus > 0 => self.cut_oldest(surplus, stored_events, windows),
            Keep::First if surplus > 0 => {
                self.cut_newest(self.config.max_events as u64, stored_events)
            }
            _ => {}
        }
        if is_full || self.config.keep == Keep::First && surplus > 0 {
            // Nothing is known after the last kept event.
            let records = self.segments.iter().filter_map(last_event);
            let last = records.map(|record| record.ticks).max();
            self.end_ns = last.map_or(self.begin_ns, |ticks| self.times.ns(ticks));
            self.windows.retain(|&(from, _)| from <= self.end_ns);
            if let Some((_, to)) = self.windows.last_mut() {
                *to = self.end_ns;
            }
        }
        if self.live_tasks.has_evicted() {
            let records = self.segments.iter().filter_map(first_event);
            let first = records.map(|record| record.ticks).min();
            self.begin_ns = first.map_or(self.end_ns, |ticks| self.times.ns(ticks));
            self.live_tasks.advance_to(first.unwrap_or(u64::MAX), windows);
        }
    }

    fn cut_oldest(&mut self, surplus: u64, stored_events: u64, windows: &[Window]) {
        let oldest = oldest(&self.segments, surplus, stored_events);
        let segments = self.segments.iter_mut().zip(oldest);
        let dropped: Vec<_> = segments.map(|(segment, n)| segment.split_front(n)).collect();
        let records = dropped.iter().flat_map(Segment::records);
        let ends = records.filter(|record| record.kind() == Kind::Terminate);
        self.ended = ends.map(|r| (task_id(r.payload()), self.times.ns(r.ticks))).collect();
        self.live_tasks.update(&dropped, windows, &mut self.sums);
    }

    /// Adds up what is kept, too, up to `end`.
    fn add_up(&mut self, end: u64, windows: &[Window]) {
        self.live_tasks.clone().update(&self.segments, windows, &mut self.sums);
        let ends_with_last = self.config.keep == Keep::First && self.times.ns(end) > self.end_ns;
        let last = self.segments.iter().filter_map(last_event).map(|record| record.ticks).max();
        match last.filter(|_| ends_with_last) {
            Some(last) => {
                self.sums.finish(last, &until(last, windows));
            }
            None => self.sums.finish(end, windows),
        }
    }

    /// Removes all but the `kept` oldest events.
    fn cut_newest(&mut self, kept: u64, stored_events: u64) {
        let oldest = oldest(&self.segments, kept, stored_events);
        for (segment, n) in self.segments.iter_mut().zip(oldest) {
            segment.truncate(n);
        }
    }

    /// The time in ns of a time in ticks.
    pub(crate) fn ns(&self, ticks: u64) -> u64 {
        self.times.ns(ticks)
    }

    /// So many ticks, in ns, by the rate of the whole run.
    pub(crate) fn length_ns(&self, ticks: u64) -> u64 {
        self.times.scale.length_ns(ticks)
    }

    /// Where the root future with this number stands.
    pub(crate) fn root_location(&self, number: u64) -> Option<SpawnLocation> {
        let location = usize::try_from(number).ok().and_then(|n| self.root_locations.get(n))?;
        location.map(Into::into)
    }

    /// The spawn location with this index.
    pub(crate) fn location(&self, id: u32) -> Option<SpawnLocation> {
        self.locations.get(id as usize).map(|&location| location.into())
    }

    /// Splits the segments into at most `n` parts of about as many records, each of whole streams.
    pub(crate) fn parts(&self, n: usize) -> Vec<&[Segment]> {
        let len = |segments: &[Segment]| segments.iter().map(|s| s.records().len()).sum::<usize>();
        let all = len(&self.segments).max(1);
        let mut parts = Vec::new();
        let (mut from, mut to, mut before, mut part) = (0, 0, 0, 0);
        for stream in self.segments.chunk_by(|a, b| a.stream == b.stream) {
            // The part of its middle, which is beyond the last one if none of its records are kept.
            let records = len(stream);
            let its_part = ((before + records / 2) * n / all).min(n.saturating_sub(1));
            if its_part != part {
                parts.push(&self.segments[from..to]);
                (from, part) = (to, its_part);
            }
            to += stream.len();
            before += records;
        }
        parts.push(&self.segments[from..]);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// The events of all threads, sorted by time.
    pub(crate) fn events(&self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut started: Option<(u32, usize)> = None;
        self.read(&self.segments, |stream, reading| match reading {
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
            | Reading::Waits(..)
            | Reading::Name(..) => {}
        });
        // Stable, so that the events of one thread stay in order if the clock is coarse.
        events.sort_by_key(Event::time_ns);
        events
    }
}

/// The `kept` oldest events, and the windows until the last of them.
fn first_of(
    segments: &[Segment],
    kept: u64,
    stored_events: u64,
    windows: &[Window],
) -> (Vec<Segment>, Vec<Window>) {
    let mut first = segments.to_vec();
    for (segment, n) in first.iter_mut().zip(oldest(segments, kept, stored_events)) {
        segment.truncate(n);
    }
    first.retain(|segment| !segment.records().is_empty());
    let last = first.iter().filter_map(last_event).map(|record| record.ticks).max();
    (first, until(last.unwrap_or(u64::MAX), windows))
}

/// The windows that begin no later than `last`, as if that were the end.
fn until(last: u64, windows: &[Window]) -> Vec<Window> {
    let cut = |w: &Window| Window { to: w.to.map(|to| to.min(last)), ..*w };
    windows.iter().filter(|w| w.from <= last).map(cut).collect()
}

// Only events move the edges: a thread's end is recorded even while recording is stopped.

fn first_event(segment: &Segment) -> Option<&Record> {
    segment.records().iter().find(|record| record.is_event())
}

fn last_event(segment: &Segment) -> Option<&Record> {
    segment.records().iter().rfind(|record| record.is_event())
}

/// The public id of the task in a record's payload.
pub(crate) fn task_id(payload: u64) -> u64 {
    if payload & ROOT == 0 {
        return payload;
    }
    match payload & !ROOT {
        0 => Event::ROOT,
        further => u64::MAX - (further - 1),
    }
}
