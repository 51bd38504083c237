//! Tests of how long tasks waited for a lock behind a poll.

use std::time::Duration;

use crate::config::CollectorConfig;
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::event::SpawnLocation;
use crate::trace::timeline::{AwaitFrame, Poll, Task, TaskKey, Timeline, Wait, WaitId};
use crate::trace::woken_by::WokenBy;

const MS: u64 = 1_000_000;

fn lock() -> Wait {
    let function = |name: &str, line, origin| StackFrame {
        function: name.into(),
        file: Some("src/shop.rs".into()),
        line,
        origin,
    };
    let frame = |function, awaits| AwaitFrame { function, awaits, name: None, call: None };
    let inner = function("tokio::sync::mutex::Mutex<T>::lock", None, FrameOrigin::Runtime);
    let own = function("async shop::pay", Some(17), FrameOrigin::Program);
    Wait { frames: vec![frame(own, vec![frame(inner, Vec::new())])] }
}

fn task(id: u64, polls: Vec<Poll>) -> Task {
    let location = Some(SpawnLocation { file: "src/shop.rs", line: 5, column: 5 });
    Task { location, ..Task::planted(TaskKey::Spawned(id), 1, polls) }
}

/// Task 1 computes from 10 to 110 ms, and gives the lock back at 105 ms. Task 2 waits for it from 20 ms on; task 3 does so from 30 ms on,
/// and gets it from task 2 at 121 ms. Task 4 had waited until 50 ms for somebody else, and task 5 waits at the same line for another lock.
fn report(by: Option<WokenBy>) -> (String, &'static str) {
    let poll = |from, to| Poll::open(from * MS, 0, Some(0)).ended(to * MS);
    let waits = |from: u64, to| poll(from, to).waits_at(WaitId::new(1));
    let second = Poll::open(120 * MS, 1, Some(1)).ended(121 * MS).ready(Some(105 * MS)).by(by);
    let third_by = Some(WokenBy::Task(TaskKey::Spawned(2)));
    let third = Poll::open(122 * MS, 1, Some(1)).ended(123 * MS).ready(Some(121 * MS)).by(third_by);
    let fifth = poll(201, 202).ready(Some(200 * MS)).by(third_by);
    let fourth = poll(51, 52).ready(Some(50 * MS)).by(Some(WokenBy::Thread));
    let mut timeline =
        Timeline::from_events(&[], &CollectorConfig::default(), Duration::from_secs(1));
    (timeline.begin_ns, timeline.end_ns, timeline.events) = (0, 500 * MS, 100);
    (timeline.settings.task_hooks, timeline.settings.schedule_latency) = (true, true);
    timeline.places.waits = vec![lock()];
    timeline.tasks = vec![
        task(1, vec![poll(10, 110)]),
        task(2, vec![waits(19, 20), second]),
        task(3, vec![waits(29, 30), third]),
        task(4, vec![waits(6, 7), fourth]),
        task(5, vec![waits(8, 9), fifth]),
    ]
    .into();
    let report = timeline.report();
    let issue = report.issues().first().expect("a poll is long").explanation();
    (report.verdict.to_string(), issue.advice)
}

#[test]
fn tasks_that_wait_for_a_lock_are_delayed_by_the_poll_that_has_it() {
    // 85 ms of task 2, and 75 ms of task 3.
    let said = "160 ms for a lock that was held then, at src/shop.rs:17, Mutex::lock, in sum";
    let (by_holder, advice) = report(Some(WokenBy::Task(TaskKey::Spawned(1))));
    assert!(by_holder.contains(said), "{by_holder}");
    assert!(!by_holder.contains("timers and I/O"), "{by_holder}");
    assert!(advice.starts_with("Do it while no lock is held"), "{advice}");
    // Somebody else gave it back.
    for by in [None, Some(WokenBy::Thread), Some(WokenBy::Task(TaskKey::Spawned(3)))] {
        let (other, advice) = report(by);
        assert!(!other.contains("lock") && !advice.contains("no lock"), "{by:?}: {other}");
    }
}
