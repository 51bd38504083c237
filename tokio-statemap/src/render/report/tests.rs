//! The report states the contents of the timeline, in 80 columns, whatever names it contains.

use std::time::Duration;

use super::*;
use crate::config::TraceTarget;
use crate::recorder::lost::Lost;
use crate::trace::event::SpawnLocation;
use crate::trace::state::{TaskState, WorkerState};
use crate::trace::timeline::{
    BlockingThread, ExhaustedPool, FrameOrigin, Handover, Poll, PollCause, PollSample,
    SamplingState, StackFrame, Task, TaskKey, Timeline, Worker,
};
use crate::util::clean::clean;
use crate::util::quantity::{human, human_setting, percent};

mod beside;
mod let_go;
#[cfg(feature = "html")]
mod one_figure;
mod seen;
mod waited;
mod whole_run;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

fn at(file: &'static str, line: u32, column: u32) -> Option<SpawnLocation> {
    Some(SpawnLocation { file, line, column })
}

/// Returns a second of a runtime with two workers that were running for `running_ms`.
fn timeline(running_ms: u64) -> Timeline {
    let worker = |index| Worker {
        index,
        transitions: vec![(0, WorkerState::Running), (running_ms * MS, WorkerState::Parked)],
        parks: 1,
    };
    Timeline {
        end_ns: 1000 * MS,
        workers: vec![worker(0), worker(1)],
        events: 100,
        ..Timeline::empty()
    }
}

fn task(id: u64, location: Option<SpawnLocation>, polls: Vec<Poll>) -> Task {
    let spawned = polls.first().map_or(0, |poll| poll.ready_ns().unwrap_or(poll.start_ns()));
    let terminated_ns = polls.last().and_then(Poll::end_ns);
    Task { location, terminated_ns, ..Task::planted(TaskKey::Spawned(id), spawned, polls) }
}

fn main_task(polls: Vec<Poll>) -> Task {
    Task { key: TaskKey::Root(0), ..task(0, at("src/main.rs", 5, 1), polls) }
}

/// Returns a poll on worker `worker` that was ready for `ready_ns` before its start.
fn poll(start_ns: u64, length_ns: u64, worker: u32, ready_ns: u64) -> Poll {
    Poll::open(start_ns, worker, Some(worker))
        .ready(Some(start_ns - ready_ns))
        .ended(start_ns + length_ns)
}

fn verdict(timeline: &Timeline) -> String {
    timeline.report().verdict.to_string()
}

#[test]
fn names_the_location_whose_polls_ran_over_most_in_sum() {
    let mut timeline = timeline(120);
    // The longest single poll, but 12 ms in sum.
    let once = task(1, at("src/once.rs", 1, 2), vec![poll(100 * MS, 12 * MS, 0, 0)]);
    let often = (0..4).map(|i| poll((200 + 20 * i) * MS, 5 * MS, 1, 0));
    let often = often.chain([poll(500 * MS, 10 * US, 1, 0)]).collect();
    let often = task(2, at("src/often.rs", 42, 9), often);
    // Ready while the first long poll of `often` ran, and not at its very end or start.
    let waited = task(3, at("src/x.rs", 1, 1), vec![poll(205 * MS, US, 1, 3 * MS)]);
    let before = task(4, at("src/x.rs", 1, 1), vec![poll(200 * MS, US, 0, 3 * MS)]);
    let after = task(5, at("src/x.rs", 1, 1), vec![poll(206 * MS, US, 0, MS)]);
    let never = task(6, at("src/x.rs", 1, 1), vec![]);
    *timeline.tasks = vec![once, often, waited, before, after, never];
    assert_eq!(
        verdict(&timeline),
        "Tasks spawned at src/often.rs:42:9 held the runtime up: 4 of 5 polls ran over 1 ms, 20.0 ms in all. \
         Meanwhile other tasks waited 23.0 ms for a worker, in sum. The longest took 5.00 ms, on worker-1 at \
         0.200 s. Another function or location had such polls, too."
    );
}

