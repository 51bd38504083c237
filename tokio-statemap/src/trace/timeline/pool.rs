//! The waits of tasks for a thread of the blocking pool.
//!
//! The length of the queue is known whenever a task of the pool ends and whenever threads are read.
//! In between, it is at least the shorter of the two lengths, as a task leaves the queue only when
//! another one ends.

use std::cmp::Reverse;
use std::time::Duration;

use crate::trace::event::SpawnLocation;
use crate::trace::snapshot::QueueSeen;
use crate::trace::timeline::worker::BlockingThread;
use crate::util::map::Map;

/// The minimum wait of a task for the pool to count as exhausted, unless `long_poll` is longer.
/// Starting a thread may take a while on a busy machine.
const LONG_WAIT_NS: u64 = 10_000_000;

/// The minimum duration of a queue for the pool to count as exhausted, unless each of its threads
/// ran two tasks meanwhile, on average.
const LONG_QUEUE_NS: u64 = 100_000_000;

/// The same duration if few tasks wait and none ends. These may only wait for threads that have just started, or that were
/// just woken, and have no processor yet.
const LONG_QUEUE_OF_FEW_NS: u64 = 1_000_000_000;

/// Few tasks wait if there is at most one for this number of threads.
const FEW: u64 = 2;

/// The blocking pool of a runtime.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BlockingPool {
    /// The threads, in the order in which they were first seen.
    pub threads: Vec<BlockingThread>,
    /// The number of blocking tasks that ended, as far as the events are kept.
    pub ended: u64,
    /// The number of threads on which these ended.
    pub ended_on: u64,
    /// The exhaustion of the pool, if tasks had to wait for its threads.
    pub exhausted: Option<ExhaustedPool>,
    /// The length of the queue over time: the time of each change in ns, and the number of queued
    /// tasks from then on.
    pub(crate) queue: Vec<(u64, u64)>,
}

/// The wait of tasks for a thread of the blocking pool while all its threads were busy. The pool
/// runs `spawn_blocking` tasks, including those of `tokio::fs` and of host name lookups.
///
/// All times are lower bounds, as the spawns of such tasks are not recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExhaustedPool {
    /// The number of threads of the pool.
    pub threads: u64,
    /// The largest number of tasks that waited at once, for at least 10 ms in all.
    pub most_waiting: u64,
    /// The sum of the tasks' waiting times, in ns.
    pub waited_ns: u64,
    /// The longest wait of a task, in ns.
    pub longest_ns: u64,
    /// The spawn location whose tasks occupied the threads longest meanwhile.
    pub location: Option<SpawnLocation>,
    /// The number of tasks of that location that ended.
    pub tasks: u64,
    /// The sum of their running times, in ns.
    pub ran_ns: u64,
    /// The number of other spawn locations that had such tasks.
    pub other_locations: u64,
}

/// The observations of the queue by one thread.
#[derive(Debug, Default)]
pub(super) struct PoolObserver {
    pub(super) seen: Vec<Seen>,
    /// The number of tasks that ended on the thread.
    pub(super) ended: u64,
    /// The start of the current task, if it is known.
    runs_since_ns: Option<u64>,
}

/// An observation of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    queue: QueueSeen,
    /// The task that ended.
    pub(super) task: Option<u64>,
    /// The running time of that task.
    ran_ns: Option<u64>,
}

impl PoolObserver {
    /// Records that the thread started, which it does to run a task.
    pub(super) fn started(&mut self, time_ns: u64) {
        self.runs_since_ns = Some(time_ns);
    }

    pub(super) fn saw(&mut self, queue: QueueSeen) {
        let ran_ns = self.runs_since_ns.map(|since_ns| queue.time_ns.saturating_sub(since_ns));
        self.seen.push(Seen {
            queue,
            task: None,
            ran_ns: ran_ns.filter(|_| queue.ended.is_some()),
        });
    }

