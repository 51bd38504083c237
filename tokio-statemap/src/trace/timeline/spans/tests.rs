//! Tests of the parts of spans: with random tasks and spans against a model that looks at each nanosecond, and of the
//! places where time went.

use std::time::Duration;

use super::parts::{SpanTimes, Splitter};
use crate::symbols::{FrameOrigin, StackFrame};
use crate::trace::event::SpawnLocation;
use crate::trace::profile::PerCall;
use crate::trace::requests::{PartState, Parts, Request, Requests};
use crate::trace::state::TaskState;
use crate::trace::timeline::{AwaitFrame, Poll, PollSample, Task, TaskKey, Timeline, Wait};
use crate::trace::wait_id::WaitId;
use crate::trace::woken_by::WokenBy;
use crate::util::random::Random;

const END_NS: u64 = 400;

fn task(id: u64, first_ns: u64, polls: Vec<Poll>) -> Task {
    let location = Some(SpawnLocation { file: "src/a.rs", line: 3, column: 9 });
    Task { location, spawned_ns: None, ..Task::planted(TaskKey::Spawned(id), first_ns, polls) }
}

fn timeline(tasks: Vec<Task>) -> Timeline {
    let mut timeline = Timeline { end_ns: END_NS, tasks: tasks.into(), ..Timeline::empty() };
    timeline.settings.schedule_latency = true;
    timeline.settings.long_poll = Duration::from_nanos(50);
    timeline
}

fn random_task(random: &mut Random, id: u64) -> Task {
    let mut at_ns = random.below(100);
    let first_ns = at_ns;
    let mut polls = Vec::new();
    for _ in 0..random.below(8) {
        let ready_ns = at_ns + random.below(30);
        let start_ns = ready_ns + random.below(30);
        let ready = (!random.once_in(4)).then_some(ready_ns);
        let poll = Poll::open(start_ns, 1, Some(random.below(2) as u32)).ready(ready);
        at_ns = start_ns + random.below(40);
        polls.push(poll.ended(at_ns));
    }
    let mut task = task(id, first_ns, polls);
    if random.once_in(3) {
        task.first_state = TaskState::Waiting;
    }
    if random.once_in(3) {
        task.terminated_ns = Some(at_ns + if random.once_in(2) { 0 } else { random.below(50) });
    }
    task
}

fn random_span(random: &mut Random) -> SpanTimes {
    let opened_ns = random.below(200);
    let (mut at_ns, mut last_ns) = (opened_ns, opened_ns);
    let mut stints = Vec::new();
    for _ in 0..random.below(6) {
        at_ns += random.below(40);
        let to_ns = at_ns + random.below(40);
        let key = (!random.once_in(5)).then(|| TaskKey::Spawned(random.below(4)));
        stints.push((at_ns, to_ns, key));
        last_ns = last_ns.max(to_ns);
    }
    let closed_ns = (last_ns + random.below(60)).min(END_NS);
    SpanTimes { opened_ns, closed_ns, stints, has_all: !random.once_in(4) }
}

/// Looks at each nanosecond.
fn model(timeline: &Timeline, span: &SpanTimes) -> Parts {
    let length_ns = span.closed_ns - span.opened_ns;
    let mut parts = Parts { spans: 1, length_ns, ..Parts::default() };
    for at_ns in span.opened_ns..span.closed_ns {
        let is_in = |&&(from, to, _): &&(u64, u64, Option<TaskKey>)| from <= at_ns && at_ns < to;
        if span.stints.iter().any(|stint| is_in(&stint)) {
            parts.running_ns += 1;
            continue;
        }
        let is_after_all = span.stints.iter().all(|stint| stint.0 <= at_ns);
        // Threads that poll no task don't count.
        let is_of_task = |stint: &&(u64, u64, Option<TaskKey>)| stint.2.is_some();
        let mut last = span.stints.first().filter(is_of_task).copied();
        for stint in span.stints.iter().filter(is_of_task).filter(|stint| stint.0 <= at_ns) {
            if last.is_none_or(|last| stint.1 > last.1) {
                last = Some(*stint);
            }
        }
        let key = last.and_then(|stint| stint.2);
        let task = timeline.tasks.iter().find(|task| Some(task.key) == key);
        let spans = task.into_iter().flat_map(|task| task.spans(END_NS));
        let state = spans.filter(|span| span.start_ns <= at_ns && at_ns < span.end_ns).last();
        match state.map(|span| span.state) {
            _ if is_after_all && !span.has_all => parts.unknown_ns += 1,
            Some(TaskState::Running) => parts.elsewhere_ns += 1,
            Some(TaskState::Ready | TaskState::Spawned) => parts.ready_ns += 1,
            Some(TaskState::Waiting) => parts.waiting_ns += 1,
            Some(TaskState::Completed) | None => parts.unknown_ns += 1,
        }
    }
    parts
}

