//! Runs work on several threads.

use std::sync::Mutex;
use std::thread;

/// Calls `work` for each item, for as many at a time as there are processors, and returns the
/// results in the items' order.
///
/// # Panics
///
/// Panics if `work` does.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let left = Mutex::new(items.iter().enumerate());
    let next = || left.lock().expect("nobody panics with it").next();
    let worker = || {
        let mut made = Vec::new();
        while let Some((at, item)) = next() {
            made.push((at, work(item)));
        }
        made
    };
    let mut made: Vec<(usize, R)> = thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        all.into_iter().flat_map(|one| one.join().expect("it ended well")).collect()
    });
    made.sort_by_key(|&(at, _)| at);
    made.into_iter().map(|(_, made)| made).collect()
}
