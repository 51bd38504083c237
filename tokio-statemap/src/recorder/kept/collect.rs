//! Collecting: full chunks go to the store, and threads that fill many are given as many empty ones.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::recorder::kept::Kept;
use crate::recorder::kept::limits::{chunks_in_all, spare_chunks};
use crate::recorder::locks::lock;
use crate::recorder::process;
use crate::recorder::store::buffer::Buffer;

/// The number of empty chunks that a thread is given for each chunk that it filled since the last collection, as the
/// next one may be later.
pub(crate) const AHEAD: usize = 4;

/// The chunks filled by the thread that filled most, and the number that a thread may be given ahead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) chunks: usize,
    pub(crate) of: usize,
}

impl Filled {
    pub(crate) fn is_nothing(self) -> bool {
        self.chunks == 0
    }

    /// Returns the one that filled more, in proportion to what a thread of its recorder may be given.
    pub(crate) fn max(self, other: Self) -> Self {
        if self.chunks * other.of > other.chunks * self.of { self } else { other }
    }
}

/// Messages of threads for whoever collects full chunks next.
#[derive(Debug, Default)]
pub(super) struct SinceCollected {
    /// `true` if any of them filled a chunk.
    has_full_chunks: AtomicBool,
    /// The number of empty chunks that they [found](Kept::find_writer) by themselves.
    found_chunks: AtomicUsize,
}

impl SinceCollected {
    /// Returns whether a thread may find one more empty chunk by itself, if all of them may find so many.
    pub(super) fn may_find(&self, most: usize) -> bool {
        self.found_chunks.fetch_add(1, Ordering::Relaxed) < most
    }
}

impl Kept {
    /// Moves full chunks to the store, gives threads empty ones, and evicts.
    pub(crate) fn collect(&self) -> Filled {
        // The chunks that threads found by themselves are collected now.
        self.since_collected.found_chunks.store(0, Ordering::Relaxed);
        let of = spare_chunks(&self.config);
        // There may be thousands of threads, most of which do nothing.
        if !self.since_collected.has_full_chunks.swap(false, Ordering::Acquire) {
            return Filled { chunks: 0, of };
        }
        let (mut filled, mut spare, mut most) = (Vec::new(), 0, 0);
        for buffer in self.buffers.all() {
            let (chunks, has) = buffer.collect(&self.store);
            spare += has;
            if chunks > 0 {
                filled.push((buffer, chunks));
                most = most.max(chunks);
            }
        }
        if most > 0 {
            self.supply(&filled, spare);
            self.after_drain();
        }
        Filled { chunks: most, of }
    }

    /// Returns whether there is anything to collect.
    pub(crate) fn has_full_chunks(&self) -> bool {
        self.since_collected.has_full_chunks.load(Ordering::Acquire)
    }

    /// Has the background thread collect a chunk that a thread has filled.
    pub(crate) fn has_filled_chunk(&self) {
        // Whoever collects sees the chunks of all threads that set this since the last time.
        self.since_collected.has_full_chunks.swap(true, Ordering::AcqRel);
        process::wake();
    }

    /// Gives empty chunks to the threads in `filled`, which have the number of chunks that they filled since the last
    /// time. All threads together have `spare` empty chunks.
    fn supply(&self, filled: &[(&Buffer, usize)], mut spare: usize) {
        let in_all = chunks_in_all(&self.config);
        let each = (in_all / filled.len().max(1)).clamp(1, spare_chunks(&self.config));
        let lacks = |buffer: &Buffer, chunks: usize| {
            (AHEAD * chunks).min(each).saturating_sub(buffer.spare())
        };
        let mut wanted = 0;
        for &(buffer, chunks) in filled {
            wanted += lacks(buffer, chunks);
        }
        if spare + wanted > in_all {
            // Threads that do nothing just then have them.
            spare = self.take_back(AHEAD);
        }
        for &(buffer, chunks) in filled {
            for _ in 0..lacks(buffer, chunks) {
                if spare >= in_all {
                    return;
                }
                let empty = lock(&self.store).take_writer();
                empty.prefault();
                if let Err(empty) = buffer.give(empty) {
                    lock(&self.store).give_back(empty);
                    break;
                }
                spare += 1;
            }
        }
    }

    /// Takes back the empty chunks that threads don't need. Each thread keeps `ahead` times as many as were collected
    /// from it at once since the last time. Returns how many chunks all threads have left.
    pub(crate) fn take_back(&self, ahead: usize) -> usize {
        let mut left = 0;
        for buffer in self.buffers.all() {
            left += buffer.take_back(&self.store, ahead);
        }
        left
    }

    /// Gives memory back that isn't used any more. Returns how many chunks are too many, if they stay idle.
    pub(crate) fn give_back_memory(&self) -> usize {
        lock(&self.store).give_back_memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CollectorConfig;
    use crate::recorder::Recorder;
    use crate::recorder::hot::thread_recorder::ThreadRecorder;
    use crate::recorder::record::Kind;

    const CHUNK: u64 = 64;

    fn fill(recorder: &Recorder, thread: &mut ThreadRecorder, chunks: u64) {
        (0..chunks * CHUNK).for_each(|ticks| thread.push(recorder, ticks, Kind::Spawn, ticks));
    }

    #[test]
    fn all_threads_together_have_few_to_spare_and_none_when_they_do_nothing() {
        const THREADS: usize = 40;
        let (buffer_capacity, max_events) = (CHUNK as usize, 1 << 14);
        let config =
            CollectorConfig { buffer_capacity, max_events, stacks: false, ..Default::default() };
        let recorder = Recorder::new(config);
        let in_all = chunks_in_all(&recorder.kept.config);
        assert_eq!((in_all, spare_chunks(&recorder.kept.config)), (64, 32));
        let mut threads: Vec<_> = (0..THREADS).map(|_| recorder.new_thread_recorder()).collect();
        let spare = || recorder.kept.buffers.all().iter().map(|b| b.spare()).collect::<Vec<_>>();
        threads.iter_mut().for_each(|thread| fill(&recorder, thread, 9));
        recorder.kept.collect();
        assert_eq!(spare(), [1; THREADS]);
        // A single thread has more, of what is left.
        fill(&recorder, &mut threads[7], 9);
        recorder.kept.collect();
        assert_eq!((spare()[7], spare().iter().sum::<usize>()), (in_all - THREADS + 1, in_all));
        // The next collection finds that the others don't need theirs.
        fill(&recorder, &mut threads[8], 9);
        recorder.kept.collect();
        assert!(spare()[8] == 32 && spare().iter().sum::<usize>() <= in_all, "{:?}", spare());
        assert_eq!(spare()[9], 0);
        // What was given in a burst goes back.
        (0..2).for_each(|_| _ = recorder.kept.take_back(AHEAD));
        assert_eq!(spare(), [0; THREADS]);
        // A thread that fills little keeps some.
        fill(&recorder, &mut threads[8], 1);
        recorder.kept.collect();
        recorder.kept.take_back(AHEAD);
        assert_eq!(spare()[8], AHEAD);
    }
}