#[test]
fn parts_are_those_of_a_model() {
    for seed in 1..=3_000_u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let tasks = (0..3).map(|id| random_task(&mut random, id)).collect();
        let timeline = timeline(tasks);
        let span = random_span(&mut random);
        let (parts, _) = Splitter::new(&timeline).split(&span);
        assert_eq!(parts, model(&timeline, &span), "seed {seed}: {span:?} {:?}", *timeline.tasks);
    }
}

/// A task spawns a blocking task that enters its span, and waits for it.
#[test]
fn a_task_keeps_the_state_while_another_thread_is_in_its_span() {
    let polls = vec![
        Poll::open(20, 1, Some(0)).ended(30),
        Poll::open(100, 1, Some(0)).ready(Some(80)).ended(110),
    ];
    let timeline = timeline(vec![task(1, 10, polls)]);
    let stints = vec![(20, 30, Some(TaskKey::Spawned(1))), (40, 60, None)];
    let span = SpanTimes { opened_ns: 20, closed_ns: 100, stints, has_all: true };
    assert_eq!(span.last_task(), Some(TaskKey::Spawned(1)));
    let (parts, _) = Splitter::new(&timeline).split(&span);
    let Parts { running_ns, ready_ns, waiting_ns, unknown_ns, .. } = parts;
    assert_eq!((running_ns, ready_ns, waiting_ns, unknown_ns), (30, 20, 30, 0));
}

#[test]
fn without_ready_times_a_ready_task_waits() {
    let polls = vec![
        Poll::open(20, 1, Some(0)).ended(30),
        Poll::open(100, 1, Some(0)).ready(Some(60)).ended(110),
    ];
    let mut timeline = timeline(vec![task(1, 10, polls)]);
    timeline.settings.schedule_latency = false;
    let stints = vec![(22, 30, Some(TaskKey::Spawned(1)))];
    let span = SpanTimes { opened_ns: 12, closed_ns: 105, stints, has_all: true };
    let (parts, _) = Splitter::new(&timeline).split(&span);
    let Parts { running_ns, ready_ns, waiting_ns, elsewhere_ns, .. } = parts;
    assert_eq!((running_ns, ready_ns, waiting_ns, elsewhere_ns), (8, 8, 70, 2 + 5));
}

fn frame(function: &str, line: u32) -> StackFrame {
    let (function, file) = (function.into(), Some("src/a.rs".into()));
    StackFrame { function, file, line: Some(line), origin: FrameOrigin::Program }
}