fn exhausted_pool() -> ExhaustedPool {
    ExhaustedPool {
        threads: 2,
        most_waiting: 46,
        waited_ns: 12_000 * MS,
        longest_ns: 480 * MS,
        location: at("src/thumbnails.rs", 31, 14),
        tasks: 48,
        ran_ns: 960 * MS,
        other_locations: 0,
    }
}

#[test]
fn names_what_exhausted_the_blocking_pool() {
    let mut timeline = timeline(120);
    timeline.pool.exhausted = Some(exhausted_pool());
    let said = "The blocking pool was exhausted: up to 46 blocking tasks at once waited for its 2 threads, \
                for 12.0 s in sum, and each for up to 480 ms. Meanwhile the pool ran 48 tasks spawned at \
                src/thumbnails.rs:31:14, for 20.0 ms each on average.";
    let workers = "No poll held a worker over 1 ms, and the workers were busy 12.0 % of the time.";
    assert_eq!(verdict(&timeline), format!("{said} {workers}"));

    // Long polls delayed little.
    let short = task(1, at("src/once.rs", 1, 2), vec![poll(100 * MS, 2 * MS, 0, 0)]);
    *timeline.tasks = vec![short];
    let workers = "The workers were busy 12.0 % of the time.";
    assert_eq!(verdict(&timeline), format!("{said} {workers}"));

    // Long polls held the workers for less time than tasks waited for the pool.
    *timeline.tasks = vec![task(1, at("src/once.rs", 1, 2), vec![poll(100 * MS, 120 * MS, 0, 0)])];
    assert_eq!(verdict(&timeline), format!("{said} {workers}"));

    // Long polls held them for longer: the pool only has a line.
    let shorter = ExhaustedPool { waited_ns: 50 * MS, ..exhausted_pool() };
    timeline.pool.exhausted = Some(shorter);
    assert!(
        verdict(&timeline).starts_with("Tasks spawned at src/once.rs:1:2 held the runtime up: ")
    );
    let said = said.replace("for 12.0 s in sum", "for 50.0 ms in sum");
    assert!(timeline.report().to_string().replace('\n', " ").contains(&said));

    *timeline.tasks = Vec::new();
    let mut pool = exhausted_pool();
    (pool.threads, pool.most_waiting, pool.tasks, pool.other_locations) = (1, 1, 1, 3);
    pool.location = None;
    timeline.pool.exhausted = Some(pool);
    let said = "up to 1 blocking task at once waited for its only thread, for 12.0 s in sum, and each for up to 480 ms. \
                Meanwhile 1 task of unknown spawn location occupied its threads longest, for 960 ms. No poll";
    assert!(verdict(&timeline).contains(said), "{}", verdict(&timeline));
    timeline.pool.exhausted = Some(ExhaustedPool { tasks: 0, ..pool });
    let said = "each for up to 480 ms. No task occupying a pool thread finished during the recording. No poll";
    assert!(verdict(&timeline).contains(said), "{}", verdict(&timeline));

    // What its threads were in at the end. The last one is of a poll.
    timeline.end_ns = 990 * MS;
    let look = |timeline: &mut Timeline, start_ns, line, blocked_in: Option<&str>| {
        let frame = |function: &str, origin, line| StackFrame {
            function: function.into(),
            file: Some("src/thumbnails.rs".into()),
            line: Some(line),
            origin,
        };
        let frames = vec![
            frame("std::sync::Mutex::lock", FrameOrigin::Std, 1),
            frame("shop::scale", FrameOrigin::Program, line),
        ];
        timeline.long_polls.beside.push(PollSample {
            thread: 20,
            poll_start_ns: start_ns,
            at_ns: 990 * MS,
            blocked_in: blocked_in.map(Into::into),
            frames: if blocked_in.is_some() { frames } else { Vec::new() },
            is_complete: true,
        });
    };
    for (start_ns, line, blocked_in) in [
        (990 * MS, 40, "futex"),
        (990 * MS, 40, "futex"),
        (990 * MS, 7, "read"),
        (100 * MS, 40, "futex"),
    ] {
        look(&mut timeline, start_ns, line, Some(blocked_in));
    }
    let said = "At the end, of 3 of its threads, 2 were in shop::scale at src/thumbnails.rs:40 \
                and waited for a std Mutex (futex), and 1 was in shop::scale at src/thumbnails.rs:7 and ";
    assert!(verdict(&timeline).contains(said), "{}", verdict(&timeline));
    // If most of them run, those that are blocked aren't the reason.
    for _ in 0..3 {
        look(&mut timeline, 990 * MS, 40, None);
    }
    assert!(!verdict(&timeline).contains("of its threads,"), "{}", verdict(&timeline));
}

