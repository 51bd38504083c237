//! A task waits where its own waker is cloned, whatever other wakers are cloned in its polls.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use tests::runtime::{builder, key, recorded};
use tokio::sync::Notify;
use tokio::task::{block_in_place, yield_now};
use tokio_statemap::{CollectorConfig, Timeline};

use super::runtimes::settled;
use super::shadow::found;

async fn waits() {
    Notify::new().notified().await;
}

/// Waits, and puts the waker there.
async fn puts(waker: Arc<Mutex<Option<Waker>>>) {
    poll_fn(|cx| {
        *waker.lock().unwrap() = Some(cx.waker().clone());
        Poll::<()>::Pending
    })
    .await
}

/// Clones that waker once it is there, before it waits itself.
async fn clones(waker: Arc<Mutex<Option<Waker>>>) {
    while waker.lock().unwrap().is_none() {
        yield_now().await;
    }
    let clone = waker.lock().unwrap().clone();
    waits().await;
    drop(clone);
}

/// Has another runtime, which isn't recorded, poll a task within its own poll.
async fn polls_another() {
    block_in_place(|| {
        let other = builder(0).build().unwrap();
        other.block_on(async {
            let task = tokio::spawn(waits());
            yield_now().await;
            task.abort();
        });
    });
    waits().await;
}

#[test]
fn the_wakers_of_others_say_nothing() {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let waker = Arc::new(Mutex::new(None));
    let guard = runtime.enter();
    let tasks = [
        tokio::spawn(clones(Arc::clone(&waker))),
        tokio::spawn(puts(waker)),
        tokio::spawn(polls_another()),
    ];
    drop(guard);
    let places = |timeline: &Timeline| {
        tasks.each_ref().map(|task| {
            let seen = timeline.tasks.iter().find(|seen| seen.key == key(task.id()));
            found(timeline, seen.unwrap())
        })
    };
    let names = ["clones:", "puts:", "polls_another:"];
    let is_as_expected = |places: &[String; 3]| {
        places.iter().zip(names).all(|(place, name)| place.starts_with(name))
            && places[0].contains("(waits:")
            && places[2].contains("(waits:")
    };
    let timeline = settled(&collector, &runtime, |timeline| is_as_expected(&places(timeline)));
    let places = places(&timeline);
    assert!(is_as_expected(&places), "{places:?}");
    runtime.shutdown_background();
}
