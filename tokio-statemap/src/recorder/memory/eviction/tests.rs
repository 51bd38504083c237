use super::*;
use crate::recorder::record::{Kind, Record};
use crate::recorder::store::segment::StreamId;

const LIMITS: Limits = Limits { long_poll: 100, around: 50, staged_events: 10_000 };
const WINDOWS: &[Window] = &[Window::new(0, None)];

/// An eviction that records of threads come to.
struct Evicted {
    eviction: Eviction,
    memory: Memory,
    dropped: u64,
    staged: u64,
}

impl Evicted {
    fn new(pinned_events: u64) -> Self {
        Self {
            eviction: Eviction::new(pinned_events),
            memory: Memory::default(),
            dropped: 0,
            staged: 0,
        }
    }

    fn stage(&mut self, until: u64, records: &[(StreamId, &[Record])]) {
        let segments: Vec<_> = records
            .iter()
            .map(|&(stream, records)| Segment::from_records(stream, 0, records))
            .collect();
        let events = events_of(&segments);
        self.staged += events;
        self.eviction.staged.extend(segments);
        self.eviction.has_staged(events, until);
    }

    fn look_through(&mut self) {
        let eviction = &mut self.eviction;
        self.dropped += eviction.look_through(LIMITS, &mut self.memory, WINDOWS, &mut drop);
        let kept = self.eviction.staged_events + self.eviction.pinned.events();
        assert_eq!(self.staged, self.dropped + kept, "no event is lost");
    }

    /// Returns the times of each pin's records, by stream.
    fn pinned(&self) -> Vec<Vec<(StreamId, Vec<u64>)>> {
        let of = |segment: &Segment| segment.records().iter().map(|r| r.ticks).collect();
        let pin = |pin: &pinned::PinnedWindow| {
            let mut segments = Vec::new();
            pin.segments(&mut segments);
            segments.iter().map(|segment| (segment.stream, of(segment))).collect()
        };
        self.eviction.pinned.iter().map(|i| pin(i)).collect()
    }
}

/// The polls that a thread is in where a window begins, and since when.
fn polls(pinned: &pinned::PinnedWindow, thread: usize) -> Vec<(u64, u64)> {
    let polls = &pinned.threads[thread].1.state.polls;
    polls.iter().map(|poll| (poll.task, poll.start)).collect()
}

fn role(at: u64, worker: u64) -> Record {
    Record::new(at, Kind::Role, worker + 1)
}

fn poll(task: u64, from: u64, to: u64) -> [Record; 2] {
    [Record::new(from, Kind::PollStart, task), Record::new(to, Kind::PollEnd, task)]
}

/// Returns short polls of a thread, one at each of these times.
fn short(task: u64, times: impl Iterator<Item = u64>) -> Vec<Record> {
    times.flat_map(|at| poll(task, at, at + 5)).collect()
}

#[test]
fn what_is_around_a_long_poll_is_kept_of_all_threads() {
    let mut evicted = Evicted::new(1000);
    let one = [vec![role(0, 0)], short(1, (0..1000).step_by(10)), poll(2, 1000, 1200).to_vec()];
    let two = [vec![role(0, 1)], short(3, (0..1400).step_by(10))].concat();
    evicted.stage(1400, &[(1, &one.concat()), (2, &two)]);
    evicted.look_through();
    evicted.stage(3000, &[(1, &short(1, (1400..3000).step_by(10)))]);
    evicted.look_through();
    let pinned = evicted.pinned();
    assert_eq!(pinned.len(), 1, "{pinned:?}");
    let [(1, one), (2, two)] = &pinned[0][..] else { panic!("{pinned:?}") };
    assert_eq!((one[0], one[one.len() - 2..].to_vec()), (950, vec![1000, 1200]));
    assert_eq!((two[0], two[two.len() - 1]), (950, 1250));
    // The pin has the state where it begins.
    let pin = evicted.eviction.pinned.iter().next().unwrap();
    let workers: Vec<_> = pin.threads.iter().map(|(_, known, _)| known.state.worker).collect();
    assert_eq!(workers, [Some(0), Some(1)]);
    assert!(
        pin.tasks.get(&1).unwrap().is_some_and(|task| task.polled)
            && pin.tasks.get(&2).unwrap().is_none()
    );
}

