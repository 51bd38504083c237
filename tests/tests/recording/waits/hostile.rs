//! Futures that are dropped while they wait, that panic, or that move between threads and tasks, and wakers that outlive
//! their tasks.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use tokio_statemap::{Instrument, spawn};

use super::runtimes::runtime;

/// The wakers of all polls of [`Keeps`].
static KEPT: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

/// The number of repetitions.
const ROUNDS: u32 = 300;

/// A future that keeps its wakers, and is ready after this number of polls.
struct Keeps(u32);

impl Future for Keeps {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        KEPT.lock().unwrap().push(cx.waker().clone());
        cx.waker().wake_by_ref();
        self.0 -= 1;
        if self.0 == 0 { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn deep(depth: u32) {
    if depth == 0 {
        Keeps(3).await;
    } else {
        Box::pin(deep(depth - 1)).instrument("deep").await;
    }
}

async fn is_cancelled(after: Duration) {
    let _ = timeout(after, async {
        tokio::join!(deep(5), sleep(Duration::from_secs(9)), std::future::pending::<()>())
    })
    .instrument("cancelled")
    .await;
}

async fn panics(at: u32) {
    for round in 0..at {
        yield_now().instrument("before the panic").await;
        assert!(round + 1 < at, "as planned");
    }
}

/// Moves a future between tasks, and so between threads, while it waits.
async fn moves() {
    let (sender, mut receiver) = mpsc::channel::<Pin<Box<dyn Future<Output = ()> + Send>>>(1);
    let first: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(deep(2).instrument("moved"));
    let mut future = first;
    for _ in 0..4 {
        let once = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await;
        if once {
            return;
        }
        let sender = sender.clone();
        let moved = future;
        spawn(async move { sender.send(moved).await.ok() });
        future = receiver.recv().await.unwrap();
    }
}

#[test]
fn cancellations_panics_and_moves_do_no_harm() {
    // The panics are planned, so they need no message.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (collector, runtime) = runtime(2);
    let done = collector.block_on(&runtime, async {
        let mut done = 0;
        for round in 0..ROUNDS {
            let cancelled = spawn(is_cancelled(Duration::from_micros(u64::from(round % 7) * 300)));
            let dropped = spawn(deep(round % 6));
            let moved = spawn(moves());
            let panicked = spawn(panics(1 + round % 3));
            if round % 2 == 0 {
                dropped.abort();
            }
            assert!(panicked.await.unwrap_err().is_panic());
            moved.await.unwrap();
            cancelled.await.unwrap();
            let _ = dropped.await;
            if round % 50 == 0 {
                // Other tasks are being polled at this time.
                assert!(!tokio_statemap::current().unwrap().trees().is_empty());
            }
            done += 1;
        }
        done
    });
    std::panic::set_hook(hook);
    assert_eq!(done, ROUNDS);
    let timeline = collector.snapshot();
    assert!(timeline.tasks.len() > 4 * ROUNDS as usize);
    drop(runtime);
    // These wakers belong to tasks that ended long ago.
    let kept = std::mem::take(&mut *KEPT.lock().unwrap());
    assert!(kept.len() > ROUNDS as usize);
    kept.iter().for_each(Waker::wake_by_ref);
    kept.into_iter().for_each(Waker::wake);
    assert_eq!(collector.trees().len(), 0, "all have ended");
}

/// A future can't keep the context's waker by reference, but it can lend it to other threads during a poll.
#[test]
fn other_threads_may_clone_the_waker_during_a_poll() {
    let (collector, runtime) = runtime(2);
    collector.block_on(&runtime, async {
        let task = spawn(poll_fn(|cx| {
            let waker = cx.waker();
            let clones = std::thread::scope(|scope| {
                let clone = || (0..100).map(|_| waker.clone()).collect::<Vec<_>>();
                let threads = [scope.spawn(clone), scope.spawn(clone)];
                threads.map(|thread| thread.join().unwrap().len())
            });
            assert_eq!(clones, [100, 100]);
            Poll::Ready(())
        }));
        task.await.unwrap();
    });
}

#[test]
fn a_panic_within_a_root_leaves_the_thread_as_it_was() {
    for _ in 0..3 {
        let (collector, runtime) = runtime(0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            collector.block_on(&runtime, async {
                yield_now().instrument("root").await;
                std::panic::resume_unwind(Box::new(()));
            });
        }));
        assert!(panicked.is_err());
        let waited = collector.block_on(&runtime, async {
            let task = spawn(sleep(Duration::from_millis(5)).instrument("after"));
            task.await.is_ok()
        });
        assert!(waited);
        let profile = collector.profile();
        let after = profile.functions.iter().find(|function| function.name == "after").unwrap();
        assert_eq!((after.calls, after.completed), (1, 1));
    }
}

/// Only the number of a stack's frames bounds the number of functions.
#[test]
fn deep_recursion_is_seen() {
    let (collector, runtime) = runtime(0);
    let key = collector.block_on(&runtime, async {
        let task = spawn(deep(40));
        let id = task.id().to_string();
        task.await.unwrap();
        id
    });
    let timeline = collector.snapshot();
    let task = timeline.tasks.iter().find(|task| task.key.to_string() == format!("task-{key}"));
    let waits = task.unwrap().polls.iter().filter_map(|poll| timeline.wait_after(poll));
    let deepest = waits.flat_map(|wait| wait.chains()).map(|chain| chain.len()).max();
    assert!(deepest >= Some(40), "{deepest:?}");
}
