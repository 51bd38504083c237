//! Tests that the report of a run is the same however little of the run is kept in detail.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::config::CollectorConfig;
use crate::recorder::capture::SourcePlace;
use crate::recorder::lost::Lost;
use crate::recorder::memory::Memory;
use crate::recorder::memory::eviction::{Eviction, Limits};
use crate::recorder::record::{Kind, Record, pack_spawn};
use crate::recorder::store::segment::{StreamId, events_of};
use crate::recorder::window::Window;
use crate::trace::task_key::TaskKey;
use crate::trace::timeline::Timeline;
use crate::util::random::Random;

/// The unit of all times, in ticks of a nanosecond each: times are multiples of it.
const UNIT: u64 = 1 << 32;

/// The parts that the programs have in common: their clock, their start, and the length of a unit in ns.
struct Base {
    scale: TickScale,
    from: u64,
    unit_ns: u64,
}

impl Base {
    fn new() -> Self {
        let from = 1_000_000;
        Self { scale: TickScale::of_ns(from), from, unit_ns: UNIT }
    }

    fn ticks(&self, units: u64) -> u64 {
        self.from + units * UNIT
    }

    /// Polls that take longer are long polls.
    fn long_poll(&self) -> Duration {
        Duration::from_nanos(self.long_poll_ticks())
    }

    fn long_poll_ticks(&self) -> u64 {
        30 * self.unit_ns + self.unit_ns / 2
    }
}

struct Task {
    id: u64,
    /// The time at which it was spawned, or at which its last poll ended.
    since: u64,
    is_polled: bool,
}

/// A random program's records, by thread. Times are in units.
struct Program<'a> {
    base: &'a Base,
    random: Random,
    now: u64,
    records: Vec<Vec<Record>>,
    /// The thread of each worker, its role once it is recorded, and the task that it polls.
    workers: Vec<(usize, bool, Option<Task>)>,
    /// A thread that is no worker, and the task that it polls.
    other: (usize, Option<Task>),
    idle: Vec<Task>,
    next_id: u64,
}

const LOCATIONS: u64 = 9;

impl<'a> Program<'a> {
    /// Runs a random program. Tasks are spawned at a few locations, polled on any worker and sometimes elsewhere, for
    /// up to a long time, and end. Workers park, and move to other threads within polls. As with Tokio, a task is ready
    /// for its first poll from its spawn on.
    fn run(base: &'a Base, seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let workers = 1 + random.below(3) as usize;
        let mut program = Self {
            base,
            now: 0,
            records: vec![Vec::new(); workers + 1],
            workers: (0..workers).map(|thread| (thread, false, None)).collect(),
            other: (workers, None),
            idle: Vec::new(),
            next_id: 1,
            random,
        };
        let longest = 1 << (2 + program.random.below(10));
        for _ in 0..200 + program.random.below(2500) {
            program.step(longest);
        }
        // A task that was never polled would be ready up to the end.
        for _ in 0..3 {
            (0..program.workers.len()).for_each(|worker| program.end_poll(worker));
            while let Some(at) = program.idle.iter().position(|task| !task.is_polled) {
                let task = program.idle.remove(at);
                program.start_poll(0, task);
                program.now += 1;
                program.end_poll(0);
            }
        }
        program
    }

