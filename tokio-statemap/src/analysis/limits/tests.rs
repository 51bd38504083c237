//! Tests that a run is over a limit if that is its own doing, and only then.

use std::time::Duration;

use super::*;
use crate::analysis::picture::tests::timeline as any_timeline;
use crate::analysis::picture::why_tests::explained;
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{NoStack, Poll, PollCause, Task, TaskKey};

const MS: u64 = 1_000_000;

/// Tasks on workers of their own, each with polls: ready, from, to, in ms.
fn timeline(tasks: &[&[(u64, u64, u64)]]) -> Timeline {
    let task = |(index, polls): (usize, &&[(u64, u64, u64)])| Task {
        key: TaskKey::Spawned(1 + index as u64),
        location: Some(SpawnLocation { file: "src/main.rs", line: 10 + index as u32, column: 5 }),
        name: None,
        parent: None,
        spawned_ns: None,
        first_ns: 0,
        first_state: TaskState::Waiting,
        terminated_ns: None,
        polls: polls
            .iter()
            .map(|&(ready, from, to)| {
                let poll = Poll::open(from * MS, index as u32, Some(index as u32));
                poll.ready(Some(ready * MS)).ended(to * MS)
            })
            .collect(),
        carried_wait: None,
        waits_since_ns: None,
        ready_ns: None,
    };
    let mut timeline = any_timeline(1, 1);
    timeline.tasks = tasks.iter().enumerate().map(task).collect();
    (timeline.begin_ns, timeline.recent_ns, timeline.end_ns) = (0, 0, 1_000 * MS);
    timeline.settings.long_poll = Duration::from_millis(1);
    timeline.long_polls.sampling.state = SamplingState::NotBuilt;
    timeline
}

fn take(timeline: &mut Timeline, task: usize, ms: u64) {
    let poll = &timeline.tasks.seen()[task].polls[0];
    let stolen_ns = ms * MS;
    let cause =
        PollCause { on_cpu_ns: poll.length_ns(0) - stolen_ns, stolen_ns, ..PollCause::default() };
    timeline.long_polls.causes = vec![(poll.key(), cause)];
}

fn polls(timeline: &mut Timeline, limit_ms: u64) -> Judgement {
    let max_poll = Some(Duration::from_millis(limit_ms));
    judge(timeline, &Limits { max_poll, ..Limits::default() })
}

fn ready(timeline: &mut Timeline, limit_ms: u64) -> Judgement {
    let max_ready = Some(Duration::from_millis(limit_ms));
    judge(timeline, &Limits { max_ready, ..Limits::default() })
}

#[test]
fn a_poll_is_over_the_limit_by_its_own_doing() {
    let mut timeline = timeline(&[&[(0, 0, 8)], &[(0, 20, 22)]]);
    let before = format!("{timeline:?}");
    assert!(polls(&mut timeline, 8).is_kept(), "so long it may be");
    let over = polls(&mut timeline, 7);
    assert_eq!((over.exceeded.len(), over.unknown.len()), (1, 0));
    let message = over.exceeded[0].to_string();
    assert!(message.starts_with("A poll may hold a worker for 7 ms at most. "), "{message}");
    assert!(message.contains("src/main.rs:10:5") && message.contains("8.00 ms"), "{message}");
    assert!(
        message.ends_with("The part of that time that the machine took isn't known."),
        "{message}"
    );
    // This is less than what was called long in the recording.
    assert!(!polls(&mut timeline, 1).is_kept());
    // The machine took 3 ms, which is measured to a twentieth.
    timeline.long_polls.sampling.state = SamplingState::On;
    // No poll is blamed without a sample if it could have had one.
    timeline.long_polls.sampling.dropped = 1;
    take(&mut timeline, 0, 3);
    assert!(polls(&mut timeline, 5).is_kept());
    assert!(!polls(&mut timeline, 4).is_kept());
    timeline.long_polls.causes = Vec::new();
    (timeline.long_polls.sampling.state, timeline.long_polls.sampling.dropped) =
        (SamplingState::NotBuilt, 0);
    assert_eq!(format!("{timeline:?}"), before, "it is left as it was");
}

#[test]
fn an_exhausted_pool_does_not_hide_a_long_poll() {
    let mut timeline = timeline(&[&[(0, 0, 8)]]);
    timeline.pool.exhausted = Some(Default::default());
    let message = polls(&mut timeline, 7).exceeded[0].to_string();
    assert!(message.contains("src/main.rs:10:5"), "{message}");
    assert!(timeline.pool.exhausted.is_some());
}

#[test]
fn a_task_waits_for_the_program_where_a_worker_polls_others() {
    // A task is ready for 40 ms, during which another is polled for 30.
    let mut timeline = timeline(&[&[(0, 100, 130)], &[(95, 135, 136)]]);
    assert!(ready(&mut timeline, 30).is_kept());
    let over = ready(&mut timeline, 29);
    let message = over.exceeded[0].to_string();
    assert!(message.starts_with("A task may be ready for 29 ms at most. task-2 of "), "{message}");
    assert!(
        message.contains("src/main.rs:11:5 was ready for 40.0 ms before it was polled"),
        "{message}"
    );
    assert!(message.contains("30.0 ms of that is the program's doing"), "{message}");
    assert!(
        message.contains("a poll of 30.0 ms held a worker: task-1 of src/main.rs:10:5"),
        "{message}"
    );
    // The machine took 20 ms of that poll.
    take(&mut timeline, 0, 20);
    assert!(ready(&mut timeline, 10).is_kept());
    assert!(!ready(&mut timeline, 9).is_kept());
}

