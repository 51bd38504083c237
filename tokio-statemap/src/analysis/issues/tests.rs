//! Tests of tasks that wait to the end, for something that is known.

use std::time::Duration;

use super::*;
use crate::config::CollectorConfig;
use crate::symbols::FrameOrigin;
use crate::trace::event::SpawnLocation;
use crate::trace::state::TaskState;
use crate::trace::timeline::{
    AwaitFrame, CarriedWait, Poll, StackFrame, Task, TaskKey, Wait, WaitId,
};
use crate::trace::woken_by::WokenBy;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
const END_NS: u64 = 10 * S;

fn at(file: &'static str, line: u32) -> SpawnLocation {
    SpawnLocation { file, line, column: 5 }
}

fn timeline(mut tasks: Vec<Task>) -> Timeline {
    tasks.sort_by_key(|task| task.key);
    let mut timeline =
        Timeline::from_events(&[], &CollectorConfig::default(), Duration::from_secs(1));
    (timeline.begin_ns, timeline.end_ns, timeline.events) = (0, END_NS, 100);
    (timeline.settings.task_hooks, timeline.settings.schedule_latency) = (true, true);
    timeline.tasks = tasks.into();
    timeline.places.waits = [
        "tokio::sync::mutex::Mutex<T>::lock",
        "tokio::time::sleep::Sleep",
        "tokio::runtime::task::join::JoinHandle<T>",
        "tokio::sync::mpsc::bounded::Receiver<T>::recv",
        "async tokio::net::tcp::listener::TcpListener::accept",
        "async tokio::sync::semaphore::Semaphore::acquire",
        "tokio::io::util::read::Read<R>",
    ]
    .map(waits_for)
    .to_vec();
    timeline.places.waits.push(past_the_line("tokio::io::util::read::Read<R>"));
    timeline.places.waits.push(past_the_line("tokio::sync::mutex::Mutex<T>::lock"));
    timeline.places.waits.push(waits_for("async tokio::sync::mpsc::bounded::Sender<T>::send"));
    timeline.places.waits.push(past_the_line("async tokio::sync::mpsc::bounded::Sender<T>::send"));
    timeline.places.waits.push(waits_for("tokio::sync::oneshot::Receiver<T>"));
    timeline.places.waits.push(past_the_line("tokio::sync::oneshot::Receiver<T>"));
    timeline.places.waits.push(waits_for("cache::Cache::get_with"));
    timeline.places.waits.push(within_the_line("cache::Cache::get_with"));
    timeline.places.waits.push(within_the_line("net::Server::accept"));
    let mut elsewhere = waits_for("tokio::sync::mutex::Mutex<T>::lock");
    elsewhere.frames[0].function.function = "async shop::refund".into();
    elsewhere.frames[0].function.line = Some(30);
    timeline.places.waits.push(elsewhere);
    timeline.places.waits.push(waits_for("tokio::task::join_set::JoinSet<T>::join_next"));
    for (caller, line, awaited) in [
        ("async shop::query", 41, waits_for("tokio::sync::semaphore::Semaphore::acquire")),
        ("async shop::store", 26, waits_for("tokio::sync::semaphore::Semaphore::acquire")),
        ("async shop::query", 41, without_name(17)),
        ("async shop::store", 26, without_name(21)),
        ("async shop::query", 41, without_name(21)),
    ] {
        timeline.places.waits.push(called_by(caller, line, awaited));
    }
    timeline
}

const LOCK: u16 = 1;
const SLEEP: u16 = 2;
const JOIN: u16 = 3;
const RECV: u16 = 4;
const ACCEPT: u16 = 5;
const PERMIT: u16 = 6;
const READ: u16 = 7;

/// Past the line at which others wait, in a function that `pay` calls there.
const PAST_IT: u16 = 8;
const LOCK_PAST_IT: u16 = 9;
const SEND: u16 = 10;
const SEND_ELSEWHERE: u16 = 11;
const ANSWER: u16 = 12;
const ANSWER_OF_ANOTHER: u16 = 13;
const FILL: u16 = 14;
const FILL_WITHIN: u16 = 15;
const SERVE_WITHIN: u16 = 16;
const LOCK_ELSEWHERE: u16 = 17;
const JOIN_NEXT: u16 = 18;
const PERMIT_OF_QUERY: u16 = 19;
const PERMIT_OF_STORE: u16 = 20;

/// A lock in a function without a name, which `query` called; further on in the file, in one that `store` called; and in one that
/// `query` called at the same line.
const LOCK_OF_QUERY: u16 = 21;
const LOCK_OF_STORE_BELOW: u16 = 22;
const LOCK_OF_QUERY_BELOW: u16 = 23;

fn called_by(caller: &str, line: u32, awaited: Wait) -> Wait {
    let mut wait = waits_for("");
    let outer = &mut wait.frames[0];
    (outer.function.function, outer.function.line) = (caller.into(), Some(line));
    outer.awaits = awaited.frames;
    wait
}

fn without_name(line: u32) -> Wait {
    let mut wait = waits_for("tokio::sync::mutex::Mutex<T>::lock");
    let function = &mut wait.frames[0].function;
    (function.function, function.line) = ("an async fn".into(), Some(line));
    wait
}

/// At that line, and in a function called there that waits, too.
fn within_the_line(name: &str) -> Wait {
    let mut wait = past_the_line(name);
    wait.frames[0].function.line = Some(17);
    wait.frames[0].awaits[0].awaits = waits_for(name).frames;
    wait
}

fn past_the_line(name: &str) -> Wait {
    let mut wait = waits_for(name);
    wait.frames[0].function.line = Some(21);
    let mut audit = waits_for(name).frames.remove(0);
    audit.function.function = "async shop::audit".into();
    audit.function.line = Some(5);
    wait.frames[0].awaits = vec![audit];
    wait
}