/// A read of standard input, for which Tokio waits when the runtime is dropped.
#[test]
fn names_what_the_end_of_a_runtime_waited_for() {
    let said =
        "A thread of the blocking pool ran on for 3.00 s after the workers had stopped. Unless";
    let ran_on = |stopped_ns, workers_stop: bool| {
        let mut timeline = timeline(120);
        timeline.end_ns = 4_000 * MS;
        *timeline.tasks = vec![task(1, at("src/main.rs", 1, 2), vec![poll(100 * MS, US, 0, 0)])];
        for worker in &mut timeline.workers {
            worker.transitions.push((990 * MS, WorkerState::Parked));
            if workers_stop {
                worker.transitions.push((1_000 * MS, WorkerState::Stopped));
            }
        }
        timeline.pool.threads = vec![BlockingThread { thread: 9, started_ns: 0, stopped_ns }];
        verdict(&timeline)
    };
    for stopped_ns in [None, Some(4_000 * MS)] {
        let verdict = ran_on(stopped_ns, true);
        assert!(verdict.contains(said), "{verdict}");
    }
    for verdict in [ran_on(Some(1_900 * MS), true), ran_on(None, false)] {
        assert!(!verdict.contains("blocking pool"), "{verdict}");
    }
}

#[test]
fn says_that_ready_times_are_unknown() {
    let mut timeline = timeline(120);
    timeline.settings.schedule_latency = false;
    timeline.settings.long_poll = Duration::from_micros(2500);
    *timeline.tasks = vec![task(1, None, vec![poll(100 * MS, 25 * MS, 0, 0)])];
    let report = timeline.report();
    assert_eq!(
        report.verdict.to_string(),
        "Tasks of unknown spawn location held the runtime up: the only poll ran over 2.5 ms. How long other \
         tasks waited isn't known: ready times were not recorded. The poll took 25.0 ms, on worker-0 at \
         0.100 s."
    );
    assert!(report.to_string().contains("Ready times were not recorded"));
}

#[test]
fn names_what_held_busy_workers() {
    let mut timeline = timeline(990);
    let polls = |worker| (0..950).map(move |i| poll(i * MS, 900 * US, worker, 0)).collect();
    *timeline.tasks = vec![
        main_task(vec![Poll::open(0, 9, None)]),
        task(1, at("src/main.rs", 60, 5), polls(0)),
        task(2, at("src/main.rs", 60, 5), polls(1)),
        task(3, at("src/main.rs", 70, 5), vec![poll(960 * MS, 500 * US, 0, 0)]),
    ];
    assert_eq!(
        verdict(&timeline),
        "The workers were busy 99.0 % of the time: 2 tasks spawned at src/main.rs:60:5 took 87.4 % of their \
         time. No poll held a worker over 1 ms. A poll of main still ran at the end, after 1.00 s, on a thread \
         that isn't a worker."
    );
    // The same with a gap in the recording: the workers were parked for the rest of the time.
    timeline.gaps = vec![(0, 990 * MS)];
    assert!(verdict(&timeline).starts_with("Nothing held the runtime up"));
}

/// Two workers are busy all the time. Tasks of `src/main.rs` take 24 ms of it, and the work between their polls 12.
fn busy_beside(other: Vec<Poll>) -> Timeline {
    let mut timeline = timeline(990);
    let polls = |worker| (0..300).map(move |i| poll(i * MS, 40 * US, worker, 0)).collect();
    *timeline.tasks = vec![
        task(1, at("src/main.rs", 60, 5), polls(0)),
        task(2, at("src/main.rs", 60, 5), polls(1)),
        task(3, at("src/healthy.rs", 1, 5), other),
    ];
    timeline
}

