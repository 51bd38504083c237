//! Tests of recordings while the clock jumps, drifts, and goes back.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::config::Keep;
use crate::recorder::clock::tests::fake::Fake;
use crate::trace::event::Event;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::{Poll, TaskKey, Timeline};

const MS: Duration = Duration::from_millis(1);
const S: Duration = Duration::from_secs(1);

struct Run {
    fake: Arc<Fake>,
    recorder: Recorder,
}

impl Run {
    fn new(config: CollectorConfig) -> Self {
        let fake = Fake::new();
        let recorder = Recorder::with_clock(config, fake.clock());
        recorder.start();
        Self { fake, recorder }
    }

    /// Lets time pass, in steps after each of which an anchor is taken if one is due.
    fn run(&self, time: Duration) {
        let step = 5 * MS;
        let mut left = time;
        while left > Duration::ZERO {
            self.fake.run(step.min(left));
            left = left.saturating_sub(step);
            self.recorder.kept.take_anchor();
        }
    }

    /// Records a poll of a task that takes 100 ms, with `amid` in the middle.
    fn poll(&self, id: u64, amid: impl FnOnce(&Fake)) {
        self.recorder.poll_started(id, &|_| None, 0, || None);
        self.run(40 * MS);
        amid(&self.fake);
        self.run(60 * MS);
        self.recorder.poll_ended(id, None, || None);
        self.run(10 * MS);
    }

    fn timeline(&self) -> Timeline {
        Timeline::from_snapshot(&Snapshot::take(&self.recorder, false))
    }
}

fn polls(timeline: &Timeline, id: u64) -> Vec<Poll> {
    let tasks = timeline.tasks.iter().filter(|task| task.key == TaskKey::Spawned(id));
    tasks.flat_map(|task| task.polls.clone()).collect()
}

#[track_caller]
fn assert_100_ms(timeline: &Timeline, id: u64) {
    let polls = polls(timeline, id);
    let [poll] = polls[..] else { panic!("{polls:?}") };
    let length_ns = poll.length_ns(timeline.end_ns);
    assert!(length_ns.abs_diff(100_000_000) <= 1000, "{poll:?}: {length_ns}");
    assert!(!poll.is_cut_left() && !poll.is_cut_right());
}

#[test]
fn a_poll_that_the_machine_slept_in_is_cut() {
    let run = Run::new(CollectorConfig { stacks: false, ..CollectorConfig::default() });
    (1..20).for_each(|id| run.poll(id, |_| {}));
    run.poll(20, |fake| fake.sleep(50 * S));
    (21..40).for_each(|id| run.poll(id, |_| {}));
    run.recorder.stop();
    let timeline = run.timeline();
    (1..40).filter(|id| *id != 20).for_each(|id| assert_100_ms(&timeline, id));

    let around = polls(&timeline, 20);
    let [before, after] = around[..] else { panic!("{around:?}") };
    assert!(before.is_cut_right() && after.is_cut_left());
    // It isn't known where the jump was in the time of an anchor or two.
    for part in [before, after] {
        assert!(part.length_ns(timeline.end_ns) <= 300_000_000, "{part:?}");
    }
    let [(from, to)] = timeline.gaps[..] else { panic!("{:?}", timeline.gaps) };
    assert!((49_500_000_000..=50_000_100_000).contains(&(to - from)), "{}", to - from);
    let all_ns = 50_000_000_000 + 39 * 110_000_000;
    assert!(timeline.length_ns().abs_diff(all_ns) < 100_000, "{}", timeline.length_ns());
    let clock = timeline.machine.clock;
    assert!(clock.jumps == 1 && clock.jumped_ns.abs_diff(50_000_000_000) < 100_000, "{clock:?}");
    assert!(!clock.went_back && !clock.lost_source);

    // The sums include the jump, and don't take it for a stop: nothing is said to have ended in it.
    let summary = timeline.whole_run().expect("a summary");
    assert_eq!(summary.polls, 40);
    assert_eq!(summary.recorded_ns, timeline.recorded_ns());
    let longest_ns = summary.longest_polls[0].length_ns;
    assert!(longest_ns <= 300_000_000, "{longest_ns}");
    let report = timeline.report().to_string();
    let said = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("The clock jumped by 50.0 s, as when the machine sleeps."), "{report}");
}

/// A flight recorder still knows its tasks after many nights.
#[test]
fn tasks_that_sleep_with_the_machine_are_not_forgotten() {
    let config = CollectorConfig { max_events: 200, stacks: false, ..CollectorConfig::default() };
    let run = Run::new(config);
    let location = std::panic::Location::caller();
    run.recorder.task_spawned(1, Some(location));
    run.poll(1, |_| {});
    for night in 0..5 {
        (0..300).for_each(|id| {
            let id = 1000 * (night + 1) + id;
            run.recorder.task_spawned(id, None);
            run.recorder.task_terminated(id, || None);
        });
        run.poll(2, |_| {});
        run.fake.sleep(3600 * S);
        run.poll(3, |_| {});
        run.recorder.kept.flush();
    }
    // No event of the first nights may be kept any more.
    let windows = run.recorder.kept.windows().all.clone();
    assert!(windows.len() > 1 && windows[1..].iter().all(|w| w.is_after_jump), "{windows:?}");
    let timeline = run.timeline();
    assert_eq!(timeline.machine.clock.jumps, 5);
    assert!(timeline.lost.dropped_events > 1000, "{:?}", timeline.lost);
    let task = timeline.tasks.one_by_one().find(|task| task.key == TaskKey::Spawned(1));
    let task = task.expect("it is known");
    assert_eq!(task.location, Some(location.into()));
    assert_eq!(task.terminated_ns, None);
}