    fn step(&mut self, longest: u64) {
        self.now += 1 + self.random.below(longest) * u64::from(self.random.once_in(4));
        let worker = self.random.below(self.workers.len() as u64) as usize;
        let polls = self.workers[worker].2.is_some();
        match self.random.below(10) {
            0 if !polls => {
                self.acts(worker, Kind::Park, 0);
                self.now += 1 + self.random.below(longest);
                self.acts(worker, Kind::Unpark, 0);
            }
            1 | 2 if self.idle.len() < 40 => {
                let (id, location) = (self.next_id, self.random.below(LOCATIONS) as u32);
                self.next_id += 1;
                self.acts(worker, Kind::SpawnAt, pack_spawn(id, location).unwrap());
                self.idle.push(Task { id, since: self.now, is_polled: false });
            }
            3 if !self.idle.is_empty() && self.other.1.is_none() => {
                let at = self.random.below(self.idle.len() as u64) as usize;
                let task = self.idle.remove(at);
                self.push(self.other.0, Kind::PollStart, task.id);
                self.other.1 = Some(task);
            }
            3 => self.end_other(),
            4..=6 if !self.idle.is_empty() && !polls => {
                let at = self.random.below(self.idle.len() as u64) as usize;
                let task = self.idle.remove(at);
                self.start_poll(worker, task);
                if self.random.once_in(3) {
                    return;
                }
                // Most polls are short.
                self.now += 1 + self.random.below(30);
                self.end_poll(worker);
            }
            7 if polls && self.random.once_in(8) => {
                // `block_in_place`: another thread is the worker from here on.
                let (thread, ..) = self.workers[worker];
                let Some(task) = self.workers[worker].2.take() else { return };
                let new = self.records.len();
                self.records.push(Vec::new());
                self.workers[worker] = (new, false, None);
                self.acts(worker, Kind::Park, 0);
                self.now += 1 + self.random.below(longest);
                self.acts(worker, Kind::Unpark, 0);
                self.now += 1;
                self.push(thread, Kind::PollEnd, task.id);
                self.idle.push(Task { since: self.now, is_polled: true, ..task });
            }
            7..=9 if polls => self.end_poll(worker),
            _ => {}
        }
    }

    fn push(&mut self, thread: usize, kind: Kind, payload: u64) {
        self.records[thread].push(Record::new(self.base.ticks(self.now), kind, payload));
    }

    /// Records something on a worker's thread, and before the first time, that the thread is this worker.
    fn acts(&mut self, worker: usize, kind: Kind, payload: u64) {
        let (thread, has_role, _) = &mut self.workers[worker];
        let (thread, has_role) = (*thread, std::mem::replace(has_role, true));
        if !has_role {
            self.push(thread, Kind::Role, worker as u64 + 1);
        }
        self.push(thread, kind, payload);
    }

    fn start_poll(&mut self, worker: usize, task: Task) {
        self.now += 1;
        let waited = self.now - task.since;
        let ready = if task.is_polled { self.random.below(waited) } else { waited };
        let (thread, has_role, polled) = &mut self.workers[worker];
        let (thread, id) = (*thread, task.id);
        *polled = Some(task);
        if !std::mem::replace(has_role, true) {
            self.push(thread, Kind::Role, worker as u64 + 1);
        }
        self.push(thread, Kind::Ready, ready * self.base.unit_ns);
        self.push(thread, Kind::PollStart, id);
    }

    fn end_poll(&mut self, worker: usize) {
        let Some(task) = self.workers[worker].2.take() else { return };
        self.now += 1;
        if self.random.once_in(4) {
            self.acts(worker, Kind::Terminate, task.id);
            self.now += 1;
            return self.acts(worker, Kind::PollEnd, task.id);
        }
        self.acts(worker, Kind::PollEnd, task.id);
        self.idle.push(Task { since: self.now, is_polled: true, ..task });
    }

    fn end_other(&mut self) {
        if let Some(task) = self.other.1.take() {
            self.push(self.other.0, Kind::PollEnd, task.id);
            // The task isn't ready for its next poll from its spawn on.
            self.idle.push(Task { since: self.now, is_polled: true, ..task });
        }
    }

    fn end(&self) -> u64 {
        self.base.ticks(self.now + 5)
    }
}

/// The contents of a recorder that holds at most `max_events` events.
struct Held<'a> {
    program: &'a Program<'a>,
    max_events: u64,
    windows: Vec<Window>,
    eviction: Eviction,
    memory: Memory,
    dropped: u64,
    /// The number of records of each thread that left the store.
    left: Vec<usize>,
}

