//! Tasks that were spawned before the current window of recording.
//!
//! Their spawns were not recorded, so the first hook that polls such a task in a window records its
//! origin (the spawn location). This happens once per task and window, however often it is polled.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(tokio_unstable)]
use crate::recorder::task_id;

/// The late tasks of one window.
#[derive(Debug)]
pub(crate) struct LateTasks {
    /// Only tasks with smaller ids can be late.
    below: AtomicU64,
    origin_recorded: TaskSet,
}

impl LateTasks {
    /// Creates the late tasks of a window in which every task may be late until [`set_below`](Self::set_below) is
    /// called.
    pub(crate) fn new() -> Self {
        Self { below: AtomicU64::new(u64::MAX), origin_recorded: TaskSet::new() }
    }

    /// Sets the id below which tasks can be late.
    pub(crate) fn set_below(&self, id: u64) {
        self.below.store(id, Ordering::Relaxed);
    }

    pub(crate) fn below(&self) -> u64 {
        self.below.load(Ordering::Relaxed)
    }

    /// Returns whether `id` is a late task whose origin was recorded.
    #[inline]
    pub(crate) fn is_origin_recorded(&self, id: u64) -> bool {
        self.origin_recorded.contains(id)
    }

    /// Returns whether the caller has to record the origin of `id`: the task may be late, and its origin was not
    /// recorded yet.
    pub(crate) fn claim_origin(&self, id: u64) -> bool {
        id < self.below() && self.origin_recorded.insert(id)
    }
}

/// A set of task ids: a hash table that threads read and insert into without a lock.
///
/// It grows by adding tables, so that no entry ever moves, and consists of many small parts, so
/// that no hook allocates much memory at once.
#[derive(Debug)]
struct TaskSet {
    /// Allocated on the first insert: most windows need none.
    parts: OnceLock<Vec<Part>>,
}

const PARTS: usize = 256;

/// The tables of a part, each four times as large as the one before. Together the parts have room
/// for several million tasks; the origin of a task that finds no room stays unknown.
type Part = [OnceLock<Vec<Bucket>>; 8];

/// Slots for ids, 0 while free, in one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Bucket([AtomicU64; 8]);

impl TaskSet {
    const fn new() -> Self {
        Self { parts: OnceLock::new() }
    }

    #[inline]
    fn contains(&self, id: u64) -> bool {
        let Some(parts) = self.parts.get() else { return false };
        let hash = hash(id);
        // Tables are filled one after the other.
        for table in &parts[hash as usize % PARTS] {
            match table.get() {
                Some(table) if bucket(table, hash).contains(id) => return true,
                Some(_) => {}
                None => break,
            }
        }
        false
    }

    /// Adds `id`. Returns whether it was not in the set yet and there was room for it.
    fn insert(&self, id: u64) -> bool {
        let hash = hash(id);
        let parts = self.parts.get_or_init(|| vec_of(PARTS, || [const { OnceLock::new() }; 8]));
        for (i, table) in parts[hash as usize % PARTS].iter().enumerate() {
            let bucket = bucket(table.get_or_init(|| vec_of(1 << (2 * i), Bucket::default)), hash);
            for slot in &bucket.0 {
                match slot.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return true,
                    Err(there) if there == id => return false,
                    Err(_) => {}
                }
            }
        }
        false
    }
}

fn vec_of<T>(n: usize, new: fn() -> T) -> Vec<T> {
    let mut all = Vec::with_capacity(n);
    while all.len() < n {
        all.push(new());
    }
    all
}

impl Bucket {
    #[inline]
    fn contains(&self, id: u64) -> bool {
        self.0.iter().any(|slot| slot.load(Ordering::Relaxed) == id)
    }
}

/// The upper bits of the product depend on all bits of the id.
#[inline]
fn hash(id: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

#[inline]
fn bucket(table: &[Bucket], hash: u64) -> &Bucket {
    &table[(hash >> 8) as usize % table.len()]
}

/// Returns an id that no task has yet. All tasks with smaller ids were spawned before this call, and all others are
/// spawned after it. `None` on a thread whose thread-local values are destroyed.
#[cfg(tokio_unstable)]
pub(crate) fn next_task_id() -> Option<u64> {
    task_id::new().map(task_id::number)
}

/// Returns 0, as no task is recorded without task hooks.
#[cfg(not(tokio_unstable))]
pub(crate) fn next_task_id() -> Option<u64> {
    Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_origin_is_recorded_once_by_any_thread() {
        // Miri takes a thousand times as long, but checks each single access.
        const TASKS: u64 = if cfg!(miri) { 20 } else { 50_000 };
        let late = LateTasks::new();
        late.set_below(7 * TASKS);
        // Ids with a common factor, like those of tasks spawned in a loop.
        let record_origin = || (1..TASKS).filter(|n| late.claim_origin(7 * n)).count();
        let origin_recorded: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(record_origin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(origin_recorded, TASKS as usize - 1);
        for id in 1..7 * TASKS {
            assert_eq!(late.is_origin_recorded(id), id % 7 == 0);
        }
        assert!(!late.claim_origin(7 * TASKS) && !late.claim_origin(u64::MAX));
    }

    #[test]
    fn any_task_may_be_late_until_a_bound_is_set() {
        let late = LateTasks::new();
        assert!(late.claim_origin(u64::MAX - 1));
        late.set_below(0);
        assert!(!late.claim_origin(1));
    }

    #[cfg(tokio_unstable)]
    #[test]
    fn a_task_that_is_spawned_later_has_a_larger_number() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let spawn = || crate::recorder::task_id::number(runtime.spawn(async {}).id());
        let (before, number, after) = (spawn(), next_task_id().unwrap(), spawn());
        assert!(before < number && number < after, "{before}, {number}, {after}");
        // In any context.
        runtime.block_on(async { assert!(next_task_id().unwrap() > after) });
        let local = tokio::task::LocalSet::new();
        runtime.block_on(local.run_until(async { assert!(next_task_id().unwrap() > after) }));
    }
}