#[test]
fn time_that_is_blamed_on_nobody_keeps_no_workers_busy() {
    let said = "The workers were busy 99.0 % of the time: 2 tasks spawned at src/main.rs:60:5 took 1.8 % of their time. \
                They had 600 polls of 40.0 µs: scheduling them took 33.";
    let long = poll(310 * MS, 90 * MS, 0, 0);
    // The machine took the processor from the poll.
    let mut taken = busy_beside(vec![long]);
    let cause =
        PollCause { run_delay_ns: 89_500 * US, on_cpu_ns: 500 * US, ..PollCause::default() };
    taken.long_polls.causes = vec![(long.key(), cause)];
    assert!(verdict(&taken).starts_with(&said[..100]), "{}", verdict(&taken));
    // No function was seen in the poll.
    let mut unseen = busy_beside(vec![long]);
    unseen.long_polls.sampling.state = SamplingState::On;
    assert!(verdict(&unseen).starts_with(&said[..100]), "{}", verdict(&unseen));
    // Without it, the workers were parked for a third of the time.
    let polls =
        |worker| vec![poll(300 * MS, 90 * MS, worker, 0), poll(400 * MS, 90 * MS, worker, 0)];
    let mut parked = busy_beside([polls(0), polls(1)].concat());
    parked.long_polls.sampling.state = SamplingState::On;
    parked.end_ns = 500 * MS;
    for worker in &mut parked.workers {
        worker.transitions = vec![(0, WorkerState::Parked), (50 * MS, WorkerState::Running)];
    }
    let said = verdict(&parked);
    assert!(said.starts_with("Nothing held the runtime up: no poll was seen"), "{said}");
    assert!(said.contains("the workers were busy 90.0 % of the time"), "{said}");
}

#[test]
fn blames_nothing_in_a_healthy_program() {
    let mut timeline = timeline(120);
    *timeline.tasks = vec![
        // It blocks, but on a thread that isn't a worker.
        main_task(vec![Poll::open(0, 9, None).ended(500 * MS)]),
        // Just not over `long_poll`.
        task(1, at("src/main.rs", 60, 5), vec![poll(10 * MS, MS, 0, 0)]),
    ];
    assert_eq!(
        verdict(&timeline),
        "Nothing held the runtime up: no poll held a worker over 1 ms, and the workers were busy \
         12.0 % of the time. The longest poll of main took 500 ms, on a thread that isn't a worker."
    );
    timeline.tasks.remove(0);
    assert!(verdict(&timeline).ends_with(" of the time."));
    timeline.lost.refused_events = 7;
    assert!(verdict(&timeline).starts_with("Nothing held the runtime up in what was recorded:"));
}

#[test]
fn blames_nothing_for_the_start_of_workers() {
    let mut timeline = timeline(990);
    *timeline.tasks = vec![task(1, at("a.rs", 1, 1), vec![poll(10 * MS, 900 * US, 0, 0)])];
    assert!(verdict(&timeline).starts_with("Nothing held the runtime up"));
}

/// In a fraction of a millisecond the workers do little but start, whatever share of that time belongs to
/// tasks.
#[test]
fn blames_nothing_in_a_run_that_is_too_short() {
    let mut timeline = timeline(1000);
    timeline.end_ns = 412 * US;
    timeline.workers.iter_mut().for_each(|worker| worker.transitions.truncate(1));
    *timeline.tasks = vec![task(1, at("a.rs", 1, 1), vec![poll(0, 200 * US, 0, 0)])];
    let short = verdict(&timeline);
    assert!(short.starts_with("Only 412 µs were recorded: that is too short to tell"), "{short}");
    // Long enough, but the location held the workers for less than one long poll would.
    timeline.end_ns = 20 * MS;
    timeline.tasks[0].polls = vec![poll(0, 900 * US, 0, 0)];
    assert!(verdict(&timeline).starts_with("Nothing held the runtime up: "));
    timeline.tasks[0].polls.push(poll(MS, 900 * US, 0, 0));
    assert!(verdict(&timeline).contains(" 1 task spawned at a.rs:1:1 took "), "{timeline:?}");
}

