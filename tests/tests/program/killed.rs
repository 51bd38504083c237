//! A program that is killed leaves what it emitted in its black box, up to the last round.
//!
//! `KILLS=100 cargo test --release --test program killed -- --ignored --nocapture` kills it more often, and says how much
//! was lost.
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tests::child::{Running, command};
use tests::emitted::{Emitted, Kind};
use tests::files::{folder, names_in};
use tokio_statemap::__private::recover;
use tokio_statemap::Timeline;
use tokio_statemap::timeline::TaskKey;

/// A root future has no hooks: it was spawned and polled once.
const OF_ROOT: u64 = 3;

const MS_NS: u64 = 1_000_000;

/// The sums over the boxes of some processes.
#[derive(Debug, Default)]
struct Found {
    kills: u64,
    with_culprit: u64,
    with_dropped: u64,
    whole_tasks: u64,
    in_two_parts: u64,
    most_lost_ms: u64,
}

/// Kills processes with boxes in `boxes`, and compares what is there with what they emitted.
fn kill(name: &str, boxes: &Path, max_events: u64) -> Found {
    let kills = std::env::var("KILLS").map_or(4, |n| n.parse().unwrap());
    let mut found = Found::default();
    for n in 0..kills {
        // In memory: what is written to a disk holds up who writes it.
        let log =
            folder("/dev/shm", &format!("tokio-statemap-killed-{}-{name}", std::process::id()));
        let out = folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/killed"), name);
        let boxes = folder(boxes, name);
        let mut program = command(env!("CARGO_BIN_EXE_killed"), &out);
        program.arg(max_events.to_string()).env("LOG", &log).env("TOKIO_STATEMAP_BOX", &boxes);
        let mut program = Running::start(&mut program);
        // At any moment, but once there is something to be found.
        program.wait_for("ready");
        let after = u64::from(program.id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1500;
        std::thread::sleep(Duration::from_millis(200 + after));
        program.signal(libc::SIGKILL);
        assert_eq!(program.end().stderr, "");
        let first = names_in(&boxes).into_iter().find(|name| name.ends_with(".0.box")).unwrap();
        let recovered = recover(&boxes.join(first)).unwrap();
        compare(&recovered.timeline, &Emitted::all(&log), &mut found, &format!("{name} {n}"));
        found.kills += 1;
        for folder in [&log, &boxes] {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    println!("{name}, {max_events}: {found:?}");
    found
}

fn compare(timeline: &Timeline, all: &[Emitted], found: &mut Found, of: &str) {
    // Each worker's polls and parks are those up to one moment of its log. Between the last of them and the next one
    // there are few other events.
    let summary = timeline.whole_run().unwrap();
    let (mut least, mut most, mut last_ns, mut end_ns) = (0, 0, 0, 0);
    for emitted in all {
        end_ns = emitted.events.last().map_or(0, |event| event.0).max(end_ns);
        let sums = summary.workers.iter().find(|sums| Some(sums.index) == emitted.worker);
        let Some(sums) = sums else {
            // It isn't a worker: that which spawned the first tasks, or a thread that has done nothing.
            (least, most) = (least + emitted.events.len(), most + emitted.events.len());
            continue;
        };
        let (polls, parks) = ((Kind::PollStart, sums.polls), (Kind::Park, sums.parks));
        let [from_polls, from_parks] =
            [polls, parks].map(|(kind, n)| emitted.up_to(kind, n).expect("it was emitted"));
        let [to_polls, to_parks] = [polls, parks].map(|(kind, n)| {
            emitted.up_to(kind, n + 1).map_or(emitted.events.len(), |place| place - 1)
        });
        let (from, to) = (from_polls.max(from_parks), to_polls.min(to_parks));
        assert!(from <= to, "{of}: {from_polls}, {from_parks} to {to_polls}, {to_parks}: {sums:?}");
        (least, most) = (least + from, most + to);
        last_ns = last_ns.max(emitted.events[to - 1].0);
    }
    let in_box = timeline.events + timeline.lost.total() - OF_ROOT;
    assert!(
        (least as u64..=most as u64).contains(&in_box),
        "{of}: {in_box} in the box, {least} to {most} emitted: {:?}",
        timeline.lost
    );
    // A task spawns a hundred others in one poll, if each has ended when it is awaited.
    assert!(most - least <= 110 * all.len(), "{of}: {least} to {most}");
    found.with_dropped += u64::from(timeline.lost.total() > 0);
    found.most_lost_ms = found.most_lost_ms.max((end_ns - last_ns) / MS_NS);
    let verdict = timeline.report().verdict.to_string();
    match verdict.contains("reads_the_disk") {
        true => found.with_culprit += 1,
        false => println!("{of}: {verdict}"),
    }

    for task in timeline.tasks.one_by_one() {
        let (TaskKey::Spawned(id), Some(spawned_ns), Some(end_ns)) =
            (task.key, task.spawned_ns, task.terminated_ns)
        else {
            continue;
        };
        let has_line = task.location.is_some_and(|at| at.line == spawn_line());
        let in_gap = |&(from_ns, to_ns): &(u64, u64)| spawned_ns < to_ns && from_ns < end_ns;
        if has_line && !timeline.gaps.iter().any(in_gap) {
            assert_eq!(task.polls.len() as u64, 1 + id % 4, "{of}: {task:?}, {:?}", timeline.gaps);
            found.whole_tasks += 1;
        }
        // A poll that is kept in two parts is one poll: its worker began no other meanwhile.
        for poll in &task.polls {
            let poll_end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            let spans =
                |&(from_ns, to_ns): &(u64, u64)| poll.start_ns() < from_ns && to_ns < poll_end_ns;
            if !timeline.gaps.iter().any(spans) {
                continue;
            }
            let log = all.iter().find(|log| log.worker == poll.worker()).unwrap();
            let utc_ns = |ns: u64| timeline.utc_at_zero.as_nanos() as u64 + ns;
            // The clocks aren't the same.
            let during = utc_ns(poll.start_ns()) + MS_NS..utc_ns(poll_end_ns).saturating_sub(MS_NS);
            let began =
                |event: &&(u64, Kind)| event.1 == Kind::PollStart && during.contains(&event.0);
            let others = log.events.iter().filter(began).count();
            assert!(others <= 1, "{of}: {others} in {poll:?}, {:?}", timeline.gaps);
            found.in_two_parts += 1;
        }
    }
}

/// Returns the line at which the tasks with a known number of polls are spawned.
fn spawn_line() -> u32 {
    let source = include_str!("../../src/bin/killed.rs");
    1 + source.lines().position(|line| line.contains("tokio::spawn(yields())")).unwrap() as u32
}

fn check(found: &Found) {
    assert!(found.whole_tasks > 0, "{found:?}");
    // On a busy machine a process may be killed before a stack was sampled.
    assert!(2 * found.with_culprit >= found.kills, "{found:?}");
}

#[test]
#[ignore = "slow: kills processes, each after a second"]
fn a_box_in_memory_has_all_that_was_emitted() {
    for (max_events, name) in [(40_000, "small"), (200_000, "medium"), (10_000_000, "large")] {
        check(&kill(name, Path::new("/dev/shm/tokio-statemap-boxes"), max_events));
    }
}

#[test]
#[ignore = "slow: kills processes, each after a second"]
fn a_box_on_a_disk_has_all_that_was_emitted() {
    let boxes = PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/killed-boxes"));
    check(&kill("disk", &boxes, 40_000));
}