impl Held<'_> {
    /// Stages all records up to `until`.
    fn stage(&mut self, until: u64) {
        let mut events = 0;
        for (stream, (records, left)) in (0..).zip(self.program.records.iter().zip(&mut self.left))
        {
            let to = records.partition_point(|record| record.ticks <= until);
            let from = std::mem::replace(left, to);
            if from < to {
                let segment = Segment::from_records(stream as StreamId, 0, &records[from..to]);
                events += events_of(std::slice::from_ref(&segment));
                self.eviction.staged.push(segment);
            }
        }
        self.eviction.has_staged(events, until);
    }

    /// Evicts as the background thread does; or, if that is behind, as a hook does.
    fn evict(&mut self, is_behind: bool) {
        let (base, windows, memory) = (self.program.base, &self.windows, &mut self.memory);
        memory.sums.expect_long_poll(&|| base.long_poll_ticks());
        if is_behind {
            self.eviction.sort();
            memory.update(&self.eviction.staged, windows);
            self.dropped += self.eviction.give_up(&mut drop);
            return;
        }
        let limits =
            Limits { long_poll: 30 * UNIT, around: 20 * UNIT, staged_events: self.max_events / 2 };
        self.dropped += self.eviction.look_through(limits, memory, windows, &mut drop);
    }

    /// Runs the whole program, and returns the timeline of what the recorder holds at the end.
    fn run(program: &Program<'_>, seed: u64, max_events: u64) -> Timeline {
        let mut random = Random(seed | 1);
        let mut held = Held {
            program,
            max_events,
            windows: vec![Window::new(program.base.from, None)],
            eviction: Eviction::new(max_events / 4),
            memory: Memory::default(),
            dropped: 0,
            left: vec![0; program.records.len()],
        };
        let events = program.records.iter().flatten().filter(|record| record.is_event());
        let times: Vec<u64> =
            BTreeSet::from_iter(events.map(|record| record.ticks)).into_iter().collect();
        let (mut so_far, mut staged) = (0, 0);
        while so_far < times.len() {
            so_far = (so_far + 1 + random.below(1 + max_events / 2) as usize).min(times.len());
            let kept = (max_events - held.eviction.pinned.events()) as usize;
            // Records that aren't there yet can't leave the store. Some are left for the snapshot to cut.
            if so_far > staged + kept + 3 {
                staged = so_far - kept - random.below(3) as usize;
                held.stage(times[staged - 1]);
                if !random.once_in(4) {
                    held.evict(random.once_in(20));
                }
            }
        }
        held.timeline()
    }

    fn timeline(self) -> Timeline {
        let Self { program, max_events, windows, eviction, memory, .. } = self;
        let base = program.base;
        let config = CollectorConfig {
            max_events: max_events as usize,
            long_poll: base.long_poll(),
            ..CollectorConfig::default()
        };
        let streams = (0..).zip(program.records.iter().zip(&self.left));
        let rest = streams.filter(|(_, (records, left))| **left < records.len());
        let mut segments: Vec<_> = rest
            .map(|(stream, (records, left))| Segment::from_records(stream, 0, &records[*left..]))
            .collect();
        segments.extend(eviction.staged.iter().cloned());
        segments.sort_unstable_by_key(Segment::order);
        let (stored, max_stored) = (events_of(&segments), max_events - eviction.pinned.events());
        let end = program.end();
        let pinned: Vec<_> = eviction.pinned.iter().map(Arc::clone).collect();
        let recorder = Recorder::new(config.clone());
        let mut capture = Capture {
            config,
            memory,
            segments,
            scale: base.scale.clone(),
            zero: base.from,
            begin: base.from,
            windows: vec![(base.from, end)],
            end,
            locations: locations(),
            lost: Lost {
                dropped_events: self.dropped + stored.saturating_sub(max_stored),
                ..Lost::default()
            },
            ..recorder.capture(Then::Keep)
        };
        capture.memory.sums.expect_long_poll(&|| base.long_poll_ticks());
        capture.limit((stored, max_stored), false, end, &windows);
        capture.add_pinned(&pinned, eviction.done_until(), &eviction.pinned.ended());
        Timeline::from_snapshot(&Snapshot::of_capture(capture))
    }
}

/// Returns the polls of a timeline that still run: their tasks and starts.
fn still_running(timeline: &Timeline) -> Vec<(TaskKey, u64)> {
    let mut running = Vec::new();
    for task in timeline.tasks.iter() {
        let polls = task.polls.iter().filter(|poll| poll.end_ns().is_none());
        running.extend(polls.map(|poll| (task.key, poll.start_ns())));
    }
    running.sort_unstable();
    running
}

#[track_caller]
fn here() -> &'static Location<'static> {
    Location::caller()
}

