//! Tasks that nothing can wake, as no waker of theirs is left, whoever spawned them.

use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use tests::runtime::{builder, key, recorded};
use tokio::runtime::Builder;
use tokio::time::sleep;
use tokio_statemap::timeline::{TaskKey, Waiting};
use tokio_statemap::{CollectorConfig, Timeline};

use super::runtimes::settled;

const LONG: Duration = Duration::from_secs(1_000);
/// Longer than a poll takes on a busy machine. If a timer fires within the poll that sets it, it isn't known whether it had the last
/// waker.
const SHORT: Duration = Duration::from_millis(300);

/// Returns `Pending`, and takes no waker.
async fn forgets() {
    poll_fn(|_| Poll::<()>::Pending).await;
}

/// Returns `Pending` once, and puts so many wakers there.
async fn put(wakers: &Mutex<Vec<Waker>>, number: usize) {
    let mut is_first = true;
    poll_fn(|cx| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        wakers.lock().unwrap().extend((0..number).map(|_| cx.waker().clone()));
        Poll::Pending
    })
    .await;
}

#[test]
fn who_has_no_waker_left_waits_for_nothing() {
    for threads in [0, 2] {
        let (collector, runtime) = recorded(builder(threads), CollectorConfig::default());
        let guard = runtime.enter();
        let [one, two, by_ref] = [(); 3].map(|()| Arc::<Mutex<Vec<Waker>>>::default());
        let put_and_forget = |wakers: &Arc<Mutex<Vec<Waker>>>, number| {
            let wakers = Arc::clone(wakers);
            tokio::spawn(async move {
                put(&wakers, number).await;
                forgets().await;
            })
        };
        let joined = tokio::spawn(sleep(Duration::from_millis(1)));
        let spawned = [
            (true, "at once", tokio::spawn(forgets())),
            (true, "pending", tokio::spawn(pending())),
            (
                true,
                "after a timer",
                tokio::spawn(async { (sleep(SHORT).await, forgets().await).1 }),
            ),
            (true, "woken by the only waker", put_and_forget(&one, 1)),
            (false, "one waker is left", put_and_forget(&two, 2)),
            (false, "the waker is left", put_and_forget(&by_ref, 1)),
            (false, "a timer", tokio::spawn(async { tokio::join!(forgets(), sleep(LONG)).0 })),
            (
                false,
                "a timer that waits since long",
                tokio::spawn(async {
                    tokio::select! {
                        () = sleep(LONG) => {}
                        () = async { (sleep(SHORT).await, forgets().await).1 } => {}
                    }
                }),
            ),
            (
                false,
                "a waker on another thread",
                tokio::spawn(poll_fn(|cx| {
                    std::thread::scope(|scope| {
                        let waker = cx.waker().clone();
                        scope.spawn(move || std::mem::forget(waker));
                    });
                    Poll::Pending
                })),
            ),
            (false, "a task of its own kind", tokio_statemap::spawn(sleep(LONG))),
            (true, "a task of its own kind that forgets", tokio_statemap::spawn(forgets())),
            (
                false,
                "another task",
                tokio::spawn(async { (joined.await.unwrap(), sleep(LONG).await).1 }),
            ),
        ];
        drop(guard);
        let wakers = |of: &Mutex<Vec<Waker>>| std::mem::take(&mut *of.lock().unwrap());
        while [&one, &two, &by_ref].iter().any(|of| of.lock().unwrap().is_empty()) {
            runtime.block_on(async { sleep(Duration::from_millis(1)).await });
        }
        wakers(&one).pop().unwrap().wake();
        let (mut two, by_ref) = (wakers(&two), wakers(&by_ref));
        two.pop().unwrap().wake();
        by_ref[0].wake_by_ref();
        let found = |timeline: &Timeline| {
            let is_for_nothing = |key| {
                let task = timeline.tasks.iter().find(|task| task.key == key).unwrap();
                matches!(timeline.waiting_at_end(task), Waiting::Nothing)
            };
            let found =
                spawned.iter().map(|(_, name, task)| (is_for_nothing(key(task.id())), *name));
            found.collect::<Vec<_>>()
        };
        let expected: Vec<_> =
            spawned.iter().map(|(expected, name, _)| (*expected, *name)).collect();
        let timeline = settled(&collector, &runtime, |timeline| found(timeline) == expected);
        assert_eq!(found(&timeline), expected, "{threads} threads");
        runtime.shutdown_background();
    }
}

/// A task may wake itself without a clone of its waker. If the recorder took such a task for one without a waker, it would notice the
/// mistake, and claim nothing of the last task here.
#[test]
fn who_is_woken_again_was_not_forgotten() {
    for threads in [0, 2] {
        let (collector, runtime) = recorded(builder(threads), CollectorConfig::default());
        runtime.block_on(async {
            let yields = || async {
                let mut polls = 0;
                poll_fn(|cx| {
                    polls += 1;
                    cx.waker().wake_by_ref();
                    if polls < 100 { Poll::Pending } else { Poll::Ready(()) }
                })
                .await;
            };
            let all: Vec<_> = (0..10).map(|_| tokio::spawn(yields())).collect();
            for task in all {
                task.await.unwrap();
            }
            // A poll that has another runtime's within: where there is one worker, that takes another thread.
            let within = || {
                let (inner, other) =
                    recorded(Builder::new_current_thread(), CollectorConfig::default());
                let wakers = Arc::<Mutex<Vec<Waker>>>::default();
                let keeps = Arc::clone(&wakers);
                let task = other.spawn(async move {
                    put(&keeps, 2).await;
                    put(&keeps, 0).await;
                });
                let wake = || {
                    other.block_on(tokio::task::yield_now());
                    wakers.lock().unwrap().pop().unwrap().wake();
                    other.block_on(tokio::task::yield_now());
                };
                wake();
                let timeline = inner.snapshot();
                let mut tasks = timeline.tasks.iter();
                let found = tasks.find(|task| matches!(task.key, TaskKey::Spawned(_))).unwrap();
                assert!(!matches!(timeline.waiting_at_end(found), Waiting::Nothing));
                wake();
                other.block_on(task).unwrap();
            };
            tokio::spawn(async move {
                match threads {
                    0 => std::thread::spawn(within).join().unwrap(),
                    _ => tokio::task::block_in_place(within),
                }
            })
            .await
            .unwrap();
            // An aborted task says nothing of others.
            let forgotten = tokio::spawn(forgets());
            tokio::task::yield_now().await;
            sleep(Duration::from_millis(5)).await;
            forgotten.abort();
            forgotten.await.unwrap_err();
            drop(tokio::spawn(forgets()));
        });
        let is_told = |timeline: &Timeline| {
            let tasks = timeline.tasks.iter().filter(|task| task.terminated_ns.is_none());
            tasks.filter(|task| matches!(timeline.waiting_at_end(task), Waiting::Nothing)).count()
                == 1
        };
        assert!(is_told(&settled(&collector, &runtime, is_told)), "{threads} threads");
        runtime.shutdown_background();
    }
}