fn waits_for(name: &str) -> Wait {
    let function = |name: &str, line: Option<u32>, origin| StackFrame {
        function: name.into(),
        file: line.map(|_| "src/shop.rs".into()),
        line,
        origin,
    };
    let frame = |function, awaits| AwaitFrame { function, awaits, name: None, call: None };
    let leaf = frame(function(name, None, FrameOrigin::Runtime), Vec::new());
    let own = function("async shop::pay", Some(17), FrameOrigin::Program);
    Wait { frames: vec![frame(own, vec![leaf])] }
}

/// A task that was polled once and has waited since.
fn task(id: u64, location: SpawnLocation, wait: u16) -> Task {
    let poll = Poll::open(S + id * MS, 0, Some(0)).ended(S + id * MS + 1000);
    let polls = vec![poll.waits_at(WaitId::new(wait))];
    Task { location: Some(location), ..Task::planted(TaskKey::Spawned(id), S, polls) }
}

fn main(wait: u16) -> Task {
    Task { key: TaskKey::Root(0), ..task(0, at("src/main.rs", 1), wait) }
}

const NEVER_FINISHED: Option<&str> = Some("never finished");
const QUEUE: Option<&str> = Some("queue");

/// Returns the kind of the first issue, and the first words of the report.
fn said(tasks: Vec<Task>) -> (Option<&'static str>, String) {
    let report = timeline(tasks).report();
    let first = report.issues().first().map(|issue| issue.explanation().name);
    (first, report.verdict.to_string())
}

#[test]
fn who_waits_for_a_lock_or_for_nothing_should_have_finished() {
    let place = at("src/shop.rs", 7);
    let (kind, text) = said(vec![main(SLEEP), task(1, place, LOCK), task(2, place, LOCK)]);
    assert_eq!(kind, NEVER_FINISHED);
    assert_eq!(
        text,
        "2 tasks spawned at src/shop.rs:7:5 never finished: they waited up to 9.00 s at src/shop.rs:17, \
         Mutex::lock. Another task must release what they waited for."
    );
    let (kind, text) = said(vec![main(SLEEP), task(1, place, 16_383), task(2, place, SLEEP)]);
    assert_eq!(kind, NEVER_FINISHED);
    assert!(text.starts_with("1 task spawned at src/shop.rs:7:5 never finished: it waited 9.00 s"));
    assert!(text.ends_with("nothing will wake it."), "{text}");
    // It had waited for a timer before.
    let mut waited = task(1, place, SLEEP);
    waited
        .polls
        .push(Poll::open(1100 * MS, 0, Some(0)).ended(1101 * MS).waits_at(WaitId::new(16_383)));
    let (_, text) = said(vec![main(SLEEP), waited]);
    let before =
        "will wake it. Before that, task-1 had waited in async shop::pay at src/shop.rs:17, Sleep.";
    assert!(text.ends_with(before), "{text}");
}

#[test]
fn who_went_on_past_a_lock_may_hold_it() {
    let place = at("src/shop.rs", 7);
    let queue = || vec![main(SLEEP), task(1, place, LOCK), task(2, place, LOCK)];
    let (_, text) = said([queue(), vec![task(9, place, PAST_IT)]].concat());
    assert!(
        text.contains(
            "task-9 may hold what is awaited at src/shop.rs:17: it is further on in the same function, and waits at \
             src/shop.rs:21 > src/shop.rs:5."
        ),
        "{text}"
    );
    // Many of the tasks that went on have released it.
    let (_, text) =
        said([queue(), vec![task(8, place, PAST_IT), task(9, place, PAST_IT)]].concat());
    assert!(text.ends_with("Another task must release what they waited for."), "{text}");
    // Each of these waits for a second lock, and most likely holds the first.
    let both = vec![task(8, place, LOCK_PAST_IT), task(9, place, LOCK_PAST_IT)];
    let (_, text) = said([queue(), both].concat());
    assert!(
        text.contains(
            "task-8 and 1 other may hold what is awaited at src/shop.rs:17: they are further on in the same \
             function, and wait for a lock themselves, at src/shop.rs:21 > src/shop.rs:5."
        ),
        "{text}"
    );
    // An async block is named like the function around it.
    let block = at("src/shop.rs", 19);
    for other in [task(9, block, PAST_IT), main(PAST_IT)] {
        let tasks = vec![task(1, place, LOCK), task(2, place, LOCK), other];
        assert!(!said(tasks).1.contains("may hold"));
    }
    // A short wait is no reason to suspect a task.
    let mut short = task(9, place, PAST_IT);
    short.polls = vec![Poll::open(9 * S + 900 * MS, 0, Some(0)).ended(9 * S + 901 * MS)];
    short.polls[0] = short.polls[0].waits_at(WaitId::new(PAST_IT));
    let (_, text) = said([queue(), vec![short]].concat());
    assert!(text.ends_with("Another task must release what they waited for."), "{text}");
}

#[test]
fn a_permit_that_is_not_given_back_leaves_tasks_that_have_ended() {
    let place = at("src/shop.rs", 7);
    let waiting =
        || vec![main(SLEEP), task(1, place, PERMIT), task(2, place, PERMIT), task(6, place, READ)];
    let ended = |id| {
        let mut task = task(id, place, 0);
        task.terminated_ns = task.polls[0].end_ns();
        task
    };
    let all = |ids: &[u64]| {
        let mut tasks = waiting();
        tasks.pop();
        tasks.extend(ids.iter().map(|&id| ended(id)));
        tasks
    };
    // Another task waits for something outside, so that the queue may be intended.
    let outside = task(5, at("src/shop.rs", 9), READ);
    let (kind, text) = said([all(&[3, 4]), vec![outside.clone()]].concat());
    assert_eq!(kind, QUEUE, "{text}");
    let told = "2 other tasks spawned at src/shop.rs:7:5 have ended, and none is further on. So what is awaited was not given back";
    assert!(text.contains(told), "{text}");
    let (_, text) = said([all(&[3]), vec![outside.clone()]].concat());
    assert!(text.contains("Another task spawned at src/shop.rs:7:5 has ended, and none"), "{text}");
    for tasks in [all(&[]), [waiting(), vec![ended(3)]].concat()] {
        let (kind, text) = said([tasks, vec![outside.clone()]].concat());
        assert_eq!(kind, QUEUE, "{text}");
        assert!(!text.contains("given back"), "one that is alive may have it: {text}");
    }
}

