//! Tasks of `LocalSet`s that Tokio's own functions spawned: they are told by their wakers alone.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tests::runtime::{builder, recorded};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::{Notify, oneshot};
use tokio::task::{AbortHandle, JoinHandle, LocalSet, block_in_place, spawn_local, yield_now};
use tokio_statemap::WokenBy;
use tokio_statemap::timeline::{LocalTask, TaskKey};
use tokio_statemap::{Collector, CollectorConfig, Timeline};

use super::runtimes::runtime;

fn id<T>(task: &JoinHandle<T>) -> u64 {
    task.id().to_string().parse().unwrap()
}

fn ids(timeline: &Timeline) -> Vec<u64> {
    timeline.local_tasks.iter().map(|task| task.id).collect()
}

fn local(timeline: &Timeline, id: u64) -> &LocalTask {
    let found = timeline.local_tasks.iter().find(|task| task.id == id);
    found.unwrap_or_else(|| panic!("{id} in {:?}", timeline.local_tasks))
}

fn root(timeline: &Timeline) -> TaskKey {
    timeline.tasks.iter().map(|task| task.key).find(|key| matches!(key, TaskKey::Root(_))).unwrap()
}

/// Runs a program in a `LocalSet` that the root future drives. Returns the rest once the set is dropped.
fn driven(program: impl AsyncFnOnce(&Collector)) -> (Arc<Collector>, Runtime) {
    let (collector, runtime) = runtime(0);
    let set = LocalSet::new();
    collector.block_on(&runtime, set.run_until(program(&collector)));
    drop(set);
    (collector, runtime)
}

/// Lets all tasks of the set get to where they wait.
async fn settle() {
    for _ in 0..40 {
        yield_now().await;
    }
}

async fn waits(on: Rc<Notify>) {
    on.notified().await;
}

