//! Tests that each fact about a long poll is the timeline's, and that it is about the poll that it names.

use std::time::Duration;

use super::tests::timeline;
use super::*;
use crate::analysis::Report;
use crate::trace::state::TaskState;
use crate::trace::timeline::{FrameOrigin, PollCause, PollSample, SamplingState, StackFrame};

fn frame(function: &str, line: u32, origin: FrameOrigin) -> StackFrame {
    StackFrame {
        function: function.into(),
        file: Some("src/a.rs".into()),
        line: Some(line),
        origin,
    }
}

/// A timeline of long polls. The longest one computed in `compute`, and nothing else is known.
pub(crate) fn explained(compute: &str) -> (Timeline, (u32, u64)) {
    let mut timeline = timeline(40, 5);
    timeline.settings.long_poll = Duration::from_nanos(1_000);
    timeline.long_polls.sampling.state = SamplingState::On;
    let polls = timeline.tasks.seen().iter().flat_map(|task| &task.polls);
    let on_workers = polls.filter(|poll| poll.worker().is_some() && poll.end_ns().is_some());
    let mut polls: Vec<_> = on_workers.copied().collect();
    polls.sort_by_key(|poll| timeline.held_ns(poll));
    let (longest, shorter) = (polls[polls.len() - 2], polls[polls.len() - 3]);
    let held_ns = timeline.held_ns(&longest);
    let cause = PollCause { on_cpu_ns: held_ns - 7, run_delay_ns: 7, ..PollCause::default() };
    let taken = PollCause { stolen_ns: timeline.held_ns(&shorter), ..PollCause::default() };
    timeline.long_polls.causes = vec![(longest.key(), cause), (shorter.key(), taken)];
    timeline.long_polls.causes.sort_by_key(|(key, _)| *key);
    let (thread, poll_start_ns) = longest.key();
    let sample = |after_ns, is_complete| PollSample {
        thread,
        poll_start_ns,
        at_ns: poll_start_ns + after_ns,
        blocked_in: None,
        frames: vec![
            frame("core::hint::spin", 3, FrameOrigin::Std),
            frame(compute, 21, FrameOrigin::Program),
            frame("async shop::handle", 9, FrameOrigin::Program),
        ],
        is_complete,
    };
    timeline.long_polls.samples = vec![sample(500, true), sample(900, false), sample(1_000, true)];
    (timeline, longest.key())
}

fn why(timeline: &Timeline) -> (Report, Section<'_>) {
    let report = timeline.report();
    let labels = Labels { title: "why".to_owned(), host: None };
    let picture = Picture::of_report(timeline, &report, &labels);
    let is_judged = |section: &Section<'_>| section.why.is_some();
    (report, picture.sections.into_iter().find(is_judged).expect("the tasks"))
}

#[test]
fn polls_and_culprits_are_the_reports() {
    let (timeline, key) = explained("shop::compute");
    let (report, section) = why(&timeline);
    let why = section.why.as_ref().expect("it is there");
    // Each is a poll of its row.
    for poll in &why.polls {
        let mut is_found = false;
        section.source.walk(poll.row, &mut |transition| {
            is_found |= transition.time_ns == poll.start_ns
                && transition.state == u32::from(TaskState::Running.value());
        });
        assert!(is_found, "{poll:?}");
    }
    assert_eq!(why.culprits.len(), report.blame.culprits.len());
    for (told, culprit) in why.culprits.iter().zip(&report.blame.culprits) {
        assert_eq!((told.polls, told.own_ns), (culprit.polls, culprit.own_ns));
        assert_eq!(told.at.len() as u64, culprit.polls);
        let longest = why.polls[told.longest as usize].start_ns;
        assert_eq!(longest, culprit.longest.start_ns - timeline.begin_ns);
    }
    let nobodys = (why.unattributed_at.len() as u64, why.unseen_at.len() as u64, why.left_out);
    assert_eq!(
        nobodys,
        (report.blame.unattributed.polls, report.blame.unattributed.unseen_polls, 0)
    );
    let worst = why.longest_of(0).expect("somebody is to blame");
    assert_eq!(worst.start_ns, key.1 - timeline.begin_ns);
    assert_eq!(&*why.blamed(worst).expect("it is known").function, "shop::compute");
    assert_eq!(worst.cause.map(|cause| cause.run_delay_ns), Some(7));
    let after: Vec<_> = worst.samples.iter().map(|sample| sample.after_ns).collect();
    assert_eq!(after, [500, 900, 1_000]);
}