#[test]
fn a_poll_that_goes_on_may_hold_the_lock_for_which_others_wait() {
    let place = at("src/shop.rs", 7);
    let queue = || vec![main(SLEEP), task(2, place, LOCK), task(3, place, LOCK)];
    let runs_since = |start_ns| Task {
        polls: vec![Poll::open(start_ns, 0, Some(0))],
        ..task(1, at("src/burns.rs", 9), 0)
    };
    let (kind, text) = said([queue(), vec![runs_since(S)]].concat());
    assert!(kind == Some("long polls") || kind == Some("stall"), "{text}");
    assert!(text.contains("src/burns.rs:9:5"), "{text}");
    let (kind, text) = said([queue(), vec![runs_since(9 * S)]].concat());
    assert_eq!(kind, NEVER_FINISHED, "it can't have it for so long: {text}");
    let holder = task(9, place, PAST_IT);
    let (kind, text) = said([queue(), vec![runs_since(S), holder]].concat());
    assert_eq!(kind, NEVER_FINISHED, "another one is known to have it: {text}");
}

#[test]
fn a_short_long_poll_is_no_reason_why_a_lock_is_never_released() {
    let place = at("src/shop.rs", 7);
    let mut queue: Vec<_> = (3..7).map(|id| task(id, place, LOCK)).collect();
    queue.extend([task(2, place, LOCK_ELSEWHERE), main(SLEEP)]);
    let (kind, text) = said(queue.clone());
    assert_eq!(kind, QUEUE, "{text}");
    assert!(text.contains("has waited longest for such a lock, at src/shop.rs:30"), "{text}");

    let mut long = task(9, at("src/beside.rs", 9), SLEEP);
    long.polls.push(Poll::open(3 * S, 0, Some(0)).ended(3 * S + 3 * MS).waits_at(WaitId::new(2)));
    queue.push(long);
    let (kind, text) = said(queue);
    assert_eq!(kind, QUEUE, "{text}");
}

#[test]
fn of_two_that_were_polled_at_once_none_is_said_to_have_waited_longest() {
    let place = at("src/shop.rs", 7);
    let mut first = task(3, place, LOCK);
    first.polls =
        vec![Poll::open(S + MS, 0, Some(1)).ended(S + 9 * MS).waits_at(WaitId::new(LOCK))];
    let (kind, text) =
        said(vec![main(SLEEP), task(2, place, LOCK_ELSEWHERE), first, task(10, place, LOCK)]);
    assert_eq!(kind, QUEUE, "{text}");
    assert!(text.contains("src/shop.rs:30"), "{text}");
    assert!(!text.contains("waited longest for such a lock"), "{text}");
}

/// A task that waited until 8 s, gave up, and ended.
fn gave_up(id: u64, wait: u16) -> Task {
    let mut task = task(id, at("src/shop.rs", 7), wait);
    let last = Poll::open(8 * S, 0, Some(0)).ready(Some(8 * S)).by(Some(WokenBy::Runtime));
    task.polls.push(last.ended(8 * S + 1000));
    Task { terminated_ns: Some(8 * S + 1000), ..task }
}

#[test]
fn who_waited_past_a_line_during_its_longest_wait_may_have_held_what_is_awaited_there() {
    let queue = || vec![main(SLEEP), gave_up(1, PERMIT), gave_up(2, PERMIT)];
    let (kind, text) = said([queue(), vec![gave_up(9, PAST_IT)]].concat());
    assert_eq!(kind, QUEUE, "{text}");
    let held = "During the longest wait that no task ended, task-9 may have held what was awaited at src/shop.rs:17: it was further on in the same \
                function, and waited at src/shop.rs:21 > src/shop.rs:5.";
    assert!(text.contains(held), "{text}");
    let several = [gave_up(8, LOCK_PAST_IT), gave_up(9, LOCK_PAST_IT)];
    let (_, text) = said([queue(), several.to_vec()].concat());
    let held = "task-8 and 1 other may have held what was awaited at src/shop.rs:17: they were further on in the same function, \
                and waited for a lock themselves, at src/shop.rs:21 > src/shop.rs:5.";
    assert!(text.contains(held), "{text}");
    // Another one gave it back.
    let mut ended_by_task = queue();
    for task in &mut ended_by_task[1..] {
        task.polls[1] = task.polls[1].by(Some(WokenBy::Task(TaskKey::Spawned(8))));
    }
    let (_, text) = said([ended_by_task, vec![gave_up(9, PAST_IT)]].concat());
    assert!(!text.contains("may have held"), "{text}");
    // It waited for a small part of that time.
    let mut short = gave_up(9, PAST_IT);
    short.polls[0] = Poll::open(6 * S, 0, Some(0)).ended(6 * S + 1).waits_at(WaitId::new(PAST_IT));
    let (_, text) = said([queue(), vec![short]].concat());
    assert!(!text.contains("may have held"), "{text}");
}

#[test]
fn who_waits_past_a_lock_may_hold_it() {
    let (pays, queues) = (at("src/shop.rs", 7), at("src/shop.rs", 8));
    let queue = || vec![task(8, queues, LOCK), task(9, queues, LOCK)];
    let both = || vec![main(SLEEP), task(1, pays, LOCK_PAST_IT), task(2, pays, LOCK_PAST_IT)];
    let (_, text) = said([both(), queue()].concat());
    assert!(text.starts_with("2 tasks spawned at src/shop.rs:7:5 never finished"), "{text}");
    let passed = "Tasks that wait at src/shop.rs:5 have passed src/shop.rs:17, where 2 tasks wait, and may hold what these \
                  wait for. If the former wait for each other, this is a deadlock.";
    assert!(text.ends_with(passed), "{text}");
    // Most tasks that pass a lock have released it, as those that wait for something else did.
    let (_, text) = said([both(), vec![task(3, pays, PAST_IT)], queue()].concat());
    assert!(!text.contains("have passed"), "{text}");
}