#[test]
fn they_are_shown_while_they_wait() {
    let is_dropped = Rc::new(Cell::new(false));
    struct Drops(Rc<Cell<bool>>);
    impl Drop for Drops {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let drops = Drops(Rc::clone(&is_dropped));
    let (collector, _runtime) = driven(async |collector| {
        let notify = Rc::new(Notify::new());
        let notified = Rc::clone(&notify);
        let first = spawn_local(async move {
            let _drops = drops;
            waits(notified).await;
        });
        let other = spawn_local(waits(Rc::default()));
        settle().await;
        let timeline = collector.snapshot();
        assert_eq!(ids(&timeline), [id(&first), id(&other)]);
        for task in &timeline.local_tasks {
            assert_eq!((task.polled_in, task.location), (root(&timeline), None));
            assert!((timeline.begin_ns..=timeline.end_ns).contains(&task.waits_since_ns));
        }
        let text = tokio_statemap::trees::Folded(&timeline.trees()).to_string();
        assert!(text.contains("locals::waits at ") && text.contains("polled in main"), "{text}");
        notify.notify_one();
        settle().await;
        assert!(first.is_finished() && is_dropped.get(), "its future is gone");
        assert_eq!(ids(&collector.snapshot()), [id(&other)]);
        other.abort();
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
        spawn_local(waits(Rc::default()));
        settle().await;
        assert_eq!(ids(&collector.snapshot()).len(), 1);
    });
    assert_eq!(ids(&collector.snapshot()), [0_u64; 0], "they were dropped with their set");
}

/// Waits until the snapshot is as expected, and returns it.
fn until(collector: &Collector, is_as_expected: impl Fn(&Timeline) -> bool) -> Timeline {
    for _ in 0..3000 {
        let timeline = collector.snapshot();
        if is_as_expected(&timeline) {
            return timeline;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{:?}", collector.snapshot().local_tasks);
}

#[test]
fn the_place_of_the_one_that_polls_them_is_its_own() {
    let (collector, runtime) = runtime(0);
    let (end, ended) = oneshot::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let collector = &collector;
        scope.spawn(move || {
            let local_id: u64 = told.recv().unwrap();
            let timeline = until(collector, |timeline| {
                let waits = || timeline.wait_at_end(&timeline.tasks[0]).is_some();
                ids(timeline) == [local_id] && waits()
            });
            let text = tokio_statemap::trees::Folded(&timeline.trees()).to_string();
            let (main, local) = text.split_once(&format!("task-{local_id}")).unwrap();
            assert!(main.contains("Receiver") && !main.contains("locals::waits"), "{text}");
            assert!(local.contains("locals::waits") && !local.contains("Receiver"), "{text}");
            let report = timeline.report().to_string();
            assert!(report.contains(&format!("task-{local_id} in main")), "{report}");
            end.send(()).unwrap();
        });
        let set = LocalSet::new();
        collector.block_on(
            &runtime,
            set.run_until(async move {
                tell.send(id(&spawn_local(waits(Rc::default())))).unwrap();
                ended.await.unwrap();
            }),
        );
    });
}

#[test]
fn who_woke_them_is_known() {
    driven(async |collector| {
        let (by_thread, first) = oneshot::channel::<()>();
        let (by_task, second) = oneshot::channel::<()>();
        let (by_local, third) = oneshot::channel::<()>();
        let task = spawn_local(async {
            first.await.unwrap();
            second.await.unwrap();
            third.await.unwrap();
            tokio::time::sleep(Duration::from_millis(1)).await;
            waits(Rc::default()).await;
        });
        let woken_by = || {
            let timeline = collector.snapshot();
            (local(&timeline, id(&task)).woken_by, root(&timeline))
        };
        settle().await;
        std::thread::spawn(|| by_thread.send(()).unwrap()).join().unwrap();
        settle().await;
        assert_eq!(woken_by().0, Some(WokenBy::Thread));
        let other = tokio::spawn(async { by_task.send(()).unwrap() });
        let other_id = id(&other);
        other.await.unwrap();
        settle().await;
        assert_eq!(woken_by().0, Some(WokenBy::Task(TaskKey::Spawned(other_id))));
        spawn_local(async { by_local.send(()).unwrap() }).await.unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (by, root) = woken_by();
        // Whatever a task of the set does counts as done by the one that polls it.
        assert!(by == Some(WokenBy::Runtime) || by == Some(WokenBy::Task(root)), "{by:?}");
    });
}

#[test]
fn a_clone_of_the_waker_of_another_task_says_nothing() {
    driven(async |collector| {
        let waker = Rc::new(Cell::new(None));
        let keeps = Rc::clone(&waker);
        let keeper = spawn_local(poll_fn(move |cx| {
            keeps.set(Some(cx.waker().clone()));
            Poll::<()>::Pending
        }));
        let clones = spawn_local(async move {
            settle().await;
            let kept = waker.take().unwrap();
            let clone = kept.clone();
            waits(Rc::default()).await;
            drop((kept, clone));
        });
        let before = collector.snapshot();
        settle().await;
        settle().await;
        let timeline = collector.snapshot();
        assert_eq!(ids(&before).len(), 0);
        assert_eq!(ids(&timeline), [id(&keeper), id(&clones)]);
        let trees: Vec<_> = timeline.trees().iter().map(ToString::to_string).collect();
        let tree =
            |id: u64| trees.iter().find(|tree| tree.starts_with(&format!("task-{id} "))).unwrap();
        assert!(!tree(id(&keeper)).contains("locals::waits"), "{trees:?}");
        assert!(tree(id(&clones)).contains("locals::waits"), "{trees:?}");
    });
}

#[test]
fn those_of_a_spawned_task_and_of_a_nested_set_are_under_it() {
    let (collector, runtime) = runtime(2);
    let (end, ended) = oneshot::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let host = runtime.spawn(async move {
        block_in_place(|| {
            let set = LocalSet::new();
            Handle::current().block_on(set.run_until(async {
                let outer = spawn_local(async {
                    let inner = LocalSet::new();
                    let waits = inner.spawn_local(waits(Rc::default()));
                    let id = id(&waits);
                    inner.run_until(async { (id, waits.await) }).await
                });
                tell.send(id(&outer)).unwrap();
                ended.await.unwrap();
            }));
        });
    });
    let outer: u64 = told.recv().unwrap();
    let timeline = until(&collector, |timeline| ids(timeline).len() == 2);
    assert!(ids(&timeline).contains(&outer));
    for task in &timeline.local_tasks {
        assert_eq!(task.polled_in, TaskKey::Spawned(id(&host)));
    }
    end.send(()).unwrap();
    runtime.block_on(host).unwrap();
    assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
}

#[test]
fn tasks_of_a_runtime_within_a_poll_are_none() {
    let (collector, runtime) = runtime(2);
    let (end, ended) = oneshot::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let host = runtime.spawn(async move {
        block_in_place(|| {
            let other = builder(0).enable_all().build().unwrap();
            other.block_on(async {
                tokio::spawn(async {
                    let notify = Notify::new();
                    notify.notified().await;
                });
                settle().await;
                tell.send(()).unwrap();
                ended.await.unwrap();
            });
        });
    });
    told.recv().unwrap();
    assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
    end.send(()).unwrap();
    runtime.block_on(host).unwrap();
}

#[test]
fn those_that_ended_or_went_on_are_not_shown() {
    let kept = Rc::new(Cell::new(None));
    let keeps = Rc::clone(&kept);
    let (collector, _runtime) = driven(async |collector| {
        let aborted = spawn_local(waits(Rc::default()));
        let handle = aborted.abort_handle();
        // It clones its waker once, and waits for that a second time.
        let goes_on = spawn_local(poll_fn(move |cx| {
            let waker = keeps.take().unwrap_or_else(|| cx.waker().clone());
            keeps.set(Some(waker));
            Poll::<()>::Pending
        }));
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [id(&aborted), id(&goes_on)]);
        let waker = kept.take().unwrap();
        kept.set(Some(waker.clone()));
        waker.wake();
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [id(&aborted)]);
        handle.abort();
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
        drop(spawn_local(waits(Rc::default())));
        settle().await;
        assert_eq!(collector.snapshot().local_tasks.len(), 1);
    });
    assert_eq!(ids(&collector.snapshot()), [0_u64; 0], "the set is dropped with its tasks");
    drop(kept.take());
}

