//! Statements about a function cover the polls in which it was sampled.

use super::*;
use crate::trace::timeline::{FrameOrigin, PollSample, SamplingState, StackFrame};

const JOBS: u32 = 7;

fn jobs() -> Option<SpawnLocation> {
    at("src/jobs.rs", JOBS, 5)
}

/// Returns a sample of a poll that sleeps in `function`.
pub(super) fn asleep(poll: &Poll, function: &str) -> PollSample {
    let frame = |function: &str, origin| StackFrame {
        function: function.into(),
        file: Some("src/jobs.rs".into()),
        line: Some(31),
        origin,
    };
    let (thread, poll_start_ns) = poll.key();
    PollSample {
        thread,
        poll_start_ns,
        at_ns: poll_start_ns + MS,
        blocked_in: Some("clock_nanosleep".into()),
        frames: vec![
            frame("std::thread::sleep", FrameOrigin::Std),
            frame(function, FrameOrigin::Program),
        ],
        is_complete: true,
    }
}

/// Returns a task of `src/jobs.rs` with these polls, in ms. In the first `seen` of them `shop::nap` was
/// sampled. Each keeps another task waiting.
fn sleeps(polls_ms: &[u64], seen: usize, short: u64) -> Timeline {
    let mut timeline = timeline(120);
    timeline.long_polls.sampling.state = SamplingState::On;
    let (mut polls, mut waits, mut from_ns) = (Vec::new(), Vec::new(), 0);
    for &ms in polls_ms {
        polls.push(poll(from_ns, ms * MS, 0, 0));
        waits.push(poll(from_ns + ms * MS, US, 1, ms * MS));
        from_ns += ms * MS + 10 * US;
    }
    timeline.long_polls.samples =
        polls[..seen].iter().map(|poll| asleep(poll, "shop::nap")).collect();
    polls.extend((0..short).map(|n| poll(from_ns + n * 2 * US, US, 0, 0)));
    *timeline.tasks = vec![task(1, jobs(), polls), task(2, at("src/x.rs", 1, 1), waits)];
    timeline
}

const ELEVEN: [u64; 11] = [20, 152, 2, 3, 4, 5, 6, 12, 14, 25, 35];

/// One sleep of 20 ms among 10 polls that the machine may have made long.
#[test]
fn unsampled_polls_are_not_those_of_the_only_sampled_function() {
    let timeline = sleeps(&ELEVEN, 1, 2000);
    let report = timeline.report();
    assert_eq!(
        report.verdict.to_string(),
        "shop::nap at src/jobs.rs:31 held the runtime up: it blocked in std::thread::sleep \
         (clock_nanosleep), seen in 1 of the 11 polls over 1 ms. Meanwhile other tasks waited 20.0 ms for a \
         worker, in sum. The poll took 20.0 ms, on worker-0 at 0.000 s. The task was spawned at \
         src/jobs.rs:7:5. No function was seen in 10 other long polls of tasks spawned there, 258 ms in all, \
         so what these did isn't known."
    );
    let [culprit] = &report.blame.culprits[..] else { panic!("{report}") };
    assert_eq!((culprit.polls, culprit.own_ns, culprit.longest.own_ns), (1, 20 * MS, 20 * MS));
    assert_eq!(
        (culprit.location_polls, culprit.unseen_polls, culprit.unseen_ns),
        (11, 10, 258 * MS)
    );
    assert_eq!(
        (report.blame.unattributed.unseen_polls, report.blame.unattributed.unseen_ns),
        (10, 258 * MS)
    );
    assert_eq!(
        (culprit.at.len(), report.blame.unseen_at.len(), report.blame.unattributed_at.len()),
        (1, 10, 0)
    );
    let text = report.to_string().replace('\n', " ");
    let said = "10 long polls are blamed on no function, 258 ms in all: no stack sample shows what they did.";
    assert!(text.contains(said), "{report}");
}

/// Another function was sampled for longer: the unsampled polls don't rank one before it.
#[test]
fn only_sampled_time_ranks() {
    let mut timeline = sleeps(&ELEVEN, 1, 2000);
    let other = poll(600 * MS, 30 * MS, 0, 0);
    timeline.long_polls.samples.push(asleep(&other, "shop::doze"));
    let waits = vec![poll(630 * MS, US, 1, 30 * MS)];
    timeline.tasks.push(task(3, at("src/other.rs", 9, 5), vec![other]));
    timeline.tasks.push(task(4, at("src/x.rs", 1, 1), waits));
    let report = timeline.report();
    let names: Vec<_> = report.blame.culprits.iter().filter_map(|of| of.frame.as_ref()).collect();
    let names: Vec<_> = names.iter().map(|frame| &*frame.function).collect();
    assert_eq!(names, ["shop::doze", "shop::nap"], "{report}");
}

/// Half of the polls of a function end before they are sampled: this is one issue, which says so.
#[test]
fn a_function_sampled_in_half_of_the_polls_is_one_issue() {
    let report = sleeps(&[5; 20], 10, 100).report();
    assert_eq!((report.issues().len(), report.blame.culprits.len()), (1, 1), "{report}");
    let said = report.verdict.to_string();
    assert!(said.contains(", seen in 10 of the 20 polls over 1 ms, 50.0 ms in all."), "{said}");
    let rest = "No function was seen in 10 other long polls of tasks spawned there, 50.0 ms in all";
    assert!(said.contains(rest), "{said}");
    assert!(said.contains("The longest took 5.00 ms"), "{said}");
    // All of them were sampled, so there is no further statement.
    let said = sleeps(&[5; 20], 20, 100).report().verdict.to_string();
    assert!(said.contains(", in 20 polls over 1 ms (of 120), 100 ms in all."), "{said}");
    assert!(!said.contains("seen"), "{said}");
}

/// A single short poll of a function doesn't hide that its location has many that did harm.
#[test]
fn many_harmful_polls_are_named_beside_a_harmless_function() {
    let mut polls = vec![2];
    polls.resize(41, 5);
    let timeline = sleeps(&polls, 1, 100);
    let report = timeline.report();
    let said = report.verdict.to_string();
    assert!(
        said.starts_with("Tasks spawned at src/jobs.rs:7:5 held the runtime up: 40 of 141 polls"),
        "{said}"
    );
    assert!(said.contains(" No function was seen in them."), "{said}");
    assert_eq!(report.blame.culprits.len(), 2, "{report}");
    assert_eq!(report.blame.unattributed.unseen_polls, 0, "{report}");
}