/// The sum of waiting times counts, not the number of waiting tasks at one time.
#[test]
fn adds_up_how_long_others_waited() {
    let mut timeline = timeline(120);
    let short = |from: u64| poll(from * MS, 500 * US, 1, MS);
    let others = (0..6).map(|i| task(2 + i, at("b.rs", 1, 1), vec![short(11 + 2 * i)]));
    *timeline.tasks = vec![task(1, at("a.rs", 1, 1), vec![poll(10 * MS, 20 * MS, 0, 0)])];
    timeline.tasks.extend(others);
    let waited = |timeline: &Timeline| timeline.report().blame.culprits[0].delay.waited_ns;
    assert_eq!(waited(&timeline), Some(6 * MS));
    assert!(
        verdict(&timeline)
            .starts_with("Little was held up: the only poll of tasks spawned at a.rs:1:1")
    );
    // A task that was ready before the poll waited for it since the poll began.
    timeline.tasks.push(task(9, at("c.rs", 1, 1), vec![poll(15 * MS, US, 1, 9 * MS)]));
    assert_eq!(waited(&timeline), Some(11 * MS));
    assert!(
        verdict(&timeline)
            .starts_with("Tasks spawned at a.rs:1:1 held the runtime up: the only poll ran")
    );
    assert!(
        verdict(&timeline).contains(" Meanwhile other tasks waited 11.0 ms for a worker, in sum.")
    );
}

#[test]
fn uses_the_singular() {
    let mut timeline = timeline(120);
    timeline.lost.refused_events = 1;
    assert!(timeline.report().to_string().contains(", 1 event lost: max_events."));
    timeline.lost = Lost { dropped_events: 1, ..Lost::default() };
    timeline.events = 1;
    let text = timeline.report().to_string();
    assert!(text.contains("1 event kept, 0 events lost."), "{text}");
    let text = text.replace('\n', " ");
    assert!(
        text.contains("The last event is kept; an older event was dropped by design."),
        "{text}"
    );
}

#[test]
fn blames_main_on_a_worker() {
    let mut timeline = timeline(120);
    *timeline.tasks = vec![main_task(vec![poll(10 * MS, 20 * MS, 0, 0)])];
    assert!(verdict(&timeline).starts_with(
        "Little was held up: the only poll of the root future of src/main.rs:5:1 (main) ran over 1 ms."
    ));
}

#[test]
fn a_block_in_place_holds_its_worker_until_the_handover() {
    let mut timeline = timeline(120);
    *timeline.tasks = vec![task(1, at("a.rs", 1, 1), vec![poll(10 * MS, 500 * MS, 0, 0)])];
    timeline.handovers = vec![Handover { thread: 0, time_ns: 10 * MS + 200 * US, worker: 0 }];
    let report = timeline.report();
    assert!(report.verdict.to_string().starts_with("Nothing held"), "{report}");
    assert_eq!(report.locations[0].held_ns, 200 * US);
}

#[test]
fn states_what_is_unknown() {
    let mut timeline = timeline(120);
    timeline.settings.task_hooks = false;
    *timeline.tasks = vec![main_task(vec![])];
    assert_eq!(
        verdict(&timeline),
        "No task can be named that held the runtime up: Tokio's task hooks need --cfg tokio_unstable. \
         The workers were busy 12.0 % of the time."
    );
    let text = timeline.report().to_string();
    assert!(text.contains("Workers only: task hooks need --cfg tokio_unstable."), "{text}");
    timeline.settings.task_hooks = true;
    timeline.settings.trace_target = TraceTarget::Workers;
    assert!(verdict(&timeline).contains("tasks were not recorded"));
    timeline.settings.trace_target = TraceTarget::Tasks;
    assert!(
        verdict(&timeline)
            .contains("; how busy the workers were isn't known. No spawned task was recorded")
    );
    timeline.events = 0;
    assert_eq!(verdict(&timeline), "Nothing was recorded.");
    timeline.settings.trace_target = TraceTarget::None;
    let text = timeline.report().to_string();
    assert!(text.contains("Neither tasks nor workers were to be recorded."), "{text}");
    assert!(!text.contains("only") && !text.contains("shares"), "{text}");
}