#[test]
fn a_queue_comes_first_where_nothing_is_worse() {
    let place = at("src/shop.rs", 7);
    let waited = |id, for_ns| {
        let mut task = task(id, place, LOCK);
        let end_ns = S + for_ns;
        task.polls.push(Poll::open(end_ns, 0, Some(0)).ended(end_ns + 1000));
        Task { terminated_ns: Some(end_ns + 1000), ..task }
    };
    let (kind, text) = said(vec![main(SLEEP), waited(1, 6 * S), waited(2, 5 * S)]);
    assert_eq!(kind, QUEUE);
    let queued = "Tasks queued at src/shop.rs:17, Mutex::lock: 2 waits, 11.0 s in sum, up to 6.00 s. No poll held";
    assert!(text.starts_with(queued), "{text}");
    // Less than one task waited there on average.
    let (_, text) = said(vec![main(SLEEP), waited(1, 6 * S), waited(2, 3 * S)]);
    assert!(text.starts_with("Nothing held the runtime up: "), "{text}");
}

/// Permits were forgotten until none was left.
#[test]
fn a_queue_says_if_none_goes_on_any_more() {
    let place = at("src/shop.rs", 7);
    let ended = |id, end_ns: u64| {
        let mut task = task(id, place, PERMIT);
        task.polls.push(Poll::open(end_ns, 0, Some(0)).ended(end_ns + 1000));
        Task { terminated_ns: Some(end_ns + 1000), ..task }
    };
    let all = |last_ns| {
        let queue = [task(3, place, PERMIT), task(4, place, PERMIT), task(5, place, READ)];
        [vec![main(SLEEP), ended(1, 2 * S), ended(2, last_ns)], queue.to_vec()].concat()
    };
    let (kind, text) = said(all(2 * S + 500 * MS));
    assert_eq!(kind, QUEUE, "{text}");
    let stuck = "2 tasks wait at src/shop.rs:17, Semaphore::acquire, for up to 9.00 s now: no wait there ended in the \
                 last 7.50 s. No poll held";
    assert!(text.starts_with(stuck), "{text}");
    let goes_on = |tasks| {
        let (kind, text) = said(tasks);
        assert_eq!(kind, QUEUE, "{text}");
        let begin = "Nothing held the runtime up, but tasks queued at ";
        assert!(text.starts_with(begin) && !text.contains("no wait there"), "{text}");
    };
    // One task did so a moment ago.
    goes_on(all(9 * S + 500 * MS));
    // A wait there has taken nearly as long before.
    goes_on(all(5 * S));
    // It isn't known where a task waited that went on a moment ago.
    let mut known_late = task(6, place, READ);
    known_late.first_state = TaskState::Waiting;
    known_late.polls[0] = Poll::open(9 * S, 0, Some(0)).ended(9 * S + 1000);
    goes_on([all(2 * S + 500 * MS), vec![known_late]].concat());
}

/// Two channels are full, and each receiver sends into the other channel.
#[test]
fn full_channels_are_told_if_none_goes_on_any_more() {
    let place = at("src/shop.rs", 7);
    let all = |third| {
        let outside = task(4, place, READ);
        vec![main(SLEEP), task(1, place, SEND), task(2, place, SEND), third, outside]
    };
    let (kind, text) = said(all(task(3, place, SEND_ELSEWHERE)));
    assert_eq!(kind, QUEUE, "{text}");
    let stuck = "2 tasks wait at src/shop.rs:17, Sender::send, for up to 9.00 s now: no wait there ended in the last \
                 9.00 s. Nor did any at src/shop.rs:5, Sender::send. No poll held";
    assert!(text.starts_with(stuck), "{text}");
    // A channel that is always full is no fault.
    let mut goes_on = task(3, place, SEND);
    goes_on.polls.push(Poll::open(9 * S + 500 * MS, 0, Some(0)).ended(9 * S + 501 * MS));
    let (_, text) = said(all(goes_on));
    assert!(text.starts_with("Nothing held the runtime up: "), "{text}");
}

/// Six tasks send to one that receives a message each half of a second and sleeps in between. One poll runs for 20 ms.
#[test]
fn room_that_a_slow_receiver_makes_ranks_by_its_harm() {
    let place = at("src/shop.rs", 7);
    let all = |by: u64| {
        let mut receives = task(20, place, SLEEP);
        let mut tasks = vec![main(SLEEP)];
        tasks.extend((1..7).map(|id| task(id, place, SEND)));
        for nth in 1..17 {
            let at_ns = S + nth * 500 * MS;
            let open = Poll::open(at_ns, 0, Some(0)).ended(at_ns + 10_000);
            receives.polls.push(open.waits_at(WaitId::new(SLEEP)));
            for sends in &mut tasks[1..] {
                let poll = Poll::open(at_ns + 20_000, 1, Some(1)).ended(at_ns + 21_000);
                let by = Some(WokenBy::Task(TaskKey::Spawned(by)));
                let poll = poll.ready(Some(at_ns + 5_000)).by(by);
                sends.polls.push(poll.waits_at(WaitId::new(SEND)));
            }
        }
        let mut computes = task(21, at("src/shop.rs", 9), READ);
        let poll = Poll::open(5 * S + 50 * MS, 0, Some(0)).ended(5 * S + 70 * MS);
        computes.polls.push(poll.waits_at(WaitId::new(READ)));
        tasks.extend([receives, computes]);
        said(tasks)
    };
    let (kind, text) = all(20);
    assert_eq!(kind, QUEUE, "{text}");
    let receiver = "waited in async shop::pay at src/shop.rs:17, Sleep, as far as is known.";
    assert!(text.contains(receiver), "{text}");
    // It isn't known who receives.
    let (kind, text) = all(30);
    assert_ne!(kind, QUEUE, "{text}");
}