    /// Records the end of a task that may belong to the pool.
    pub(super) fn terminated(&mut self, task: u64, time_ns: u64) {
        self.ended += 1;
        let of_it = self.seen.last_mut().filter(|seen| {
            seen.queue.ended.is_some() && seen.task.is_none() && seen.queue.time_ns == time_ns
        });
        // The next task starts now only if one is queued.
        self.runs_since_ns = of_it.as_ref().and_then(|s| (s.queue.waiting > 0).then_some(time_ns));
        if let Some(seen) = of_it {
            seen.task = Some(task);
        }
    }
}

/// The minimum running time of a pool task. A shorter one was cancelled before it ran.
const RAN_NS: u64 = 10_000;

impl Seen {
    #[cfg(test)]
    pub(super) fn new(queue: QueueSeen) -> Self {
        Self { queue, task: None, ran_ns: None }
    }

    pub(super) fn time_ns(&self) -> u64 {
        self.queue.time_ns
    }

    /// Returns a lower bound of the number of tasks that wait from now on.
    pub(super) fn left(&self) -> u64 {
        self.queue.waiting.saturating_sub(self.queue.ended.is_some().into())
    }
}

/// Returns the exhaustion of the pool in these windows of recording, if any, from the observations
/// of all threads.
pub(super) fn exhausted(
    mut seen: Vec<Seen>,
    windows: &[(u64, u64)],
    long_poll: Duration,
) -> Option<ExhaustedPool> {
    // A pool that still grows isn't exhausted.
    let mut threads = 0;
    for seen in &seen {
        threads = threads.max(seen.queue.threads);
    }
    if threads == 0 {
        return None;
    }
    crate::util::sort::by_key(&mut seen, |seen| (seen.queue.time_ns, Reverse(seen.queue.waiting)));
    let window = |seen: &Seen| windows.partition_point(|&(from, _)| from <= seen.queue.time_ns);
    let goes_on = |before: &Seen, next: &Seen| {
        let is_full = |seen: &Seen| seen.queue.threads == threads && seen.queue.waiting > 0;
        is_full(before) && before.left() > 0 && is_full(next) && window(before) == window(next)
    };
    let long_ns = u64::try_from(long_poll.as_nanos()).unwrap_or(u64::MAX).max(LONG_WAIT_NS);
    let mut pool = ExhaustedPool { threads, ..ExhaustedPool::default() };
    let mut places: Map<Option<SpawnLocation>, (u64, u64)> = Map::default();
    for queue in seen.chunk_by(goes_on) {
        let Some(of_queue) = Queue::from_seen(queue) else { continue };
        if !of_queue.is_exhausted(threads, long_ns) {
            continue;
        }
        pool.most_waiting = pool.most_waiting.max(of_queue.most_waiting);
        pool.waited_ns = pool.waited_ns.saturating_add(of_queue.waited_ns);
        pool.longest_ns = pool.longest_ns.max(of_queue.longest_ns);
        for seen in queue {
            if let (Some(location), Some(ran_ns @ RAN_NS..)) = (seen.queue.ended, seen.ran_ns) {
                let (tasks, all_ns) = places.get_or_default(location);
                (*tasks, *all_ns) = (*tasks + 1, all_ns.saturating_add(ran_ns));
            }
        }
    }
    let places = places.into_sorted();
    for &(location, (tasks, ran_ns)) in &places {
        // If two are equal, the first stays.
        if ran_ns > pool.ran_ns {
            (pool.location, pool.tasks, pool.ran_ns) = (location, tasks, ran_ns);
        }
    }
    pool.other_locations = (places.len() as u64).saturating_sub(1);
    (pool.most_waiting > 0).then_some(pool)
}

/// A time during which the queue was never empty.
struct Queue {
    length_ns: u64,
    ended: usize,
    most_waiting: u64,
    waited_ns: u64,
    longest_ns: u64,
}

