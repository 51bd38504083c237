//! Tests that a black box has what a snapshot has.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::config::{BlackBox, CollectorConfig, Keep};
use crate::recorder::Recorder;
use crate::recorder::background::{open_box as open, write_box as write};
use crate::recorder::black_box::find;
use crate::recorder::hot::thread_recorder::ThreadRecorder;
use crate::recorder::record::{Kind, pack_ready, pack_spawn};
use crate::trace::snapshot::Snapshot;
use crate::trace::summary::Summary;
use crate::trace::task_key::TaskKey;
use crate::util::random::Random;

/// A folder of its own, which is removed.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("tokio-statemap-boxes-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn only_box(&self) -> PathBuf {
        let found = find(&self.0).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].pid, Some(std::process::id()));
        found[0].path.clone()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A program of random records on a few threads, which go through a recorder's buffers.
struct Program {
    recorder: Recorder,
    threads: Vec<(Box<ThreadRecorder>, Vec<u64>)>,
    random: Random,
    next_id: u64,
    idle: Vec<u64>,
    /// `true` if the first thread emits nothing.
    is_blocked: bool,
    events: u64,
}

impl Program {
    fn new(folder: &Folder, max_events: usize, keep: Keep, seed: u64) -> Self {
        // A poll that goes on gets longer until it is looked at again.
        Self::with_long_polls(folder, max_events, keep, seed, Duration::from_secs(3600))
    }

    fn with_long_polls(
        folder: &Folder,
        max_events: usize,
        keep: Keep,
        seed: u64,
        long_poll: Duration,
    ) -> Self {
        let config = CollectorConfig {
            max_events,
            keep,
            buffer_capacity: 64,
            long_poll,
            black_box: BlackBox::Folder(folder.0.clone()),
            ..CollectorConfig::default()
        };
        let recorder = Recorder::new(config);
        open(&recorder);
        recorder.kept.start(|| ());
        let threads = (0..3).map(|_| (recorder.new_thread_recorder(), Vec::new())).collect();
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut program = Self {
            recorder,
            threads,
            random,
            next_id: 1,
            idle: Vec::new(),
            is_blocked: false,
            events: 0,
        };
        for worker in 0..3 {
            program.push(worker, Kind::Role, worker as u64 + 1);
        }
        program
    }

    fn push(&mut self, thread: usize, kind: Kind, payload: u64) {
        let ticks = self.recorder.kept.clock.ticks();
        self.threads[thread].0.push(&self.recorder, ticks, kind, payload);
    }

    fn event(&mut self, thread: usize, kind: Kind, payload: u64) {
        self.events += 1;
        self.push(thread, kind, payload);
    }

    fn step(&mut self) {
        let thread = self.random.below(self.threads.len() as u64) as usize;
        let thread = if self.is_blocked { thread.max(1) } else { thread };
        match self.random.below(8) {
            0 | 1 if self.idle.len() < 50 => {
                let (id, location) = (self.next_id, self.random.below(5) as u32);
                self.next_id += 1;
                self.event(thread, Kind::SpawnAt, pack_spawn(id, location).unwrap());
                self.idle.push(id);
            }
            2..=4 if !self.idle.is_empty() => {
                let at = self.random.below(self.idle.len() as u64) as usize;
                let id = self.idle.remove(at);
                let ready = self.random.below(1000);
                self.event(thread, Kind::PollStartReady, pack_ready(id, ready).unwrap());
                self.threads[thread].1.push(id);
            }
            5 if self.threads[thread].1.is_empty() => {
                self.event(thread, Kind::Park, 0);
                self.event(thread, Kind::Unpark, 0);
            }
            _ => {
                let Some(id) = self.threads[thread].1.pop() else { return };
                if self.random.once_in(4) {
                    self.event(thread, Kind::Terminate, id);
                } else {
                    self.idle.push(id);
                }
                self.event(thread, Kind::PollEnd, id);
            }
        }
    }
}

/// Ends all polls, so that none gets long while no record comes.
fn end_polls(program: &mut Program) {
    for thread in 0..program.threads.len() {
        while let Some(id) = program.threads[thread].1.pop() {
            program.event(thread, Kind::PollEnd, id);
            program.idle.push(id);
        }
    }
}

