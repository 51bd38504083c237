//! The sums are the same in however many parts records are added up, and the same as those of a plain walk over all
//! records.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;
use crate::recorder::memory::Memory;
use crate::recorder::record::{Kind, LocationId, Record, unpack_ready, unpack_spawn};
use crate::recorder::store::segment::Segment;
use crate::recorder::window::Windows;
use crate::util::random::Random;

const WINDOWS: &[Window] = &[
    Window::new(1000, Some(400_000)),
    Window::new(500_000, Some(700_000)),
    Window::new(800_000, None),
];
const END: u64 = 1_200_000;
const LONG_POLL: u64 = 300;

/// Returns what a random program records: the records of each thread in order.
///
/// Tasks are spawned in polls at a dozen locations, polled on any thread that doesn't poll them already, for up to a
/// long time, and end in polls, on whichever thread. Threads park, and some are no workers. Workers move to other
/// threads.
fn program(seed: u64) -> Vec<Vec<Record>> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let threads = 1 + random.below(4) as usize;
    let mut records = vec![Vec::new(); threads];
    let mut now = WINDOWS[0].from + 1;
    // The worker of each thread.
    let mut workers: Vec<Option<u64>> = vec![None; threads];
    let mut polls: Vec<Vec<u64>> = vec![Vec::new(); threads];
    let (mut idle, mut next_id): (Vec<u64>, _) = (Vec::new(), 1);
    // Tasks from before recording began, and where each was spawned.
    let mut places: BTreeMap<u64, u64> = (0..random.below(4)).map(|i| (900 + i, 20 + i)).collect();
    idle.extend(places.keys());
    // The tasks whose origin is known in this window.
    let mut known = HashSet::new();
    let mut window = 0;
    let longest = 1 << (4 + random.below(12));
    let count = 200 + random.below(3000);
    for _ in 0..count {
        now += 1 + random.below(longest) * u64::from(random.once_in(3));
        if WINDOWS[window].to.is_some_and(|to| now > to) {
            window += 1;
            now = now.max(WINDOWS[window].from + 1);
            known.clear();
        }
        if now >= END {
            break;
        }
        let thread = random.below(threads as u64) as usize;
        let of = &mut records[thread];
        let mut push = |kind, payload| of.push(Record::new(now, kind, payload));
        if of_worker(&workers, thread, &mut random) {
            let worker = (!random.once_in(4)).then(|| random.below(3));
            // It is taken from whoever had it before.
            workers
                .iter_mut()
                .filter(|w| worker.is_some() && **w == worker)
                .for_each(|w| *w = None);
            workers[thread] = worker;
            push(Kind::Role, worker.map_or(0, |worker| worker + 1));
        }
        match random.below(10) {
            0 if polls[thread].is_empty() && workers[thread].is_some() => {
                push(Kind::Park, 0);
                now += random.below(longest);
                of.push(Record::new(now, Kind::Unpark, 0));
            }
            1 | 2 if idle.len() < 50 => {
                let location = random.below(12);
                if random.once_in(3) {
                    push(Kind::Location, location);
                    push(Kind::Spawn, next_id);
                } else {
                    let payload = crate::recorder::record::pack_spawn(next_id, location as u32);
                    push(Kind::SpawnAt, payload.unwrap());
                }
                places.insert(next_id, location);
                known.insert(next_id);
                idle.push(next_id);
                next_id += 1;
            }
            3..=6 if !idle.is_empty() => {
                let task = idle.remove(random.below(idle.len() as u64) as usize);
                if known.insert(task) {
                    push(Kind::Location, places[&task]);
                    push(Kind::LateOrigin, task);
                }
                match random.below(3) {
                    0 => push(Kind::PollStart, task),
                    1 => {
                        push(Kind::Ready, random.below(1 << 20));
                        push(Kind::PollStart, task);
                    }
                    _ => {
                        let ready = random.below(1 << 20);
                        let payload = crate::recorder::record::pack_ready(task, ready);
                        push(Kind::PollStartReady, payload.unwrap());
                    }
                }
                if random.once_in(3) {
                    polls[thread].push(task);
                    continue;
                }
                // Most polls are short.
                now += 1 + random.below(40);
                of.push(Record::new(now, Kind::PollEnd, task));
                idle.push(task);
            }
            7..=9 if !polls[thread].is_empty() => {
                let task = polls[thread].pop().unwrap();
                match random.once_in(3) {
                    true => push(Kind::Terminate, task),
                    false => idle.push(task),
                }
                push(Kind::PollEnd, task);
            }
            _ => {}
        }
    }
    records
}

/// Returns whether a thread becomes another worker now.
fn of_worker(workers: &[Option<u64>], thread: usize, random: &mut Random) -> bool {
    random.once_in(if workers[thread].is_none() { 8 } else { 60 })
}