#[test]
fn an_unfinished_poll_counts_up_to_the_end() {
    let mut timeline = timeline(1000);
    *timeline.tasks = vec![task(1, at("a.rs", 1, 1), vec![Poll::open(600 * MS, 0, Some(0))])];
    timeline.tasks[0].terminated_ns = None;
    assert!(
        verdict(&timeline).contains("The poll still ran at the end, after 400 ms, on worker-0")
    );
    let text = timeline.report().to_string();
    assert!(text.contains(">400 ms"), "{text}");
}

#[test]
fn the_text_is_complete() {
    let mut timeline = timeline(120);
    timeline.begin_ns = 0;
    timeline.lost.refused_events = 12;
    *timeline.tasks = vec![
        main_task(vec![Poll::open(0, 9, None).ended(2 * MS)]),
        task(
            1,
            at("src/main.rs", 42, 9),
            vec![poll(100 * MS, 25_600 * US, 0, 10 * US), poll(300 * MS, 400 * US, 0, 20 * US)],
        ),
        task(2, at("src/main.rs", 50, 9), vec![poll(120 * MS, 30 * US, 1, 8 * US)]),
    ];
    timeline.tasks[2].terminated_ns = None;
    let expected = "\
Little was held up: one of 2 polls of tasks spawned at src/main.rs:42:9 ran over
1 ms. Meanwhile other tasks waited 8.00 µs for a worker, in sum. The poll took
25.6 ms, on worker-0 at 0.100 s.

1.00 s recorded: 2 tasks, 4 polls; 100 events kept, 12 events lost: max_events.
1 task still lived at the end.
Which functions held workers isn't known: that needs the feature `stacks`.

worker-0  running 12.0 %, parked 88.0 %
worker-1  running 12.0 %, parked 88.0 %

Spawn locations (total: wall time; latency: the longest time from wake to poll):
spawned at             tasks polls    total longest     p50     p99 latency
src/main.rs:42:9           1     2  26.0 ms 25.6 ms  400 µs 25.6 ms 20.0 µs
src/main.rs:50:9           1     1  30.0 µs 30.0 µs 30.0 µs 30.0 µs 8.00 µs
src/main.rs:5:1 (main)     1     1 *2.00 ms 2.00 ms 2.00 ms 2.00 ms       -
* includes polls on threads that aren't workers: these held no worker

The longest polls (delayed: how long others waited meanwhile, in sum):
     at   length    worker  delayed  where, or spawned at
0.100 s  25.6 ms  worker-0  8.00 µs  src/main.rs:42:9
0.000 s  2.00 ms         -     0 ns  src/main.rs:5:1 (main)
0.300 s   400 µs  worker-0     0 ns  src/main.rs:42:9
0.120 s  30.0 µs  worker-1     0 ns  src/main.rs:50:9";
    let text = timeline.report().to_string();
    assert_eq!(text, expected, "\n{text}\n");
}

