//! A capture: what a recorder knows at one moment, as plain data. The [trace](crate::trace) reads it.
//!
//! Times are in ticks, and tasks have the ids that records have.

#[cfg(all(has_black_box, feature = "read"))]
pub(crate) mod from_box;
mod limit;
mod pinned;

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) use pinned::PinnedState;

use crate::config::CollectorConfig;
use crate::recorder::calls::profile::Counted;
use crate::recorder::chains::table::Places;
use crate::recorder::chains::{LocalSeen, locals};
use crate::recorder::clock::{Account, TickScale};
use crate::recorder::hot::Shared;
use crate::recorder::kept::capture::KeptRecords;
pub(crate) use crate::recorder::kept::capture::Then;
use crate::recorder::locks::lock;
use crate::recorder::lost::Lost;
use crate::recorder::machine::CpuLimit;
use crate::recorder::memory::Memory;
#[cfg(feature = "tracing")]
use crate::recorder::spans::SpansSeen;
use crate::recorder::store::segment::{Segment, last_event};
use crate::recorder::waits::cell::{self, TaskSeen};
use crate::recorder::waits::names;
use crate::recorder::watch::Samples;
use crate::recorder::watch::cpu::CpuSamples;
use crate::recorder::window::Window;
use crate::recorder::window::before::WindowsBefore;

/// The state of a recorder at one moment.
#[derive(Debug)]
pub(crate) struct Capture {
    pub(crate) config: CollectorConfig,
    pub(crate) runtime: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) utc_at_zero: Duration,
    pub(crate) scale: TickScale,
    /// The time at which recording was first started.
    pub(crate) zero: u64,
    pub(crate) lost: Lost,
    /// The live tasks and threads before the first record, and the sums of all that was recorded.
    pub(crate) memory: Memory,
    /// Sorted by stream, and within a stream by time.
    pub(crate) segments: Vec<Segment>,
    /// The windows of recording whose records are kept, the last one up to the capture.
    pub(crate) windows: Vec<(u64, u64)>,
    /// All windows but those in `windows_before`.
    pub(crate) recorded: Vec<(u64, u64)>,
    pub(crate) windows_before: WindowsBefore,
    /// The time from which on the kept records are complete, within the windows.
    pub(crate) begin: u64,
    /// The time from which on the records are complete, after the pinned windows.
    pub(crate) detail: u64,
    pub(crate) end: u64,
    /// The pinned windows before the recent records, by time.
    pub(crate) pinned: Vec<PinnedState>,
    /// The ends of tasks that may be in pinned windows.
    pub(crate) ended: Vec<(u64, u64)>,
    pub(crate) root_locations: Vec<Option<SourcePlace>>,
    pub(crate) locations: Vec<SourcePlace>,
    /// Samples of the stacks of long polls.
    pub(crate) samples: Samples,
    /// Samples of what polls computed.
    pub(crate) cpu: CpuSamples,
    pub(crate) cpu_limit: Option<CpuLimit>,
    /// The time that the host had taken up to several moments, in ns, as the kernel counts it.
    pub(crate) steal: Vec<(u64, u64)>,
    pub(crate) clock: Account,
    /// The tasks that have waited and not ended.
    pub(crate) waiting: Vec<TaskSeen>,
    /// The tasks of `LocalSet`s that wait, whoever spawned them.
    pub(crate) local: Vec<LocalSeen>,
    /// The places where tasks wait.
    pub(crate) places: Places,
    /// `true` if the clones of all wakers of tasks were seen.
    pub(crate) sees_wakers: bool,
    /// `true` if wakes were to tell when tasks become ready, and can't.
    pub(crate) misses_ready_times: bool,
    /// The names of tasks.
    pub(crate) names: Vec<Arc<str>>,
    pub(crate) calls: Calls,
    /// The spans of `tracing`.
    #[cfg(feature = "tracing")]
    pub(crate) spans: SpansSeen,
}

