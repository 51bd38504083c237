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
const LENGTH: Duration = Duration::from_millis(1700);

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

/// The faults, by the names in the marks.
const FAULTS: [(&str, Fault); 8] = [
    ("actor_asks_itself", programs::actor_asks_itself),
    ("channel_is_full", programs::channel_is_full),
    ("channels_in_a_circle", programs::channels_in_a_circle),
    ("consumer_is_stuck", programs::consumer_is_stuck),
    ("locks_in_both_orders", programs::locks_in_both_orders),
    ("permits_are_not_given_back", programs::permits_are_not_given_back),
    ("slow_writer", programs::slow_writer),
    ("upgrade_of_a_lock", programs::upgrade_of_a_lock),
];

#[test]
fn the_line_and_whoever_keeps_tasks_waiting_there_are_named() {
    alone(|| {
        std::thread::scope(|scope| {
            for (name, fault) in FAULTS {
                for shape in SHAPES {
                    scope.spawn(move || is_named(name, shape, &record(fault, shape)));
                }
            }
        });
    });
}

/// Checks what is said of the fault `name`.
fn is_named(name: &str, shape: u32, timeline: &Timeline) {
    let report = timeline.report();
    let said = report.verdict.to_string();
    for mark in ["WAITS", "HOLDS"] {
        let lines = marked(&format!("// {mark} {name}"));
        let has_none = mark == "HOLDS" && name == "locks_in_both_orders";
        assert!(
            has_none || lines.iter().any(|line| said.contains(line)),
            "{name}, shape {shape}, {mark} {lines:?}:\n{report}"
        );
    }
}

#[test]
fn nothing_is_said_of_healthy_programs() {
    alone(|| {
        let report = record(|_| Vec::new(), 0).report();
        assert!(report.issues().is_empty(), "{report}");
    });
}
