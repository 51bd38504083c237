//! The report of a run of which only a part is kept in detail covers the whole run, and states what is kept.

use std::sync::Arc;

use super::*;
use crate::trace::summary::{Distribution, LocationSummary, Summary, SummedPoll, WorkerSummary};
use crate::trace::timeline::SamplingState;

/// Returns a location of the whole run with short polls of 10 µs and long ones of `long_ns`.
fn location(at: Option<SpawnLocation>, short: u64, long: u64, long_ns: u64) -> LocationSummary {
    let mut steps = vec![(10 * US, short), (long_ns, long)];
    steps.retain(|&(_, n)| n > 0);
    let longest_ns = steps.last().map_or(0, |&(bound, _)| bound);
    LocationSummary {
        location: at,
        is_root: false,
        tasks: 3,
        worker_polls: short + long,
        held_ns: short * 10 * US + long * long_ns,
        off_worker_ns: 0,
        long_polls: long,
        long_polls_ns: long * long_ns,
        polls: Distribution { longest_ns, steps },
        ready: Distribution { longest_ns: 7 * US, steps: vec![(7 * US, short)] },
        ready_sum_ns: short * 7 * US,
    }
}

/// Returns an hour of two workers that were running for a tenth of it. The last second is kept.
fn of_an_hour(tasks: Vec<Task>, locations: Vec<LocationSummary>) -> Timeline {
    const HOUR: u64 = 3_600_000 * MS;
    let mut timeline = timeline(120);
    (timeline.begin_ns, timeline.recent_ns, timeline.end_ns) =
        (HOUR - 1000 * MS, HOUR - 1000 * MS, HOUR);
    timeline.lost.dropped_events = 5000;
    timeline.long_polls.sampling.state = SamplingState::Off;
    *timeline.tasks = tasks;
    let worker = |index| WorkerSummary {
        index,
        running_ns: HOUR / 10,
        parked_ns: HOUR / 10 * 9,
        parks: 9,
        polls: 1000,
    };
    timeline.whole_run = Some(Arc::new(Summary {
        begin_ns: 0,
        end_ns: HOUR,
        recorded_ns: HOUR,
        stopped: Vec::new(),
        tasks: locations.iter().map(|of| of.tasks).sum(),
        polls: locations.iter().map(|of| of.polls.count()).sum(),
        cut_polls: 0,
        live_tasks: None,
        running_polls: 0,
        running: Vec::new(),
        missed_events: 0,
        locations,
        workers: vec![worker(0), worker(1)],
        longest_polls: Vec::new(),
        stretch_ns: 1,
        stretches: Vec::new(),
    }));
    timeline
}

/// Returns polls of `length_ns`, from a time in ms of the last second, each of which keeps another task
/// waiting.
fn long_polls(
    id: u64,
    at: Option<SpawnLocation>,
    n: u64,
    length_ns: u64,
    from_ms: u64,
) -> Vec<Task> {
    let from_ns = 3_599_000 * MS + from_ms * MS;
    let polls = (0..n).map(|i| poll(from_ns + i * 2 * length_ns, length_ns, 0, 0)).collect();
    let waits = (0..n).map(|i| {
        let end_ns = from_ns + i * 2 * length_ns + length_ns;
        poll(end_ns, US, 1, length_ns)
    });
    let mut waiting = task(id + 1000, at_x(), waits.collect());
    (waiting.first_state, waiting.spawned_ns) = (TaskState::Waiting, None);
    vec![task(id, at, polls), waiting]
}