#[test]
fn a_poll_that_goes_on_keeps_what_is_before_it() {
    let mut evicted = Evicted::new(1000);
    let start = [role(0, 0), Record::new(100, Kind::PollStart, 2)];
    evicted.stage(500, &[(1, &start), (2, &short(3, (0..500).step_by(10)))]);
    evicted.look_through();
    assert_eq!(evicted.eviction.done_until(), 50);
    evicted.stage(900, &[(2, &short(3, (500..900).step_by(10)))]);
    evicted.look_through();
    assert_eq!(evicted.eviction.done_until(), 50);
    evicted.stage(1300, &[(1, &[Record::new(1000, Kind::PollEnd, 2)])]);
    evicted.look_through();
    let pinned = evicted.pinned();
    assert_eq!(pinned[0][0], (1, vec![100, 1000]));
    assert_eq!(pinned[0][1].1[0], 55, "the end of the poll before");
    assert_eq!(evicted.eviction.done_until(), 1250);
}

#[test]
fn a_poll_is_over_when_its_worker_goes_on_elsewhere() {
    let mut evicted = Evicted::new(1000);
    let blocking = [role(0, 0), Record::new(100, Kind::PollStart, 2)];
    let end = Record::new(900, Kind::PollEnd, 2);
    evicted.stage(1000, &[(1, &[&blocking[..], &[end]].concat()), (2, &[role(150, 0)])]);
    evicted.look_through();
    assert_eq!(evicted.pinned().len(), 0, "it held its worker for 50");
}

#[test]
fn the_longest_stay_and_those_of_one_location_are_few() {
    let mut evicted = Evicted::new(1000);
    let mut records = vec![role(0, 0)];
    // There are two kinds of tasks, and each poll is longer than the one before.
    for i in 0..40 {
        let (task, at) = (100 + i, 1000 * (i + 1));
        let spawn = crate::recorder::record::pack_spawn(task, (i % 2) as u32).unwrap();
        records.push(Record::event(at - 1, Kind::SpawnAt, spawn));
        records.extend(poll(task, at, at + 200 + i));
    }
    evicted.stage(50_000, &[(1, &records)]);
    evicted.look_through();
    let starts: Vec<_> = evicted.pinned().iter().map(|pin| pin[0].1[1]).collect();
    assert_eq!(starts, [33, 34, 35, 36, 37, 38, 39, 40].map(|i| 1000 * i));
}

#[test]
fn pinned_have_no_more_events_than_they_may() {
    let mut evicted = Evicted::new(30);
    let mut records = vec![role(0, 0)];
    for i in 0..10 {
        records.extend(poll(1, 1000 * (i + 1), 1000 * (i + 1) + 200 - i));
    }
    let others = short(2, (0..12_000).step_by(50));
    evicted.stage(20_000, &[(1, &records), (2, &others)]);
    evicted.look_through();
    let events = evicted.eviction.pinned.events();
    assert!((10..=30).contains(&events), "{events}");
    assert_eq!(evicted.pinned()[0][0].1, [1000, 1200], "the longest");
}

#[test]
fn a_longer_poll_takes_those_in_with_which_it_overlaps() {
    let mut evicted = Evicted::new(1000);
    let one = [&[role(0, 0)], &poll(1, 1000, 3000)[..]].concat();
    let two = [&[role(0, 1)], &poll(2, 1500, 1700)[..], &poll(2, 2990, 3100)[..]].concat();
    evicted.stage(2500, &[(1, &one[..2]), (2, &two[..3])]);
    evicted.look_through();
    evicted.stage(4000, &[(1, &one[2..]), (2, &two[3..])]);
    evicted.look_through();
    assert_eq!(
        evicted.pinned(),
        [[(1, vec![1000, 3000]), (2, vec![1500, 1700, 2990])]],
        "what it ends in is cut"
    );
}

#[test]
fn what_nobody_looked_through_is_dropped() {
    let mut evicted = Evicted::new(1000);
    evicted.stage(2000, &[(1, &[&[role(0, 0)], &poll(1, 1000, 1500)[..]].concat())]);
    let Evicted { eviction, memory, dropped, .. } = &mut evicted;
    eviction.sort();
    memory.update(&eviction.staged, WINDOWS);
    *dropped += eviction.give_up(&mut drop);
    evicted.look_through();
    assert_eq!((evicted.dropped, evicted.pinned().len()), (2, 0));
    assert_eq!(evicted.memory.live_tasks.stream(1).and_then(|known| known.state.worker), Some(0));
    // From then on it goes on.
    evicted.stage(4000, &[(1, &poll(1, 3000, 3500))]);
    evicted.look_through();
    assert_eq!(evicted.pinned(), [[(1, vec![3000, 3500])]]);
}

