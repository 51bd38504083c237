//! The report says what tasks had waited for, and what woke them, where that explains what held workers.

use super::seen::asleep;
use super::*;
use crate::trace::timeline::{
    AwaitFrame, CpuStack, FrameOrigin, Sampled, StackFrame, Wait, WaitId,
};
use crate::trace::woken_by::WokenBy;

fn function(name: &str, line: u32, origin: FrameOrigin) -> StackFrame {
    let (function, file) = (name.into(), Some("src/jobs.rs".into()));
    StackFrame { function, file, line: Some(line), origin }
}

/// Returns the wait in a handler of the program that a library calls, and which awaits a timer.
fn wait() -> Wait {
    let mut inner: Vec<AwaitFrame> = Vec::new();
    for (name, line, origin) in [
        ("tokio::time::Sleep", 1, FrameOrigin::Runtime),
        ("async shop::fetch", 13, FrameOrigin::Program),
        ("async shop::orders", 22, FrameOrigin::Program),
        ("async web::serve", 9, FrameOrigin::Dependency),
    ] {
        let function = function(name, line, origin);
        inner = vec![AwaitFrame { function, awaits: inner, name: None, call: None }];
    }
    Wait { frames: inner }
}

/// Returns the place where a future of the program wakes its task.
fn own_wake() -> Wait {
    let function = function("<shop::Credit as Future>::poll", 30, FrameOrigin::Program);
    Wait { frames: vec![AwaitFrame { function, awaits: Vec::new(), name: None, call: None }] }
}

/// Returns a timeline of one task that waited there, and then had a poll of 200 ms in `blamed`.
fn handled(blamed: &str) -> Timeline {
    let mut timeline = timeline(300);
    timeline.long_polls.sampling.state = SamplingState::On;
    timeline.places.waits = vec![wait()];
    let long = poll(100 * MS, 200 * MS, 0, 0);
    timeline.long_polls.samples = vec![asleep(&long, blamed)];
    let polls = vec![poll(MS, US, 0, 0).waits_at(WaitId::new(1)), long];
    let late = poll(300 * MS, US, 1, 190 * MS);
    *timeline.tasks =
        vec![task(1, at("src/web.rs", 3, 5), polls), task(2, at("src/x.rs", 1, 1), vec![late])];
    timeline
}

#[test]
fn a_function_that_a_library_calls_has_the_place_where_the_task_waited_before() {
    let said = "The tasks had last waited in async shop::fetch at src/jobs.rs:13, called from async shop::orders at \
                src/jobs.rs:22.";
    let text = verdict(&handled("shop::Order::serialize"));
    assert!(text.contains(said), "{text}");
    // One that is async itself is where the task is.
    let text = verdict(&handled("async shop::orders"));
    assert!(!text.contains("last waited"), "{text}");
}

#[test]
fn tasks_that_wake_themselves_are_said_to_do_so() {
    let text = |woken_by: Option<WokenBy>, place: u16| {
        let mut timeline = timeline(990);
        timeline.places.waits = vec![own_wake(), wait()];
        let polls = |worker| {
            let polls = (0..9000).map(move |i| poll(i * 100 * US, 10 * US, worker, 0));
            polls.map(|poll| poll.by(woken_by).waits_at(WaitId::new(place))).collect()
        };
        *timeline.tasks = vec![
            task(1, at("src/main.rs", 60, 5), polls(0)),
            task(2, at("src/main.rs", 70, 5), vec![poll(990 * MS, US, 1, 0)]),
        ];
        verdict(&timeline)
    };
    let itself = text(Some(WokenBy::Task(TaskKey::Spawned(1))), 1);
    let said = "1 task spawned at src/main.rs:60:5 woke itself again and again at src/jobs.rs:30.";
    assert!(itself.contains(said), "{itself}");
    // It may receive from a channel to which it sends.
    let other = text(Some(WokenBy::Task(TaskKey::Spawned(1))), 2);
    assert!(!other.contains("again and again"), "{other}");
    for other in [None, Some(WokenBy::Runtime), Some(WokenBy::Task(TaskKey::Spawned(2)))] {
        let other = text(other, 2);
        assert!(!other.contains("again and again"), "{other}");
        assert!(other.contains("Most of these polls ended at src/jobs.rs:13, Sleep."), "{other}");
    }
}

/// In a program that isn't optimised, a poll that does nothing but wake its task takes longer.
#[test]
fn a_function_hides_no_tasks_that_wake_themselves_unless_most_is_computed_in_it() {
    let text = |in_function_ns: u64, length_ns: u64| {
        let mut timeline = timeline(990);
        timeline.places.waits = vec![own_wake(), wait()];
        let task_on = |worker: u32| {
            let itself = Some(WokenBy::Task(TaskKey::Spawned(worker.into())));
            let polls = (0..980 * MS).step_by(length_ns as usize + 1000);
            let polls =
                polls.map(|at| poll(at, length_ns, worker, 0).by(itself).waits_at(WaitId::new(1)));
            task(worker.into(), at("src/main.rs", 60, 5), polls.collect())
        };
        *timeline.tasks = vec![task_on(0), task_on(1)];
        let sampled = |cpu_ns| Sampled { samples: cpu_ns / (10 * MS), cpu_ns };
        let frames = vec![function("shop::score", 8, FrameOrigin::Program)];
        timeline.cpu.stacks = vec![CpuStack { frames, sampled: sampled(in_function_ns) }];
        timeline.cpu.others = sampled(2000 * MS - in_function_ns);
        verdict(&timeline)
    };
    let (woke, computed) =
        ("woke themselves again and again at src/jobs.rs:30.", "was in shop::score");
    let little = text(800 * MS, 19 * US);
    assert!(little.contains(woke) && !little.contains(computed), "{little}");
    let most = text(1200 * MS, 19 * US);
    assert!(most.contains(&format!("60.0 % of what polls computed {computed}")), "{most}");
    // Polls that compute for longer may well wake their own task to let others run.
    let long = text(800 * MS, 50 * US);
    assert!(!long.contains("again and again") && long.contains(computed), "{long}");
}