impl Queue {
    fn from_seen(seen: &[Seen]) -> Option<Self> {
        let (first_ns, last_ns) = (seen.first()?.queue.time_ns, seen.last()?.queue.time_ns);
        let mut ends = Vec::new();
        for seen in seen {
            if seen.queue.ended.is_some() {
                ends.push(seen.queue.time_ns);
            }
        }
        // The numbers of waiting tasks, each with its duration.
        let mut between: Vec<(u64, u64)> = Vec::new();
        let mut waited_ns: u64 = 0;
        for pair in seen.windows(2) {
            let waiting = pair[0].left().min(pair[1].queue.waiting);
            let ns = pair[1].queue.time_ns - pair[0].queue.time_ns;
            between.push((waiting, ns));
            waited_ns = waited_ns.saturating_add(waiting.saturating_mul(ns));
        }
        crate::util::sort::sort(&mut between);
        // The wait until a new thread takes its first task is shorter.
        let (mut for_ns, mut most_waiting) = (0_u64, None);
        while let Some((waiting, ns)) = between.pop() {
            for_ns = for_ns.saturating_add(ns);
            if for_ns >= LONG_WAIT_NS {
                most_waiting = Some(waiting);
                break;
            }
        }
        // The last task of a queue of n leaves when n tasks have ended. Ends are in order.
        let (mut ended_before, mut longest_ns) = (0, 0);
        for seen in seen {
            let leaves = ended_before + seen.queue.waiting as usize;
            ended_before += usize::from(seen.queue.ended.is_some());
            let leaves_ns = *ends.get(leaves.saturating_sub(1)).unwrap_or(&last_ns);
            longest_ns = longest_ns.max(leaves_ns.saturating_sub(seen.queue.time_ns));
        }
        Some(Self {
            length_ns: last_ns - first_ns,
            ended: ends.len(),
            most_waiting: most_waiting?,
            waited_ns,
            longest_ns,
        })
    }

