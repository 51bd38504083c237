//! Tests that the arrangement neither loses nor doubles a row, that no two rows of a lane overlap, and that a row does
//! what the timeline says.

use std::time::Duration;

use super::*;
use crate::config::CollectorConfig;
use crate::trace::event::{Event, SpawnLocation};
use crate::trace::timeline::TaskKey;
use crate::trace::woken_by::WokenBy;

/// A pseudo-random number below `n` (xorshift64*).
pub(crate) fn below(seed: &mut u64, n: u64) -> u64 {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    (seed.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
}

/// A timeline of `tasks` tasks on two workers. Most of the tasks end.
pub(crate) fn timeline(tasks: u64, seed: u64) -> Timeline {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let location = |line| Some(SpawnLocation { file: "src/main.rs", line, column: 5 });
    let mut events = Vec::new();
    let mut now = 1_000;
    let start = |thread: u32| Event::WorkerStart { time_ns: 500, thread, worker: Some(thread) };
    events.extend([start(0), start(1)]);
    let root = Event::ROOT;
    let poll = |events: &mut Vec<Event>, task_id, at: u64, length: u64, ready_ns| {
        let (thread, worker) = ((task_id % 2) as u32, Some((task_id % 2) as u32));
        events.push(Event::TaskPollStart {
            task_id,
            time_ns: at,
            thread,
            worker,
            ready_ns,
            woken_by: ready_ns.map(|_: u64| WokenBy::Task(TaskKey::from_id(task_id / 2))),
        });
        (Event::TaskPollEnd { task_id, time_ns: at + length, thread, worker }, thread)
    };
    let (end, _) = poll(&mut events, root, now, 5_000 * tasks, None);
    for task_id in 1..=tasks {
        now += below(&mut seed, 4_000);
        let line = (task_id % 3) as u32;
        events.push(Event::TaskSpawn {
            task_id,
            time_ns: now,
            thread: 0,
            location: location(line),
        });
    }
    events.push(end);
    now += 5_000 * tasks;
    for task_id in 1..=tasks {
        let mut at = now + below(&mut seed, 20_000);
        for n in 0..below(&mut seed, 6) {
            let length = 1 + below(&mut seed, 3_000);
            let ready = (n > 0).then_some(at - 200);
            let (end, thread) = poll(&mut events, task_id, at, length, ready);
            at += length;
            if below(&mut seed, 3) == 0 {
                events.push(Event::TaskTerminate { task_id, time_ns: at - 1, thread });
                events.push(end);
                break;
            }
            events.push(end);
            at += 500 + below(&mut seed, 100_000);
        }
    }
    let utc = Duration::from_secs(1_700_000_000);
    let mut timeline = Timeline::from_events(&events, &CollectorConfig::default(), utc);
    // The result must not depend on what this build of Tokio can record.
    (timeline.settings.task_hooks, timeline.settings.schedule_latency) = (true, true);
    timeline
}

fn labels() -> Labels {
    Labels { title: "program".to_owned(), host: Some("host".to_owned()) }
}

fn section<'a, 'b>(picture: &'a Picture<'b>, kind: SectionKind) -> &'a Section<'b> {
    picture.sections.iter().find(|section| section.kind == kind).expect("such a section")
}

#[test]
fn every_row_stands_in_one_lane_and_no_two_overlap() {
    for seed in 0..50 {
        let timeline = timeline(1 + seed * 7, seed);
        let picture = Picture::of_timeline(&timeline, &labels());
        let tasks = section(&picture, SectionKind::Tasks);
        let mut rows = tasks.rows.clone();
        rows.sort_unstable();
        assert_eq!(rows, (0..timeline.tasks.len() as u32).collect::<Vec<_>>());
        assert_eq!(tasks.groups.last().expect("a group").lanes.end, tasks.lanes.len() - 1);
        for lane in 0..tasks.lanes.len() - 1 {
            let mut last_ns = 0;
            let mut is_over = true;
            for &row in tasks.lane(lane) {
                assert!(is_over, "a row follows one that goes on");
                tasks.source.walk(row, &mut |transition| {
                    assert!(
                        transition.time_ns >= last_ns && transition.time_ns <= picture.length_ns
                    );
                    last_ns = transition.time_ns;
                    is_over = tasks.role_of(transition.state) == Role::Completed;
                });
            }
        }
    }
}

#[test]
fn lanes_are_as_few_as_rows_live_at_a_time() {
    let mut seed = 7;
    for _ in 0..100 {
        let mut lives: Vec<(u64, Option<u64>, u32)> = (0..40)
            .map(|row| {
                let begin = below(&mut seed, 1_000);
                let lasts = below(&mut seed, 8) > 0;
                (begin, lasts.then(|| begin + below(&mut seed, 300)), row)
            })
            .collect();
        let (mut rows, mut lanes) = (Vec::new(), Vec::new());
        pack(&mut lives, &mut rows, &mut lanes);
        // The greatest number of tasks that live at one time. One that ends when another begins doesn't overlap with
        // it; one without length lives for a moment.
        let most = lives.iter().map(|&(at, _, row)| {
            let live = |&&(begin, end, other): &&(u64, Option<u64>, u32)| {
                (begin, other) <= (at, row) && end.is_none_or(|end| end > at) || other == row
            };
            lives.iter().filter(live).count()
        });
        assert_eq!(Some(lanes.len()), most.max());
    }
}

#[test]
fn groups_are_spawn_locations_and_main_is_the_first() {
    let timeline = timeline(30, 3);
    let picture = Picture::of_timeline(&timeline, &labels());
    let tasks = section(&picture, SectionKind::Tasks);
    assert_eq!(tasks.groups.len(), 4);
    assert_eq!(tasks.groups[0].label, "main");
    for group in &tasks.groups[1..] {
        for &row in tasks.group(group) {
            let location = timeline.tasks[row as usize].location.expect("a location");
            assert_eq!(location.to_string(), group.label);
            assert_eq!(tasks.source.parent(row), Some(0), "main spawned all of them");
        }
    }
}

#[test]
fn a_row_does_what_the_timeline_says() {
    let timeline = timeline(60, 9);
    let picture = Picture::of_timeline(&timeline, &labels());
    let tasks = section(&picture, SectionKind::Tasks);
    for &row in &tasks.rows {
        let task = &timeline.tasks[row as usize];
        let mut walked = Vec::new();
        let mut polls = Vec::new();
        tasks.source.walk(row, &mut |transition| {
            walked.push((transition.time_ns + timeline.begin_ns, transition.state));
            if tasks.role_of(transition.state) == Role::Running {
                polls.push((transition.time_ns + timeline.begin_ns, transition.worker));
            }
        });
        let expected: Vec<_> =
            task.transitions().map(|(at, state)| (at, u32::from(state.value()))).collect();
        assert_eq!(walked, expected);
        let expected: Vec<_> = task.polls.iter().map(|p| (p.start_ns(), p.worker())).collect();
        assert_eq!(polls, expected);
        let mut name = String::new();
        tasks.source.name(row, &mut name);
        assert_eq!(name, timeline.task_name(task.key));
        assert_eq!(tasks.source.is_root(row), matches!(task.key, TaskKey::Root(_)));
    }
}
