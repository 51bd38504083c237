//! The times of calls by function, counted by each thread for itself, and merged by the reader.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::recorder::calls::Function;
use crate::recorder::calls::histogram::{Histogram, Times, add};
use crate::recorder::kept::RecorderId;
use crate::recorder::window::mode::{Mode, RecorderMode, WindowId};
use crate::util::sync::lock;

/// The way in which a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It returned.
    Completed,
    /// It was dropped before it returned.
    Cancelled,
}

/// The counts of one recorder.
#[derive(Debug)]
pub(crate) struct Profiles {
    recorder_id: RecorderId,
    mode: Arc<RecorderMode>,
    threads: Mutex<Vec<Arc<ThreadProfile>>>,
    /// The counts of calls that are polled or dropped where another recorder, or none, records. Whoever holds the lock
    /// writes.
    elsewhere: Mutex<Option<Arc<ThreadProfile>>>,
    /// The number of workers that were seen.
    pub(crate) workers: AtomicU64,
}

/// The counts of all recorders.
static ALL: Mutex<Vec<(RecorderId, Weak<Profiles>)>> = Mutex::new(Vec::new());

impl Profiles {
    pub(crate) fn new(recorder_id: RecorderId, mode: Arc<RecorderMode>) -> Arc<Self> {
        let profiles = Arc::new(Self {
            recorder_id,
            mode,
            threads: Mutex::default(),
            elsewhere: Mutex::default(),
            workers: AtomicU64::new(0),
        });
        lock(&ALL).push((recorder_id, Arc::downgrade(&profiles)));
        profiles
    }

    /// Returns the counts of one more thread. They stay when the thread ends, for the next one.
    pub(crate) fn new_thread(&self) -> Arc<ThreadProfile> {
        let thread = Arc::new(ThreadProfile {
            recorder_id: self.recorder_id,
            mode: Arc::clone(&self.mode),
            groups: [const { OnceLock::new() }; GROUPS],
            beyond: AtomicU64::new(0),
        });
        lock(&self.threads).push(Arc::clone(&thread));
        thread
    }

    /// Calls `f` with the counts of the recorder that belong to no thread, if the recorder still exists.
    #[cold]
    #[inline(never)]
    pub(crate) fn elsewhere(recorder_id: RecorderId, f: &dyn Fn(&ThreadProfile)) {
        let mut found = None;
        for (id, profiles) in lock(&ALL).iter() {
            if *id == recorder_id {
                found = Some(Weak::clone(profiles));
            }
        }
        if let Some(profiles) = found.and_then(|profiles| profiles.upgrade()) {
            let mut elsewhere = lock(&profiles.elsewhere);
            f(elsewhere.get_or_insert_with(|| profiles.new_thread()));
        }
    }

    /// Notes that a worker with this index was seen.
    pub(crate) fn has_worker(&self, index: u32) {
        self.workers.fetch_max(u64::from(index) + 1, Ordering::Relaxed);
    }

    /// Returns the counts up to now, and the number of calls of functions beyond the most.
    pub(crate) fn read(&self) -> (Vec<Counted>, u64) {
        let threads = lock(&self.threads).clone();
        let mut all = Vec::new();
        if !threads.is_empty() {
            for (index, function) in Function::all().into_iter().enumerate() {
                let mut of_threads = Vec::new();
                for thread in &threads {
                    if let Some(counts) = thread.counts(index) {
                        of_threads.push(counts);
                    }
                }
                if !of_threads.is_empty() {
                    all.push(Counted::merged(function, &of_threads));
                }
            }
        }
        let mut beyond = 0;
        for thread in &threads {
            beyond += thread.beyond.load(Ordering::Relaxed);
        }
        (all, beyond)
    }
}

impl Drop for Profiles {
    fn drop(&mut self) {
        lock(&ALL).retain(|(id, _)| *id != self.recorder_id);
    }
}

const GROUPS: usize = 64;
const OF_GROUP: usize = Function::MOST / GROUPS;

type Group = [OnceLock<Box<Counts>>; OF_GROUP];

/// The counts of one thread: some 16 KiB for each function whose calls ended on it, allocated when the
/// thread sees the function first.
#[derive(Debug)]
pub(crate) struct ThreadProfile {
    pub(crate) recorder_id: RecorderId,
    mode: Arc<RecorderMode>,
    groups: [OnceLock<Box<Group>>; GROUPS],
    /// Calls of functions that have no index.
    beyond: AtomicU64,
}