    fn is_exhausted(&self, threads: u64, long_ns: u64) -> bool {
        let took_two = self.ended as u64 >= threads.saturating_mul(2);
        let are_few = self.ended == 0 && self.most_waiting.saturating_mul(FEW) <= threads;
        let long_queue_ns = if are_few { LONG_QUEUE_OF_FEW_NS } else { LONG_QUEUE_NS };
        self.longest_ns >= long_ns && (took_two || self.length_ns >= long_queue_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(line: u32) -> Option<SpawnLocation> {
        Some(SpawnLocation { file: "src/main.rs", line, column: 5 })
    }

    fn seen(at_ms: u64, waiting: u64, ended: Option<Option<SpawnLocation>>) -> Seen {
        let queue = QueueSeen { time_ns: at_ms * MS, waiting, threads: 2, ended };
        Seen { queue, task: None, ran_ns: ended.map(|_| 20 * MS) }
    }

    /// Observations of two threads with tasks of 20 ms. At first, `waiting` tasks wait.
    fn drained(waiting: u64) -> Vec<Seen> {
        (0..waiting).map(|n| seen(20 + n / 2 * 20, waiting - n, Some(at(7)))).collect()
    }

    fn pool_of(seen: Vec<Seen>) -> Option<ExhaustedPool> {
        exhausted(seen, &[(0, 10_000 * MS)], Duration::from_millis(1))
    }

    #[test]
    fn few_that_wait_for_many_threads_may_wait_for_one_that_has_no_processor_yet() {
        let of_fifty = |waiting, to_ms| {
            let at_ms =
                |at_ms| Seen::new(QueueSeen { threads: 50, ..seen(at_ms, waiting, None).queue });
            pool_of(vec![at_ms(0), at_ms(to_ms)])
        };
        assert_eq!(of_fifty(25, 900), None);
        assert!(of_fifty(25, 1000).is_some() && of_fifty(26, 100).is_some());
    }

    #[test]
    fn a_queue_that_is_drained_says_how_long_its_tasks_waited() {
        let pool = ExhaustedPool {
            threads: 2,
            most_waiting: 6,
            // After each pair of ends, 6, 4 and 2 tasks go on waiting.
            waited_ns: (6 + 4 + 2) * 20 * MS,
            longest_ns: 60 * MS,
            location: at(7),
            tasks: 8,
            ran_ns: 8 * 20 * MS,
            other_locations: 0,
        };
        assert_eq!(pool_of(drained(8)), Some(pool));
        // The order of the threads doesn't matter.
        assert_eq!(pool_of(drained(8).into_iter().rev().collect()).unwrap().most_waiting, 6);
    }

    #[test]
    fn who_ran_longest_is_named() {
        let mut all = drained(8);
        all[3].queue.ended = Some(at(9));
        all[3].ran_ns = Some(900 * MS);
        let pool = pool_of(all).unwrap();
        assert_eq!((pool.location, pool.tasks, pool.other_locations), (at(9), 1, 1));
    }

    #[test]
    fn what_waits_for_threads_that_start_is_not_counted() {
        let mut all = drained(8);
        all.insert(0, seen(1, 11, None));
        all.insert(0, seen(0, 12, None));
        let pool = pool_of(all).unwrap();
        assert_eq!((pool.most_waiting, pool.waited_ns), (8, (11 + 8 * 19 + 12 * 20) * MS));
    }

    #[test]
    fn a_queue_where_nothing_ends_is_told_from_readings() {
        let stuck: Vec<_> = (0..30).map(|n| seen(n * 5, 40, None)).collect();
        let pool = pool_of(stuck).unwrap();
        assert_eq!((pool.most_waiting, pool.waited_ns), (40, 40 * 145 * MS));
        assert_eq!((pool.longest_ns, pool.tasks), (145 * MS, 0));
    }

    #[test]
    fn what_is_no_exhaustion_is_not_told() {
        assert_eq!(pool_of(Vec::new()), None);
        // A pool without threads.
        let mut none: Vec<_> = (0..30).map(|n| seen(n * 5, 1, None)).collect();
        none.iter_mut().for_each(|seen| seen.queue.threads = 0);
        assert_eq!(pool_of(none), None);
        // One reading, or several with nothing between them.
        assert_eq!(pool_of(vec![seen(5, 40, None)]), None);
        let moments = (0..60).map(|n| seen(n * 5, n % 2 * 9, None)).collect();
        assert_eq!(pool_of(moments), None);
        // A pool that grows.
        let mut grows: Vec<_> = (0..30).map(|n| seen(n * 5, 40, None)).collect();
        (0..30).for_each(|n| grows[n].queue.threads = n as u64);
        assert_eq!(pool_of(grows), None);
        // Two windows.
        let all: Vec<_> = (0..20).map(|n| seen(n * 5, 40, None)).collect();
        let windows = [(0, 50 * MS), (60 * MS, 200 * MS)];
        assert_eq!(exhausted(all, &windows, Duration::from_millis(1)), None);
        // Waits shorter than what is called long.
        let windows = [(0, 10_000 * MS)];
        assert_eq!(exhausted(drained(8), &windows, Duration::from_millis(61)), None);
    }

    #[test]
    fn a_task_runs_from_the_end_of_the_one_before_if_it_waited() {
        let mut thread = PoolObserver::default();
        let queue = |at, waiting| QueueSeen { time_ns: at, waiting, threads: 1, ended: Some(None) };
        thread.started(10);
        thread.saw(queue(30, 2));
        thread.terminated(1, 30);
        thread.saw(queue(70, 0));
        thread.terminated(2, 70);
        thread.saw(queue(99, 1));
        thread.terminated(3, 99);
        let ran: Vec<_> = thread.seen.iter().map(|seen| (seen.task, seen.ran_ns)).collect();
        assert_eq!(ran, [(Some(1), Some(20)), (Some(2), Some(40)), (Some(3), None)]);
    }
}
