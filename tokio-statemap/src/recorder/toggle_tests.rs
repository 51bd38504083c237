//! Recording is started and stopped again and again, for ever.

use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::config::Keep;
use crate::recorder::clock::tests::fake::Fake;
use crate::recorder::window::before::{MORE, MOST};
use crate::trace::snapshot::Snapshot;
use crate::trace::summary::{Stopped, Summary};
use crate::trace::timeline::Timeline;

const MS: u64 = 1_000_000;

/// A recorder that is started and stopped, and what it must know of that.
struct Toggled {
    fake: Arc<Fake>,
    recorder: Recorder,
    /// With this recorder, the process's background thread needn't be started each time.
    _other: Recorder,
    next_task: u64,
    windows: u64,
    on_ns: u64,
    off_ns: u64,
    held_ns: u64,
}

impl Toggled {
    fn new(config: CollectorConfig) -> Self {
        let config = CollectorConfig { stacks: false, ..config };
        let other = Recorder::new(config.clone());
        other.start();
        let fake = Fake::new();
        let recorder = Recorder::with_clock(config, fake.clock());
        let (windows, on_ns, off_ns, held_ns) = (0, 0, 0, 0);
        Self { fake, recorder, _other: other, next_task: 0, windows, on_ns, off_ns, held_ns }
    }

    fn pass(&self, ns: u64) {
        self.fake.run(Duration::from_nanos(ns));
    }

    /// Starts recording for a while, in which a task is spawned and polled for up to half of that time, and stops it
    /// again.
    fn toggle(&mut self, has_events: bool) {
        let number = self.next_task;
        let (on_ns, off_ns) = ((2 + number % 5) * MS, (1 + number % 3) * MS);
        let held_ns = on_ns / (2 + number % 7);
        if self.windows > 0 {
            self.pass(off_ns);
            self.off_ns += off_ns;
        }
        self.recorder.start();
        if has_events {
            self.recorder.task_spawned(number, None);
            self.recorder.poll_started(number, &|_| None, 0, || None);
            self.pass(held_ns);
            self.recorder.poll_ended(number, None, || None);
            self.recorder.task_terminated(number, || None);
            self.held_ns += held_ns;
        }
        self.pass(on_ns - if has_events { held_ns } else { 0 });
        self.recorder.stop();
        self.windows += 1;
        self.next_task += 1;
        self.on_ns += on_ns;
        let kept = self.recorder.kept.windows().all.len();
        assert!(kept <= MOST + MORE, "{kept} of {}", self.windows);
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::take(&self.recorder, false)
    }

    /// Checks that the time is the sum of all windows and of all gaps between them.
    #[track_caller]
    fn check_time(&self, summary: &Summary) {
        let is_about = |found: u64, ns: u64| found.abs_diff(ns) <= ns / 100_000 + 1000;
        assert!(is_about(summary.recorded_ns, self.on_ns), "{}", summary.recorded_ns);
        let stopped = &summary.stopped;
        let sum = |of: fn(&Stopped) -> u64| stopped.iter().map(of).sum::<u64>();
        let stopped_ns = sum(|of| of.to_ns - of.from_ns - of.recorded_ns);
        assert!(is_about(stopped_ns, self.off_ns), "{stopped_ns}, not {}", self.off_ns);
        assert_eq!(sum(|of| of.periods), self.windows - 1);
        assert!(stopped.len() <= 1000 && stopped.windows(2).all(|s| s[0].to_ns <= s[1].from_ns));
    }
}

#[test]
fn what_was_in_windows_that_are_kept_no_longer_is_added_up() {
    const WINDOWS: u64 = 3 * MOST as u64;
    let mut toggled = Toggled::new(CollectorConfig::default());
    for n in 1..=WINDOWS {
        toggled.toggle(true);
        if [400, 700, 1400].contains(&n) {
            let summary = Summary::from_snapshot(&toggled.snapshot());
            assert_eq!((summary.tasks, summary.polls), (n, n));
            toggled.check_time(&summary);
        }
    }
    let snapshot = toggled.snapshot();
    let summary = Summary::from_snapshot(&snapshot);
    assert_eq!((summary.tasks, summary.polls, summary.cut_polls), (WINDOWS, WINDOWS, 0));
    toggled.check_time(&summary);
    let held_ns = summary.locations[0].off_worker_ns;
    assert!(held_ns.abs_diff(toggled.held_ns) < held_ns / 100_000, "{held_ns}");
    // All else is as if events had been dropped because of their number.
    let timeline = Timeline::from_snapshot(&snapshot);
    assert_eq!(timeline.events + timeline.lost.dropped_events, 4 * WINDOWS);
    let kept = timeline.tasks.len();
    assert!((MOST..=MOST + MORE).contains(&kept), "{kept}");
    assert!(timeline.tasks.iter().all(|task| task.polls.len() == 1));
    assert_eq!(timeline.gaps.len(), kept - 1);
    // After a reset, it is as if nothing had been before.
    let summary = Summary::from_snapshot(&Snapshot::take_and_reset_sums(&toggled.recorder));
    assert_eq!(summary.polls, WINDOWS);
    toggled.pass(MS);
    (toggled.windows, toggled.on_ns, toggled.off_ns) = (0, 0, 0);
    for n in 1..=2 * MOST as u64 {
        toggled.toggle(true);
        if n % 200 == 7 {
            let summary = Summary::from_snapshot(&toggled.snapshot());
            assert_eq!((summary.tasks, summary.polls), (n, n));
            assert!(summary.recorded_ns.abs_diff(toggled.on_ns) < MS, "{}", summary.recorded_ns);
        }
    }
}

#[test]
fn windows_without_events_take_no_room_either() {
    let mut toggled = Toggled::new(CollectorConfig::default());
    toggled.toggle(true);
    (0..2 * MOST).for_each(|_| toggled.toggle(false));
    toggled.toggle(true);
    let snapshot = toggled.snapshot();
    let summary = Summary::from_snapshot(&snapshot);
    assert_eq!((summary.tasks, summary.polls), (2, 2));
    toggled.check_time(&summary);
    let timeline = Timeline::from_snapshot(&snapshot);
    assert_eq!((timeline.events, timeline.lost.dropped_events), (4, 4));
}

#[test]
fn a_store_that_drops_nothing_is_full_of_windows_until_it_is_drained() {
    let config = CollectorConfig { keep: Keep::First, max_events: 100, ..Default::default() };
    let mut toggled = Toggled::new(config);
    (0..MOST + 3).for_each(|_| toggled.toggle(false));
    assert!(toggled.recorder.kept.windows().is_full);
    assert_eq!(toggled.recorder.kept.windows().all.len(), MOST);
    toggled.recorder.start();
    toggled.recorder.task_spawned(1, None);
    Snapshot::take(&toggled.recorder, true);
    assert_eq!(toggled.recorder.kept.windows().all.len(), 1);
    toggled.recorder.task_spawned(2, None);
    let snapshot = toggled.snapshot();
    assert_eq!((snapshot.events().len(), snapshot.capture.lost.refused_events), (1, 1));
}
