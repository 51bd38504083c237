//! Keeps full chunks, what evicted records left, and the windows, behind [locks](crate::recorder::locks) that only this
//! module takes.
//!
//! [`collect`] moves full chunks into the store and [`evict`] keeps that within `max_events`. [`windows`] begins and
//! ends windows, and [`capture`] copies what is kept at one moment.

pub(crate) mod capture;
mod collect;
mod evict;
mod limits;
mod origin;
mod windows;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use collect::{AHEAD, Filled};

use crate::config::CollectorConfig;
use crate::recorder::clock::{Clock, Rate};
#[cfg(test)]
use crate::recorder::locks::Held;
use crate::recorder::locks::{
    BUFFERS, EVICTION, LATE, Lock, MEMORY, STORE, WINDOWS, lock, try_lock,
};
use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::Eviction;
use crate::recorder::process;
use crate::recorder::store::Store;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::rings::{ReaderEnd, ThreadEnd, rings};
use crate::recorder::store::segment::{RecordWriter, StreamId};
use crate::recorder::window::Windows;
use crate::recorder::window::late_tasks::LateTasks;
use crate::recorder::window::mode::RecorderMode;
use crate::sys::sync;

/// Identifies a recorder: never 0, and never reused.
pub(crate) type RecorderId = u64;

/// Everything that one recorder keeps.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) id: RecorderId,
    pub(crate) config: CollectorConfig,
    pub(crate) clock: Clock,
    pub(crate) mode: Arc<RecorderMode>,
    eviction: Lock<Eviction, EVICTION>,
    memory: Lock<Memory, MEMORY>,
    windows: Lock<Windows, WINDOWS>,
    /// The late tasks of the current window.
    late: Lock<Arc<LateTasks>, LATE>,
    /// The time at which the last window began, in ticks.
    window_from: AtomicU64,
    /// `true` if a hook ran while nothing was recorded.
    ran_while_off: AtomicBool,
    buffers: Lock<Vec<&'static Buffer>, BUFFERS>,
    store: Lock<Store, STORE>,
    streams: AtomicU32,
    /// `true` if any thread filled a chunk since full ones were last collected.
    has_full_chunks: AtomicBool,
    /// The number of empty chunks that threads have [found](Self::find_writer) by themselves since then.
    found_chunks: AtomicUsize,
    dropped_events: AtomicU64,
    /// The time before which all events were dropped or are pinned, in ticks.
    dropped_until: AtomicU64,
    /// Events beyond `max_events` that a drain found, with `keep = "first"`.
    refused_at_drain: AtomicU64,
    reentrant_events: AtomicU64,
    /// The clock's rate by which summaries convert sums; set by the first summary that knows the rate well.
    pub(crate) sums_rate: OnceLock<Rate>,
}

impl Kept {
    pub(crate) fn new(config: CollectorConfig, clock: Clock) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            clock,
            mode: Arc::new(RecorderMode::new()),
            eviction: Lock::new(Eviction::new(limits::pinned_events(&config))),
            memory: Lock::default(),
            windows: Lock::default(),
            late: Lock::new(Arc::new(LateTasks::new())),
            window_from: AtomicU64::new(0),
            ran_while_off: AtomicBool::new(false),
            buffers: Lock::default(),
            store: Lock::new(Store::new(limits::chunk_records(&config), config.max_events)),
            streams: AtomicU32::new(0),
            has_full_chunks: AtomicBool::new(false),
            found_chunks: AtomicUsize::new(0),
            dropped_events: AtomicU64::new(0),
            dropped_until: AtomicU64::new(0),
            refused_at_drain: AtomicU64::new(0),
            reentrant_events: AtomicU64::new(0),
            sums_rate: OnceLock::new(),
            config,
        }
    }

    /// Takes an empty chunk without memory behind it, for a thread that may never fill it.
    pub(crate) fn take_unused(&self) -> RecordWriter {
        lock(&self.store).take_unused()
    }

    /// Makes a buffer for a thread, its rings, and the chunk that it fills first.
    pub(crate) fn new_buffer(&self) -> (&'static Buffer, RecordWriter, ThreadEnd) {
        let (thread, reader) = rings(limits::spare_chunks(&self.config));
        let (buffer, writer) = self.with_rings(reader);
        (buffer, writer, thread)
    }

    /// Never inlined: a hook calls this, and making the rings needs much stack, too.
    #[inline(never)]
    fn with_rings(&self, reader: ReaderEnd) -> (&'static Buffer, RecordWriter) {
        let writer = self.take_unused();
        let buffer = Buffer::take(self.new_stream(), sync::Arc::clone(writer.chunk()), reader);
        lock(&self.buffers).push(buffer);
        (buffer, writer)
    }

    /// Moves what a thread that ended left in its buffer to the store. Then the buffer is ready for the next thread.
    pub(crate) fn reassign(
        &self,
        buffer: &Buffer,
        writer: Option<RecordWriter>,
        rings: &mut ThreadEnd,
    ) {
        buffer.reassign(self.new_stream(), writer, rings, &self.store);
        self.after_drain_in_hook();
    }

    fn new_stream(&self) -> StreamId {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the buffers of all threads that have recorded.
    pub(crate) fn buffers(&self) -> Vec<&'static Buffer> {
        lock(&self.buffers).clone()
    }

    /// Counts an event that a hook emitted while another hook ran on its thread.
    pub(crate) fn count_reentrant_event(&self) {
        self.reentrant_events.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether nothing is locked. In the child of a fork, all that the parent's other threads had locked stays
    /// locked.
    pub(crate) fn is_free(&self) -> bool {
        try_lock(&self.buffers).is_some_and(|all| all.iter().all(|buffer| buffer.is_free()))
            && try_lock(&self.store).is_some()
            && try_lock(&self.eviction).is_some()
            && try_lock(&self.memory).is_some()
            && try_lock(&self.windows).is_some()
            && try_lock(&self.late).is_some()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.stop(|| ()) {
            process::wake();
        }
        // The watcher may have looked at a buffer when the process was forked.
        if !process::is_forked() {
            Buffer::give_back(std::mem::take(&mut *lock(&self.buffers)));
        }
    }
}

impl Kept {
    /// Returns the number of events in the store.
    pub(crate) fn stored_events(&self) -> u64 {
        lock(&self.store).events()
    }
}

/// Accessors for tests.
#[cfg(test)]
#[allow(dead_code, reason = "each build has other tests")]
impl Kept {
    pub(crate) fn store(&self) -> Held<'_, Store> {
        lock(&self.store)
    }

    pub(crate) fn memory(&self) -> Held<'_, Memory> {
        lock(&self.memory)
    }

    pub(crate) fn windows(&self) -> Held<'_, Windows> {
        lock(&self.windows)
    }

    /// Moves what is in the threads' buffers to the store, without evicting anything. Returns the number of events
    /// moved.
    pub(crate) fn flush_buffers(&self) -> u64 {
        self.buffers().iter().map(|buffer| buffer.flush(&self.store)).sum()
    }
}