/// Returns the sums of all records of a program, added up in parts as they leave a store that holds `held` records.
fn added_up(program: &[Vec<Record>], held: usize, reset_at: Option<u64>) -> Sums {
    let (mut memory, mut windows) = (Memory::default(), Windows::default());
    windows.all.extend(WINDOWS);
    memory.sums.expect_long_poll(&|| LONG_POLL);
    let mut times: Vec<u64> = program.iter().flatten().map(|record| record.ticks).collect();
    times.sort_unstable();
    let mut from = vec![0; program.len()];
    let mut edges: Vec<u64> = times.chunks(held.max(1)).map(|part| part[part.len() - 1]).collect();
    edges.push(u64::MAX);
    let mut reset_at = reset_at;
    for edge in edges {
        // All earlier records may still be in the store.
        if let Some(at) = reset_at.take_if(|at| *at <= edge) {
            let waits = |(records, &from): (&Vec<Record>, &usize)| -> Vec<Record> {
                records[from..].iter().filter(|record| record.ticks <= at).copied().collect()
            };
            let segment =
                |(stream, of): (StreamId, Vec<Record>)| Segment::from_records(stream, 0, &of);
            let waiting = (0..).zip(program.iter().zip(&from).map(waits));
            let waiting: Vec<_> = waiting.filter(|(_, of)| !of.is_empty()).map(segment).collect();
            memory.sums.reset(at, &waiting);
        }
        let part = |(records, from): (&Vec<Record>, &mut usize)| {
            let to = records.partition_point(|record| record.ticks <= edge);
            std::mem::replace(from, to)..to
        };
        let parts: Vec<_> = program.iter().zip(&mut from).map(part).collect();
        let segments: Vec<_> = (0..)
            .zip(program.iter().zip(parts))
            .filter(|(_, (_, range))| !range.is_empty())
            .map(|(stream, (records, range))| Segment::from_records(stream, 0, &records[range]))
            .collect();
        memory.update(&segments, &windows.all);
        memory.forget_windows(edge, &mut windows);
    }
    assert_eq!(windows.all, WINDOWS[WINDOWS.len() - 1..]);
    assert_eq!(windows.recorded_until(END), 399_000 + 200_000 + 400_000);
    memory.sums.finish(END, &windows.all);
    memory.sums
}

/// Returns the windows, as they were then.
fn until(at: u64) -> Vec<Window> {
    let so_far = |w: &Window| Window { to: w.to.filter(|to| *to <= at), ..*w };
    WINDOWS.iter().filter(|w| w.from <= at).map(so_far).collect()
}

/// The part of the sums that is compared.
#[derive(Debug, PartialEq)]
struct Told {
    rows: Vec<LocationSums>,
    workers: Vec<(u32, [u64; 4])>,
    stretches: Vec<stretches::Stretch>,
    longest: Vec<(u64, u64, u64)>,
    polls: [u64; 2],
}

fn told(sums: Sums) -> Told {
    let mut rows: Vec<_> = sums.rows.iter().filter(|r| r.polls() + r.tasks > 0).cloned().collect();
    rows.sort_by_key(|row| row.key);
    let worker = |w: &WorkerSums| [w.running, w.parked, w.parks, w.polls];
    // The row of the longest poll depends on the order of the rows.
    let stretch = |s: &stretches::Stretch| stretches::Stretch { longest: (s.longest.0, 0), ..*s };
    Told {
        workers: sums.workers.iter().map(|(index, w)| (*index, worker(w))).collect(),
        stretches: sums.stretches.all().iter().map(stretch).collect(),
        longest: sums
            .longest
            .into_sorted()
            .iter()
            .map(|p| (p.length, p.start.0, p.task.0))
            .collect(),
        polls: [sums.cut_polls, sums.running_polls],
        rows,
    }
}

/// The rows but for their histograms.
fn keys(told: &Told) -> Vec<(Key, [u64; 6])> {
    let numbers = |r: &LocationSums| {
        [r.tasks, r.worker_polls, r.off_worker_polls, r.held, r.off_worker, r.longest]
    };
    told.rows.iter().map(|row| (row.key, numbers(row))).collect()
}

