//! Tasks that live since before a window of recording began.
//!
//! Their spawns were not recorded, and so nobody knows where that was until a hook says so. It does
//! once a window, however often they are polled.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is known of them in one window.
#[derive(Debug)]
pub(crate) struct LateTasks {
    /// Tasks with smaller numbers may be such.
    below: AtomicU64,
    origin_recorded: TaskSet,
}

impl LateTasks {
    /// Of a window in which any task may be such, as long as nobody says more.
    pub(crate) fn new() -> Self {
        Self { below: AtomicU64::new(u64::MAX), origin_recorded: TaskSet::new() }
    }

    /// Only tasks with smaller numbers may be such.
    pub(crate) fn are_below(&self, id: u64) {
        self.below.store(id, Ordering::Relaxed);
    }

    pub(crate) fn below(&self) -> u64 {
        self.below.load(Ordering::Relaxed)
    }

    /// Whether the task `id` is such and was origin_recorded.
    #[inline]
    pub(crate) fn is_origin_recorded(&self, id: u64) -> bool {
        self.origin_recorded.contains(id)
    }

    /// Whether the task `id` is to be origin_recorded: it may be such, and wasn't up to now.
    pub(crate) fn records_origin_of(&self, id: u64) -> bool {
        id < self.below() && self.origin_recorded.insert(id)
    }
}

/// Tasks by their numbers: a hash table that threads look into, and add to, without waiting for one
/// another.
///
/// It grows by tables that are added, so that nothing is ever moved; and it is made of many small ones,
/// so that no hook asks for much memory at once.
#[derive(Debug)]
struct TaskSet {
    /// None until there is a task: most windows need none.
    parts: OnceLock<Box<[Part]>>,
}

const PARTS: usize = 256;

/// A part's tables, each four times as large as the one before. All together they have room for
/// several million tasks; who doesn't find any stays unknown.
type Part = [OnceLock<Box<[Bucket]>>; 8];

/// Slots for numbers, 0 while free; they are side by side in a line of a cache.
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
        // As they are filled one after the other.
        let tables = parts[hash as usize % PARTS].iter().map_while(OnceLock::get);
        tables.map(|table| bucket(table, hash)).any(|bucket| bucket.contains(id))
    }

    /// Adds a task; whether it wasn't there, and there was room for it.
    fn insert(&self, id: u64) -> bool {
        let hash = hash(id);
        let parts = self.parts.get_or_init(|| (0..PARTS).map(|_| Part::default()).collect());
        for (i, table) in parts[hash as usize % PARTS].iter().enumerate() {
            let buckets = || (0..1 << (2 * i)).map(|_| Bucket::default()).collect();
            let bucket = bucket(table.get_or_init(buckets), hash);
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

impl Bucket {
    #[inline]
    fn contains(&self, id: u64) -> bool {
        self.0.iter().any(|slot| slot.load(Ordering::Relaxed) == id)
    }
}

/// The upper bits of a product depend on all bits of the number.
#[inline]
fn hash(id: u64) -> u64 {
    id.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32)
}

#[inline]
fn bucket(table: &[Bucket], hash: u64) -> &Bucket {
    &table[(hash >> 8) as usize % table.len()]
}

/// A number that no task has yet: all tasks with smaller ones were spawned before this was asked for,
/// all others are spawned after. `None` on a thread that is past telling.
///
/// There is no other way to have Tokio give one out than to spawn a task: here one that no runtime ever
/// knows of, and that is never polled. No hook sees it.
#[cfg(tokio_unstable)]
pub(crate) fn next_task_number() -> Option<u64> {
    use tokio::runtime::Handle;
    use tokio::task::LocalSet;

    let is_ending = Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed());
    (!is_ending)
        .then(|| crate::recorder::task_id::number(LocalSet::new().spawn_local(async {}).id()))
}

/// There are no tasks that could be seen.
#[cfg(not(tokio_unstable))]
pub(crate) fn next_task_number() -> Option<u64> {
    Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_introduced_once_whoever_does() {
        const TASKS: u64 = if cfg!(miri) { 300 } else { 50_000 };
        let late = LateTasks::new();
        late.are_below(7 * TASKS);
        // Numbers with something in common, as of tasks that are spawned in a loop.
        let record_origin = || (1..TASKS).filter(|n| late.records_origin_of(7 * n)).count();
        let origin_recorded: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(record_origin)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(origin_recorded, TASKS as usize - 1);
        for id in 1..7 * TASKS {
            assert_eq!(late.is_origin_recorded(id), id % 7 == 0);
        }
        assert!(!late.records_origin_of(7 * TASKS) && !late.records_origin_of(u64::MAX));
    }

    #[test]
    fn any_task_may_be_late_until_it_is_said_who_may() {
        let late = LateTasks::new();
        assert!(late.records_origin_of(u64::MAX - 1));
        late.are_below(0);
        assert!(!late.records_origin_of(1));
    }

    #[cfg(tokio_unstable)]
    #[test]
    fn a_task_that_is_spawned_later_has_a_larger_number() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let spawn = || crate::recorder::task_id::number(runtime.spawn(async {}).id());
        let (before, number, after) = (spawn(), next_task_number().unwrap(), spawn());
        assert!(before < number && number < after, "{before}, {number}, {after}");
        // Wherever it is asked for.
        runtime.block_on(async { assert!(next_task_number().unwrap() > after) });
        let local = tokio::task::LocalSet::new();
        runtime.block_on(local.run_until(async { assert!(next_task_number().unwrap() > after) }));
    }
}
