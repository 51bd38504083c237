//! Updates of the live tasks from evicted records.

use super::*;
use crate::recorder::memory::Memory;
use crate::recorder::record::Kind;
use crate::recorder::store::segment::Segment;

const ONE: &[Window] = &[Window::new(0, None)];

impl LiveTasks {
    /// Updates it alone.
    fn apply_all(&mut self, segments: &[Segment], windows: &[Window]) {
        let live_tasks = std::mem::take(self);
        let mut memory = Memory { live_tasks, ..Memory::default() };
        memory.update(segments, windows);
        *self = memory.live_tasks;
    }
}

fn segment_of(stream: StreamId, records: impl Iterator<Item = Record>) -> Segment {
    Segment::from_records(stream, 0, &records.collect::<Vec<_>>())
}

fn segment(stream: StreamId, records: &[(Kind, u64)]) -> Segment {
    let records = (0..).zip(records).map(|(t, &(kind, id))| Record::new(t, kind, id));
    segment_of(stream, records)
}

#[test]
fn it_keeps_origin_and_polls_of_live_tasks() {
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(
        &[segment(
            0,
            &[
                (Kind::Role, 3),
                (Kind::PollStart, 5),
                (Kind::Location, 7),
                (Kind::Spawn, 6),
                (Kind::PollEnd, 5),
                (Kind::PollStart, 6),
            ],
        )],
        ONE,
    );
    let spawned =
        LiveTask { location: Some(7), parent: Some(5), polled: true, ..LiveTask::default() };
    assert_eq!(live_tasks.task(6), Some(spawned));
    assert!(live_tasks.task(5).unwrap().polled);
    let (_, stream) = live_tasks.streams().next().unwrap();
    let polls: Vec<_> = stream.state.polls.iter().map(|poll| poll.task).collect();
    assert_eq!((stream.state.worker, polls), (Some(2), vec![6]));
    live_tasks.apply_all(&[segment(0, &[(Kind::Terminate, 6), (Kind::PollEnd, 6)])], ONE);
    assert_eq!(live_tasks.task(6), None);
}

#[test]
fn a_termination_counts_whichever_stream_is_evicted_first() {
    let mut live_tasks = LiveTasks::default();
    let dies = segment(0, &[(Kind::PollStart, 9), (Kind::Terminate, 9)]);
    let dies_on = segment(0, &[(Kind::PollEnd, 9)]);
    let born = segment(1, &[(Kind::Spawn, 9)]);
    live_tasks.apply_all(&[dies, born.clone()], ONE);
    live_tasks.apply_all(&[dies_on], ONE);
    assert_eq!(live_tasks.tasks().len(), 0);
    // The same holds in a later update, as when a runtime shuts down.
    live_tasks.apply_all(&[segment(0, &[(Kind::Terminate, 10)])], ONE);
    live_tasks.apply_all(&[segment(1, &[(Kind::Spawn, 10)])], ONE);
    assert_eq!(live_tasks.tasks().len(), 0);
}

#[test]
fn threads_that_ended_are_forgotten() {
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(
        &[segment(4, &[(Kind::ThreadStart, 0), (Kind::ThreadStop, 0), (Kind::End, 0)])],
        ONE,
    );
    assert_eq!(live_tasks.streams().count(), 0);
}

#[test]
fn a_late_end_of_a_poll_adds_no_task() {
    let mut live_tasks = LiveTasks::default();
    let first = segment(0, &[(Kind::Spawn, 9), (Kind::PollStart, 9)]);
    let last = segment(1, &[(Kind::PollStart, 9), (Kind::Terminate, 9), (Kind::PollEnd, 9)]);
    live_tasks.apply_all(&[first, last], ONE);
    live_tasks.apply_all(&[segment(0, &[(Kind::PollEnd, 9)])], ONE);
    assert_eq!(live_tasks.tasks().len(), 0);
}

/// The last poll of a task has the same effect if its records are in one run, as most are.
#[test]
fn a_last_poll_in_one_run_leaves_no_task() {
    let last = [(Kind::PollStart, 9), (Kind::Terminate, 9), (Kind::PollEnd, 9)];
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(&[segment(1, &[(Kind::Spawn, 9), (Kind::Ready, 5)])], ONE);
    live_tasks.apply_all(&[segment(1, &last)], ONE);
    assert!(live_tasks.stream(1).unwrap().state.polls.is_empty());
    assert!(!live_tasks.stream(1).unwrap().state.notes.has_ready());
    live_tasks
        .apply_all(&[segment(1, &[(Kind::PollEnd, 9)]), segment(0, &[(Kind::PollEnd, 9)])], ONE);
    assert_eq!(live_tasks.tasks().len(), 0);
    // Its spawn may be evicted last, while a runtime shuts down.
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(&[segment(1, &last)], ONE);
    live_tasks.apply_all(&[segment(0, &[(Kind::Spawn, 9)])], ONE);
    assert_eq!(live_tasks.tasks().len(), 0);
}