/// A task that got answers from another one, `by`, and waits for the next.
fn asks(id: u64, wait: u16, by: u64) -> Task {
    let mut task = task(id, at("src/shop.rs", 7), wait);
    for nth in 1..6 {
        let start_ns = S + id * MS + nth * 50 * MS;
        let poll = Poll::open(start_ns, 0, Some(0)).ended(start_ns + 1000);
        let by = Some(WokenBy::Task(TaskKey::Spawned(by)));
        task.polls.push(poll.ready(Some(start_ns - 1000)).by(by).waits_at(WaitId::new(wait)));
    }
    task
}

/// An actor answered, and then asked a task that waits for the actor, or asked itself.
#[test]
fn who_used_to_end_the_waits_and_waits_itself_is_named() {
    let outside = || vec![main(SLEEP), task(4, at("src/shop.rs", 9), READ)];
    let users = [asks(1, ANSWER, 3), asks(2, ANSWER, 3)];
    let actor = asks(3, ANSWER_OF_ANOTHER, 5);
    // The actor waits for another task, and it isn't known where that task waits.
    let (kind, text) = said([outside(), users.to_vec(), vec![actor.clone()]].concat());
    assert_eq!(kind, None, "{text}");
    let other = asks(5, ANSWER, 3);
    let (kind, text) = said([outside(), users.to_vec(), vec![actor, other]].concat());
    assert_eq!(kind, QUEUE, "{text}");
    let stuck = "3 tasks wait at src/shop.rs:17, Receiver, for up to 8.75 s now: no wait there ended in the last 8.75 s. \
                 Nor did any at src/shop.rs:5, Receiver. task-3 ended most waits there, and waits itself, for 8.75 s now, at \
                 src/shop.rs:21 > src/shop.rs:5.";
    assert!(text.starts_with(stuck), "{text}");
    let chain = " task-5 ended most of those, and waits at src/shop.rs:17, Receiver. task-3 ended most of those: they wait for \
                 one another.";
    assert!(text.contains(chain), "{text}");
    let (_, text) = said([outside(), users.to_vec(), vec![asks(3, ANSWER, 3)]].concat());
    assert!(text.contains(" task-3 waits for itself."), "{text}");
    // The task that answers may wait for something outside, or may answer in a moment.
    for wait in [READ, SLEEP] {
        let (kind, text) = said([outside(), users.to_vec(), vec![asks(3, wait, 9)]].concat());
        assert_eq!(kind, None, "{text}");
    }
    let mut soon = asks(3, ANSWER_OF_ANOTHER, 3);
    let poll = Poll::open(9 * S + 900 * MS, 0, Some(0)).ended(9 * S + 901 * MS);
    soon.polls.push(poll.waits_at(WaitId::new(SLEEP)));
    let (kind, text) = said([outside(), users.to_vec(), vec![soon]].concat());
    assert_eq!(kind, None, "{text}");
    // Nobody got an answer before, and it isn't known whether one will come.
    let idle = [task(1, at("src/shop.rs", 7), ANSWER), task(2, at("src/shop.rs", 7), ANSWER)];
    let (kind, text) = said([outside(), idle.to_vec()].concat());
    assert_eq!(kind, None, "{text}");
    // Answers come.
    let mut answered = users.to_vec();
    let poll = Poll::open(9 * S, 0, Some(0)).ended(9 * S + 1000);
    answered[0].polls.push(poll.waits_at(WaitId::new(ANSWER)));
    let (kind, text) = said([outside(), answered].concat());
    assert_eq!(kind, None, "{text}");
}

/// A server has as many connections as it may have, and they are idle, so it waits for a permit. It did so before the
/// begin of what is kept, too.
#[test]
fn a_server_with_all_its_connections_is_healthy() {
    let carried = Some(CarriedWait { since_ns: 0, wait: WaitId::new(PERMIT) });
    let accepts = |id| Task {
        first_ns: 0,
        spawned_ns: None,
        first_state: TaskState::Waiting,
        polls: Vec::new(),
        carried_wait: carried,
        waits_since_ns: None,
        ..task(id, at("src/serve.rs", 3), PERMIT)
    };
    let connection = task(2, at("src/serve.rs", 9), READ);
    let (kind, text) = said(vec![main(SLEEP), accepts(1), connection.clone()]);
    assert_eq!(kind, None, "{text}");
    // If several tasks wait, the queue is an issue, but need not be a fault.
    let report = timeline(vec![main(SLEEP), accepts(1), accepts(3), connection]).report();
    assert_eq!(report.issues()[0].explanation().name, "queue", "{report}");
    assert!(!report.issues()[0].is_certain(), "{report}");
}

/// Filling one key of a cache needs another key, and filling that needs the first.
#[test]
fn what_was_called_at_a_line_and_waits_there_again_is_named() {
    let outside = || vec![main(SLEEP), task(4, at("src/shop.rs", 9), READ)];
    let place = at("src/shop.rs", 7);
    let waits = || vec![task(1, place, FILL), task(2, place, FILL)];
    let (kind, text) = said([outside(), waits()].concat());
    assert_eq!(kind, None, "a library may wait for long: {text}");
    let (kind, text) = said([outside(), waits(), vec![task(3, place, FILL_WITHIN)]].concat());
    assert_eq!(kind, QUEUE, "{text}");
    // Both are in a function that takes a future as an argument, but the tasks wait for different futures.
    let serves = task(3, place, SERVE_WITHIN);
    let (kind, text) = said([outside(), waits(), vec![serves]].concat());
    assert_eq!(kind, None, "{text}");
    let (_, text) = said([outside(), waits(), vec![task(3, place, FILL_WITHIN)]].concat());
    let within = "task-3 may hold what is awaited at src/shop.rs:17: it is in what was called there, and waits at \
                  src/shop.rs:17 > src/shop.rs:5 > src/shop.rs:17.";
    assert!(text.contains(within), "{text}");
}