#[test]
fn drains_and_snapshots_agree_to_the_ns() {
    for keep in [Keep::Last, Keep::First] {
        let run = Run::new(CollectorConfig { keep, stacks: false, ..CollectorConfig::default() });
        let mut seen: Vec<Event> = Vec::new();
        for round in 0..60 {
            // A drift that an anchor in between would show.
            run.fake.drift(round % 7 * 30 - 90);
            for id in 0..round % 5 {
                run.recorder.poll_started(id as u64, &|_| None, 0, || None);
                run.fake.run(Duration::from_micros(700 + 13 * id as u64));
                run.recorder.poll_ended(id as u64, None, || None);
                run.fake.run(Duration::from_micros(11_111));
            }
            if round % 3 == 0 {
                run.recorder.kept.take_anchor();
            }
            if round == 30 {
                run.fake.sleep(7 * S);
            }
            let events = Snapshot::take(&run.recorder, round % 10 == 9).events();
            let (known, new) = events.split_at(seen.len());
            assert_eq!(known, seen, "{round}");
            assert!(
                seen.last().is_none_or(|last| new.iter().all(|e| e.time_ns() >= last.time_ns()))
            );
            seen.extend_from_slice(new);
            if round % 10 == 9 {
                assert!(!seen.is_empty());
                seen.clear();
            }
        }
    }
}

#[test]
fn a_counter_that_goes_back_breaks_nothing() {
    for keep in [Keep::Last, Keep::First] {
        let config = CollectorConfig { keep, max_events: 3000, ..CollectorConfig::default() };
        let config = CollectorConfig { stacks: false, buffer_capacity: 64, ..config };
        let run = Run::new(config);
        let mut emitted = 0;
        let mut spawn = |ids: std::ops::Range<u64>| {
            for id in ids {
                run.recorder.task_spawned(id, None);
                run.fake.run(Duration::from_micros(20));
                emitted += 1;
            }
        };
        run.run(300 * MS);
        spawn(0..500);
        run.recorder.poll_started(7, &|_| None, 0, || None);
        run.fake.run(MS);
        run.fake.set_ticks(12_345);
        run.fake.run(MS);
        run.recorder.poll_ended(7, None, || None);
        // Until an anchor shows it, ticks are of the counter.
        spawn(500..700);
        run.recorder.kept.take_anchor();
        spawn(700..1000);
        emitted += 2;
        run.poll(8, |_| {});
        emitted += 2;
        let check = |emitted: u64| {
            let timeline = run.timeline();
            assert_eq!(timeline.events + timeline.lost.total(), emitted);
            let times = Snapshot::take(&run.recorder, false).events();
            assert!(times.iter().map(Event::time_ns).is_sorted());
            timeline
        };
        let timeline = check(emitted);
        assert!(timeline.machine.clock.went_back);
        assert_100_ms(&timeline, 8);
        // The poll doesn't end before it began, though by the counter it did.
        let amid = polls(&timeline, 7);
        let [poll] = amid[..] else { panic!("{amid:?}") };
        assert!(poll.end_ns().is_some_and(|end| end >= poll.start_ns()), "{poll:?}");
        let events = Snapshot::take(&run.recorder, false).events();
        let of_poll = |event: &&Event| {
            matches!(
                event,
                Event::TaskPollStart { task_id: 7, .. } | Event::TaskPollEnd { task_id: 7, .. }
            )
        };
        let of_poll: Vec<_> = events.iter().filter(of_poll).collect();
        assert!(
            matches!(of_poll[..], [Event::TaskPollStart { .. }, Event::TaskPollEnd { .. }]),
            "{of_poll:?}"
        );
        let ids = events.into_iter().filter_map(|event| {
            let Event::TaskSpawn { task_id, .. } = event else { return None };
            Some(task_id)
        });
        // The spawns before the anchor are out of order, and none is lost.
        let mut ids: Vec<_> = ids.collect();
        assert!(ids[702..].iter().copied().eq(702..1000));
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..1000));
        let mut spawn = |ids: std::ops::Range<u64>| {
            for id in ids {
                run.recorder.task_spawned(id, None);
                run.fake.run(Duration::from_micros(20));
                emitted += 1;
            }
        };
        // The same holds while they are evicted.
        for round in 1..10 {
            spawn(1000 * round..1000 * (round + 1));
        }
        run.poll(9, |_| {});
        emitted += 2;
        let timeline = check(emitted);
        if keep == Keep::Last {
            assert_100_ms(&timeline, 9);
        }
        let drained = Snapshot::take(&run.recorder, true).events().len() as u64;
        assert_eq!(drained, timeline.events);
    }
}