#[test]
fn the_end_of_a_task_is_known_after_its_pin() {
    let mut evicted = Evicted::new(1000);
    let mut records = [&[role(0, 0)], &poll(7, 1000, 1500)[..]].concat();
    records.push(Record::new(5000, Kind::Terminate, 7));
    evicted.stage(6000, &[(1, &records)]);
    evicted.look_through();
    assert_eq!(evicted.eviction.pinned.ended(), [(7, 5000)]);
    assert_eq!(evicted.pinned(), [[(1, vec![1000, 1500])]]);
}

/// Returns an event each tick.
fn dense(ticks: std::ops::Range<u64>) -> Vec<Record> {
    ticks.map(|at| Record::new(at, Kind::Park, 0)).collect()
}

#[test]
fn where_there_is_much_around_a_poll_less_of_that_is_kept() {
    let mut evicted = Evicted::new(400);
    let one = [&[role(0, 0)], &poll(1, 1000, 1120)[..]].concat();
    evicted.stage(2000, &[(1, &one), (2, &dense(0..2000))]);
    evicted.look_through();
    let pin = evicted.eviction.pinned.iter().next().unwrap();
    assert_eq!((pin.from, pin.to), (950, 1170), "the longest has it all");
    // Another has less of it.
    evicted.stage(4000, &[(1, &poll(1, 3000, 3110)), (2, &dense(2001..4000))]);
    evicted.look_through();
    let all: Vec<_> = evicted.eviction.pinned.iter().map(|i| (i.from, i.to)).collect();
    assert_eq!(all, [(950, 1170), (2990, 3010), (3100, 3123)], "where it begins and ends");
}

#[test]
fn of_a_poll_with_too_much_around_it_the_beginning_and_the_end_are_kept() {
    let mut evicted = Evicted::new(400);
    let one = [&[role(0, 0)], &poll(1, 1000, 3000)[..]].concat();
    evicted.stage(5000, &[(1, &one), (2, &dense(0..5000))]);
    evicted.look_through();
    let all: Vec<_> = evicted.eviction.pinned.iter().map(|i| (i.from, i.to)).collect();
    assert_eq!(all, [(952, 1048), (2952, 3050)], "a quarter of half the room on each side of each");
    let of_poll: Vec<_> = evicted.pinned().into_iter().map(|pin| pin[0].clone()).collect();
    assert_eq!(of_poll, [(1, vec![1000]), (1, vec![3000])]);
    // The window of the end knows when the poll began.
    let end = evicted.eviction.pinned.iter().nth(1).unwrap();
    assert_eq!(polls(end, 0), [(1, 1000)]);
}

#[test]
fn a_poll_that_outlasts_what_can_wait_is_known_when_it_ends() {
    let mut evicted = Evicted::new(4000);
    let start = [role(0, 0), Record::new(1000, Kind::PollStart, 7)];
    evicted.stage(9000, &[(1, &start), (2, &dense(0..9000))]);
    evicted.look_through();
    assert_eq!(evicted.eviction.done_until(), 950, "it may end soon");
    evicted.stage(15_000, &[(2, &dense(9000..15_000))]);
    evicted.look_through();
    assert_eq!(evicted.eviction.done_until(), 14_950);
    evicted.stage(20_000, &[(1, &[Record::new(16_000, Kind::PollEnd, 7)])]);
    evicted.look_through();
    let all: Vec<_> = evicted.eviction.pinned.iter().map(|i| (i.from, i.to)).collect();
    assert_eq!(all, [(951, 1050), (15_950, 16_050)]);
    let end = evicted.eviction.pinned.iter().nth(1).unwrap();
    assert_eq!(polls(end, 0), [(7, 1000)]);
}