/// Returns the windows, the last one up to the capture at `now`, and the end of all. The `last` event may be slightly later.
fn up_to_end(windows: &[Window], last: Option<u64>, now: u64) -> (Vec<(u64, u64)>, u64) {
    let end_of = |window: &Window| window.to.unwrap_or(last.unwrap_or(now).max(now));
    let end = windows.last().map_or(now, end_of).max(last.unwrap_or(0));
    let mut up_to_end = Vec::with_capacity(windows.len());
    for window in windows {
        up_to_end.push((window.from, end_of(window)));
    }
    (up_to_end, end)
}

/// A place in the source, of this process or of one that left a black box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourcePlace {
    pub(crate) file: &'static str,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl From<&'static Location<'static>> for SourcePlace {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line(), column: location.column() }
    }
}

/// The counts of calls of instrumented functions.
#[derive(Debug)]
pub(crate) struct Calls {
    pub(crate) functions: Vec<Counted>,
    /// The number of calls of functions beyond the most that are told apart.
    pub(crate) uncounted: u64,
    /// The time that was recorded, in ticks.
    pub(crate) recorded: u64,
    /// The number of workers that were seen.
    pub(crate) workers: u64,
}

impl Calls {
    pub(super) fn of_recorder(recorder: &Shared) -> Self {
        let (functions, uncounted) = recorder.functions.read();
        Self {
            functions,
            uncounted,
            recorded: recorder.kept.recorded_ticks(),
            workers: recorder.functions.workers.load(Ordering::Relaxed),
        }
    }
}

impl Capture {
    pub(super) fn take(recorder: &Shared, then: Then) -> Self {
        let kept = &recorder.kept;
        kept.take_anchor();
        recorder.machine.note_steal(&kept.clock);
        if then != Then::Drain {
            kept.clock.check_source();
        }
        let records = kept.records(then);
        let samples = lock(&recorder.watch.samples).clone();
        let cpu = lock(&recorder.watch.cpu).clone();
        let steal = recorder.machine.steal_counts();
        let waiting = cell::waiting_tasks(kept.id);
        #[cfg(feature = "tracing")]
        let spans_seen = recorder.spans.read();
        // Taken after everything that has a time, so that later anchors don't change these times.
        let scale = kept.clock.scale();
        let KeptRecords { now, windows, .. } = &records;
        let zero = windows.first().unwrap_or(*now);
        // Records of the last instant may be slightly later than `now`.
        let last = last_event(&records.segments);
        let (up_to_end, end) = up_to_end(&windows.all, last, *now);
        let local = up_to_end.last().map(|window| locals::waiting(kept.id, *window));
        let mut capture = Self {
            config: kept.config.clone(),
            runtime: recorder.runtime.name(),
            version: recorder.runtime.version.get().cloned(),
            utc_at_zero: kept.utc_at_zero(),
            scale,
            zero,
            lost: records.lost,
            windows: up_to_end,
            recorded: Vec::new(),
            windows_before: windows.before.clone(),
            begin: zero,
            detail: zero,
            end,
            pinned: Vec::new(),
            ended: Vec::new(),
            root_locations: recorder
                .runtime
                .roots
                .locations()
                .into_iter()
                .map(|at| at.map(Into::into))
                .collect(),
            locations: recorder.locations.to_vec().into_iter().map(Into::into).collect(),
            samples,
            cpu,
            cpu_limit: recorder.machine.cpu_limit(),
            steal,
            clock: kept.clock.account(),
            waiting,
            local: local.unwrap_or_default(),
            // Taken after the records and the tasks, so that each place that they name is there.
            places: Places::now(),
            sees_wakers: recorder.wakers.are_seen(),
            misses_ready_times: recorder.wakers.miss_ready_times(),
            names: names::all(),
            calls: Calls::of_recorder(recorder),
            #[cfg(feature = "tracing")]
            spans: spans_seen,
            memory: records.memory,
            segments: records.segments,
        };
        let (stored, max_stored) = (records.stored_events, records.max_stored);
        let windows = &records.windows;
        capture.limit((stored, max_stored), windows.is_full, end, &windows.all);
        capture.add_pinned(&records.pinned, records.done_until, &records.ended);
        capture
    }
}