/// The facts that must be the same however little is kept.
fn sums(summary: &Summary) -> impl PartialEq + std::fmt::Debug + use<> {
    let rows: Vec<_> = summary
        .locations
        .iter()
        .map(|row| (row.location, row.tasks, row.polls.count(), row.long_polls))
        .collect();
    let workers: Vec<_> = summary.workers.iter().map(|w| (w.index, w.parks, w.polls)).collect();
    (summary.tasks, summary.polls, summary.cut_polls, summary.running_polls, rows, workers)
}

#[test]
fn a_box_has_the_run_that_a_snapshot_has() {
    for seed in 0..30 {
        let folder = Folder::new();
        let mut program = Program::new(&folder, 1_000_000, Keep::Last, seed);
        for round in 0..1 + seed % 5 {
            (0..200 + 100 * round).for_each(|_| program.step());
            write(&program.recorder, true);
        }
        let recovered = recover(&folder.only_box()).unwrap();
        let snapshot = Snapshot::take(&program.recorder, false);
        let timeline = Timeline::from_snapshot(&snapshot);
        let (one, other) = (&recovered.timeline, &timeline);
        assert_eq!((recovered.pid, recovered.lives), (std::process::id(), Some(false)));
        assert_eq!(one.events, program.events, "{seed}");
        assert_eq!((one.events, one.lost.total()), (other.events, 0));
        let tasks = |timeline: &Timeline| -> Vec<_> {
            let all = timeline.tasks.one_by_one();
            all.map(|task| (task.key, task.spawned_ns, task.terminated_ns, task.polls.clone()))
                .collect()
        };
        let is_open = |poll: &crate::trace::timeline::Poll| poll.end_ns().is_none();
        assert_eq!(tasks(one).len(), tasks(other).len());
        for (one, other) in tasks(one).into_iter().zip(tasks(other)) {
            assert_eq!((one.0, one.1, one.2), (other.0, other.1, other.2));
            assert_eq!(one.3.len(), other.3.len());
            for (one, other) in one.3.iter().zip(&other.3) {
                assert_eq!(one.start_ns(), other.start_ns());
                assert_eq!((is_open(one), one.end_ns()), (is_open(other), other.end_ns()));
            }
        }
        assert_eq!(one.whole_run().map(sums), other.whole_run().map(sums), "{seed}");
    }
}

#[test]
#[ignore = "slow"]
fn a_box_has_the_sums_of_a_run_that_is_far_longer_than_it() {
    for seed in 0..6 {
        let folder = Folder::new();
        let mut program = Program::new(&folder, 20_000, Keep::Last, seed);
        // Each file takes 256 KiB, which are 16 384 records.
        for _ in 0..60 {
            (0..3_000).for_each(|_| program.step());
            write(&program.recorder, true);
        }
        let timeline = recover(&folder.only_box()).unwrap().timeline;
        assert!(program.events > 100_000 && timeline.lost.dropped_events > 50_000);
        assert_eq!(timeline.events + timeline.lost.total(), program.events, "{seed}");
        let snapshot = Timeline::from_snapshot(&Snapshot::take(&program.recorder, false));
        assert_eq!(snapshot.events + snapshot.lost.total(), program.events, "{seed}");
        assert_eq!(
            sums(timeline.whole_run().unwrap()),
            sums(snapshot.whole_run().unwrap()),
            "{seed}"
        );
    }
}

/// Returns the starts and ends of the polls of a task.
fn polls_of(timeline: &Timeline, task: u64) -> Vec<(u64, Option<u64>)> {
    let mut all = timeline.tasks.one_by_one();
    let found = all.find(|found| found.key == TaskKey::Spawned(task));
    let polls = found.iter().flat_map(|task| task.polls.iter());
    polls.map(|poll| (poll.start_ns(), poll.end_ns())).collect()
}

#[test]
#[ignore = "slow"]
fn a_box_has_the_longest_polls_of_a_run_that_is_far_longer_than_it() {
    while !has_the_longest_polls() {}
}

