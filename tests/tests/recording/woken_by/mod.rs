//! Who woke each task, for each of its polls, is known by the hooks alone.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

pub(super) mod log;
pub(super) mod random;
mod unknown;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::mpsc;
use std::task;
use std::time::Duration;

use tests::runtime::{builder, key};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet, yield_now};
use tokio_statemap::timeline::{Poll, TaskKey, Timeline};
use tokio_statemap::{CollectorConfig, Hooks, WokenBy, register_hooks_with};

const MAIN: Option<WokenBy> = Some(WokenBy::Task(TaskKey::Root(0)));
const RUNTIME: Option<WokenBy> = Some(WokenBy::Runtime);

thread_local! {
    /// The number of polls of `main` so far.
    static MAIN_POLLS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the polls of a future as those of `main`.
async fn counted<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    MAIN_POLLS.set(0);
    poll_fn(|cx| {
        MAIN_POLLS.set(MAIN_POLLS.get() + 1);
        future.as_mut().poll(cx)
    })
    .await
}

/// Runs a program on runtimes of all kinds, and has `check` look at what is known then. What the program returns is passed on.
fn recorded<F, T>(program: impl Fn() -> F, check: impl Fn(&Timeline, T))
where
    F: Future<Output = T>,
{
    for workers in [0, 1, 3] {
        let mut builder = builder(workers);
        let (config, hooks) = (CollectorConfig::default(), Hooks::new());
        let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        let result = collector.block_on(&runtime, counted(program()));
        drop(runtime);
        collector.stop();
        check(&collector.snapshot(), result);
    }
}

/// Who woke a task, poll by poll.
#[track_caller]
fn wakes(timeline: &Timeline, task: tokio::task::Id) -> Vec<Option<WokenBy>> {
    let task = timeline.tasks.iter().find(|seen| seen.key == key(task)).expect("it is there");
    task.polls.iter().map(Poll::woken_by).collect()
}

fn by(task: tokio::task::Id) -> Option<WokenBy> {
    Some(WokenBy::Task(key(task)))
}

/// Spawns a task that waits for what is sent, and for nothing else. It waits when this returns.
async fn spawn_that_waits() -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (waits, has_waited) = mpsc::channel();
    let (send, mut receive) = oneshot::channel();
    let task = tokio::spawn(async move {
        poll_fn(move |cx| {
            let polled = std::pin::Pin::new(&mut receive).poll(cx);
            let _ = waits.send(());
            polled
        })
        .await
        .unwrap();
    });
    while has_waited.try_recv().is_err() {
        yield_now().await;
    }
    (send, task)
}

/// Awaits a future, and calls `then` in the poll in which that begins to wait.
async fn once_it_waits<F: Future + Unpin>(mut future: F, then: impl FnOnce()) -> F::Output {
    let mut then = Some(then);
    poll_fn(|cx| {
        let polled = pin!(&mut future).poll(cx);
        if let Some(then) = then.take() {
            assert!(polled.is_pending());
            then();
        }
        polled
    })
    .await
}

#[test]
fn a_task_that_sends_woke_the_one_that_receives() {
    recorded(
        || async {
            let (send, receives) = spawn_that_waits().await;
            let sends = tokio::spawn(async move { send.send(()).unwrap() });
            let ids = (sends.id(), receives.id());
            sends.await.unwrap();
            receives.await.unwrap();
            ids
        },
        |timeline, (sends, receives)| {
            assert_eq!(wakes(timeline, sends), [MAIN], "it was spawned");
            assert_eq!(wakes(timeline, receives), [MAIN, by(sends)]);
        },
    );
}

#[test]
fn main_a_thread_and_a_blocking_task_wake() {
    recorded(
        || async {
            let (send, by_main) = spawn_that_waits().await;
            send.send(()).unwrap();
            let (send, by_thread) = spawn_that_waits().await;
            std::thread::spawn(move || send.send(()).unwrap()).join().unwrap();
            let (send, by_blocking) = spawn_that_waits().await;
            tokio::task::spawn_blocking(move || send.send(()).unwrap()).await.unwrap();
            let ids = [by_main.id(), by_thread.id(), by_blocking.id()];
            for task in [by_main, by_thread, by_blocking] {
                task.await.unwrap();
            }
            ids
        },
        |timeline, [by_main, by_thread, by_blocking]| {
            assert_eq!(wakes(timeline, by_main), [MAIN, MAIN]);
            assert_eq!(wakes(timeline, by_thread), [MAIN, Some(WokenBy::Thread)]);
            assert_eq!(wakes(timeline, by_blocking), [MAIN, Some(WokenBy::BlockingTask)]);
        },
    );
}