#[test]
fn no_event_is_in_two_pinned() {
    let mut evicted = Evicted::new(1000);
    // The first window is entered while another poll goes on, which began within it.
    let first = [&[role(0, 0)], &poll(1, 1000, 1100)[..]].concat();
    let long = [role(0, 1), Record::new(1140, Kind::PollStart, 2)];
    evicted.stage(1300, &[(1, &first), (2, &long)]);
    evicted.look_through();
    assert_eq!(evicted.eviction.done_until(), 1090);
    // Meanwhile others are long, one after the other.
    let others = [poll(1, 2000, 2200), poll(1, 4000, 4110)].concat();
    evicted.stage(4200, &[(1, &others), (3, &short(3, (1300..4200).step_by(10)))]);
    evicted.look_through();
    let rest = short(3, (4200..9000).step_by(10));
    evicted.stage(9000, &[(2, &[Record::new(3000, Kind::PollEnd, 2)]), (3, &rest)]);
    evicted.look_through();
    let pinned = &evicted.eviction.pinned;
    let all: Vec<_> = pinned.iter().map(|pin| (pin.from, pin.to)).collect();
    assert_eq!(all, [(950, 3050), (3950, 4160)]);
}

#[test]
fn a_poll_that_outlasts_what_can_wait_may_begin_beside_a_shorter_one() {
    let mut evicted = Evicted::new(4000);
    // The window of a poll of 110 ticks has the beginning of one of 15 000.
    let first = [&[role(0, 0)], &poll(1, 800, 910)[..]].concat();
    let long = [role(0, 1), Record::new(930, Kind::PollStart, 7)];
    evicted.stage(9000, &[(1, &first), (2, &long), (3, &dense(0..9000))]);
    evicted.look_through();
    evicted.stage(15_000, &[(3, &dense(9000..15_000))]);
    evicted.look_through();
    evicted.stage(20_000, &[(2, &[Record::new(16_000, Kind::PollEnd, 7)])]);
    evicted.look_through();
    let all: Vec<_> = evicted.eviction.pinned.iter().map(|i| (i.from, i.to)).collect();
    assert_eq!(all, [(750, 980), (15_950, 16_050)]);
    let of_poll = |pin: usize| evicted.pinned()[pin].iter().find(|of| of.0 == 2).cloned();
    assert_eq!(of_poll(0), Some((2, vec![930])));
    assert_eq!(of_poll(1), Some((2, vec![16_000])));
    // These windows are now of one of the longest polls, so others make room first.
    let records = (0..12).flat_map(|i| poll(1, 30_000 + 2000 * i, 30_500 + 2000 * i));
    evicted.stage(60_000, &[(1, &records.collect::<Vec<_>>()), (3, &dense(20_000..60_000))]);
    evicted.look_through();
    assert!(evicted.eviction.pinned.iter().take(2).map(|i| (i.from, i.to)).eq(all));
}

#[test]
fn polls_that_outlast_what_can_wait_may_begin_beside_each_other() {
    let mut evicted = Evicted::new(4000);
    let one = [role(0, 0), Record::new(1000, Kind::PollStart, 7)];
    let two = [role(0, 1), Record::new(1030, Kind::PollStart, 8)];
    evicted.stage(15_000, &[(1, &one), (2, &two), (3, &dense(0..15_000))]);
    evicted.look_through();
    evicted.stage(16_000, &[(1, &[Record::new(15_500, Kind::PollEnd, 7)])]);
    evicted.look_through();
    evicted.stage(20_000, &[(2, &[Record::new(18_000, Kind::PollEnd, 8)])]);
    evicted.look_through();
    let all: Vec<_> = evicted.eviction.pinned.iter().map(|i| (i.from, i.to)).collect();
    assert_eq!(all, [(951, 1080), (15_450, 15_550), (17_950, 18_050)]);
    assert_eq!(polls(evicted.eviction.pinned.iter().nth(2).unwrap(), 1), [(8, 1030)]);
}

#[test]
fn a_pinned_window_ends_when_it_has_as_much_as_it_may() {
    let mut evicted = Evicted::new(80);
    let one = [&[role(0, 0)], &poll(1, 1000, 1200)[..]].concat();
    evicted.stage(1210, &[(1, &one)]);
    evicted.look_through();
    // Only then is it known how much comes after the poll.
    evicted.stage(5000, &[(2, &[role(1211, 1)]), (3, &dense(1212..5000)), (4, &dense(1212..5000))]);
    evicted.look_through();
    let pin = evicted.eviction.pinned.iter().next().unwrap();
    assert_eq!((pin.from, pin.to, pin.events), (950, 1250, 80));
}
