//! Programs with a planted fault: the first sentences of the report name the line at which tasks wait, and the one at which whoever
//! keeps them waiting is.
//!
//! Each fault is tried in all shapes: as it is, boxed, with a timeout, in a branch of `select!`, and joined.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod programs;

use std::time::Duration;

use programs::{Fault, SHAPES};
use tests::alone::alone;
use tests::runtime::{builder, recorded};
use tokio_statemap::{CollectorConfig, Timeline};

/// Longer than tasks wait until something counts as stuck.
const LENGTH: Duration = Duration::from_millis(2000);

/// Returns the lines of the source of the programs that have this mark.
fn marked(mark: &str) -> Vec<String> {
    let source = include_str!("faults/programs.rs").lines().enumerate();
    let at = |(nth, line): (usize, &str)| {
        line.ends_with(mark).then(|| format!("faults/programs.rs:{}", nth + 1))
    };
    source.filter_map(at).collect()
}

/// Records a fault, beside tasks that are healthy.
fn record(fault: Fault, shape: u32) -> Timeline {
    let config = CollectorConfig { max_events: 100_000, ..CollectorConfig::default() };
    let (collector, runtime) = recorded(builder(2), config);
    collector.block_on(&runtime, async {
        tests::load::wait_for_workers();
        let kept = programs::healthy();
        let of_fault = fault(shape);
        tokio::time::sleep(LENGTH).await;
        // Nothing ends before the snapshot.
        collector.stop();
        drop((kept, of_fault));
    });
    collector.snapshot()
}

/// The faults, by the names in the marks. The words stand before the line of whoever keeps the tasks waiting.
const FAULTS: [(&str, Fault, &str); 9] = [
    ("actor_asks_itself", programs::actor_asks_itself, "ended most waits there"),
    ("channel_is_full", programs::channel_is_full, "those that took something out waited"),
    ("channels_in_a_circle", programs::channels_in_a_circle, "receives what is sent there"),
    ("consumer_is_stuck", programs::consumer_is_stuck, "receives what is sent there"),
    ("lock_over_send", programs::lock_over_send, "its holders waited"),
    ("locks_in_both_orders", programs::locks_in_both_orders, ""),
    (
        "permits_are_not_given_back",
        programs::permits_are_not_given_back,
        "woken none of these since",
    ),
    ("slow_writer", programs::slow_writer, "its holders waited"),
    ("upgrade_of_a_lock", programs::upgrade_of_a_lock, "has waited longest for such a lock"),
];

#[test]
fn the_line_and_whoever_keeps_tasks_waiting_there_are_named() {
    alone(|| {
        for some in FAULTS.chunks(2) {
            std::thread::scope(|scope| {
                for &(name, fault, words) in some {
                    for shape in SHAPES {
                        scope.spawn(move || is_named((name, words), shape, &record(fault, shape)));
                    }
                }
            });
        }
    });
}

/// Checks what is said of the fault `name`.
fn is_named((name, words): (&str, &str), shape: u32, timeline: &Timeline) {
    let report = timeline.report();
    let said = report.verdict.to_string();
    let has = |said: &str, line: &str| {
        said.split(line).skip(1).any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    };
    let is_said = |said: &str, mark: &str| {
        let lines = marked(&format!("// {mark} {name}"));
        lines.iter().any(|line| has(said, line))
    };
    let is_either = name == "channels_in_a_circle" && is_said(&said, "HOLDS");
    assert!(is_either || is_said(&said, "WAITS"), "{name}, shape {shape}:\n{report}");
    let Some((_, holder)) = said.split_once(words) else {
        // The writer and the first reader were polled at the same time, so it isn't known who began to wait first.
        let is_open = name == "upgrade_of_a_lock" && said.contains("It isn't known who holds it.");
        assert!(is_open && is_said(&said, "HOLDS"), "{name}, shape {shape}, {words}:\n{report}");
        return;
    };
    let is_named = match name {
        // Nobody is known to hold the locks.
        "locks_in_both_orders" => true,
        // Each holds the other up.
        "channels_in_a_circle" => is_said(holder, "HOLDS") || is_said(holder, "WAITS"),
        _ => is_said(holder, "HOLDS"),
    };
    assert!(is_named, "{name}, shape {shape}, {words}:\n{report}");
}

/// Faults by the names in the marks, for which somebody else must not be held responsible.
const INNOCENT: [(&str, Fault); 2] =
    [("idle_audit", programs::idle_audit), ("mutex_at_two_lines", programs::mutex_at_two_lines)];

#[test]
fn nobody_else_is_named() {
    alone(|| {
        for (name, fault) in INNOCENT {
            std::thread::scope(|scope| {
                for shape in SHAPES {
                    scope.spawn(move || {
                        let report = record(fault, shape).report();
                        assert!(!report.issues().is_empty(), "{name}, shape {shape}:\n{report}");
                        let said: Vec<_> =
                            report.issues().iter().map(ToString::to_string).collect();
                        let said = said.join("\n");

                        for line in marked(&format!("// INNOCENT {name}")) {
                            assert!(!said.contains(&line), "{name}, shape {shape}:\n{report}");
                        }
                    });
                }
            });
        }
    });
}

/// Programs in which nothing is wrong.
const HEALTHY: [Fault; 3] =
    [|_| Vec::new(), programs::slow_end_of_a_pipeline, programs::joined_calls_of_one_function];

#[test]
fn nothing_is_said_of_healthy_programs() {
    alone(|| {
        std::thread::scope(|scope| {
            for (nth, healthy) in HEALTHY.into_iter().enumerate() {
                for shape in [0, 3] {
                    scope.spawn(move || {
                        let report = record(healthy, shape).report();
                        let issues = report.issues();
                        assert!(issues.is_empty(), "{nth}, shape {shape}:\n{report}");
                    });
                }
            }
        });
    });
}