#[test]
fn two_workers_do_not_count_twice() {
    let mut timeline = timeline(&[&[(0, 100, 130)], &[(0, 110, 140)], &[(100, 150, 151)]]);
    assert!(ready(&mut timeline, 40).is_kept());
    assert!(!ready(&mut timeline, 39).is_kept());
    // No task is polled: the machine doesn't wake a worker up.
    let mut alone = super::tests::timeline(&[&[(0, 900, 901)]]);
    assert!(ready(&mut alone, 1).is_kept());
}

#[test]
fn what_cannot_be_known_is_said() {
    let mut timeline = timeline(&[&[(0, 0, 8)]]);
    timeline.settings.schedule_latency = false;
    assert_eq!(ready(&mut timeline, 1_000).unknown, [Unknown::ReadyTimes]);
    assert!(polls(&mut timeline, 1_000).is_kept(), "that is known");
    timeline.lacking.tasks = true;
    assert_eq!(polls(&mut timeline, 1_000).unknown, [Unknown::TasksNotRead]);
    timeline.settings.task_hooks = false;
    let unknown = polls(&mut timeline, 1_000).unknown;
    assert_eq!(unknown, [Unknown::Tasks { task_hooks: false }]);
    assert!(unknown[0].to_string().contains("--cfg tokio_unstable"));
    (timeline.settings.task_hooks, timeline.lacking.tasks, timeline.events) = (true, false, 0);
    assert_eq!(polls(&mut timeline, 1_000).unknown, [Unknown::Nothing]);
}

/// The machine may have caused a poll without a sample, unless the poll is so long that it would have one.
#[test]
fn what_nobody_saw_does_not_pass() {
    let limit = Duration::from_millis(7);
    let not_seen = |always_seen_ns| vec![Unknown::PollsNotSeen { limit, polls: 1, always_seen_ns }];
    for (to, rare_looks, unknown) in [
        (8, 0, not_seen(20_000_000)),
        (28, 0, vec![]),
        (28, 1, not_seen(80_000_000)),
        (88, 1, vec![]),
    ] {
        let mut timeline = timeline(&[&[(0, 0, to)]]);
        timeline.long_polls.sampling.state = SamplingState::On;
        timeline.long_polls.sampling.no_stacks.add(NoStack::RareLooks, rare_looks);
        let judgement = polls(&mut timeline, 7);
        assert_eq!((judgement.exceeded.len(), judgement.unknown), (0, unknown), "{to} ms");
        assert!(polls(&mut timeline, to).is_kept());
    }
}

#[test]
fn what_was_refused_does_not_pass() {
    let mut timeline = timeline(&[&[(0, 0, 8)]]);
    timeline.lost.refused_events = 3;
    let unknown = polls(&mut timeline, 1_000).unknown;
    assert_eq!(unknown, [Unknown::Refused { events: 3 }]);
    assert!(unknown[0].to_string().starts_with("3 events were refused, "), "{}", unknown[0]);
    assert!(!polls(&mut timeline, 7).exceeded.is_empty());
}

#[test]
fn long_polls_are_of_the_file_that_is_to_blame() {
    let of = |timeline: &mut Timeline, pattern: &str| {
        let files = |path: &str, of: FileOf| {
            (path == pattern && of == FileOf::Program).then(|| pattern.to_owned())
        };
        let limits = Limits { no_long_polls_from: Some(&files), ..Limits::default() };
        judge(timeline, &limits)
    };
    let (mut timeline, _) = explained("shop::compute");
    let over = of(&mut timeline, "src/a.rs");
    let message = over.exceeded[0].to_string();
    assert!(
        message.starts_with("No long poll may be from `src/a.rs`. shop::compute at src/a.rs:21 "),
        "{message}"
    );
    assert!(of(&mut timeline, "src/b.rs").is_kept());
    // Without stacks, the line at which they were spawned counts.
    timeline.long_polls.samples.clear();
    assert!(of(&mut timeline, "src/a.rs").is_kept());
    let message = of(&mut timeline, "src/main.rs").exceeded[0].to_string();
    assert!(message.contains("A task of src/main.rs:"), "{message}");
}

#[cfg(has_requests)]
#[test]
fn spans_are_judged_by_any_of_their_names() {
    use crate::trace::requests::Request;
    let row = |fields: &str, longest_ms: u64| {
        let mut row = Request { name: "request".to_owned(), count: 3, ..Request::default() };
        row.fields = fields.to_owned();
        row.times.longest_ns = longest_ms * 1_000_000;
        row
    };
    let mut timeline = Timeline { events: 1, ..Timeline::empty() };
    timeline.settings.task_hooks = true;
    timeline.requests.rows = vec![row("GET /", 20), row("GET /orders", 50)];
    let mut found = |name: &str, limit_ms| {
        let max_spans = [(name.to_owned(), Duration::from_millis(limit_ms))];
        judge(&mut timeline, &Limits { max_spans: &max_spans, ..Limits::default() })
    };
    for (name, limit_ms) in [("request", 50), ("GET /", 20), ("request GET /orders", 50)] {
        assert!(found(name, limit_ms).is_kept(), "{name}");
    }
    let exceeded = found("request", 19).exceeded;
    let [Exceeded::Span { request, others: 1, .. }] = &exceeded[..] else {
        panic!("{exceeded:?}");
    };
    assert_eq!(request.fields, "GET /orders");
    let text = "A span request GET /orders may be open for 19 ms at most. The longest of 3 spans was open \
                for 50.0 ms. There is one other kind of such spans.";
    assert_eq!(exceeded[0].to_string(), text);
    let unknown = found("GET", 99).unknown;
    assert_eq!(unknown, [Unknown::NoSpan { name: "GET".to_owned() }]);
}
