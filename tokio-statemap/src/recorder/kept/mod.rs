//! Keeps full chunks, what evicted records left, and the windows, behind [locks](crate::recorder::locks).
//!
//! [`collect`] moves full chunks into the store and [`evict`] keeps that within `max_events`. [`windows`] begins and
//! ends windows, and [`capture`] copies what is kept at one moment.

pub(crate) mod capture;
mod collect;
mod evict;
mod limits;
mod origin;
mod windows;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use collect::{AHEAD, Filled};

use crate::config::CollectorConfig;
use crate::recorder::clock::Clock;
use crate::recorder::kept::collect::SinceCollected;
#[cfg(test)]
use crate::recorder::locks::Held;
use crate::recorder::locks::{EVICTION, Lock, MEMORY, STORE, WINDOWS, lock, try_lock};
use crate::recorder::lost::LostSoFar;
use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::Eviction;
use crate::recorder::process;
use crate::recorder::store::Store;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::store::buffers::Buffers;
use crate::recorder::store::rings::{ReaderEnd, ThreadEnd, rings};
use crate::recorder::store::segment::RecordWriter;
use crate::recorder::window::Windows;
use crate::recorder::window::current::Current;
use crate::recorder::window::mode::RecorderMode;
use crate::sys::sync;

/// Identifies a recorder: never 0, and never reused.
pub(crate) type RecorderId = u64;

/// Everything that one recorder keeps.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The number of this recorder.
    pub(crate) id: RecorderId,
    /// The settings of the user, which never change.
    pub(crate) config: CollectorConfig,
    /// The clock of all records.
    pub(crate) clock: Clock,
    /// The mode, which tells hooks whether to record.
    pub(crate) mode: Arc<RecorderMode>,
    /// The facts about the current window that hooks ask for.
    pub(crate) current: Current,
    /// The windows: when anything was recorded.
    windows: Lock<Windows, WINDOWS>,
    /// The buffers of all threads, whose chunks these fill.
    pub(crate) buffers: Buffers,
    /// Messages of threads for whoever collects full chunks next.
    since_collected: SinceCollected,
    /// The full chunks, up to `max_events`, and empty ones.
    store: Lock<Store, STORE>,
    /// The records that have left the store: they are searched for long polls, or pinned around these.
    eviction: Lock<Eviction, EVICTION>,
    /// The remains of records that were dropped.
    memory: Lock<Memory, MEMORY>,
    /// The counts of events that are not kept.
    pub(crate) lost_so_far: LostSoFar,
}

impl Kept {
    pub(crate) fn new(config: CollectorConfig, clock: Clock) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            clock,
            mode: Arc::new(RecorderMode::new()),
            current: Current::new(),
            windows: Lock::default(),
            buffers: Buffers::default(),
            since_collected: SinceCollected::default(),
            store: Lock::new(Store::new(limits::chunk_records(&config), config.max_events)),
            eviction: Lock::new(Eviction::new(limits::pinned_events(&config))),
            memory: Lock::default(),
            lost_so_far: LostSoFar::default(),
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
        let buffer = self.buffers.add(sync::Arc::clone(writer.chunk()), reader);
        (buffer, writer)
    }

    /// Moves what a thread that ended left in its buffer to the store. Then the buffer is ready for the next thread.
    pub(crate) fn reassign(
        &self,
        buffer: &Buffer,
        writer: Option<RecordWriter>,
        rings: &mut ThreadEnd,
    ) {
        buffer.reassign(self.buffers.new_stream(), writer, rings, &self.store);
        self.after_drain_in_hook();
    }

    /// Returns whether nothing is locked. In the child of a fork, all that the parent's other threads had locked stays
    /// locked.
    pub(crate) fn is_free(&self) -> bool {
        self.buffers.is_free()
            && try_lock(&self.store).is_some()
            && try_lock(&self.eviction).is_some()
            && try_lock(&self.memory).is_some()
            && try_lock(&self.windows).is_some()
            && self.current.is_free()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.stop(|| ()) {
            process::wake();
        }
        // The watcher may have looked at a buffer when the process was forked.
        if !process::is_forked() {
            self.buffers.give_back();
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
        self.buffers.all().iter().map(|buffer| buffer.flush(&self.store)).sum()
    }
}
