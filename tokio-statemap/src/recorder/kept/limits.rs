//! The limits on what is kept, and the sizes of its pieces.

use crate::config::{CollectorConfig, Keep};

/// With fewer `max_events` nothing is pinned: there is no room.
const FEWEST_FOR_PINNED: usize = 1 << 14;

/// Returns how many records a chunk holds. The oldest records are evicted by the chunk, so up to a few
/// chunks are kept beyond `max_events`: chunks are small relative to `max_events`, but large enough
/// that handing one over costs less than filling it.
pub(super) fn chunk_records(config: &CollectorConfig) -> usize {
    // A model has few records.
    const MIN: usize = if cfg!(statemap_loom) { 2 } else { 64 };
    const EFFICIENT: usize = 1024;
    let most = (config.max_events / 512).max(EFFICIENT).min(config.max_events / 16);
    config.buffer_capacity.clamp(MIN, most.max(MIN))
}

/// Returns how many empty chunks one thread is given ahead at most: enough for the time until the background thread
/// comes round again, and few relative to `max_events`.
pub(super) fn spare_chunks(config: &CollectorConfig) -> usize {
    (config.max_events / 8 / chunk_records(config)).clamp(1, 32)
}

/// Returns how many empty chunks all threads together are given ahead at most, and how many they may find by themselves
/// between two rounds of the background thread. So the memory is bounded, however many threads there are.
pub(super) fn chunks_in_all(config: &CollectorConfig) -> usize {
    const MIN: usize = 8;
    (config.max_events / 4 / chunk_records(config)).max(MIN)
}

/// Returns how many events may be pinned around the longest polls of the run, of those that are kept.
pub(super) fn pinned_events(config: &CollectorConfig) -> u64 {
    match config.keep {
        Keep::Last if config.max_events >= FEWEST_FOR_PINNED => config.max_events as u64 / 4,
        _ => 0,
    }
}

/// Returns how many events the store may have beyond `max_events` before the background thread evicts. The number is
/// few relative to `max_events`, but large enough that fetching what eviction needs into the processor's caches is a
/// small part of the work.
pub(super) fn batch_events(config: &CollectorConfig) -> u64 {
    const EFFICIENT: u64 = 1 << 14;
    (config.max_events as u64 / 64).min(EFFICIENT)
}