/// Whatever keeps a task's memory or its wakers, a task that has ended doesn't wait.
#[test]
fn those_that_ended_beside_handles_and_wakers_are_not_shown() {
    let wakers = Rc::new(RefCell::new(Vec::new()));
    let mut handles = Vec::new();
    let (collector, runtime) = driven(async |collector| {
        let wakes_itself = |cx: &mut Context<'_>| cx.waker().wake_by_ref();
        for how in 0..4 {
            let (keeps, mut polls) = (Rc::clone(&wakers), 0);
            let task = spawn_local(poll_fn(move |cx| {
                polls += 1;
                keeps.borrow_mut().push(cx.waker().clone());
                match (how, polls) {
                    // It clones its waker in the poll in which it ends.
                    (0, 1) | (1, 2) => Poll::Ready(()),
                    (1, 1) => {
                        wakes_itself(cx);
                        Poll::Pending
                    }
                    _ => Poll::Pending,
                }
            }));
            handles.push(task.abort_handle());
            if how == 3 {
                task.abort();
            }
        }
        settle().await;
        let left = tokio::task::spawn_local(waits(Rc::default()));
        settle().await;
        let shown = ids(&collector.snapshot());
        let waits: u64 = handles[2].id().to_string().parse().unwrap();
        assert_eq!(shown, [waits, id(&left)]);
        handles[2].abort();
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [id(&left)]);
    });
    assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
    assert!(handles.iter().all(AbortHandle::is_finished));
    drop((wakers, handles));
    // Their memory is free, and other tasks may get it.
    let set = LocalSet::new();
    collector.block_on(
        &runtime,
        set.run_until(async {
            for _ in 0..100 {
                spawn_local(async {}).await.unwrap();
            }
            assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
        }),
    );
}

/// The program may write a number to the memory of a freed task that looks like the state of one that waits.
#[test]
fn the_memory_of_a_freed_task_is_not_believed() {
    driven(async |collector| {
        let (_sender, receiver) = oneshot::channel::<()>();
        let task = spawn_local(async move {
            let pad = [1_u8; 700];
            tokio::select! { biased; _ = receiver => {}, () = async {} => {} }
            std::hint::black_box(&pad);
        });
        let handle = task.abort_handle();
        task.await.unwrap();
        assert_eq!(ids(&collector.snapshot()), [0_u64; 0], "a handle is kept");
        drop(handle);
        let mut vectors = Vec::new();
        for state in [128, 4096] {
            for words in 16..400 {
                let mut vector = Vec::<u64>::with_capacity(words);
                vector.push(state);
                vectors.push(vector);
            }
            assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
        }
    });
}

/// A poll between two that clone their waker may clone none.
#[test]
fn the_last_wake_counts() {
    driven(async |collector| {
        let (by_thread, one) = oneshot::channel::<()>();
        let (by_task, other) = oneshot::channel::<()>();
        let task = spawn_local(async {
            let (one, other) = tokio::join!(one, other);
            one.and(other).unwrap();
            waits(Rc::default()).await;
        });
        settle().await;
        std::thread::spawn(|| by_thread.send(()).unwrap()).join().unwrap();
        settle().await;
        let other = tokio::spawn(async { by_task.send(()).unwrap() });
        let other_id = id(&other);
        other.await.unwrap();
        settle().await;
        let timeline = collector.snapshot();
        let by = local(&timeline, id(&task)).woken_by;
        assert_eq!(by, Some(WokenBy::Task(TaskKey::Spawned(other_id))));
    });
}

#[test]
fn what_was_seen_before_a_stop_is_not_taken_for_what_is_now() {
    driven(async |collector| {
        let notify = Rc::new(Notify::new());
        let notified = Rc::clone(&notify);
        let task = spawn_local(async move {
            waits(Rc::clone(&notified)).await;
            waits(Rc::clone(&notified)).await;
            waits(notified).await;
        });
        settle().await;
        collector.stop();
        notify.notify_one();
        settle().await;
        // It waited as recording stopped. If another test records, this task was seen to go on, too.
        let stopped = ids(&collector.snapshot());
        assert!(stopped.is_empty() || stopped == [id(&task)], "{stopped:?}");
        collector.start();
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
        notify.notify_one();
        settle().await;
        assert_eq!(ids(&collector.snapshot()), [id(&task)]);
    });
}

#[test]
fn without_wakers_none_are_known() {
    let config = CollectorConfig { wakes: false, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(0), config);
    let set = LocalSet::new();
    collector.block_on(
        &runtime,
        set.run_until(async {
            spawn_local(waits(Rc::default()));
            settle().await;
            assert_eq!(ids(&collector.snapshot()), [0_u64; 0]);
        }),
    );
}
