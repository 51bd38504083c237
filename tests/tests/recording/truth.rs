//! The timeline agrees with the counts of the program itself, and with Tokio's metrics.
#![cfg(tokio_unstable)]

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use tests::load::wait_for_workers;
use tests::runtime::{builder, recorded};
use tokio::runtime::{Builder, Runtime, RuntimeMetrics};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, yield_now};
use tokio_statemap::timeline::{Task, TaskKey};
use tokio_statemap::{CollectorConfig, Event, Hooks, TaskState, Timeline, register_hooks_with};

/// The number of polls of each task by its id, as the program counts them.
type Polls = Arc<Mutex<BTreeMap<u64, Arc<AtomicU64>>>>;

/// A future that counts its polls.
struct Counted<F> {
    future: Pin<Box<F>>,
    polls: Option<Arc<AtomicU64>>,
    all: Polls,
}

impl<F: Future> Future for Counted<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let polls = this.polls.get_or_insert_with(|| {
            let id: u64 = tokio::task::id().to_string().parse().unwrap();
            Arc::clone(this.all.lock().unwrap().entry(id).or_default())
        });
        polls.fetch_add(1, Ordering::Relaxed);
        this.future.as_mut().poll(cx)
    }
}

fn counted<F: Future>(all: &Polls, future: F) -> Counted<F> {
    Counted { future: Box::pin(future), polls: None, all: Arc::clone(all) }
}

/// The tasks that were aborted while they waited.
type Aborted = Arc<Mutex<BTreeSet<u64>>>;

