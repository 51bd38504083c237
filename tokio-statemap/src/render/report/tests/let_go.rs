//! A task that holds a lock over an await is on no thread: it is known by when the polls that wait for the lock go on.

use super::seen::asleep;
use super::*;
use crate::trace::timeline::{AwaitFrame, FrameOrigin, StackFrame, Wait, WaitId};

/// The polls that wait for the lock.
const LOCKED: u64 = 6;
/// When each of them begins, after the one before.
const EACH: u64 = 100 * MS;
const LENGTH: u64 = 20 * MS;

/// Returns a wait of an async function of the program.
fn wait(function: &str, line: u32) -> Wait {
    let (function, file) = (function.into(), Some("src/jobs.rs".into()));
    let function = StackFrame { function, file, line: Some(line), origin: FrameOrigin::Program };
    Wait { frames: vec![AwaitFrame { function, awaits: Vec::new(), name: None, call: None }] }
}

/// Returns a task that waits, and is polled for 10 µs at each of these times, in ns.
fn waits(id: u64, line: u32, place: u16, at_ns: impl Iterator<Item = u64>) -> Task {
    let polls = at_ns.map(|at_ns| poll(at_ns, 10 * US, 1, 0).waits_at(WaitId::new(place)));
    task(id, at("src/jobs.rs", line, 5), polls.collect())
}

/// Returns what is said of polls of 20 ms that wait for a lock, where `blocked_in` is what their samples show. Another task is polled
/// `before_end` before each of them ends, and once before they begin.
fn said(before_end: u64, blocked_in: &str, others: Vec<Task>) -> Option<String> {
    let mut timeline = timeline(LOCKED * 100 + 200);
    timeline.long_polls.sampling.state = SamplingState::On;
    timeline.places.waits = vec![wait("async shop::visit", 8), wait("async shop::tick", 50)];
    let start = |nth: u64| 100 * MS + nth * EACH;
    let polls: Vec<_> = (0..LOCKED).map(|nth| poll(start(nth), LENGTH, 0, 0)).collect();
    let sample = |of| {
        let mut sample = asleep(of, "shop::update");
        sample.blocked_in = Some(blocked_in.into());
        sample.frames[0].function = "std::sync::poison::mutex::Mutex<T>::lock".into();
        sample
    };
    timeline.long_polls.samples = polls.iter().map(sample).collect();
    let holds =
        (0..LOCKED).flat_map(|nth| [start(nth) - 10 * MS, start(nth) + LENGTH - before_end]);
    let ready = polls.iter().map(|of| poll(of.start_ns() + LENGTH, US, 1, LENGTH)).collect();
    let mut tasks = vec![
        task(1, at("src/jobs.rs", 7, 5), polls),
        task(2, at("src/x.rs", 1, 1), ready),
        waits(3, 20, 1, holds),
    ];
    tasks.extend(others);
    *timeline.tasks = tasks;
    let verdict = verdict(&timeline);
    let (said, _) = verdict.split_once(": that task may hold the lock over the await.")?;
    Some(said.rsplit_once(". ").unwrap().1.to_owned())
}

#[test]
fn who_was_polled_each_time_that_the_lock_was_free_is_named() {
    let expected = "In all 6 polls that were seen to wait for the lock, the wait ended when a task was polled that had waited in async \
                    shop::visit at src/jobs.rs:8";
    assert_eq!(said(50 * US, "futex", Vec::new()).as_deref(), Some(expected));
    // What ticks all the time is polled as well.
    let ticks = waits(4, 40, 2, (0..LOCKED * 1000).map(|nth| 100 * MS + nth * 100 * US));
    assert_eq!(said(50 * US, "futex", vec![ticks]).as_deref(), Some(expected));
}

#[test]
fn nobody_is_named_who_was_polled_at_other_times() {
    // In the middle of each poll the lock was still held.
    assert_eq!(said(LENGTH / 2, "futex", Vec::new()), None);
    // Nor was it held by one that was polled before.
    assert_eq!(said(LENGTH + MS, "futex", Vec::new()), None);
    assert_eq!(said(50 * US, "clock_nanosleep", Vec::new()), None, "it waits for no lock");
}

/// One may hold the lock, and wake the other one when it lets go.
#[test]
fn of_two_none_is_named() {
    let start = |nth: u64| 100 * MS + nth * EACH;
    let polled =
        || (0..LOCKED).flat_map(|nth| [start(nth) - 9 * MS, start(nth) + LENGTH - 40 * US]);
    assert_eq!(said(50 * US, "futex", vec![waits(4, 40, 2, polled())]), None);
}

/// Many tasks of one line, all polled before one of the waits ends.
#[test]
fn each_poll_counts_once() {
    let start = |nth: u64| 100 * MS + nth * EACH;
    let polled = || [start(0) - 9 * MS, start(0) + LENGTH - 40 * US].into_iter();
    let others = (4..40).map(|id| waits(id, 40, 2, polled())).collect();
    assert_eq!(said(LENGTH + MS, "futex", others), None);
}

/// A task that was ready all the time goes on as soon as a worker is free.
#[test]
fn who_waits_for_a_worker_has_no_lock() {
    let start = |nth: u64| 100 * MS + nth * EACH;
    let polls = (0..LOCKED).flat_map(|nth| {
        let before = poll(start(nth) - 9 * MS, 10 * US, 1, 0);
        let late = poll(start(nth) + LENGTH - 40 * US, 10 * US, 1, 15 * MS);
        [before, late].map(|poll| poll.waits_at(WaitId::new(2)))
    });
    let late = task(4, at("src/jobs.rs", 40, 5), polls.collect());
    assert_eq!(said(LENGTH + MS, "futex", vec![late]), None);
}

#[test]
fn who_was_polled_in_between_has_no_lock() {
    // It began to wait after the others had begun to wait for the lock.
    let start = |nth: u64| 100 * MS + nth * EACH;
    let polled = (0..LOCKED).flat_map(|nth| [start(nth) + 5 * MS, start(nth) + LENGTH - 40 * US]);
    let others = vec![waits(4, 40, 2, polled)];
    assert_eq!(said(LENGTH + MS, "futex", others), None);
}
