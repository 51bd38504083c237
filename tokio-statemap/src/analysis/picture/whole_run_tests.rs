//! Tests that a picture with sums begins with the run, and that the sums cover what isn't kept in detail exactly once.

use std::sync::Arc;
use std::time::Duration;

use super::tests::timeline;
use super::{Picture, WholeRun};
use crate::statemap::Labels;
use crate::trace::summary::{LocationSummary, Stopped, Stretch, Summary};
use crate::trace::timeline::Timeline;

const STRETCH: u64 = 1_000_000;

fn summary(stopped: Vec<Stopped>, stretches: Vec<Stretch>) -> Summary {
    let location = LocationSummary {
        location: None,
        is_root: false,
        tasks: 0,
        worker_polls: 0,
        held_ns: 0,
        off_worker_ns: 0,
        long_polls: 0,
        long_polls_ns: 0,
        ready_sum_ns: 0,
        polls: Default::default(),
        ready: Default::default(),
    };
    Summary {
        begin_ns: 0,
        end_ns: 0,
        recorded_ns: 0,
        stopped,
        tasks: 0,
        polls: 0,
        cut_polls: 0,
        live_tasks: None,
        running_polls: 0,
        running: Vec::new(),
        missed_events: 0,
        locations: vec![location],
        workers: Vec::new(),
        longest_polls: Vec::new(),
        stretch_ns: STRETCH,
        stretches,
    }
}

fn stretch(held_ns: u64, polls: u64, spawned: u64, terminated: u64) -> Stretch {
    let (longest_ns, longest_at) = (held_ns, (polls > 0).then_some(0));
    Stretch { held_ns, polls, longest_ns, longest_at, spawned, terminated }
}

/// The last 2 ms of 10 ms are kept, and before these the time from 3 to 4 ms.
fn part(stopped: Vec<Stopped>) -> Timeline {
    let mut timeline = timeline(20, 5);
    let alive = timeline.tasks.one_by_one().filter(|task| task.terminated_ns.is_none());
    // `main` isn't counted as a task.
    assert_eq!(alive.count(), 1 + ALIVE as usize);
    timeline.begin_ns = 3 * STRETCH;
    timeline.recent_ns = 8 * STRETCH;
    timeline.end_ns = 10 * STRETCH;
    timeline.gaps = vec![(4 * STRETCH, 8 * STRETCH)];
    let mut stretches = vec![stretch(STRETCH / 2, 3, 0, 0); 10];
    stretches[1] = stretch(0, 0, ALIVE + 4, 0);
    stretches[5] = stretch(0, 0, 0, 0);
    stretches[6] = stretch(STRETCH / 4, 1, 0, 4);
    timeline.whole_run = Some(Arc::new(summary(stopped, stretches)));
    timeline
}

/// The number of tasks that live to the end.
const ALIVE: u64 = 9;

fn picture(timeline: &Timeline) -> Picture<'_> {
    Picture::of_timeline(timeline, &Labels { title: "program".to_owned(), host: None })
}

fn run<'a>(picture: &'a Picture<'_>) -> &'a WholeRun {
    picture.whole_run.as_ref().expect("sums")
}

#[test]
fn it_begins_with_the_run() {
    let timeline = part(Vec::new());
    let picture = picture(&timeline);
    assert_eq!(picture.length_ns, 10 * STRETCH);
    assert_eq!(picture.start, timeline.utc_at_zero);
    assert_eq!(picture.gaps, [(0, 3 * STRETCH), (4 * STRETCH, 8 * STRETCH)]);
    assert_eq!(run(&picture).dropped, picture.gaps);
    assert_eq!(
        run(&picture).detail,
        [
            "In detail: the last 2.00 ms, and 1 moment before, around the longest polls (1.00 ms).",
            "In sums only: the other 7.00 ms.",
        ]
    );
    assert!(!picture.notes.iter().any(|note| note.contains("left edge")), "{:?}", picture.notes);
    let first = picture.sections.iter().flat_map(|section| {
        section.rows.iter().map(|&row| {
            let mut times = Vec::new();
            section.source.walk(row, &mut |transition| times.push(transition.time_ns));
            times[0]
        })
    });
    assert!(first.min() >= Some(3 * STRETCH));
}

