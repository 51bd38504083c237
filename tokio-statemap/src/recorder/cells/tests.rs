//! Each task is found where it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::config::CollectorConfig;
use crate::recorder::{Recorder, TokioHooks};

/// Calls `run` with the tasks of a runtime whose hooks note them.
fn with_tasks(multi_thread: bool, run: impl FnOnce(&TaskCells, &tokio::runtime::Runtime)) {
    let mut builder = match multi_thread {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let recorder = Recorder::new(CollectorConfig::default());
    recorder.cells.start();
    let (spawned, terminated) = (TokioHooks::new(&recorder), TokioHooks::new(&recorder));
    builder.on_task_spawn(move |meta| spawned.task_spawn(meta));
    builder.on_task_terminate(move |meta| terminated.task_terminate(meta));
    let runtime = builder.build().unwrap();
    run(&recorder.cells, &runtime);
    runtime.shutdown_background();
}

/// Waits until so many tasks are known: one is joined shortly before its hook is called.
#[track_caller]
fn wait_for(cells: &TaskCells, runtime: &tokio::runtime::Runtime, tasks: usize) {
    let until = Instant::now() + Duration::from_secs(30);
    while lock(&cells.cells).len() != tasks {
        assert!(Instant::now() < until, "{}", lock(&cells.cells).len());
        runtime.block_on(tokio::task::yield_now());
    }
}

#[test]
fn each_live_task_is_known_and_no_other() {
    for multi_thread in [false, true] {
        with_tasks(multi_thread, |cells, runtime| {
            assert!(cells.layout().is_some());
            let may_end = Arc::new(AtomicBool::new(false));
            let spawn = |_| {
                let may_end = Arc::clone(&may_end);
                runtime.spawn(async move {
                    while !may_end.load(Ordering::Relaxed) {
                        tokio::task::yield_now().await;
                    }
                })
            };
            let tasks: Vec<_> = (0..200).map(spawn).collect();
            let spawner = runtime.spawn(async {
                let inner = tokio::spawn(std::future::pending::<()>());
                inner.await.unwrap();
            });
            wait_for(cells, runtime, 202);
            for task in &tasks {
                let id = crate::recorder::task_id::number(task.id());
                assert_eq!(lock(&cells.cells).get(&id).copied(), check::cell_of(task));
            }
            may_end.store(true, Ordering::Relaxed);
            runtime.block_on(async {
                for task in tasks {
                    task.await.unwrap();
                }
                spawner.abort();
                assert!(spawner.await.is_err());
            });
            // Its task is still there.
            wait_for(cells, runtime, 1);
        });
    }
}

#[test]
fn a_task_is_not_taken_for_another() {
    with_tasks(false, |cells, runtime| {
        let layout = cells.layout().unwrap();
        let task = runtime.spawn(std::future::pending::<()>());
        let cell = *lock(&cells.cells).values().next().unwrap();
        let id = crate::recorder::task_id::number(task.id());
        let argument = std::ptr::from_ref(&cell).addr() as u64;
        assert_eq!(layout.find(id, argument), Some(cell));
        assert_eq!(layout.find(id + 1_000_000, argument), None);
    });
}

/// Tokio makes a task on the stack before it moves it to the heap.
#[test]
fn what_is_left_of_a_task_on_the_stack_is_not_the_task() {
    #[derive(Clone, Copy)]
    #[repr(C, align(128))]
    struct Left([u8; 128]);

    with_tasks(false, |cells, runtime| {
        let layout = cells.layout().unwrap();
        let task = runtime.spawn(std::future::pending::<()>());
        let id = crate::recorder::task_id::number(task.id());
        let mut left = [Left([0; 128]); 200];
        let cell = check::cell_of(&task).unwrap();
        assert!(left.iter_mut().all(|left| Own.read(cell, &mut left.0)));
        let address = |left: &Left| std::ptr::from_ref(left).addr() as u64;
        assert!(left.iter().all(|left| layout.is_task(id, address(left))));
        // More than are tried, before the one that is right.
        let mut words = [0; 201];
        words.iter_mut().zip(&left).for_each(|(word, left)| *word = address(left));
        words[200] = cell;
        let words = std::hint::black_box(words);
        assert_eq!(layout.find(id, std::ptr::from_ref(&words).addr() as u64), Some(cell));
        std::hint::black_box(left);
    });
}