/// Uses tasks in many ways.
async fn everything(all: Polls, aborted: Aborted, multi_thread: bool) {
    let mut set = JoinSet::new();
    for i in 0..1000_u64 {
        let (all, aborted) = (Arc::clone(&all), Arc::clone(&aborted));
        set.spawn(counted(&all.clone(), async move {
            for _ in 0..100 {
                yield_now().await;
            }
            match i % 10 {
                0 => tokio::time::sleep(Duration::from_millis(i % 7)).await,
                1 => tokio::task::spawn_blocking(|| ()).await.unwrap(),
                2 => {
                    let (to, mut from) = mpsc::channel(1);
                    let child = tokio::spawn(counted(&all, async move {
                        for n in 0..5 {
                            to.send(n).await.unwrap();
                        }
                    }));
                    while from.recv().await.is_some() {}
                    child.await.unwrap();
                }
                3 if multi_thread && i % 100 == 3 => {
                    tokio::task::block_in_place(|| {
                        // A thread must be free to become the worker.
                        wait_for_workers();
                        std::thread::sleep(Duration::from_micros(500));
                    });
                    yield_now().await;
                }
                4 if i % 100 == 4 => {
                    let fails = counted(&all, async { std::panic::resume_unwind(Box::new(())) });
                    let failed: Result<(), _> = tokio::spawn(fails).await;
                    assert!(failed.unwrap_err().is_panic());
                }
                5 if i % 100 == 5 => {
                    let hangs = tokio::spawn(counted(&all, std::future::pending::<()>()));
                    let id = hangs.id().to_string().parse().unwrap();
                    while all.lock().unwrap().get(&id).is_none() {
                        yield_now().await;
                    }
                    hangs.abort();
                    aborted.lock().unwrap().insert(id);
                    assert!(hangs.await.unwrap_err().is_cancelled());
                }
                _ => {}
            }
        }));
    }
    while let Some(joined) = set.join_next().await {
        joined.unwrap();
    }
    // These live until the runtime ends. One that was never polled may be run once more then, as if it was polled.
    let before = all.lock().unwrap().len();
    for _ in 0..5 {
        tokio::spawn(counted(&all, std::future::pending::<()>()));
    }
    while all.lock().unwrap().len() < before + 5 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

struct Seen {
    timeline: Timeline,
    polls: BTreeMap<u64, u64>,
    aborted: BTreeSet<u64>,
    parks: BTreeMap<usize, u64>,
    metrics: RuntimeMetrics,
    never_polled: u64,
}

fn run(mut builder: Builder, multi_thread: bool) -> Seen {
    let parks: Arc<Mutex<BTreeMap<usize, u64>>> = Arc::default();
    let counted_parks = Arc::clone(&parks);
    let hooks = Hooks::new().on_thread_park(move || {
        let worker = tokio::runtime::worker_index().expect("only workers park");
        *counted_parks.lock().unwrap().entry(worker).or_default() += 1;
    });
    let config = CollectorConfig::default();
    let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
    collector.start();
    let runtime: Runtime = builder.build().unwrap();
    let (polls, aborted) = (Polls::default(), Aborted::default());
    let program = everything(Arc::clone(&polls), Arc::clone(&aborted), multi_thread);
    collector.block_on(&runtime, program);
    let metrics = runtime.metrics();
    drop(runtime);
    collector.stop();
    let timeline = collector.snapshot();
    assert_eq!(collector.lost().total(), 0);
    let polls: BTreeMap<_, _> = polls
        .lock()
        .unwrap()
        .iter()
        .map(|(&id, polls)| (id, polls.load(Ordering::Relaxed)))
        .collect();
    let never_polled = metrics.spawned_tasks_count() - polls.len() as u64;
    Seen {
        timeline,
        polls,
        aborted: aborted.lock().unwrap().clone(),
        parks: parks.lock().unwrap().clone(),
        metrics,
        never_polled,
    }
}

fn multi_thread(workers: usize) -> Seen {
    let mut builder = builder(workers);
    // Tokio counts a poll from the LIFO slot together with the poll before it.
    builder.disable_lifo_slot();
    run(builder, true)
}

/// Returns the spawned tasks of the timeline.
fn tasks(timeline: &Timeline) -> BTreeMap<u64, &Task> {
    let spawned = timeline.tasks.iter().filter_map(|task| match task.key {
        TaskKey::Spawned(id) => Some((id, task)),
        TaskKey::Root(_) => None,
    });
    spawned.collect()
}

fn check(seen: &Seen) {
    let timeline = &seen.timeline;
    let tasks = tasks(timeline);

    assert_eq!(tasks.len() as u64, seen.metrics.spawned_tasks_count());
    for (id, task) in &tasks {
        // Tokio runs an aborted task once more, with hooks, to drop its future instead of polling it, unless its poll hadn't
        // ended yet.
        let may_be_cancelling = u64::from(seen.aborted.contains(id));
        let polls = seen.polls.get(id).copied().unwrap_or(0);
        let found = task.polls.len() as u64;
        assert!((polls..=polls + may_be_cancelling).contains(&found), "{polls}: {task:?}");
    }
    let unpolled = tasks.values().filter(|task| task.polls.is_empty()).count();
    assert_eq!(unpolled as u64, seen.never_polled);

    for (&worker, &parks) in &seen.parks {
        let found = &timeline.workers[worker];
        assert_eq!((found.index as usize, found.parks), (worker, parks));
    }
    let polled_by = |worker: u32| {
        let polls = tasks.values().flat_map(|task| &task.polls);
        polls.filter(|poll| poll.worker() == Some(worker)).count() as u64
    };
    for worker in 0..seen.metrics.num_workers() {
        let polled = polled_by(worker as u32);
        assert_eq!(polled, seen.metrics.worker_poll_count(worker), "worker {worker}");
    }
    assert_eq!(timeline.workers.len(), seen.metrics.num_workers());

    let main = &timeline.tasks[0];
    assert_eq!(main.key, TaskKey::Root(0));
    assert!(main.terminated_ns.is_some());
    assert_eq!(main.location.unwrap().file, file!());
    let children = tasks.values().filter(|task| task.parent == Some(main.key)).count();
    assert_eq!(children, 1005);
    let grandchildren: Vec<_> =
        tasks.values().filter(|task| matches!(task.parent, Some(TaskKey::Spawned(_)))).collect();
    assert_eq!(grandchildren.len(), 120);
    assert!(tasks.values().all(|task| task.location.unwrap().file == file!()));

    check_lives(timeline);
    check_workers(timeline);
}

/// Asserts that the states of each task are in order, from its spawn to its end.
fn check_lives(timeline: &Timeline) {
    for task in &timeline.tasks {
        let transitions: Vec<_> = task.transitions().collect();
        assert!(transitions.is_sorted_by_key(|&(time, _)| time), "{task:?}");
        assert_eq!(transitions[0].1, TaskState::Spawned);
        for pair in transitions.windows(2) {
            use TaskState::{Completed, Ready, Running, Spawned, Waiting};
            let follows = match pair[0].1 {
                Spawned => matches!(pair[1].1, Running | Completed),
                Running => matches!(pair[1].1, Waiting | Completed),
                Waiting => matches!(pair[1].1, Ready | Running | Completed),
                Ready => matches!(pair[1].1, Running),
                Completed => false,
            };
            assert!(follows, "{pair:?} of {task:?}");
        }
        assert!(task.terminated_ns.is_some(), "the runtime has ended: {task:?}");
    }
}

/// Asserts that no worker is in two polls at once. A worker that moves during a poll is no longer in that poll.
fn check_workers(timeline: &Timeline) {
    let mut polls: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
    for task in timeline.tasks.iter().filter(|task| matches!(task.key, TaskKey::Spawned(_))) {
        for poll in &task.polls {
            if let Some(worker) = poll.worker() {
                let held = (poll.start_ns(), poll.start_ns() + timeline.held_ns(poll));
                polls.entry(worker).or_default().push(held);
            }
        }
    }
    for (worker, polls) in &mut polls {
        polls.sort_unstable();
        for pair in polls.windows(2) {
            assert!(pair[0].1 <= pair[1].0, "worker {worker}: {pair:?}");
        }
    }
}

#[test]
fn the_timeline_of_two_workers_is_true() {
    check(&multi_thread(2));
}

#[test]
fn the_timeline_of_four_workers_is_true() {
    let seen = multi_thread(4);
    check(&seen);
    assert!(!seen.timeline.handovers.is_empty(), "block_in_place hands workers over");
}

#[test]
fn the_timeline_of_a_current_thread_runtime_is_true() {
    let seen = run(builder(0), false);
    check(&seen);
    // In this flavor Tokio counts each park for which it calls the hook.
    assert_eq!(seen.timeline.workers[0].parks, seen.metrics.worker_park_count(0));
    // Blocking threads aren't workers.
    assert!(!seen.timeline.pool.threads.is_empty());
    assert_eq!(seen.timeline.workers.len(), 1);
    let main = &seen.timeline.tasks[0];
    assert!(main.polls.iter().all(|poll| poll.worker() == Some(0)));
}

/// A task that is woken while the only worker is blocked is ready from then until the block is over.
#[test]
fn a_task_is_ready_behind_a_block() {
    let (collector, runtime) = recorded(builder(0), CollectorConfig::default());
    let (waits, blocks) = collector.block_on(&runtime, async {
        let (wake, woken) = tokio::sync::oneshot::channel();
        let waits = tokio::spawn(woken);
        yield_now().await;
        let blocks = tokio::spawn(async move {
            std::thread::sleep(Duration::from_millis(1));
            wake.send(()).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        });
        let id = |id: tokio::task::Id| id.to_string().parse::<u64>().unwrap();
        let ids = (id(waits.id()), id(blocks.id()));
        blocks.await.unwrap();
        waits.await.unwrap().unwrap();
        ids
    });
    let timeline = collector.snapshot();
    let tasks = tasks(&timeline);
    let spans: Vec<_> = tasks[&waits].spans(timeline.end_ns).collect();
    let states: Vec<_> = spans.iter().map(|span| span.state).collect();
    use TaskState::{Completed, Ready, Running, Spawned, Waiting};
    assert_eq!(states, [Spawned, Running, Waiting, Ready, Running, Completed]);
    let [block] = &tasks[&blocks].polls[..] else { panic!("{:?}", tasks[&blocks]) };
    let (begins, ends) = (block.start_ns(), block.end_ns().unwrap());
    let (ready, runs) = (spans[3].start_ns, spans[4].start_ns);
    assert!(begins < ready && ready < ends, "woken in the block: {begins} {ready} {ends}");
    assert!(ends <= runs, "polled after it: {ends} {runs}");
}

#[test]
fn the_time_behind_a_planted_block_is_exact() {
    const MS: u64 = 1_000_000;
    let start = |task_id, time_ns, ready_ns| {
        let (thread, worker) = (0, Some(0));
        Event::TaskPollStart { task_id, time_ns, thread, worker, ready_ns, woken_by: None }
    };
    let end = |task_id, time_ns| {
        let (thread, worker) = (0, Some(0));
        Event::TaskPollEnd { task_id, time_ns, thread, worker }
    };
    let spawn = |task_id| Event::TaskSpawn { task_id, time_ns: 0, thread: 0, location: None };
    let timeline = tests::planted::timeline(&[
        Event::WorkerStart { time_ns: 0, thread: 0, worker: Some(0) },
        spawn(1),
        spawn(2),
        start(1, MS, None),
        end(1, 2 * MS),
        start(2, 3 * MS, None),
        end(2, 11 * MS),
        start(1, 12 * MS, Some(4 * MS)),
        end(1, 13 * MS),
    ]);
    let spans: Vec<_> = tasks(&timeline)[&1].spans(timeline.end_ns).collect();
    let lengths: Vec<_> = spans.iter().map(|span| (span.state, span.length_ns() / MS)).collect();
    use TaskState::{Ready, Running, Spawned, Waiting};
    assert_eq!(
        lengths[..5],
        [(Spawned, 1), (Running, 1), (Waiting, 2), (Ready, 8), (Running, 1)],
        "{spans:?}"
    );
}
