//! A wait that is over is no place, though the task cloned no other waker since.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tests::runtime::{builder, key, recorded};
use tokio::sync::{Mutex, Notify, mpsc};
use tokio::time::sleep;
use tokio_statemap::{CollectorConfig, Timeline};

use super::runtimes::settled;
use super::shadow::found;

/// Waits for the lock, and has it for a moment.
async fn handles(lock: &Mutex<()>) {
    let _guard = lock.lock().await;
}

/// Polls `next` until it is ready, and `requests` only once: that keeps its waker, as a socket does.
async fn connection(requests: Arc<Notify>, lock: Arc<Mutex<()>>) {
    let (mut requests, mut next) = (pin!(requests.notified()), pin!(handles(&lock)));
    poll_fn(|cx| Poll::Ready(requests.as_mut().poll(cx).is_pending())).await;
    next.as_mut().await;
    // It doesn't poll `requests` again, which still has its waker.
    pending::<()>().await;
}

#[test]
fn where_the_waker_was_used_up_nothing_waits() {
    for threads in [0, 2] {
        let (collector, runtime) = recorded(builder(threads), CollectorConfig::default());
        let (requests, lock) = (Arc::new(Notify::new()), Arc::new(Mutex::new(())));
        let held = lock.try_lock().unwrap();
        let task = runtime.spawn(connection(Arc::clone(&requests), Arc::clone(&lock)));
        let place = |timeline: &Timeline| {
            let seen = timeline.tasks.iter().find(|seen| seen.key == key(task.id()));
            seen.map_or_else(String::new, |seen| found(timeline, seen))
        };
        let timeline =
            settled(&collector, &runtime, |timeline| place(timeline).contains("handles:"));
        assert!(place(&timeline).contains("handles:"), "{}", place(&timeline));
        drop(held);
        let is_over = |place: &str| !place.contains("handles:");
        let timeline = settled(&collector, &runtime, |timeline| is_over(&place(timeline)));
        assert!(is_over(&place(&timeline)), "{}", place(&timeline));
        runtime.shutdown_background();
    }
}

/// Waits for a timer, and then for the lock, at one line.
#[rustfmt::skip]
async fn at_one_line(lock: Arc<Mutex<()>>) {
    sleep(Duration::from_millis(1)).await; drop(lock.lock().await);
}

#[test]
fn what_ended_in_the_poll_that_began_it_is_no_place() {
    for threads in [0, 2] {
        let (collector, runtime) = recorded(builder(threads), CollectorConfig::default());
        let lock = Arc::new(Mutex::new(()));
        let _held = lock.try_lock().unwrap();
        let task = runtime.spawn(at_one_line(Arc::clone(&lock)));
        let place = |timeline: &Timeline| {
            let seen = timeline.tasks.iter().find(|seen| seen.key == key(task.id()));
            seen.map_or_else(String::new, |seen| found(timeline, seen))
        };
        let waits_for_the_lock = |place: &str| place.contains("lock") && !place.contains("Sleep");
        let timeline =
            settled(&collector, &runtime, |timeline| waits_for_the_lock(&place(timeline)));
        assert!(waits_for_the_lock(&place(&timeline)), "{}", place(&timeline));
        runtime.shutdown_background();
    }
}

/// Works off what is queued, until it is stopped.
async fn worker(stop: Arc<Notify>, mut jobs: mpsc::Receiver<u64>) {
    loop {
        let job = tokio::select! {
            biased;
            () = stop.notified() => return,
            job = jobs.recv() => job.unwrap(),
        };
        work(job).await;
    }
}

/// The fourth job takes long.
async fn work(job: u64) {
    sleep(if job < 3 { Duration::from_millis(5) } else { Duration::from_secs(1000) }).await;
}

#[test]
fn a_loop_is_where_it_was_polled_last() {
    let (collector, runtime) = recorded(builder(1), CollectorConfig::default());
    let (send, jobs) = mpsc::channel(10);
    for job in 0..10 {
        send.try_send(job).unwrap();
    }
    let task = runtime.spawn(worker(Arc::new(Notify::new()), jobs));
    let place = |timeline: &Timeline| {
        let seen = timeline.tasks.iter().find(|seen| seen.key == key(task.id())).unwrap();
        (seen.polls.len(), found(timeline, seen))
    };
    let timeline = settled(&collector, &runtime, |timeline| place(timeline).0 >= 4);
    let (polls, found) = place(&timeline);
    assert!(polls >= 4 && found.contains("work:"), "{found} after {polls} polls");
    runtime.shutdown_background();
}