#[test]
fn a_task_not_seen_again_after_a_gap_is_forgotten() {
    let windows = [0, 10, 20].map(|from| Window::new(from, None));
    let at = |from: u64, records: &[(Kind, u64)]| {
        let records = (from..).zip(records).map(|(t, &(kind, id))| Record::new(t, kind, id));
        segment_of(0, records)
    };
    let mut live_tasks = LiveTasks::default();
    live_tasks
        .apply_all(&[at(0, &[(Kind::Spawn, 1), (Kind::Spawn, 2), (Kind::PollStart, 2)])], &windows);
    live_tasks.apply_all(&[at(10, &[(Kind::PollStart, 1)])], &windows);
    let mut tasks: Vec<_> =
        live_tasks.tasks().into_iter().map(|(id, _, lives)| (id, lives)).collect();
    tasks.sort_unstable_by_key(|&(id, _)| id);
    assert_eq!(tasks, [(1, Liveness::Alive), (2, Liveness::Unknown)]);
    let polls = &live_tasks.streams().next().unwrap().1.state.polls;
    assert!(polls.iter().map(|poll| (poll.task, poll.start)).eq([(1, 10)]), "{polls:?}");
    // Two windows in one update.
    live_tasks.apply_all(&[at(12, &[(Kind::PollEnd, 1)]), at(20, &[(Kind::Spawn, 3)])], &windows);
    let lives = live_tasks.tasks().into_iter().filter(|(.., lives)| *lives == Liveness::Alive);
    assert_eq!(lives.map(|(id, ..)| id).collect::<Vec<_>>(), [3]);
    assert!(live_tasks.task(2).is_none());
}

#[test]
fn a_task_polled_in_the_next_window_is_alive() {
    let windows = [0, 10].map(|from| Window::new(from, None));
    let poll = [Kind::PollStart, Kind::PollEnd];
    let at = |from: u64| segment_of(0, (from..).zip(poll).map(|(t, kind)| Record::new(t, kind, 1)));
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(&[at(1), at(11)], &windows);
    assert!(
        live_tasks.tasks().into_iter().all(|(id, _, lives)| (id, lives) == (1, Liveness::Alive))
    );
    assert_eq!(live_tasks.tasks().len(), 1);
}

#[test]
fn a_worker_belongs_to_the_thread_seen_last() {
    let windows = [0, 10].map(|from| Window::new(from, None));
    let parked = |stream, from: u64| {
        segment_of(
            stream,
            [(Kind::Role, 1), (Kind::Park, 0)]
                .map(|(kind, id)| Record::new(from, kind, id))
                .into_iter(),
        )
    };
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(&[parked(7, 1)], &windows);
    let lost = |live_tasks: &LiveTasks| {
        let lost = live_tasks.streams().filter(|(_, stream)| live_tasks.has_lost_worker(stream));
        lost.map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert!(lost(&live_tasks).is_empty());
    live_tasks.advance_to(11, &windows);
    assert!(lost(&live_tasks).is_empty(), "it may be idle");
    live_tasks.apply_all(&[parked(2, 11)], &windows);
    assert_eq!(lost(&live_tasks), [7]);
}

#[test]
fn a_last_poll_is_remembered_across_other_polls() {
    let other = 9 + RecentlyPolled::SLOTS as u64;
    let mut live_tasks = LiveTasks::default();
    live_tasks.apply_all(&[segment(0, &[(Kind::Spawn, 9)])], ONE);
    let polls = [
        (Kind::PollStart, 9),
        (Kind::Terminate, 9),
        (Kind::PollEnd, 9),
        (Kind::PollStart, other),
        (Kind::PollEnd, other),
    ];
    live_tasks.apply_all(&[segment(1, &polls)], ONE);
    live_tasks.apply_all(&[segment(1, &[(Kind::PollEnd, 9)])], ONE);
    assert_eq!(live_tasks.tasks().into_iter().map(|(id, ..)| id).collect::<Vec<_>>(), [other]);
}

/// Another thread's records of it may be applied first.
#[test]
fn a_root_has_its_latest_state() {
    let at = |stream, ticks, records: &[Kind]| {
        let records = (ticks..).zip(records).map(|(t, &kind)| Record::new(t, kind, ROOT));
        segment_of(stream, records)
    };
    let mut live_tasks = LiveTasks::default();
    let now = at(0, 20, &[Kind::Spawn]);
    let before = at(1, 10, &[Kind::Spawn, Kind::PollStart, Kind::PollEnd, Kind::Terminate]);
    live_tasks.apply_all(&[now, before], ONE);
    let root = live_tasks.task(ROOT).expect("it lives");
    assert_eq!((root.spawned_ticks, root.polled), (20, false));
}

#[test]
fn a_root_that_starts_again_is_alive() {
    let mut live_tasks = LiveTasks::default();
    let (spawn, end) = ((Kind::Spawn, ROOT), (Kind::Terminate, ROOT));
    live_tasks.apply_all(&[segment(0, &[spawn, end, spawn])], ONE);
    assert_eq!(live_tasks.tasks().len(), 1);
}