/// Returns `false` if other polls were long, too, as the machine was busy.
fn has_the_longest_polls() -> bool {
    let folder = Folder::new();
    let long_poll = Duration::from_millis(20);
    let mut program = Program::with_long_polls(&folder, 20_000, Keep::Last, 9, long_poll);
    let mut long = Vec::new();
    for round in 0..60 {
        end_polls(&mut program);
        write(&program.recorder, true);
        if round % 16 == 2 {
            let id = 1_000_000 + round;
            // Few windows are pinned of one location.
            program.event(0, Kind::SpawnAt, pack_spawn(id, 9 + round as u32).unwrap());
            program.event(0, Kind::PollStartReady, pack_ready(id, 0).unwrap());
            program.is_blocked = true;
            (0..20).for_each(|_| program.step());
            end_polls(&mut program);
            write(&program.recorder, true);
            std::thread::sleep(2 * long_poll);
            program.is_blocked = false;
            program.event(0, Kind::Terminate, id);
            program.event(0, Kind::PollEnd, id);
            long.push(id);
        }
        (0..2_000).for_each(|_| program.step());
    }
    end_polls(&mut program);
    write(&program.recorder, true);
    let timeline = recover(&folder.only_box()).unwrap().timeline;
    let snapshot = Timeline::from_snapshot(&Snapshot::take(&program.recorder, false));
    let of = format!("{:?}, {:?}", timeline.lost, timeline.gaps);
    for timeline in [&timeline, &snapshot] {
        assert_eq!(timeline.events + timeline.lost.total(), program.events, "{of}");
    }
    let summary = timeline.whole_run().unwrap();
    assert_eq!(sums(summary), sums(snapshot.whole_run().unwrap()), "{of}");
    assert!(timeline.lost.dropped_events > 20_000, "{of}");
    if summary.locations.iter().map(|row| row.long_polls).sum::<u64>() > long.len() as u64 {
        return false;
    }
    for &id in &long {
        let [(start_ns, Some(end_ns))] = polls_of(&timeline, id)[..] else {
            panic!("{of}: {:?}", polls_of(&timeline, id));
        };
        assert!(Duration::from_nanos(end_ns - start_ns) >= 2 * long_poll, "{of}");
    }
    true
}

#[test]
#[ignore = "slow"]
fn what_comes_too_fast_is_a_gap() {
    let folder = Folder::new();
    let mut program = Program::new(&folder, 4_000_000, Keep::Last, 1);
    (0..1_000).for_each(|_| program.step());
    write(&program.recorder, true);
    // More than may wait.
    while program.events < 1_200_000 {
        program.step();
    }
    write(&program.recorder, true);
    let after = program.events;
    (0..1_000).for_each(|_| program.step());
    program.recorder.kept.stop(|| ());
    write(&program.recorder, true);
    let timeline = recover(&folder.only_box()).unwrap().timeline;
    assert_eq!(timeline.events + timeline.lost.total(), program.events);
    assert!(timeline.lost.total() > 1_000_000 && timeline.events >= program.events - after);
    // No poll goes on over the gap.
    assert_eq!(timeline.gaps.len(), 1, "{:?}", timeline.gaps);
    let (from_ns, to_ns) = timeline.gaps[0];
    for task in timeline.tasks.one_by_one() {
        for poll in &task.polls {
            let end_ns = poll.end_ns().unwrap_or(timeline.end_ns);
            assert!(end_ns <= from_ns || poll.start_ns() >= to_ns, "{poll:?}");
        }
    }
}

#[test]
fn what_is_refused_is_counted() {
    let folder = Folder::new();
    let mut program = Program::new(&folder, 5_000, Keep::First, 7);
    for _ in 0..20 {
        (0..1_000).for_each(|_| program.step());
        write(&program.recorder, true);
    }
    let timeline = recover(&folder.only_box()).unwrap().timeline;
    let snapshot = Timeline::from_snapshot(&Snapshot::take(&program.recorder, false));
    assert_eq!(timeline.events + timeline.lost.total(), program.events);
    assert_eq!(snapshot.events + snapshot.lost.total(), program.events);
    assert!(timeline.events >= 5_000);
}