#[test]
fn what_waits_for_others_is_hung_if_main_is_and_nothing_runs() {
    let place = at("src/shop.rs", 7);
    let all = || vec![main(JOIN), task(1, place, ANSWER), task(2, place, ANSWER)];
    let (kind, text) = said(all());
    assert_eq!(kind, NEVER_FINISHED, "{text}");
    let waits = "The root future waits for other tasks, too, at src/shop.rs:17, JoinHandle";
    assert!(text.contains(waits), "{text}");
    assert!(text.starts_with("2 tasks spawned at src/shop.rs:7:5 never finished: "), "{text}");
    // It isn't known what they wait for: one may be a server that nobody calls.
    let (kind, text) = said(vec![main(JOIN), task(1, place, 0), task(2, place, 0)]);
    assert_eq!(kind, NEVER_FINISHED, "{text}");
    assert_eq!(
        text,
        "2 tasks spawned at src/shop.rs:7:5 still waited at the end: they had waited for up to 9.00 s, and so \
         had the root future. The root future waits for other tasks, at src/shop.rs:17, JoinHandle, and nothing \
         was polled any more. If nothing outside of the runtime wakes one of them, such as I/O, a timer or a thread, this is a \
         deadlock."
    );
    // A thread may have something for those that receive, now or later, and others may wait for their end.
    for other in [RECV, JOIN] {
        let (kind, text) = said(vec![main(JOIN), task(1, place, RECV), task(2, place, other)]);
        assert_eq!(kind, None, "{text}");
        let only = "The root future waits for other tasks, at src/shop.rs:17, JoinHandle, and nothing was polled any more: only I/O, a timer or a thread can wake one of them.";
        assert!(text.starts_with("Nothing held the runtime up: ") && text.contains(only), "{text}");
    }
    // One task waits for a client.
    let (kind, text) = said([all(), vec![task(3, at("src/server.rs", 1), ACCEPT)]].concat());
    assert_eq!(kind, None, "{text}");
    // One task still runs.
    let mut busy = all();
    let poll = Poll::open(9 * S, 0, Some(0)).ended(9 * S + 1000);
    busy.push(Task { polls: vec![poll], ..task(3, at("src/clock.rs", 1), 0) });
    assert_eq!(said(busy).0, None);
}

/// An idle server, a main function that waits for ctrl-c, an actor without work, a timer: none of them hangs.
#[test]
fn who_waits_for_the_outside_is_healthy() {
    let place = at("src/shop.rs", 7);
    for (root, wait) in [(SLEEP, 0), (SLEEP, RECV), (ACCEPT, JOIN), (JOIN, ACCEPT), (JOIN, SLEEP)] {
        let (kind, text) = said(vec![main(root), task(1, place, wait), task(2, place, wait)]);
        assert_eq!(kind, None, "{root} {wait}: {text}");
        assert!(text.starts_with("Nothing held the runtime up: "), "{text}");
    }
    let (_, text) = said(vec![main(SLEEP), task(1, place, 0)]);
    let longest = "At the end, 1 task spawned at src/shop.rs:7:5 had waited longest, for 9.00 s.";
    assert!(text.contains(longest), "{text}");
}

#[test]
fn connections_of_a_library_are_not_compared() {
    let all = |file: &'static str| {
        let place = at(file, 9);
        let done = |id| Task { terminated_ns: Some(S + 50 * MS), ..task(id, place, 0) };
        let mut all: Vec<Task> = (2..40).map(done).collect();
        all.insert(0, task(1, place, 0));
        all.insert(0, main(SLEEP));
        all
    };
    assert_eq!(said(all("src/main.rs")).0, NEVER_FINISHED);
    let library = "/home/me/.cargo/registry/src/index-1/axum-0.8.9/src/serve/mod.rs";
    assert_eq!(said(all(library)).0, None);
}

/// A server waits for a permit for the next connection, as all permits belong to connections that nobody uses.
#[test]
fn who_has_a_permit_may_wait_for_somebody_outside() {
    let (accepts, connection) = (at("src/serve.rs", 3), at("src/serve.rs", 9));
    let all = |waits| vec![main(SLEEP), task(1, accepts, PERMIT), task(2, connection, waits)];
    for waits in [READ, 0] {
        assert_eq!(said(all(waits)).0, None, "{waits}");
    }
    // No other task waits for long, or all wait for each other.
    let (kind, text) = said(all(LOCK));
    assert_eq!(kind, QUEUE, "{text}");
    assert!(text.contains("Nor did any at src/shop.rs:17, Semaphore::acquire."), "{text}");
    let both = said(vec![main(SLEEP), task(1, accepts, PERMIT), task(2, connection, PERMIT)]);
    assert_eq!(both.0, NEVER_FINISHED, "{}", both.1);
}

/// Two tasks wait for a permit. A third one got one after a wait, and waits for a message.
#[test]
fn who_got_a_permit_and_does_not_give_it_back_is_named() {
    let place = at("src/shop.rs", 7);
    let keeper = |by| {
        let mut keeper = task(3, place, PERMIT);
        let got_ns = S + 100 * MS;
        let got = Poll::open(got_ns, 0, Some(0)).ended(got_ns + 1000).ready(Some(got_ns - 1000));
        keeper.polls.push(got.by(by).waits_at(WaitId::new(RECV)));
        keeper
    };
    let by_task = Some(WokenBy::Task(TaskKey::Spawned(1)));
    let users = || vec![main(SLEEP), task(1, place, PERMIT), task(2, place, PERMIT)];
    let text = |keeper: Task, others: Vec<Task>| said([users(), vec![keeper], others].concat()).1;
    let kept = "task-3 got one, and has woken none of these since: task-3 waited for it at src/shop.rs:17, Semaphore::acquire, \
                and now waits at src/shop.rs:17, Receiver::recv, for 8.90 s.";
    let found = text(keeper(by_task), Vec::new());
    assert!(found.contains(kept), "{found}");
    // It gave up, or it isn't known why it went on.
    for by in [Some(WokenBy::Runtime), None] {
        let found = text(keeper(by), Vec::new());
        assert!(!found.contains("task-3 got"), "{by:?}: {found}");
    }
    // It may have passed it on to a task that it spawned.
    let heir = Task {
        parent: Some(TaskKey::Spawned(3)),
        spawned_ns: Some(S + 100 * MS),
        ..task(4, place, RECV)
    };
    let found = text(keeper(by_task), vec![heir]);
    assert!(!found.contains("task-3 got"), "{found}");
    // It has woken another one.
    let mut next = task(5, place, PERMIT);
    let woken_ns = S + 200 * MS;
    let woken =
        Poll::open(woken_ns, 0, Some(0)).ended(woken_ns + 1000).ready(Some(woken_ns - 1000));
    next.polls
        .push(woken.by(Some(WokenBy::Task(TaskKey::Spawned(3)))).waits_at(WaitId::new(PERMIT)));
    let found = text(keeper(by_task), vec![next]);
    assert!(!found.contains("task-3 got"), "{found}");
}