#[test]
#[ignore = "slow"]
fn the_sums_are_the_same_however_little_is_held() {
    let (mut polls, mut cut, mut running, mut off_worker) = (0, 0, 0, 0);
    let (mut long, mut ready_ns) = (0, 0);
    for seed in 0..200 {
        let program = program(seed);
        let whole = told(added_up(&program, usize::MAX, None));
        for held in [1, 2, 7, 64, 1000, 100_000] {
            let parts = told(added_up(&program, held, None));
            assert_eq!(parts.workers, whole.workers, "{seed} {held}");
            assert_eq!(parts.stretches, whole.stretches, "{seed} {held}");
            assert_eq!(parts.polls, whole.polls, "{seed} {held}");
            assert_eq!(parts.longest, whole.longest, "{seed} {held}");
            // Their histograms would fill pages.
            assert!(parts == whole, "{seed} {held}: {:?}", (keys(&parts), keys(&whole)));
        }
        polls += whole.rows.iter().map(LocationSums::polls).sum::<u64>();
        off_worker += whole.rows.iter().map(|row| row.off_worker_polls).sum::<u64>();
        long += whole.rows.iter().map(|row| row.long_polls).sum::<u64>();
        ready_ns += whole.rows.iter().map(|row| row.ready_sum_ns).sum::<u64>();
        cut += whole.polls[0];
        running += whole.polls[1];
    }
    // There is something of each kind to add up.
    assert!(polls > 50_000 && cut > 100 && running > 50 && off_worker > 1000);
    assert!(long > 1000 && ready_ns > 1000, "{long} {ready_ns}");
}

/// The sums of a location: tasks, polls, their time in all, long ones, their time, and how long tasks were ready.
type Found = [u64; 6];

/// Returns what a plain walk over the records of each thread finds, if each thread is a worker.
fn walk(program: &[Vec<Record>]) -> BTreeMap<Key, Found> {
    let mut places = HashMap::new();
    // The tasks that were seen in each window.
    let mut seen: Vec<HashSet<u64>> = vec![HashSet::new(); WINDOWS.len()];
    let window_of = |record: &Record| WINDOWS.partition_point(|w| w.from <= record.ticks) - 1;
    for record in program.iter().flatten() {
        let id = match record.kind() {
            Kind::PollStart | Kind::PollEnd | Kind::Spawn | Kind::LateOrigin => record.payload(),
            Kind::PollStartReady => unpack_ready(record.packed_payload()).0,
            Kind::SpawnAt => unpack_spawn(record.packed_payload()).0,
            _ => continue,
        };
        seen[window_of(record)].insert(id);
    }
    let mut found: BTreeMap<Key, Found> = BTreeMap::new();
    for records in program {
        let mut location = 0;
        for record in records {
            let is_late = record.kind() == Kind::LateOrigin;
            let (id, at) = match record.kind() {
                Kind::Location => {
                    location = record.payload() as LocationId;
                    continue;
                }
                Kind::Spawn | Kind::LateOrigin => (record.payload(), location),
                Kind::SpawnAt => unpack_spawn(record.packed_payload()),
                _ => continue,
            };
            places.insert(id, Key::At(at));
            // A task that was seen in the window before is known.
            let before = window_of(record).checked_sub(1);
            let is_known = is_late && before.is_some_and(|before| seen[before].contains(&id));
            found.entry(Key::At(at)).or_default()[0] += u64::from(!is_known);
        }
    }
    let mut add = |task: u64, length: u64, ready: u64| {
        let of = found.entry(places.get(&task).copied().unwrap_or(Key::Unknown)).or_default();
        of[1] += 1;
        of[2] += length;
        if length > LONG_POLL {
            of[3] += 1;
            of[4] += length;
        }
        of[5] += ready;
    };
    for records in program {
        let mut open: Vec<(u64, u64, u64)> = Vec::new();
        let (mut window, mut ready) = (0, 0);
        for record in records {
            while let Some(next) = WINDOWS.get(window + 1).filter(|w| w.from <= record.ticks) {
                let to = WINDOWS[window].to.unwrap();
                open.drain(..).for_each(|(task, start, r)| add(task, to.saturating_sub(start), r));
                (window, _) = (window + 1, next);
            }
            match record.kind() {
                Kind::Ready => ready = record.payload(),
                Kind::PollStart => {
                    open.push((record.payload(), record.ticks, std::mem::take(&mut ready)));
                }
                Kind::PollStartReady => {
                    let (task, ready) = unpack_ready(record.packed_payload());
                    open.push((task, record.ticks, ready));
                }
                Kind::PollEnd => {
                    let place = open.iter().rposition(|&(task, ..)| task == record.payload());
                    let from = WINDOWS[window].from;
                    let (task, start, ready) =
                        place.map_or((record.payload(), from, 0), |place| open.remove(place));
                    add(task, record.ticks - start, ready);
                }
                _ => {}
            }
        }
        let to = WINDOWS[window].to.unwrap_or(END);
        open.drain(..).for_each(|(task, start, r)| add(task, to.saturating_sub(start), r));
    }
    found
}