#[test]
fn a_huge_and_hostile_timeline_fits_a_screen() {
    let mut timeline = timeline(120);
    timeline.runtime = Some("\u{1b}[31mapi\n".repeat(1000));
    timeline.workers = (0..64)
        .map(|index| Worker {
            index,
            transitions: vec![
                (0, WorkerState::Running),
                (u64::from(index) * MS, WorkerState::Parked),
            ],
            parks: 1,
        })
        .collect();
    timeline.lost = Lost {
        refused_events: u64::MAX / 8,
        dropped_events: u64::MAX / 8,
        reentrant_events: u64::MAX / 8,
    };
    timeline.gaps = vec![(400 * MS, 500 * MS)];
    timeline.begin_ns = 1;
    let folder: &'static str = format!("/{}", "a long folder\u{1b}[2J/\n".repeat(500)).leak();
    let wide: &'static str = "宽".repeat(5000).leak();
    for i in 0..100 {
        let file = match i % 3 {
            0 => folder,
            1 => wide,
            _ => "C:\\Users\\me\\projects\\service\\src\\handlers\\report.rs",
        };
        let location = at(file, 10_000 + i as u32, 100);
        let mut task = task(i, location, vec![poll(i * 5 * MS, 2 * MS + i, 63, 0)]);
        task.polls[0] = task.polls[0].cut_left();
        task.terminated_ns = None;
        timeline.tasks.push(task);
    }
    timeline.tasks.push(main_task(vec![Poll::open(0, 99, None)]));
    let report = timeline.report();
    let text = report.to_string();
    assert!(text.lines().count() <= 49, "{}\n{text}", text.lines().count());
    for line in text.lines() {
        assert!(layout::width(line) <= 80, "{}: {line}", layout::width(line));
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    assert!(text.contains("… and 56 more: running"), "{text}");
    assert!(text.contains("report.rs:10"), "{text}");
    assert!(text.contains("(main)"), "{text}");
    assert_eq!(report.locations.len(), 101);
    // The same timeline has the same text, independent of the order of hash maps.
    assert_eq!(timeline.report(), report);
}

#[test]
fn an_empty_timeline_is_fine() {
    let mut timeline = timeline(0);
    timeline.workers.clear();
    timeline.end_ns = 0;
    timeline.events = 0;
    assert!(timeline.report().to_string().starts_with("Nothing was recorded."));
}

#[test]
fn numbers_have_three_digits() {
    let cases = [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (99_949, "99.9 µs"),
        (99_950, "100 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (9_995_000, "10.0 ms"),
        (51_200_000, "51.2 ms"),
        (999_500_000, "1.00 s"),
        (86_400_000_000_000, "86400 s"),
    ];
    for (ns, text) in cases {
        assert_eq!(human(ns), text);
    }
    assert_eq!(human_setting(MS), "1 ms");
    assert_eq!(human_setting(2_500_000), "2.5 ms");
    assert_eq!(human_setting(100 * MS), "100 ms");
    assert_eq!(percent(0.9996), "100 %");
    assert_eq!(percent(0.1234), "12.3 %");
}

#[test]
fn a_number_stays_with_its_unit() {
    let text = format!("{} over 1 ms, done", "x".repeat(70));
    assert_eq!(layout::wrap(&text), [format!("{} over", "x".repeat(70)), "1 ms, done".to_owned()]);
}

#[test]
fn long_paths_lose_whole_folders() {
    let path = "/home/me/service/src/handlers/report.rs:42:9";
    assert_eq!(layout::keep_right(path, 34), "service/…/handlers/report.rs:42:9");
    assert_eq!(layout::keep_right(path, 10), "…ort.rs:42");
    assert_eq!(layout::keep_right("/home/me/a/report.rs", 12), "…/report.rs");
    assert_eq!(layout::keep_right(path, 44), path);
    assert_eq!(clean("a\u{1b}[1m\n\u{202e}b"), "a\\u{1b}[1m\\n\\u{202e}b");
    for c in
        ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').chain(['\u{200e}', '\u{200f}'])
    {
        assert_eq!(clean(&format!("a{c}b")), format!("a{}b", c.escape_default()));
    }
}

/// The earliest of equal polls counts, as in the page and the picture, even if it is of a later task.
#[test]
fn the_earliest_of_equally_long_polls_counts() {
    let mut timeline = timeline(120);
    let late = task(1, at("a.rs", 1, 1), vec![poll(300 * MS, 5 * MS, 0, 0)]);
    let early = task(2, at("a.rs", 1, 1), vec![poll(100 * MS, 5 * MS, 1, 0)]);
    *timeline.tasks = vec![late, early];
    let report = timeline.report();
    assert_eq!(report.longest_polls[0].task, TaskKey::Spawned(2));
    assert!(verdict(&timeline).contains("on worker-1 at 0.100 s"), "{report}");
}

#[test]
fn a_task_ready_since_before_the_left_edge_is_ready() {
    let mut timeline = timeline(120);
    let mut waits = task(2, at("b.rs", 1, 1), vec![]);
    (waits.spawned_ns, waits.first_ns) = (None, 0);
    *timeline.tasks = vec![task(1, at("a.rs", 1, 1), vec![poll(100 * MS, 5 * MS, 0, 0)]), waits];
    assert_eq!(timeline.report().blame.culprits[0].delay.waited_ns, Some(5 * MS));
    let report = timeline.report();
    assert_eq!(report.locations[1].longest_ready_ns, Some(1000 * MS));
}