fn at_x() -> Option<SpawnLocation> {
    at("src/x.rs", 1, 1)
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn many_polls_of_the_whole_run_outweigh_a_longer_one() {
    let (often, once) = (at("src/often.rs", 4, 2), at("src/once.rs", 1, 1));
    let tasks =
        [long_polls(1, often, 4, 2 * MS, 100), long_polls(2, once, 1, 30 * MS, 500)].concat();
    // In the kept detail a single poll did more harm.
    let kept = {
        let mut timeline = of_an_hour(tasks.clone(), Vec::new());
        timeline.whole_run = None;
        timeline
    };
    assert!(
        verdict(&kept).starts_with("Tasks spawned at src/once.rs:1:1 held the runtime up"),
        "{}",
        verdict(&kept)
    );
    let locations = vec![
        location(often, 89_690, 310, 20 * MS),
        location(once, 10, 1, 30 * MS),
        location(at_x(), 100, 0, 0),
    ];
    let timeline = of_an_hour(tasks, locations);
    let report = timeline.report();
    assert_eq!(
        report.verdict.to_string(),
        "Tasks spawned at src/often.rs:4:2 held the runtime up: 310 of 90000 polls ran over 1 ms, 6.20 s of \
         wall time in all. During the polls that are kept other tasks waited 8.00 ms for a worker, in sum. The \
         longest of those kept took 2.00 ms, on worker-0 at 3599.100 s. 4 of these polls are kept in detail. \
         Another function or location had such polls, too."
    );
    let text = words(&report.to_string());
    for said in [
        "The whole run, 3600 s: 9 tasks, 90111 polls. The last 1.00 s are kept in detail: 100 events, 0 \
         events lost. 5000 older events were dropped by design. 311 polls held a worker over 1 ms, 6.23 s \
         of wall time in all; 5 are kept in detail.",
        "worker-0 running 10.0 %, parked 90.0 %",
        "src/often.rs:4:2 3 90000 7.10 s 20.0 ms 10.0 µs 10.0 µs 7.00 µs",
    ] {
        assert!(text.contains(said), "{said}: {report}");
    }
    // All long polls of this one are kept, so there is no further statement.
    let mut timeline = timeline;
    timeline.tasks.retain(|task| task.location != often);
    let whole = Arc::make_mut(timeline.whole_run.as_mut().unwrap());
    whole.locations.retain(|of| of.location != often);
    assert!(
        verdict(&timeline).starts_with(
            "Tasks spawned at src/once.rs:1:1 held the runtime up: one of 11 polls ran over 1 ms. Meanwhile"
        ),
        "{}",
        verdict(&timeline)
    );
}

#[test]
fn a_location_without_any_kept_long_poll_is_named() {
    let gone = at("src/gone.rs", 7, 7);
    let locations = || vec![location(gone, 90_000, 1000, 2 * MS), location(at_x(), 100, 0, 0)];
    let other = || vec![task(1, at_x(), vec![poll(3_599_100 * MS, 5 * US, 0, US)])];
    let mut timeline = of_an_hour(other(), locations());
    let said = "Tasks spawned at src/gone.rs:7:7 held the runtime up: 1000 of 91000 polls ran over 1 ms, 2.00 s of \
                wall time in all. None of these polls is kept in detail. What they did, and which tasks waited \
                meanwhile, isn't known. The longest took 2.00 ms of wall time.";
    assert_eq!(verdict(&timeline), said);
    // With sampled stacks, so many aren't a coincidence either.
    timeline.long_polls.sampling.state = SamplingState::On;
    timeline.settings.long_poll = Duration::from_millis(1);
    assert_eq!(verdict(&timeline), said);
    // The machine may have caused so few.
    timeline.whole_run = of_an_hour(other(), vec![location(gone, 90_000, 9, 2 * MS)]).whole_run;
    let report = timeline.report();
    assert_eq!(
        report.verdict.to_string(),
        "Nothing held the runtime up: no poll was seen to hold a worker over 1 ms by its own doing, and \
         the workers were busy 10.0 % of the time."
    );
    let text = words(&report.to_string());
    let few = "9 long polls are blamed on no function, 18.0 ms of wall time in all: no detail of them is kept, and no \
               other poll of their spawn locations is blamed.";
    assert!(text.contains(few), "{report}");
    // But not a poll of that length.
    timeline.whole_run = of_an_hour(other(), vec![location(gone, 90_000, 1, 150 * MS)]).whole_run;
    assert!(verdict(&timeline).starts_with(
        "Tasks spawned at src/gone.rs:7:7 held the runtime up: one of 90001 polls ran over 1 ms, 150 ms of wall \
         time in all. That poll isn't kept in detail. What it did"
    ));
    // The verdict names the worse one, but this one is listed.
    timeline.long_polls.sampling.state = SamplingState::Off;
    let once = at("src/once.rs", 1, 1);
    *timeline.tasks = long_polls(2, once, 1, 400 * MS, 500);
    let both = vec![location(gone, 0, 1, 150 * MS), location(once, 0, 1, 400 * MS)];
    timeline.whole_run = of_an_hour(other(), both).whole_run;
    let text = words(&timeline.report().to_string());
    assert!(
        text.starts_with("Tasks spawned at src/once.rs:1:1 held the runtime up: the only poll"),
        "{text}"
    );
    assert!(text.contains("Another function or location had such polls, too."), "{text}");
    for row in [
        "long polls 1 poll 400 ms 400 ms src/once.rs:1:1",
        "long polls 1 poll 150 ms not kept src/gone.rs:7:7",
    ] {
        assert!(text.contains(row), "{text}");
    }
}

/// If the machine caused all kept long polls of a location, the sums blame nothing.
#[test]
fn time_possibly_taken_by_the_machine_is_unattributed() {
    let busy = at("src/busy.rs", 1, 1);
    let tasks = long_polls(1, busy, 1, 3 * MS, 100);
    let locations = vec![location(busy, 90_000, 9000, 3 * MS), location(at_x(), 100, 0, 0)];
    let mut timeline = of_an_hour(tasks, locations);
    assert!(
        verdict(&timeline)
            .starts_with("Tasks spawned at src/busy.rs:1:1 held the runtime up: 9000 of 99000")
    );
    // No stack was sampled in the only one.
    timeline.long_polls.sampling.state = SamplingState::On;
    let report = timeline.report();
    assert!(report.blame.culprits.is_empty() && report.blame.unexplained.is_empty(), "{report}");
    let said =
        "Nothing held the runtime up: no poll was seen to hold a worker over 1 ms by its own doing";
    assert!(report.verdict.to_string().starts_with(said), "{report}");
    let text = words(&report.to_string());
    assert!(
        text.contains("One long poll of those kept in detail is blamed on no function"),
        "{report}"
    );
}

/// Long polls of which no detail is known keep no workers busy: the machine may account for them.
#[test]
fn dropped_long_polls_keep_no_workers_busy() {
    let busy = |long_ns| {
        let gone = location(at("src/gone.rs", 7, 7), 2_000_000, 900, long_ns);
        let other = vec![task(1, at_x(), vec![poll(3_599_100 * MS, 5 * US, 0, US)])];
        let mut timeline = of_an_hour(other, vec![gone, location(at_x(), 2_500_000, 0, 0)]);
        timeline.long_polls.sampling.state = SamplingState::On;
        let whole = Arc::make_mut(timeline.whole_run.as_mut().expect("it has one"));
        for worker in &mut whole.workers {
            std::mem::swap(&mut worker.running_ns, &mut worker.parked_ns);
            worker.running_ns += worker.parked_ns / 2;
            worker.parked_ns /= 2;
        }
        timeline
    };
    let said = verdict(&busy(30 * MS));
    let start = "The workers were busy 95.0 % of the time: 3 tasks spawned at src/x.rs";
    assert!(said.starts_with(start), "{said}");
    // They took more than the others, if they were their own doing.
    let said = verdict(&busy(90 * MS));
    assert!(said.starts_with("Nothing held the runtime up: no poll was seen"), "{said}");
}

#[test]
fn the_longest_polls_are_those_of_the_run() {
    let often = at("src/often.rs", 4, 2);
    let tasks = long_polls(1, often, 2, 2 * MS, 100);
    let locations = vec![location(often, 10, 5, 2 * MS), location(at_x(), 100, 0, 0)];
    let mut timeline = of_an_hour(tasks, locations);
    let whole = Arc::make_mut(timeline.whole_run.as_mut().unwrap());
    let summed = |id, start_ns, length_ns| SummedPoll {
        task: TaskKey::Spawned(id),
        location: 0,
        start_ns,
        length_ns,
        worker: Some(0),
        is_cut: false,
    };
    let kept_ns = 3_599_100 * MS;
    whole.longest_polls = vec![summed(77, 5 * MS, 9 * MS), summed(1, kept_ns, 2 * MS)];
    let text = timeline.report().to_string();
    let expected = "\
The longest polls (delayed: how long others waited meanwhile, in sum):
        at   length    worker   delayed  where, or spawned at
   0.005 s  9.00 ms  worker-0  not kept  src/often.rs:4:2
3599.100 s  2.00 ms  worker-0   2.00 ms  src/often.rs:4:2
not kept: what the poll did, and who waited, was dropped";
    assert!(text.ends_with(expected), "{text}");
    // Sums since a reset aren't those of the run.
    Arc::make_mut(timeline.whole_run.as_mut().unwrap()).begin_ns = 1;
    let report = timeline.report();
    assert!(
        report.recording.detail_ns.is_none() && report.longest_polls[0].task == TaskKey::Spawned(1)
    );
}
