//! Without `--cfg tokio_unstable` Tokio has no task hooks. The workers and `main` are still recorded, every output says
//! "workers only", and one line says what to do about it.
//!
//! `.ci/run` builds and runs these tests without the flag.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tests::check::check;
use tests::runtime::builder;
use tokio::runtime::Builder;
use tokio::task::{JoinSet, block_in_place, spawn_blocking, yield_now};
use tokio_statemap::report::Verdict;
use tokio_statemap::{
    CollectorConfig, Error, Hooks, Timeline, TraceTarget, WorkerState, register_hooks,
    register_hooks_with,
};

#[test]
fn recording_tasks_is_refused_and_leaves_the_builder_as_it_was() {
    for trace_target in [TraceTarget::Both, TraceTarget::Tasks] {
        for mut builder in [builder(0), builder(2)] {
            let unparks = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&unparks);
            builder.enable_all().on_thread_unpark(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            });
            let config = CollectorConfig { trace_target, ..CollectorConfig::default() };
            let error = register_hooks(&mut builder, config).unwrap_err();
            assert!(matches!(error, Error::UnstableFeaturesRequired), "{error:?}");
            for part in
                ["RUSTFLAGS=\"--cfg tokio_unstable\"", ".cargo/config.toml", "TraceTarget::Workers"]
            {
                assert!(error.to_string().contains(part), "{part} is not in: {error}");
            }
            let runtime = builder.build().unwrap();
            runtime.block_on(async {
                tokio::spawn(tokio::time::sleep(Duration::from_millis(2))).await.unwrap();
            });
            drop(runtime);
            assert!(unparks.load(Ordering::Relaxed) > 0, "the hook set before is still there");
        }
    }
}

/// Makes workers park in several ways.
async fn program(multi_thread: bool) {
    let mut set = JoinSet::new();
    for i in 0..100_u64 {
        set.spawn(async move {
            for _ in 0..5 {
                tokio::time::sleep(Duration::from_millis(i % 5)).await;
                yield_now().await;
            }
            match i % 10 {
                0 if multi_thread => {
                    block_in_place(|| std::thread::sleep(Duration::from_millis(3)));
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                1 => spawn_blocking(|| ()).await.unwrap(),
                _ => {}
            }
        });
    }
    while set.join_next().await.is_some() {}
}

/// Records `program`. Also returns the parks of each worker, as hooks of the test count them.
fn record(mut builder: Builder, multi_thread: bool) -> (Timeline, BTreeMap<u32, u64>) {
    let parks: Arc<Mutex<BTreeMap<u32, u64>>> = Arc::default();
    let counted = Arc::clone(&parks);
    let hooks = Hooks::new().on_thread_park(move || {
        let worker = tokio::runtime::worker_index().expect("only workers park");
        *counted.lock().unwrap().entry(worker as u32).or_default() += 1;
    });
    let trace_target = TraceTarget::Workers;
    let config = CollectorConfig { trace_target, ..CollectorConfig::default() };
    let collector = register_hooks_with(builder.enable_all(), config, hooks).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, program(multi_thread));
    drop(runtime);
    collector.stop();
    assert_eq!(collector.lost().total(), 0);
    let parks = parks.lock().unwrap().clone();
    (collector.snapshot(), parks)
}

#[test]
fn workers_and_parks() {
    let runs = [
        (1, record(builder(0), false)),
        (1, record(builder(1), true)),
        (2, record(builder(2), true)),
        (4, record(builder(4), true)),
    ];
    for (workers, (timeline, parks)) in runs {
        let found: BTreeMap<_, _> =
            timeline.workers.iter().map(|worker| (worker.index, worker.parks)).collect();
        assert_eq!(found, parks, "{workers} workers");
        assert_eq!(found.len(), workers);
        assert!(!timeline.pool.threads.is_empty());
        assert!(timeline.tasks.is_empty());
        assert!(!timeline.settings.task_hooks);
        for worker in &timeline.workers {
            assert!(worker.transitions.is_sorted_by_key(|&(time, _)| time), "{worker:?}");
            let states = worker.transitions.windows(2);
            assert!(states.clone().all(|pair| pair[0].1 != pair[1].1), "{worker:?}");
            let parked = worker.transitions.iter().filter(|t| t.1 == WorkerState::Parked);
            assert_eq!(parked.count() as u64, worker.parks, "{worker:?}");
        }
        assert_marked(&timeline);
    }
}

/// Asserts that the report and the data say that there are only workers.
fn assert_marked(timeline: &Timeline) {
    let report = timeline.report();
    assert!(matches!(report.verdict, Verdict::TasksUnknown { task_hooks: false, .. }));
    let text = report.to_string();
    assert!(text.contains("Workers only: "), "{text}");
    let data = timeline.clone().to_data();
    let workers = check(&data.workers_to_bytes().unwrap()).unwrap();
    assert!(workers.title.contains("(workers only)"), "{}", workers.title);
    assert_eq!(workers.entities.len(), timeline.workers.len());
    let tasks = check(&data.tasks_to_bytes().unwrap()).unwrap();
    assert!(tasks.title.contains("(workers only)"), "{}", tasks.title);
    assert!(tasks.entities.is_empty());
}

/// The attribute writes what was recorded, and prints one line about what is missing and why.
#[cfg(unix)]
#[test]
fn the_attribute_writes_the_workers_and_says_what_is_missing() {
    use tests::child::{Running, command, folder};
    for (program, name) in
        [(env!("CARGO_BIN_EXE_single"), "single"), (env!("CARGO_BIN_EXE_unit"), "unit")]
    {
        let folder = folder(env!("CARGO_TARGET_TMPDIR"), &format!("no_flag_{name}"));
        let ended = Running::start(command(program, &folder).arg("returns")).end();
        assert!(ended.status.success(), "{ended:?}");
        let lines: Vec<_> = ended.stderr.lines().collect();
        let [line] = lines[..] else { panic!("one line: {}", ended.stderr) };
        // If the variable is set, cargo ignores the file.
        let parts = match option_env!("RUSTFLAGS") {
            Some(_) => ["add --cfg tokio_unstable to RUSTFLAGS", "replaces the flags in"],
            None => ["\"--cfg\", \"tokio_unstable\"", "`[target.…]`"],
        };
        for part in parts.into_iter().chain(["workers only", ".cargo/config.toml"]) {
            assert!(line.contains(part), "{part} is not in: {line}");
        }
        let read = |name| std::fs::read(folder.join(name)).unwrap();
        let tasks = check(&read("tasks.json")).unwrap();
        assert_eq!(tasks.entities.keys().collect::<Vec<_>>(), ["main"]);
        assert!(tasks.entries("main", "running") > 0);
        assert_eq!(tasks.states_of("main").last(), Some(&"completed"));
        assert!(tasks.title.contains("(workers only)"), "{}", tasks.title);
        let workers = check(&read("workers.json")).unwrap();
        assert!(workers.entities.contains_key("worker-0"));
        assert!(workers.title.contains("(workers only)"), "{}", workers.title);
        let page = tests::page::check(&read("statemap.html")).unwrap();
        assert_eq!(page.notes()[0], "Workers only: task hooks need --cfg tokio_unstable.");
        assert_eq!((page.rows("tasks"), &page.meta["tasksKnown"]), (1, &false.into()));
        let svg = read("statemap.svg");
        tests::page::check_svg(&svg).unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.to_lowercase().contains("workers only"), "{svg}");
        let report = String::from_utf8(read("report.txt")).unwrap();
        assert!(report.contains("Workers only: task hooks need --cfg tokio_unstable."), "{report}");
    }
}
