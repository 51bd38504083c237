//! The report says what another thread did while polls waited for a lock, if it was seen in most of them.

use super::seen::asleep;
use super::*;
use crate::trace::timeline::{FrameOrigin, PollSample, StackFrame};

/// Returns a timeline of two polls of 200 ms that wait for a lock, and what other threads did beside each: functions of
/// the program, the innermost first, and whether the thread was on a processor.
fn locked(beside: &[&[(&[&str], bool)]]) -> Timeline {
    let start_ns = |nth: usize| 100 * MS + nth as u64 * 300 * MS;
    let polls: Vec<_> = (0..beside.len()).map(|nth| poll(start_ns(nth), 200 * MS, 0, 0)).collect();
    let mut timeline = timeline(990 + 300 * beside.len().saturating_sub(2) as u64);
    timeline.long_polls.sampling.state = SamplingState::On;
    for (poll, beside) in polls.iter().zip(beside) {
        let waits = PollSample { blocked_in: Some("futex".into()), ..asleep(poll, "shop::price") };
        for (functions, runs) in *beside {
            let frame = |(nth, function): (usize, &&str)| StackFrame {
                function: (**function).into(),
                file: Some("src/jobs.rs".into()),
                line: Some(40 + nth as u32),
                origin: FrameOrigin::Program,
            };
            timeline.long_polls.beside.push(PollSample {
                blocked_in: (!runs).then(|| "clock_nanosleep".into()),
                frames: functions.iter().enumerate().map(frame).collect(),
                ..waits.clone()
            });
        }
        timeline.long_polls.samples.push(waits);
    }
    let late = |of: &Poll| poll(of.start_ns() + 200 * MS, US, 1, 200 * MS);
    let waits: Vec<_> = polls.iter().map(late).collect();
    *timeline.tasks =
        vec![task(1, at("src/jobs.rs", 7, 5), polls), task(2, at("src/x.rs", 1, 1), waits)];
    timeline
}

fn said(beside: &[&[(&[&str], bool)]]) -> Option<String> {
    let verdict = verdict(&locked(beside));
    let (_, rest) = verdict.split_once("another thread was in ")?;
    Some(rest.split_once(": that may be")?.0.to_owned())
}

const RELOADS: (&[&str], bool) = (&["shop::reload", "shop::refresh"], true);
const SLEEPS: (&[&str], bool) = (&["shop::monitor"], false);

#[test]
fn the_other_thread_is_named_with_its_caller() {
    let reload = "shop::reload at src/jobs.rs:40, called from shop::refresh at src/jobs.rs:41";
    assert_eq!(said(&[&[RELOADS], &[RELOADS]]).as_deref(), Some(reload));
    let verdict = [[RELOADS].as_slice(), &[]].map(|second| verdict(&locked(&[&[RELOADS], second])));
    let said_of = |when: &str| format!("{when} another thread was in shop::reload");
    assert!(verdict[0].contains(&said_of("At the same time")), "{verdict:?}");
    assert!(verdict[1].contains(&said_of("In 1 of these 2 polls")), "{verdict:?}");
    // The function that was seen in both polls is named, and not what it called in one of them.
    let builds = (&["shop::build", "shop::reload", "shop::refresh"][..], true);
    let from = "shop::reload at src/jobs.rs:41, called from shop::refresh at src/jobs.rs:42";
    assert_eq!(said(&[&[builds], &[RELOADS]]).as_deref(), Some(from));
}

#[test]
fn of_two_threads_none_is_named() {
    for beside in [[SLEEPS, RELOADS], [RELOADS, SLEEPS]] {
        assert_eq!(said(&[&beside, &beside]), None);
    }
    assert_eq!(said(&[&[SLEEPS], &[SLEEPS]]).as_deref(), Some("shop::monitor at src/jobs.rs:40"));
}

#[test]
fn nobody_is_named_who_was_seldom_seen_or_waits_as_well() {
    assert_eq!(said(&[&[], &[]]), None);
    assert_eq!(said(&[&[RELOADS], &[SLEEPS]]), None);
    let waits = (&["std::table", "shop::price", "shop::handle"][..], true);
    assert_eq!(said(&[&[waits], &[waits]]), None);
    // All workers of a server are in these.
    let serves = (&["async shop::handle", "async shop::serve"][..], true);
    assert_eq!(said(&[&[serves], &[serves]]), None);
    // Either may hold the lock.
    let builds = (&["shop::build"][..], true);
    assert_eq!(said(&[&[RELOADS, builds], &[RELOADS, builds]]), None);
}

#[test]
fn who_was_seen_once_in_many_polls_is_not_named() {
    let none: &[(&[&str], bool)] = &[];
    let of = |seen: usize, polls: usize| {
        let beside: Vec<_> =
            (0..polls).map(|nth| if nth < seen { &[RELOADS][..] } else { none }).collect();
        said(&beside).is_some()
    };
    for (seen, polls, is_named) in
        [(1, 3, true), (1, 4, false), (1, 6, false), (2, 12, true), (2, 13, false)]
    {
        assert_eq!(of(seen, polls), is_named, "{seen} of {polls}");
    }
}