#[test]
fn a_box_that_is_cut_off_ends_earlier() {
    let folder = Folder::new();
    let mut program = Program::new(&folder, 1_000_000, Keep::Last, 3);
    let path = folder.only_box();
    let mut lengths = Vec::new();
    for _ in 0..5 {
        (0..50).for_each(|_| program.step());
        write(&program.recorder, true);
        lengths.push((std::fs::metadata(&path).unwrap().len(), program.events));
    }
    let bytes = std::fs::read(&path).unwrap();
    // A copy has another name, and so no second file.
    let copy = folder.0.join("copy");
    for len in (0..bytes.len()).step_by(37) {
        std::fs::write(&copy, &bytes[..len]).unwrap();
        let whole = lengths.iter().rev().find(|(end, _)| *end <= len as u64);
        match (recover(&copy), whole) {
            (Ok(recovered), Some((_, events))) => {
                assert_eq!(recovered.timeline.events, *events, "{len}");
                assert_eq!(recovered.lives, None);
            }
            (Err(_), None) => {}
            (found, whole) => panic!("{len}: {found:?}, {whole:?}"),
        }
    }
}

#[test]
fn a_damaged_box_is_refused_or_read_up_to_there() {
    let folder = Folder::new();
    let mut program = Program::new(&folder, 1_000_000, Keep::Last, 4);
    (0..300).for_each(|_| program.step());
    write(&program.recorder, true);
    let bytes = std::fs::read(folder.only_box()).unwrap();
    let copy = folder.0.join("copy");
    let mut random = Random(77);
    for _ in 0..400 {
        let mut bytes = bytes.clone();
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
        std::fs::write(&copy, bytes).unwrap();
        let error = recover(&copy).unwrap_err();
        assert!(
            error.contains("damaged") || error.contains("black box") || error.contains("whole"),
            "{error}"
        );
    }
    std::fs::write(&copy, "tasks.json").unwrap();
    assert_eq!(recover(&copy).unwrap_err(), "this is no black box: its first 16 bytes are others");
}

#[test]
fn a_box_is_removed_with_its_recorder() {
    let folder = Folder::new();
    let mut program = Program::new(&folder, 1_000, Keep::Last, 5);
    program.step();
    write(&program.recorder, true);
    folder.only_box();
    drop(program);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

/// Whoever can write a file can give it the right hashes, too.
#[test]
fn a_forged_box_takes_no_longer_than_another() {
    let folder = Folder::new();
    let mut program = Program::new(&folder, 1_000_000, Keep::Last, 6);
    (0..150).for_each(|_| program.step());
    write(&program.recorder, true);
    let bytes = std::fs::read(folder.only_box()).unwrap();
    let copy = folder.0.join("copy");
    let (mut random, mut refused, mut panics) = (Random(99), 0, 0);
    for _ in 0..200 {
        let mut bytes = bytes.clone();
        let mut frames = Vec::new();
        let mut at = 16;
        while at < bytes.len() {
            let len = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
            frames.push(at + 16..at + 16 + len);
            at += 16 + len;
        }
        let frame = frames[random.below(frames.len() as u64) as usize].clone();
        for _ in 0..1 + random.below(3) {
            let at = frame.start + random.below(frame.len() as u64) as usize;
            bytes[at] = match random.below(3) {
                0 => 0xff,
                1 => 0,
                _ => bytes[at] ^ 1 << random.below(8),
            };
        }
        let hash = crate::recorder::black_box::journal::hash(&bytes[frame.clone()]);
        bytes[frame.start - 8..frame.start].copy_from_slice(&hash.to_le_bytes());
        std::fs::write(&copy, bytes).unwrap();
        // The command says that it is damaged.
        match std::panic::catch_unwind(|| recover(&copy).map(|_| ())) {
            Ok(Ok(())) => {}
            Ok(Err(_)) => refused += 1,
            Err(_) => panics += 1,
        }
    }
    assert!(refused > 20 && panics < 20, "{refused} {panics}");
}