#[test]
fn stacks_share_what_they_begin_with() {
    let (timeline, _) = explained("shop::compute");
    let (_, section) = why(&timeline);
    let why = section.why.as_ref().expect("it is there");
    let calls: Vec<_> =
        why.longest_of(0).expect("it is there").samples.iter().map(|s| s.call).collect();
    assert!(calls[0] == calls[2] && calls[0] != calls[1]);
    // There are three functions, and the same calls once more within unknown callers.
    assert_eq!((why.frames.len(), why.calls.len()), (3, 7));
    let mut names = Vec::new();
    let mut at = calls[1];
    while let Some(call) = at.map(|at| why.calls[at as usize]) {
        names.push(call.frame.map(|frame| why.frames[frame as usize].short()));
        at = call.within;
    }
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(names, [name("spin"), name("compute"), name("async handle"), None]);
}

/// A file may have any number of polls of one thread that start at the same time.
#[test]
#[ignore = "slow"]
fn polls_that_share_samples_do_not_copy_them() {
    let (mut timeline, key) = explained("shop::compute");
    timeline.long_polls.samples =
        timeline.long_polls.samples.iter().cycle().take(60).cloned().collect();
    timeline.long_polls.samples.sort_by_key(PollSample::order);
    let tasks = timeline.tasks.seen().iter().cloned().map(|mut task| {
        if let Some(&poll) = task.polls.iter().find(|poll| poll.key() == key) {
            task.polls = vec![poll; 3_000];
        }
        task
    });
    timeline.tasks = tasks.collect::<Vec<_>>().into();
    let (_, section) = why(&timeline);
    let why = section.why.as_ref().expect("it is there");
    let with_samples: Vec<_> = why.polls.iter().filter(|poll| !poll.samples.is_empty()).collect();
    // There are as many as there is room for; the others are counted as left out.
    assert_eq!(with_samples.len(), 65_536 / 60);
    assert!(why.left_out >= 3_000 - with_samples.len());
    let first = &with_samples[0].samples;
    assert!(with_samples.iter().all(|poll| std::sync::Arc::ptr_eq(&poll.samples, first)));
}

#[test]
fn a_picture_points_at_the_culprit() {
    let (timeline, key) = explained("shop::compute");
    let labels = Labels { title: "why".to_owned(), host: None };
    let picture = Picture::of_timeline(&timeline, &labels);
    let PointsAt::First(seen) = picture.points_at() else { panic!("of one run") };
    assert_eq!(seen.start_ns, key.1 - timeline.begin_ns);
}

#[test]
fn a_picture_points_at_the_first_issue_or_at_nothing() {
    let (timeline, _) = explained("shop::compute");
    let labels = Labels { title: "why".to_owned(), host: None };
    let mut picture = Picture::of_timeline(&timeline, &labels);
    let mut change = |spots: Vec<(u32, u64, u64)>| {
        let mut sections = picture.sections.iter_mut();
        let issues = sections.find_map(|section| section.issues.as_mut()).expect("the tasks'");
        issues[0] = ListedIssue { culprit: None, spots, ..issues[0].clone() };
        picture.points_at()
    };
    assert!(matches!(
        change(vec![(3, 17, 5), (1, 2, 3)]),
        PointsAt::First(Seen { row: 3, start_ns: 17, .. })
    ));
    assert_eq!(change(Vec::new()), PointsAt::Nothing);
}

/// Without line tables, a function that is inlined into one of the runtime's isn't seen, but the function that blocks
/// is.
#[test]
fn what_blocks_is_said_though_the_function_is_not_known() {
    let (mut timeline, _) = explained("shop::compute");
    for sample in &mut timeline.long_polls.samples {
        sample.blocked_in = Some("clock_nanosleep".into());
        sample.frames = vec![
            frame("clock_nanosleep", 1, FrameOrigin::System),
            frame("std::thread::sleep", 2, FrameOrigin::Std),
            frame("tokio::runtime::task::harness::poll", 3, FrameOrigin::Runtime),
        ];
    }
    let report = timeline.report();
    let culprit =
        report.blame.culprits.iter().find(|culprit| !culprit.blocking_cause.is_empty()).unwrap();
    assert_eq!(culprit.frame, None);
    assert_eq!(culprit.blocking_cause, "blocked in std::thread::sleep (clock_nanosleep)");
    let issues: Vec<_> = report.issues().iter().map(ToString::to_string).collect();
    let said = " blocked in std::thread::sleep (clock_nanosleep), in a function that isn't known.";
    assert!(issues.iter().any(|text| text.contains(said)), "{issues:?}");
}
