//! Spans that closed: their sums by label over the whole run, and the newest ones.
//!
//! Both are in a few shards, each with a lock. A thread that closes a span tries the lock of its own shard first, and
//! then those of the others, so it never waits. A reader locks one after the other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::recorder::calls::Times;
use crate::recorder::kept::RecorderId;
use crate::recorder::spans::labels::Labels;
use crate::recorder::spans::open::Whole;
use crate::recorder::spans::{Label, Stint};
use crate::recorder::window::mode::{Mode, RecorderMode, WindowId};
use crate::util::sync::{lock, try_lock};

/// The spans of one recorder.
#[derive(Debug)]
pub(crate) struct Spans {
    recorder_id: RecorderId,
    mode: Arc<RecorderMode>,
    labels: Labels,
    shards: [Shard; SHARDS],
    /// The time at which the recorder was last started.
    started_ticks: AtomicU64,
    /// The most spans and stints that each shard keeps.
    most: usize,
    /// The number of spans that weren't recorded from their opening to their close.
    cut: AtomicU64,
    /// The number of spans that were dropped as all shards were in use.
    lost: AtomicU64,
}

const SHARDS: usize = 8;

/// Alone in its cache lines, as threads use different ones.
#[repr(align(128))]
#[derive(Debug, Default)]
struct Shard {
    opened: AtomicU64,
    closed: Mutex<Closed>,
}

#[derive(Debug, Default)]
struct Closed {
    /// By number of the label.
    sums: Vec<LabelSums>,
    newest: VecDeque<Header>,
    /// The stints of the newest spans, one span after the other.
    stints: VecDeque<Stint>,
    dropped: u64,
}

/// A closed span, without its stints.
#[derive(Clone, Copy, Debug)]
struct Header {
    label: u32,
    stints: u32,
    opened_ticks: u64,
    closed_ticks: u64,
    has_all: bool,
}

/// The sums of all spans with one label.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelSums {
    /// The times from their openings to their closes.
    pub(crate) lengths: Times,
    pub(crate) running_ticks: u64,
    pub(crate) own_ticks: u64,
}

/// A span from its opening to its close.
#[derive(Clone, Debug)]
pub(crate) struct ClosedSpan {
    /// The number of its label.
    pub(crate) label: usize,
    pub(crate) opened_ticks: u64,
    pub(crate) closed_ticks: u64,
    /// Sorted by time. They overlap if several threads were in the span at once, or one more than once.
    pub(crate) stints: Vec<Stint>,
    /// `true` if `stints` has all of them.
    pub(crate) has_all: bool,
}

/// The spans at one moment.
#[derive(Debug, Default)]
pub(crate) struct SpansSeen {
    pub(crate) labels: Vec<Label>,
    /// By number of the label.
    pub(crate) sums: Vec<LabelSums>,
    /// The newest, in no order.
    pub(crate) newest: Vec<ClosedSpan>,
    /// The number of spans that closed before the newest.
    pub(crate) dropped: u64,
    /// The number of spans that haven't closed.
    pub(crate) open: u64,
    pub(crate) cut: u64,
    pub(crate) lost: u64,
}

impl Spans {
    /// Creates the spans of a recorder that keeps `max_events`.
    pub(crate) fn new(
        recorder_id: RecorderId,
        mode: Arc<RecorderMode>,
        max_events: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            recorder_id,
            mode,
            labels: Labels::new(),
            shards: Default::default(),
            started_ticks: AtomicU64::new(0),
            most: (max_events / 4).clamp(1 << 12, 1 << 18) / SHARDS,
            cut: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        })
    }

    /// Notes that the recorder is started.
    pub(crate) fn start(&self, ticks: u64) {
        self.started_ticks.store(ticks, Ordering::Relaxed);
    }

    pub(super) fn started_ticks(&self) -> u64 {
        self.started_ticks.load(Ordering::Relaxed)
    }

    /// Returns whether the recorder has recorded since this window began.
    #[inline]
    pub(crate) fn is_on(&self, window: WindowId) -> bool {
        let (now, mode) = self.mode.get_both();
        now == window && matches!(mode, Mode::On | Mode::FastPath)
    }

    pub(super) fn count_opened(&self) {
        self.shards[place()].opened.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_cut(&self) {
        self.cut.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds a span that closed at `closed_ticks`.
    pub(super) fn close(&self, whole: Whole, closed_ticks: u64) {
        let Whole { label, opened_ticks, running_ticks, own_ticks, stints, has_all } = whole;
        let label = self.labels.number(self.recorder_id, label);
        let sums = (running_ticks, own_ticks);
        let (label, n) = (label as u32, stints.len() as u32);
        let span = Header { label, stints: n, opened_ticks, closed_ticks, has_all };
        let first = place();
        for nth in 0..SHARDS {
            if let Some(mut closed) = try_lock(&self.shards[(first + nth) % SHARDS].closed) {
                return closed.add(span, &stints, sums, self.most);
            }
        }
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the sums by label, the newest spans, and the numbers of those that are open or missing.
    pub(crate) fn read(&self) -> SpansSeen {
        let mut seen = SpansSeen::default();
        let mut opened = 0;
        let mut newest = Vec::new();
        for shard in &self.shards {
            let closed = lock(&shard.closed);
            if seen.sums.len() < closed.sums.len() {
                seen.sums.resize_with(closed.sums.len(), LabelSums::default);
            }
            for (all, one) in seen.sums.iter_mut().zip(&closed.sums) {
                all.lengths.add_all(&one.lengths);
                all.running_ticks += one.running_ticks;
                all.own_ticks += one.own_ticks;
            }
            newest.push((closed.newest.clone(), closed.stints.clone()));
            seen.dropped += closed.dropped;
            opened += shard.opened.load(Ordering::Relaxed);
        }
        for (headers, stints) in newest {
            let mut stints = stints.into_iter();
            for Header { label, stints: n, opened_ticks, closed_ticks, has_all } in headers {
                let stints = stints.by_ref().take(n as usize).collect();
                let label = label as usize;
                seen.newest.push(ClosedSpan { label, opened_ticks, closed_ticks, stints, has_all });
            }
        }
        seen.cut = self.cut.load(Ordering::Relaxed);
        seen.lost = self.lost.load(Ordering::Relaxed);
        let counted: u64 = seen.sums.iter().map(|sums| sums.lengths.count).sum();
        // A span may close between two looks.
        seen.open = opened.saturating_sub(counted + seen.cut + seen.lost);
        // Labels are numbered before their first span is added.
        seen.labels = self.labels.all();
        seen
    }
}

impl Closed {
    fn add(&mut self, span: Header, stints: &[Stint], (running, own): (u64, u64), most: usize) {
        let label = span.label as usize;
        if self.sums.len() <= label {
            self.sums.resize_with(label + 1, LabelSums::default);
        }
        let sums = &mut self.sums[label];
        sums.lengths.add(span.closed_ticks.saturating_sub(span.opened_ticks));
        sums.running_ticks += running;
        sums.own_ticks += own;
        self.newest.push_back(span);
        self.stints.extend(stints);
        while self.newest.len() + self.stints.len() > most {
            let Some(oldest) = self.newest.pop_front() else { break };
            self.stints.drain(..oldest.stints as usize);
            self.dropped += 1;
        }
    }
}

/// Returns the place of this thread's own shard.
fn place() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static PLACE: usize = THREADS.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    PLACE.try_with(|place| *place).unwrap_or(0)
}