#[test]
fn the_sums_are_those_of_a_plain_walk() {
    for seed in 0..200 {
        // Workers don't move here: how long a poll that lost its worker held it is another matter.
        let mut program = program(seed);
        for (worker, records) in (1..).zip(&mut program) {
            records.retain(|r| r.kind() != Kind::Role);
            records.insert(0, Record::new(WINDOWS[0].from + 1, Kind::Role, worker));
        }
        let sums = added_up(&program, 50, None);
        let found: BTreeMap<_, _> = sums
            .rows
            .iter()
            .filter(|row| row.polls() + row.tasks > 0)
            .map(|row| {
                let long = (row.long_polls, row.long);
                let found = [row.tasks, row.polls(), row.held, long.0, long.1, row.ready_sum_ns];
                (row.key, found)
            })
            .collect();
        assert_eq!(found, walk(&program), "{seed}");
        for row in &sums.rows {
            let n: u64 = row.lengths.steps().iter().map(|&(.., n)| n).sum();
            assert_eq!(n, row.polls(), "{seed}");
        }
    }
}

#[test]
#[ignore = "slow"]
fn a_poll_is_on_one_side_of_a_reset() {
    for seed in 0..100 {
        let program = program(seed);
        for at in [1000, 10_000, 100_000, 450_000, 600_000] {
            let after = added_up(&program, 50, Some(at));
            let stays = |record: &&Record| record.ticks <= at;
            let before: Vec<Vec<_>> =
                program.iter().map(|of| of.iter().filter(stays).copied().collect()).collect();
            let mut memory = Memory::default();
            let segments: Vec<_> = (0..)
                .zip(&before)
                .filter(|(_, of)| !of.is_empty())
                .map(|(stream, of)| Segment::from_records(stream, 0, of))
                .collect();
            memory.update(&segments, WINDOWS);
            let mut sums = memory.sums;
            sums.finish(at, &until(at));
            let whole = added_up(&program, usize::MAX, None);
            let polls = |sums: &Sums| sums.rows.iter().map(LocationSums::polls).sum::<u64>();
            let tasks = |sums: &Sums| sums.rows.iter().map(|row| row.tasks).sum::<u64>();
            // The polls that still run come again.
            let over = polls(&sums) - sums.running_polls;
            assert_eq!(over + polls(&after), polls(&whole), "{seed} {at}");
            assert_eq!(tasks(&sums) + tasks(&after), tasks(&whole), "{seed} {at}");
            let parks = |sums: &Sums| sums.workers.iter().map(|(_, w)| w.parks).sum::<u64>();
            assert_eq!(parks(&sums) + parks(&after), parks(&whole), "{seed} {at}");
        }
    }
}

/// A hook may be preempted after it read the clock, until recording was stopped and started again.
#[test]
fn what_is_recorded_late_counts() {
    let mut memory = Memory::default();
    for (stream, ticks, id) in [(1, 2000, 1), (2, 600_000, 2), (1, 399_000, 3)] {
        let spawn = Record::new(ticks, Kind::Spawn, id);
        memory.update(&[Segment::from_records(stream, 0, &[spawn])], WINDOWS);
        assert!(memory.live_tasks.lives(id));
    }
    assert_eq!(memory.sums.rows.iter().map(|row| row.tasks).sum::<u64>(), 3);
}

#[test]
fn a_poll_that_loses_its_worker_holds_it_until_then() {
    let role = |at, worker: u64| Record::new(at, Kind::Role, worker + 1);
    let poll = |at, kind, task| Record::new(at, kind, task);
    let blocks = vec![role(1001, 0), poll(1001, Kind::PollStart, 7), poll(9000, Kind::PollEnd, 7)];
    let goes_on = vec![role(1500, 0), poll(1500, Kind::PollStart, 8), poll(1600, Kind::PollEnd, 8)];
    for held in [1, 2, 3, 100] {
        let sums = added_up(&[blocks.clone(), goes_on.clone()], held, None);
        let row = &sums.rows[0];
        assert_eq!((row.worker_polls, row.held, row.longest), (2, 499 + 100, 499), "{held}");
        assert_eq!(sums.workers[0].1.polls, 2);
    }
}

/// A task that was spawned while a window began may have both its spawn and a late origin.
#[test]
fn a_task_whose_origin_is_recorded_twice_counts_once() {
    let spawn =
        Record::new(1100, Kind::SpawnAt, crate::recorder::record::pack_spawn(7, 3).unwrap());
    let polls = [
        Record::new(1200, Kind::Location, 3),
        Record::new(1200, Kind::LateOrigin, 7),
        Record::new(1200, Kind::PollStart, 7),
        Record::new(1300, Kind::PollEnd, 7),
    ];
    for program in [[polls.to_vec(), vec![spawn]], [vec![spawn], polls.to_vec()]] {
        for held in [1, 2, 100] {
            let sums = added_up(&program, held, None);
            let tasks: Vec<_> = sums.rows.iter().map(|row| (row.key, row.tasks)).collect();
            assert_eq!(tasks, [(Key::At(3), 1)], "{held}");
        }
    }
}
