//! Random programs with one fault among healthy tasks, all spawned by Tokio's own functions: the report begins with that fault, its
//! line, and whoever has what the others wait for.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod fault;
mod healthy;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tests::cases::cases;
use tests::files::read_again;
use tests::runtime::{builder, recorded};
use tokio_statemap::{CollectorConfig, Timeline};

use fault::{Fault, Kind};
use healthy::Healthy;

/// A program.
#[derive(Clone, Debug)]
struct Program {
    workers: usize,
    fault: Fault,
    healthy: Vec<Healthy>,
    /// The time after which the fault begins, and the time after which the report is taken.
    from_ms: u64,
    until_ms: u64,
}

fn program() -> impl Strategy<Value = Program> {
    let healthy = prop::collection::vec(healthy::any(), 0..6);
    (0..3_usize, fault::any(), healthy, 0..200_u64, 1800..2400_u64).prop_map(
        |(workers, fault, healthy, from_ms, until_ms)| Program {
            workers,
            fault,
            healthy,
            from_ms,
            until_ms,
        },
    )
}

fn run(program: &Program) -> Timeline {
    let (collector, runtime) = recorded(builder(program.workers), CollectorConfig::default());
    let timeline = collector.block_on(&runtime, async {
        program.healthy.iter().for_each(|healthy| healthy.start());
        tokio::time::sleep(Duration::from_millis(program.from_ms)).await;
        let _kept = program.fault.start();
        tokio::time::sleep(Duration::from_millis(program.until_ms)).await;
        collector.snapshot()
    });
    runtime.shutdown_background();
    timeline
}

/// Returns what is wrong with the verdict on the program.
fn check(program: &Program) -> Result<(), String> {
    let timeline = run(program);
    let report = timeline.report();
    let verdict = report.verdict.to_string();
    let Some(issue) = report.issues().first() else { return Err(verdict) };
    let kind = issue.explanation().name;
    if !program.fault.kind.names().contains(&kind) {
        return Err(format!("{kind}: {verdict}"));
    }
    for line in program.fault.kind.lines() {
        let place = format!("{}:{line}", fault::FILE);
        let is_there = verdict.match_indices(&place).any(|(at, _)| {
            !verdict[at + place.len()..].starts_with(|next: char| next.is_ascii_digit())
        });
        if !is_there {
            return Err(format!("no {place}: {verdict}"));
        }
    }
    // The data say the same.
    let again = read_again(&timeline).report().verdict.to_string();
    match again == verdict {
        true => Ok(()),
        false => Err(format!("{verdict} But in the data: {again}")),
    }
}

#[test]
fn the_report_begins_with_the_fault() {
    const AT_ONCE: usize = 10;
    // The same programs each time: a machine that is too busy must not choose others.
    let mut runner = TestRunner::deterministic();
    let programs: Vec<_> =
        (0..cases(300)).map(|_| program().new_tree(&mut runner).unwrap().current()).collect();
    let (left, told) = (Mutex::new(programs.into_iter()), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(program) = left.lock().unwrap().next() else { return };
                    let found = check(&program);
                    let mut told = told.lock().unwrap();
                    let of_kind: &mut (u32, Vec<_>) = told.entry(program.fault.kind).or_default();
                    of_kind.0 += 1;
                    of_kind.1.extend(found.err().map(|wrong| (program, wrong)));
                }
            });
        }
    });
    let told: BTreeMap<Kind, _> = told.into_inner().unwrap();
    let all: u32 = told.values().map(|(all, _)| all).sum();
    let wrong: Vec<_> = told.values().flat_map(|(_, wrong)| wrong).collect();
    for (kind, (all, wrong)) in &told {
        println!("{kind:?}: {} of {all} are told", *all as usize - wrong.len());
    }
    for (program, wrong) in &wrong {
        println!("{program:?}: {wrong}");
    }
    let most = (all / 20).max(2) as usize;
    assert!(wrong.len() <= most, "{} of {all} are not told", wrong.len());
}

/// Beside nothing but healthy tasks, no issue is found.
#[test]
fn healthy_tasks_are_not_blamed() {
    let (collector, runtime) = recorded(builder(2), CollectorConfig::default());
    let report = collector.block_on(&runtime, async {
        healthy::ALL.iter().for_each(|healthy| healthy.start());
        tokio::time::sleep(Duration::from_secs(3)).await;
        collector.snapshot().report()
    });
    runtime.shutdown_background();
    let kinds: Vec<_> = report.issues().iter().map(|issue| issue.explanation().name).collect();
    // A busy machine may make a poll long, or have none polled for a while.
    let is_by_machine = |kind: &&str| ["long polls", "starved"].contains(kind);
    assert!(kinds.iter().all(is_by_machine), "{report}");
}