#[test]
fn main_is_woken_by_a_task_by_the_runtime_and_by_a_thread() {
    recorded(
        || async {
            let (send, task) = spawn_that_waits().await;
            let (first, id) = (MAIN_POLLS.get(), task.id());
            once_it_waits(task, || send.send(()).unwrap()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
            let (send, receive) = oneshot::channel();
            let thread = || std::thread::spawn(|| send.send(()).unwrap()).join().unwrap();
            once_it_waits(receive, thread).await.unwrap();
            (first, id)
        },
        |timeline, (first, task)| {
            let main = timeline.tasks.iter().find(|task| task.key == TaskKey::Root(0)).unwrap();
            let polls = &main.polls[first..];
            let by_all: Vec<_> = polls.iter().map(Poll::woken_by).collect();
            assert_eq!(by_all, [by(task), RUNTIME, Some(WokenBy::Thread)]);
            for pair in main.polls.windows(2) {
                let ready_ns = pair[1].ready_ns().unwrap();
                assert!(pair[0].end_ns().unwrap() <= ready_ns && ready_ns <= pair[1].start_ns());
            }
        },
    );
}

#[test]
fn timers_and_yields_are_the_runtimes() {
    recorded(
        || async {
            let sleeps =
                tokio::spawn(async { tokio::time::sleep(Duration::from_millis(50)).await });
            let yields = tokio::spawn(async {
                yield_now().await;
                yield_now().await;
            });
            let ids = (sleeps.id(), yields.id());
            sleeps.await.unwrap();
            yields.await.unwrap();
            ids
        },
        |timeline, (sleeps, yields)| {
            assert_eq!(wakes(timeline, sleeps), [MAIN, RUNTIME]);
            assert_eq!(wakes(timeline, yields), [MAIN, RUNTIME, RUNTIME]);
        },
    );
}

#[test]
fn a_task_wakes_itself_and_who_waits_for_its_end() {
    recorded(
        || async {
            let mut is_first = true;
            let itself = tokio::spawn(poll_fn(move |cx| {
                cx.waker().wake_by_ref();
                if std::mem::take(&mut is_first) {
                    task::Poll::Pending
                } else {
                    task::Poll::Ready(())
                }
            }));
            let id = itself.id();
            itself.await.unwrap();
            let (send, ends) = spawn_that_waits().await;
            let end_id = ends.id();
            let (waits, has_waited) = oneshot::channel();
            let joins = tokio::spawn(async move {
                waits.send(()).unwrap();
                ends.await.unwrap();
            });
            has_waited.await.unwrap();
            // With several workers the poll that waits may go on.
            tokio::time::sleep(Duration::from_millis(20)).await;
            send.send(()).unwrap();
            let join_id = joins.id();
            joins.await.unwrap();
            (id, end_id, join_id)
        },
        |timeline, (itself, ends, joins)| {
            assert_eq!(wakes(timeline, itself), [MAIN, by(itself)]);
            assert_eq!(wakes(timeline, joins), [MAIN, by(ends)]);
        },
    );
}

/// A runtime within a poll, and a `LocalSet`: after them it is the task again that wakes.
#[test]
fn polls_within_polls_do_not_confuse_it() {
    recorded(
        || async {
            let (first, within) = spawn_that_waits().await;
            let (second, after) = spawn_that_waits().await;
            let (third, in_set) = spawn_that_waits().await;
            let host = tokio::spawn(async move {
                std::thread::scope(|scope| {
                    // A worker may block on no runtime but in a thread of its own.
                    scope.spawn(|| {
                        let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
                        other.block_on(async move { first.send(()).unwrap() });
                    });
                });
                second.send(()).unwrap();
            });
            let host_id = host.id();
            host.await.unwrap();
            let set = LocalSet::new();
            set.run_until(async move {
                tokio::task::spawn_local(async move { third.send(()).unwrap() }).await.unwrap();
            })
            .await;
            let ids = [host_id, within.id(), after.id(), in_set.id()];
            for task in [within, after, in_set] {
                task.await.unwrap();
            }
            ids
        },
        |timeline, [host, within, after, in_set]| {
            assert_eq!(wakes(timeline, after), [MAIN, by(host)]);
            assert_eq!(wakes(timeline, in_set), [MAIN, MAIN], "the set is polled by main");
            // A runtime without hooks: what it polls isn't known.
            assert_eq!(wakes(timeline, within), [MAIN, None]);
        },
    );
}