impl ThreadProfile {
    /// Returns whether the recorder records in this window.
    pub(crate) fn is_on(&self, window: WindowId) -> bool {
        let (now, mode) = self.mode.get_both();
        now == window && matches!(mode, Mode::On | Mode::FastPath)
    }

    #[inline]
    fn counts(&self, index: usize) -> Option<&Counts> {
        let group = self.groups.get(index / OF_GROUP)?.get()?;
        Some(group[index % OF_GROUP].get()?)
    }

    #[inline]
    fn counts_of(&self, function: &'static Function) -> Option<&Counts> {
        let index = function.index()?;
        self.counts(index).or_else(|| self.new_counts(index))
    }

    #[cold]
    #[inline(never)]
    fn new_counts(&self, index: usize) -> Option<&Counts> {
        let group = self.groups.get(index / OF_GROUP)?;
        let group = group.get_or_init(|| Box::new([const { OnceLock::new() }; OF_GROUP]));
        Some(group[index % OF_GROUP].get_or_init(Box::default))
    }

    /// Counts a call that began.
    pub(crate) fn begin(&self, function: &'static Function) {
        match self.counts_of(function) {
            Some(counts) => counts
                .begun
                .store(counts.begun.load(Ordering::Relaxed).saturating_add(1), Ordering::Relaxed),
            None => add(&self.beyond, 1),
        }
    }

    /// Counts a poll. `is_outermost` is `true` if it is in no other call of this function.
    ///
    /// Never inlined, so that its caller, which finds the counts, can be: the arguments fit into registers.
    #[inline(never)]
    pub(crate) fn poll(
        &self,
        function: &'static Function,
        ticks: u64,
        own_ticks: u64,
        is_outermost: bool,
    ) {
        if let Some(counts) = self.counts_of(function) {
            add(&counts.polls, 1);
            add(&counts.own_ticks, own_ticks);
            if is_outermost {
                add(&counts.total_ticks, ticks);
            }
        }
    }

    /// Counts a call that ended. `times` are its total, own and waiting time, unless nothing was recorded then.
    pub(crate) fn end(&self, function: &'static Function, how: End, times: Option<[u64; 3]>) {
        let Some(counts) = self.counts_of(function) else { return };
        if let Some(ticks) = times {
            let new = || Box::new([Histogram::new(), Histogram::new(), Histogram::new()]);
            let [all, own, waiting] = &**counts.ended.get_or_init(new);
            all.add(ticks[0]);
            own.add(ticks[1]);
            waiting.add(ticks[2]);
        }
        let ends = match how {
            End::Completed => &counts.completed,
            End::Cancelled => &counts.cancelled,
        };
        // Stored after the beginning, so that whoever sees the end sees both.
        ends.store(ends.load(Ordering::Relaxed).saturating_add(1), Ordering::Release);
    }
}

/// The counts of one function and thread.
#[derive(Debug, Default)]
struct Counts {
    begun: AtomicU64,
    completed: AtomicU64,
    cancelled: AtomicU64,
    polls: AtomicU64,
    total_ticks: AtomicU64,
    own_ticks: AtomicU64,
    /// The total, own and waiting times of calls that ended.
    ended: OnceLock<Box<[Histogram; 3]>>,
}

/// The counts of a function.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) function: &'static Function,
    pub(crate) begun: u64,
    pub(crate) completed: u64,
    pub(crate) cancelled: u64,
    pub(crate) polls: u64,
    pub(crate) total_ticks: u64,
    pub(crate) own_ticks: u64,
    /// The total, own and waiting times of calls that ended.
    pub(crate) ended: [Times; 3],
}

impl Counted {
    fn merged(function: &'static Function, threads: &[&Counts]) -> Self {
        let sum = |of: fn(&Counts) -> &AtomicU64| {
            let mut sum = 0;
            for counts in threads {
                sum += of(counts).load(Ordering::Acquire);
            }
            sum
        };
        // A call that is seen to have ended is thus seen to have begun, on whatever thread.
        let (completed, cancelled) = (sum(|c| &c.completed), sum(|c| &c.cancelled));
        let begun = sum(|c| &c.begun);
        let mut ended: [Times; 3] = Default::default();
        for counts in threads {
            if let Some(one) = counts.ended.get() {
                for (all, one) in ended.iter_mut().zip(&one[..]) {
                    all.merge(one);
                }
            }
        }
        Self {
            function,
            begun,
            completed,
            cancelled,
            polls: sum(|c| &c.polls),
            total_ticks: sum(|c| &c.total_ticks),
            own_ticks: sum(|c| &c.own_ticks),
            ended,
        }
    }
}