/// Two tasks wait for a mutex. A third one got it there after a wait, and waits for an answer.
#[test]
fn who_got_a_mutex_last_and_does_not_give_it_back_is_named() {
    let place = at("src/shop.rs", 7);
    let spawned = |id| Some(WokenBy::Task(TaskKey::Spawned(id)));
    let got = |id, at_ns, by, then| {
        let mut task = task(id, place, LOCK);
        let poll = Poll::open(at_ns, 0, Some(0)).ended(at_ns + 1000).ready(Some(at_ns - 1000));
        task.polls.push(poll.by(by).waits_at(WaitId::new(then)));
        task
    };
    let text = |others: Vec<Task>| {
        let users = vec![main(SLEEP), task(5, place, LOCK), task(6, place, LOCK)];
        said([users, others].concat()).1
    };
    let keeper = || got(3, S + 100 * MS, spawned(5), ANSWER);
    let kept = "As far as is known, task-3 got it last, after a wait at src/shop.rs:17, Mutex::lock, and woke none of these since: it \
                waits at src/shop.rs:17, Receiver, for 8.90 s now.";
    let is_kept = |others| text(others).contains(kept);
    assert!(is_kept(vec![keeper()]), "{}", text(vec![keeper()]));
    // It began to wait after others, so it got another mutex.
    let later = got(7, S + 100 * MS, spawned(5), ANSWER);
    assert!(!text(vec![later]).contains("task-7 got"));
    // Another task got it after that.
    assert!(!is_kept(vec![keeper(), got(4, S + 200 * MS, spawned(5), LOCK)]));
    // It was given back to a task that waited for it at another line, or for another mutex.
    let mut next = got(4, S + 200 * MS, spawned(3), SLEEP);
    next.polls[0] = next.polls[0].waits_at(WaitId::new(LOCK_PAST_IT));
    assert!(!is_kept(vec![keeper(), next]), "the other line");
}

/// Workers share the receiver of their jobs: one waits for a job, and the others for their turn.
#[test]
fn those_who_wait_for_their_turn_to_receive_are_not_stuck() {
    let place = at("src/shop.rs", 7);
    let workers = |then| {
        let waiting = (2..5).map(|id| task(id, place, LOCK));
        waiting.chain([main(SLEEP), task(1, place, then)]).collect::<Vec<_>>()
    };
    let (kind, text) = said(workers(RECV));
    assert_eq!(kind, None, "{text}");
    // It is no message, or it isn't for a mutex.
    for then in [SLEEP, ANSWER] {
        assert!(said(workers(then)).0.is_some(), "{then}");
    }
    let permits: Vec<_> = (2..5).map(|id| task(id, place, PERMIT)).collect();
    assert!(said([vec![main(SLEEP), task(1, place, RECV)], permits].concat()).0.is_some());
    // `main` drops the sender in its last poll, so the one that receives goes on and ends, and the runtime is shut down.
    let ends = |task: Task, at_ns: u64| {
        let last = Poll::open(at_ns, 0, Some(0)).ended(at_ns + 1000);
        Task { polls: [task.polls, vec![last]].concat(), terminated_ns: Some(at_ns + 1000), ..task }
    };
    for (received_ns, is_turn) in [(END_NS - 2 * MS, true), (END_NS - 8 * MS, false)] {
        let waiting =
            (2..5).map(|id| Task { terminated_ns: Some(END_NS), ..task(id, place, LOCK) });
        let ended = [ends(main(SLEEP), END_NS - 5 * MS), ends(task(1, place, RECV), received_ns)];
        let at_end = waiting.chain(ended).collect();
        let (kind, text) = said(at_end);
        assert_eq!(kind.is_none(), is_turn, "{text}");
    }
    // At another lock others wait, too; that doesn't matter, as the workers receive at the line of their own.
    let others = vec![task(8, at("src/store.rs", 1), LOCK_ELSEWHERE)];
    let (kind, text) = said([workers(RECV), others].concat());
    assert!(kind.is_some() && !text.contains("src/shop.rs:17, Mutex::lock"), "{text}");
}

/// A task holds a mutex, and waits for the end of a task that wants it.
#[test]
fn who_waits_for_the_end_of_a_waiting_task_may_hold_what_that_waits_for() {
    let place = at("src/shop.rs", 7);
    let child =
        |id, parent, wait| Task { parent: Some(TaskKey::Spawned(parent)), ..task(id, place, wait) };
    let joins = |id| task(id, at("src/main.rs", 3), JOIN_NEXT);
    let users = || vec![main(SLEEP), task(5, place, LOCK), task(6, place, LOCK)];
    let names = |others: Vec<Task>| {
        let text = said([users(), others].concat()).1;
        text.contains("task-1 may hold it: it waits at src/shop.rs:17, JoinSet::join_next, for the end of task-7, which it spawned, and which is among those that wait.")
            .then_some(())
            .ok_or(text)
    };
    names(vec![joins(1), child(7, 1, LOCK)]).unwrap();
    // It waits for another one, too, or there are two such tasks.
    names(vec![joins(1), child(7, 1, LOCK), child(8, 1, SLEEP)]).unwrap_err();
    names(vec![joins(1), child(7, 1, LOCK), joins(2), child(8, 2, LOCK)]).unwrap_err();
    // It spawned all those that wait.
    let all = [main(SLEEP), joins(1), child(7, 1, LOCK), child(8, 1, LOCK)].to_vec();
    assert!(!said(all).1.contains("may hold it"));
    // Somebody got it after it had begun to wait.
    let mut later = child(7, 1, LOCK);
    let poll = Poll::open(S + 300 * MS, 0, Some(0)).ended(S + 301 * MS);
    later.polls.push(poll.ready(Some(S + 299 * MS)).waits_at(WaitId::new(LOCK)));
    names(vec![joins(1), later]).unwrap_err();
}