fn locations() -> Vec<SourcePlace> {
    let all = [here(), here(), here(), here(), here(), here(), here(), here(), here()];
    assert_eq!(all.len() as u64, LOCATIONS);
    all.map(Into::into).to_vec()
}

#[test]
#[ignore = "slow"]
fn the_report_is_that_of_the_whole_run_however_little_is_kept() {
    let base = Base::new();
    let is_close = |a: u64, b: u64| a.abs_diff(b) as f64 <= 0.01 * a.max(b) as f64;
    let (mut with_pinned, mut partly, mut long, mut off_worker, mut cut) = (0, 0, 0, 0, 0);
    for seed in 0..200 {
        let program = Program::run(&base, seed);
        let whole = Held::run(&program, seed, 10_000_000);
        assert_eq!((whole.lost, whole.begin_ns), (Lost::default(), 0));
        let expected = whole.report();
        assert_eq!(expected.recording.detail_ns, None);
        let sizes = [1, 2, 7, 30, 64, 200, 700, 1500, 100_000];
        for max_events in (0..3).map(|i| sizes[(seed as usize + i * 4) % sizes.len()]) {
            let of = format!("seed {seed}, {max_events} events");
            let timeline = Held::run(&program, seed, max_events);
            assert!(timeline.events <= max_events, "{of}: {}", timeline.events);
            assert_eq!(timeline.events + timeline.lost.total(), whole.events, "{of}");
            let report = timeline.report();
            assert_eq!(
                report.recording.detail_ns.is_some(),
                timeline.lost.dropped_events > 0,
                "{of}"
            );
            let numbers = |report: &crate::analysis::Report| {
                let edges = (report.recording.recorded_ns, report.recording.end_ns);
                let polls =
                    (report.counts.polls, report.counts.cut_polls, report.counts.running_polls);
                (edges, report.counts.tasks, polls, report.counts.live_tasks)
            };
            assert_eq!(numbers(&report), numbers(&expected), "{of}");
            assert_eq!(report.workers, expected.workers, "{of}");
            let sums = timeline.whole_run().unwrap();
            assert_eq!(sums.live_tasks, Some(expected.counts.live_tasks), "{of}");
            let mut running: Vec<_> =
                sums.running.iter().map(|poll| (poll.task, poll.start_ns)).collect();
            running.sort_unstable();
            assert_eq!(running, still_running(&whole), "{of}");
            assert_eq!(report.locations.len(), expected.locations.len(), "{of}");
            for (row, right) in report.locations.iter().zip(&expected.locations) {
                let exact = |row: &crate::analysis::LocationRow| {
                    let polls = (row.polls, row.worker_polls, row.long_polls);
                    let held = (row.held_ns, row.off_worker_ns, row.long_polls_ns);
                    (row.place, row.tasks, polls, held, row.longest_ns, row.longest_ready_ns)
                };
                assert_eq!(exact(row), exact(right), "{of}");
                assert!(is_close(row.p50_ns, right.p50_ns), "{of}: {row:?}, {right:?}");
                assert!(is_close(row.p99_ns, right.p99_ns), "{of}: {row:?}, {right:?}");
                assert!(row.kept_long_polls <= row.long_polls, "{of}: {row:?}");
                partly += u64::from((1..row.long_polls).contains(&row.kept_long_polls));
                off_worker += row.polls - row.worker_polls;
                long += row.long_polls;
            }
            let of_poll = |poll: &crate::analysis::LongPoll| {
                (poll.task, poll.place, poll.start_ns, poll.length_ns, poll.worker)
            };
            let longest: Vec<_> = report.longest_polls.iter().map(of_poll).collect();
            let right: Vec<_> = expected.longest_polls.iter().map(of_poll).collect();
            assert_eq!(longest, right, "{of}");
            with_pinned += u64::from(report.recording.stretches_before > 0);
            cut += u64::from(report.longest_polls.iter().any(|poll| !poll.is_kept));
            let text = report.to_string();
            // A build without the flag also says so.
            let most = if cfg!(tokio_unstable) { 55 } else { 58 };
            assert!(text.lines().count() <= most, "{of}: {text}");
        }
    }
    // Every kind occurred.
    assert!(with_pinned > 50 && partly > 50 && long > 1000 && off_worker > 1000 && cut > 50);
}