#[test]
fn stopped_is_told_from_dropped() {
    let timeline = part(vec![Stopped::new(5 * STRETCH, 6 * STRETCH + STRETCH / 2)]);
    let picture = picture(&timeline);
    let (five, half) = (5 * STRETCH, 6 * STRETCH + STRETCH / 2);
    assert_eq!(
        picture.gaps,
        [(0, 3 * STRETCH), (4 * STRETCH, five), (five, half), (half, 8 * STRETCH)]
    );
    let run = run(&picture);
    assert_eq!(run.dropped, [(0, 3 * STRETCH), (4 * STRETCH, five), (half, 8 * STRETCH)]);
    let stopped: Vec<u64> = run.stretches.iter().map(|stretch| stretch.stopped_ns).collect();
    assert_eq!(stopped, [0, 0, 0, 0, 0, STRETCH, STRETCH / 2, 0, 0, 0]);
    // The share is a half of the time of one worker, except where it polled nothing, and where nothing is known.
    let half = Some(0.5);
    let shares = [half, Some(0.0), half, half, half, None, half, half, half, half];
    assert_eq!(run.shares(10, picture.length_ns), shares);
    let of_two = run.shares(5, picture.length_ns);
    assert_eq!(of_two[0], Some(0.25));
    assert_eq!(of_two[2], half);
    assert_eq!(run.shares(20, picture.length_ns)[2..4], [Some(0.0), Some(0.0)]);
}

#[test]
fn where_periods_were_merged_a_part_of_the_time_was_recorded() {
    let merged =
        Stopped { recorded_ns: STRETCH, periods: 9, ..Stopped::new(4 * STRETCH, 8 * STRETCH) };
    let timeline = part(vec![merged]);
    let picture = picture(&timeline);
    let run = run(&picture);
    let stopped: Vec<u64> = run.stretches.iter().map(|stretch| stretch.stopped_ns).collect();
    let most = 3 * STRETCH / 4;
    assert_eq!(stopped, [0, 0, 0, 0, most, most, most, most, 0, 0]);
    // It isn't known when in this period something was recorded, so it isn't drawn as if nothing was.
    assert_eq!(run.dropped, picture.gaps);
    assert_eq!(run.detail[1], "In sums only: the other 4.00 ms.");
}

#[test]
fn tasks_alive_are_counted_back_from_the_end() {
    let timeline = part(Vec::new());
    let picture = picture(&timeline);
    let alive: Vec<u64> = run(&picture).stretches.iter().map(|stretch| stretch.alive).collect();
    let (all, left) = (ALIVE + 4, ALIVE);
    assert_eq!(alive, [0, all, all, all, all, all, left, left, left, left]);
}

#[test]
fn stretches_go_on_to_the_end() {
    let mut timeline = part(Vec::new());
    timeline.end_ns = 12 * STRETCH + 1;
    let quiet = picture(&timeline);
    assert_eq!(run(&quiet).stretches.len(), 13);
    assert!(run(&quiet).stretches[10..].iter().all(|stretch| stretch.polls + stretch.held_ns == 0));
    drop(quiet);
    // Stretches are merged in twos if there would be too many.
    timeline.end_ns = 5000 * STRETCH;
    let long = picture(&timeline);
    let run = run(&long);
    assert_eq!((run.stretch_ns, run.stretches.len()), (4 * STRETCH, 1250));
    let of = |stretch: &super::whole_run::Stretch| (stretch.polls, stretch.held_ns, stretch.alive);
    let first: Vec<_> = run.stretches[..3].iter().map(of).collect();
    let (all, half) = (ALIVE + 4, STRETCH / 2);
    assert_eq!(
        first,
        [(9, 3 * half, all), (7, 2 * half + STRETCH / 4, ALIVE), (6, 2 * half, ALIVE)]
    );
    assert_eq!(run.stretches.iter().map(|stretch| stretch.polls).sum::<u64>(), 22);
    assert_eq!(run.stretches[1].longest, Some((half, 0)));
    assert_eq!(run.stretches[3].longest, None);
}

#[test]
fn where_all_is_kept_or_only_a_part_was_read_there_are_no_sums() {
    let mut whole = part(Vec::new());
    (whole.begin_ns, whole.recent_ns) = (0, 0);
    whole.gaps.clear();
    assert!(picture(&whole).whole_run.is_none());
    for change in [
        (|timeline| timeline.lacking.time = true) as fn(&mut Timeline),
        |timeline| timeline.settings.task_hooks = false,
        |timeline| timeline.whole_run = None,
    ] {
        let mut timeline = part(Vec::new());
        change(&mut timeline);
        let picture = picture(&timeline);
        assert!(picture.whole_run.is_none());
        assert_eq!(picture.length_ns, 7 * STRETCH);
        assert_eq!(picture.start, timeline.utc_at_zero + Duration::from_nanos(3 * STRETCH));
        assert_eq!(picture.gaps, [(STRETCH, 5 * STRETCH)]);
    }
}