#[test]
fn functions_without_a_name_are_one_only_if_both_were_called_at_one_line() {
    let place = at("src/shop.rs", 7);
    let queue = || vec![main(SLEEP), task(2, place, LOCK_OF_QUERY), task(3, place, LOCK_OF_QUERY)];
    let (_, text) = said([queue(), vec![task(4, place, LOCK_OF_QUERY_BELOW)]].concat());
    assert!(text.contains("task-4 may hold what is awaited at src/shop.rs:17"), "{text}");
    let (_, text) = said([queue(), vec![task(4, place, LOCK_OF_STORE_BELOW)]].concat());
    assert!(!text.contains("may hold what is awaited"), "{text}");
    assert!(text.contains("It isn't known who holds it."), "{text}");
}

#[test]
fn a_queue_says_where_its_tasks_came_from() {
    let place = at("src/shop.rs", 7);
    let mut tasks: Vec<_> = (1..4).map(|id| task(id, place, PERMIT_OF_QUERY)).collect();
    tasks.extend([task(4, place, PERMIT_OF_STORE), main(SLEEP)]);
    let (kind, text) = said(tasks);
    assert_eq!(kind, NEVER_FINISHED, "{text}");
    assert!(
        text.contains(" They came there from src/shop.rs:41 (3), src/shop.rs:26 (1)."),
        "{text}"
    );
    let (_, text) = said((1..4).map(|id| task(id, place, PERMIT)).chain([main(SLEEP)]).collect());
    assert!(!text.contains("They came there"), "no function called theirs: {text}");
}

#[test]
fn a_task_that_waits_for_others_to_end_leads_to_them() {
    let place = at("src/shop.rs", 7);
    let child = |id, wait| Task { parent: Some(TaskKey::Spawned(1)), ..task(id, place, wait) };
    let outside = || vec![main(SLEEP), task(9, at("src/server.rs", 1), ACCEPT)];
    let joins = || vec![task(1, at("src/main.rs", 3), JOIN_NEXT)];
    let (kind, text) = said([outside(), joins(), vec![child(2, READ), child(3, READ)]].concat());
    assert_eq!(kind, None, "{text}");
    let there = "Of the tasks that task-1 spawned, 2 still wait at src/shop.rs:17, Read.";
    assert!(text.contains(there), "{text}");
    let (_, text) = said([outside(), joins(), vec![task(2, place, READ)]].concat());
    assert!(!text.contains("still wait at"), "another one spawned it: {text}");
}

#[test]
fn whoever_was_asked_by_all_that_wait_for_an_answer_is_named() {
    let place = at("src/shop.rs", 7);
    let asks = |id| {
        let mut task = task(id, place, ANSWER);
        task.polls[0] = task.polls[0].ended(S + id * MS + 9000);
        task
    };
    let woken = |by: u64| {
        let ready_ns = S + by * MS + 500;
        let poll = Poll::open(ready_ns + 20_000, 1, Some(1)).ended(ready_ns + 30_000);
        let by = Some(WokenBy::Task(TaskKey::Spawned(by)));
        poll.ready(Some(ready_ns)).by(by).waits_at(WaitId::new(SLEEP))
    };
    let asked = |by: &[u64]| Task {
        polls: by.iter().map(|&by| woken(by)).collect(),
        ..task(9, at("src/actor.rs", 1), SLEEP)
    };
    let with = |by: &[u64]| said(vec![main(SLEEP), asks(1), asks(2), asks(3), asked(by)]);
    let (kind, text) = with(&[1, 2, 3]);
    assert_eq!(kind, None, "{text}");
    let named =
        "Before they waited, each of them woke task-9, which waits at src/shop.rs:17, Sleep.";
    assert!(text.contains(named), "{text}");
    let (_, text) = with(&[1, 2]);
    assert!(text.contains("2 of these 3 woke task-9"), "{text}");
    let (_, text) = with(&[1]);
    assert!(!text.contains("woke task-9"), "{text}");
}

#[test]
fn tasks_that_all_waited_once_are_no_queue() {
    let waited = |id, from_ns: u64, for_ns| {
        let mut task = task(id, at("src/shop.rs", 7), LOCK);
        task.polls[0] = Poll::open(from_ns, 0, Some(0)).ended(from_ns).waits_at(WaitId::new(LOCK));
        task.polls.push(Poll::open(from_ns + for_ns, 0, Some(0)).ended(from_ns + for_ns + 1000));
        Task { terminated_ns: Some(from_ns + for_ns + 1000), ..task }
    };
    let at_once = (1..20).map(|id| waited(id, S, S)).chain([main(SLEEP)]).collect();
    assert_eq!(said(at_once).0, None);
    let in_turn = (1..20).map(|id| waited(id, S + id * S / 4, S)).chain([main(SLEEP)]).collect();
    assert_eq!(said(in_turn).0, QUEUE);
}

#[test]
fn a_poll_of_main_that_goes_on_is_told_with_the_queue() {
    let place = at("src/shop.rs", 7);
    let blocks = |from_ns| Task { polls: vec![Poll::open(from_ns, 9, None)], ..main(0) };
    let queue = || vec![task(2, place, SEND), task(3, place, SEND)];
    let (kind, text) = said([queue(), vec![blocks(S)]].concat());
    assert_eq!(kind, QUEUE, "{text}");
    assert!(
        text.contains(" A poll of main still ran at the end, after 9.00 s, on a thread"),
        "{text}"
    );
    let (_, text) = said([queue(), vec![blocks(9 * S)]].concat());
    assert!(!text.contains("A poll of main"), "the queue is older: {text}");
}
