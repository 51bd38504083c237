//! A blocking pool that is exhausted is named, with the line that spawns; a healthy one isn't mentioned.
#![cfg(tokio_unstable)]

use std::thread::sleep;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::task::{JoinSet, spawn_blocking};
use tokio_statemap::report::{Report, Verdict};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings};
use tokio_statemap::{CollectorConfig, Timeline, register_hooks};

/// What is recorded of `program` in a runtime with so many threads for blocking tasks, beside a task that
/// works every ms.
fn recorded<F>(threads: usize, long_poll: Duration, program: F) -> Timeline
where
    F: Future<Output = ()>,
{
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).max_blocking_threads(threads).enable_all();
    let config = CollectorConfig { long_poll, ..CollectorConfig::default() };
    let collector = register_hooks(&mut builder, config).unwrap();
    collector.start();
    let runtime = builder.build().unwrap();
    collector.block_on(&runtime, async {
        let beside = tokio::spawn(async {
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        program.await;
        collector.stop();
        beside.abort();
    });
    let timeline = collector.snapshot();
    println!("{}\n", timeline.report());
    timeline
}

/// The text in one line: the report breaks its own.
fn text(report: &Report) -> String {
    report.to_string().replace('\n', " ")
}

#[test]
fn an_exhausted_pool_is_the_verdict_with_the_line_that_spawns() {
    let line = line!() + 4;
    let timeline = recorded(2, Duration::from_millis(1), async {
        let mut tasks = JoinSet::new();
        for _ in 0..50 {
            tasks.spawn_blocking(|| sleep(Duration::from_millis(20)));
        }
        while tasks.join_next().await.is_some() {}
    });
    let report = timeline.report();
    let pool = report.exhausted_pool.expect("it is exhausted");
    let location = pool.location.expect("it is recorded");
    assert_eq!((location.file, location.line), (file!(), line), "{report}");
    assert_eq!((pool.threads, pool.other_locations), (2, 0), "{report}");
    // The first ones end when the others wait; 50 of 20 ms take two threads 500 ms.
    assert!((40..=50).contains(&pool.most_waiting), "{pool:?}");
    assert!((40..=50).contains(&pool.tasks), "{pool:?}");
    assert!(pool.ran_ns >= pool.tasks * 20_000_000, "{pool:?}");
    assert!(pool.longest_ns >= 400_000_000 && pool.waited_ns >= 5_000_000_000, "{pool:?}");
    let said = "The blocking pool was exhausted: up to ";
    assert!(text(&report).contains(said), "{report}");
    let named = format!("spawned at {}:{line}:{}.", file!(), location.column);
    assert!(text(&report).contains(&named), "{report}");
    // Unless the machine was so busy that a worker was held, too.
    if report.culprits.is_empty() {
        assert!(matches!(report.verdict, Verdict::ExhaustedPool { .. }), "{report}");
        assert!(text(&report).starts_with(said), "{report}");
    }
}

#[test]
fn a_pool_where_nothing_ends_is_seen_while_workers_work() {
    if !cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        return; // workers have no readings
    }
    let timeline = recorded(2, Duration::from_millis(1), async {
        let stuck: Vec<_> =
            (0..20).map(|_| spawn_blocking(|| sleep(Duration::from_millis(600)))).collect();
        tokio::time::sleep(Duration::from_millis(400)).await;
        stuck.iter().for_each(|task| task.abort());
    });
    let report = timeline.report();
    let pool = report.exhausted_pool.expect("it is exhausted");
    assert_eq!((pool.threads, pool.tasks), (2, 0), "{report}");
    // On a busy machine it takes the two threads a while to start.
    assert!((18..=20).contains(&pool.most_waiting), "{report}");
    assert!(text(&report).contains("None of the tasks that had them was seen to end."), "{report}");
}

#[test]
fn a_pool_with_a_thread_for_each_is_not_mentioned() {
    for _ in 0..5 {
        let timeline = recorded(512, Duration::from_millis(1), async {
            for _ in 0..10 {
                let mut tasks = JoinSet::new();
                for _ in 0..50 {
                    tasks.spawn_blocking(|| sleep(Duration::from_millis(5)));
                }
                while tasks.join_next().await.is_some() {}
            }
        });
        let report = timeline.report();
        assert_eq!(report.exhausted_pool, None, "{report}");
        assert!(!text(&report).contains("blocking pool was exhausted"), "{report}");
    }
}

#[test]
fn files_the_page_and_the_svg_say_the_same() {
    let timeline = recorded(2, Duration::from_millis(1), async {
        tests::load::wait_for_workers();
        let tasks: Vec<_> =
            (0..40).map(|_| spawn_blocking(|| sleep(Duration::from_millis(20)))).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    let said = timeline.report().verdict.to_string();
    let data = timeline.to_data();
    let files = [
        read(&data.tasks_to_bytes().unwrap()[..]).unwrap(),
        read(&data.workers_to_bytes().unwrap()[..]).unwrap(),
    ];
    let recordings = recordings(&files);
    let [Recording::Run { timeline: again, .. }] = &recordings[..] else { panic!("one run") };
    assert_eq!(again.exhausted_pool, timeline.exhausted_pool);
    assert_eq!(again.report().verdict.to_string(), said);
    let (mut page, mut svg) = (Vec::new(), Vec::new());
    timeline.write_html(&mut page).unwrap();
    timeline.write_svg(&mut svg).unwrap();
    let mut of_files = Vec::new();
    again.write_html(&mut of_files).unwrap();
    let queue = tests::page::check(&page).unwrap().meta["queue"].clone();
    assert_eq!(tests::page::check(&of_files).unwrap().meta["queue"], queue);
    let lengths = queue.as_array().unwrap().iter().map(|change| change[1].as_u64().unwrap());
    let lengths: Vec<_> = lengths.collect();
    assert!((30..=40).contains(lengths.iter().max().unwrap()), "{lengths:?}");
    assert!(lengths.len() > 10 && lengths.last() == Some(&0), "it is drained: {lengths:?}");
    for bytes in [page, svg] {
        let written = String::from_utf8(bytes).unwrap();
        assert!(written.contains(&said[..40]), "{said}");
    }
}