#[test]
fn time_is_attributed_to_the_line_that_waits_and_the_function_that_is_polled() {
    let wait = WaitId::new(1);
    let span_task = vec![
        Poll::open(20, 1, Some(0)).ended(30).waits_at(wait),
        // It becomes ready while worker 1 is in a long poll.
        Poll::open(220, 2, Some(1)).ready(Some(60)).ended(300),
    ];
    let blocking = vec![Poll::open(50, 2, Some(1)).ended(210)];
    let unseen = vec![Poll::open(0, 3, Some(2)).ended(60)];
    let tasks = [span_task, blocking, unseen];
    let tasks = (1..).zip(tasks).map(|(id, polls)| task(id, 10, polls)).collect();
    let mut timeline = timeline(tasks);
    let waits_in = AwaitFrame {
        function: frame("async shop::load", 7),
        awaits: Vec::new(),
        name: None,
        call: None,
    };
    timeline.places.waits = vec![Wait { frames: vec![waits_in] }];
    let sample = |thread, poll_start_ns, at_ns, function, line| PollSample {
        thread,
        poll_start_ns,
        at_ns,
        blocked_in: (line == 9).then(|| "read".to_owned()),
        frames: vec![frame(function, line)],
        is_complete: true,
    };
    timeline.long_polls.samples = vec![
        sample(2, 50, 90, "shop::read", 9),
        sample(2, 50, 150, "shop::hash", 8),
        sample(2, 220, 260, "shop::render", 4),
    ];
    let stints = [(22, 30), (225, 250)].map(|(from, to)| (from, to, Some(TaskKey::Spawned(1))));
    let span = SpanTimes { opened_ns: 22, closed_ns: 250, stints: stints.into(), has_all: true };
    let mut splitter = Splitter::new(&timeline);
    let (parts, sums) = splitter.split(&span);
    let all = (parts.running_ns, parts.ready_ns, parts.waiting_ns, parts.elsewhere_ns);
    assert_eq!(all, (8 + 25, 160, 30, 5));
    let texts = splitter.places.texts();
    let found: Vec<_> =
        sums.longest(9).into_iter().map(|(state, place, ns)| (state, texts[place], ns)).collect();
    let expected = [
        // The last sample also stands for the rest of its poll.
        (PartState::Ready, "shop::hash at src/a.rs", 60 + 60),
        (PartState::Ready, "shop::read at src/a.rs:9", 30),
        (PartState::Waiting, "async shop::load at src/a.rs:7", 30),
        (PartState::Running, "shop::render at src/a.rs", 25),
    ];
    assert_eq!(found, expected);
    assert!(texts.contains(&"a task spawned at src/a.rs:3:9"), "{texts:?}");
}

#[test]
fn a_task_that_is_woken_after_a_silence_was_late() {
    let ms = 1_000_000;
    let woken = |by| {
        let polls = vec![
            Poll::open(2 * ms, 1, Some(0)).ended(3 * ms),
            Poll::open(21 * ms, 1, Some(0)).ready(Some(20 * ms + 5)).by(Some(by)).ended(22 * ms),
        ];
        let blocking = vec![Poll::open(ms, 2, Some(1)).ended(20 * ms)];
        let other = vec![Poll::open(7 * ms, 3, Some(2)).ended(8 * ms)];
        let tasks = [polls, blocking, other];
        let tasks = (1..).zip(tasks).map(|(id, polls)| task(id, 10, polls)).collect();
        let mut timeline = timeline(tasks);
        timeline.settings.long_poll = Duration::from_millis(10);
        timeline.end_ns = 30 * ms;
        let stints = vec![(2 * ms, 3 * ms, Some(TaskKey::Spawned(1)))];
        let span = SpanTimes { opened_ns: 2 * ms, closed_ns: 21 * ms, stints, has_all: true };
        let mut splitter = Splitter::new(&timeline);
        let (parts, sums) = splitter.split(&span);
        assert_eq!(parts.waiting_ns, 17 * ms + 5);
        sums.longest(9)
    };
    // The other task's poll shows that the runtime still works then.
    assert_eq!(woken(WokenBy::Runtime), [(PartState::Late, 0, 12 * ms)]);
    assert_eq!(woken(WokenBy::Thread), []);
}

#[test]
fn a_request_has_several_names() {
    let request = Request {
        name: "request".to_owned(),
        fields: "GET /orders".to_owned(),
        times: PerCall::default(),
        ..Request::default()
    };
    for name in ["request", "GET /orders", "request GET /orders"] {
        assert!(request.is_named(name), "{name}");
    }
    assert!(!request.is_named("GET") && !request.is_named("/orders"));
    let requests = Requests { rows: vec![request], ..Requests::default() };
    assert!(!requests.is_empty() && Requests::default().is_empty());
}
