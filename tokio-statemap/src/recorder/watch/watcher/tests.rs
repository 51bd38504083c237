use std::hint::black_box;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::*;
use crate::config::CollectorConfig;
use crate::hooks::{Hooks, install};
use crate::recorder::TokioHooks;
use crate::recorder::root_future::Root;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::{Poll, TaskKey, Timeline};

/// Runs the culprits one after the other, each in a task, all of them spawned here. Returns each one's
/// longest poll.
fn recorded(culprits: &[fn()]) -> (Timeline, Vec<Poll>) {
    let recorder = Recorder::new(CollectorConfig::default());
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    install(builder.worker_threads(2), Hooks::new(), Some(TokioHooks::of(&recorder)));
    let runtime = builder.build().expect("a runtime");
    recorder.start();
    let all = culprits.to_vec();
    let main = async move {
        for culprit in all {
            tokio::spawn(async move { culprit() }).await.expect("it ends");
        }
        // A task is joined before the hook of its poll's end is called.
        std::thread::sleep(Duration::from_millis(20));
    };
    runtime.block_on(Root::new(main, Location::caller(), Some(&recorder)));
    recorder.stop();
    drop(runtime);
    let timeline = Timeline::from_snapshot(&Snapshot::take(&recorder, false));
    let spawned = timeline.tasks.iter().filter(|task| matches!(task.key, TaskKey::Spawned(_)));
    let longest = spawned.filter_map(|task| {
        task.polls.iter().copied().max_by_key(|poll| poll.length_ns(timeline.end_ns))
    });
    let longest = longest.collect();
    (timeline, longest)
}

#[inline(never)]
fn sleeps() {
    std::thread::sleep(Duration::from_millis(60));
}

#[inline(never)]
fn computes() {
    let began = Instant::now();
    let mut x = 0_u64;
    while began.elapsed() < Duration::from_millis(60) {
        for i in 0..1000 {
            x = black_box(x.wrapping_mul(31).wrapping_add(i));
        }
    }
}

/// Whether the function of this module is one of those that are seen in all samples of `poll`.
fn is_seen(name: &str, timeline: &Timeline, poll: &Poll) -> bool {
    let full = format!("tokio_statemap::recorder::watch::watcher::tests::{name}");
    let samples = timeline.samples(poll);
    let is_in =
        |frames: &[crate::symbols::StackFrame]| frames.iter().any(|frame| *frame.function == *full);
    !samples.is_empty() && samples.iter().all(|sample| sample.is_complete && is_in(&sample.frames))
}

#[test]
fn a_poll_that_blocks_is_told_from_one_that_computes() {
    let (timeline, polls) = recorded(&[sleeps, computes]);
    let [slept, computed] = polls[..] else { panic!("{polls:?}") };

    let cause = timeline.cause(&slept).unwrap();
    let length_ns = slept.length_ns(timeline.end_ns);
    // On a busy machine it may have waited longer for a processor.
    assert!(cause.blocked_ns > 50_000_000, "{cause:?}");
    assert_eq!(cause.on_cpu_ns + cause.blocked_ns + cause.taken_ns(), length_ns);
    assert!(is_seen("sleeps", &timeline, &slept), "{:?}", timeline.samples(&slept));
    for sample in timeline.samples(&slept) {
        assert_eq!(sample.blocked_in.as_deref(), Some("clock_nanosleep"));
        assert!(sample.at_ns > slept.start_ns() + 5_000_000);
    }

    // On a busy machine others may run for most of the time, but it never blocked.
    let cause = timeline.cause(&computed).unwrap();
    assert!(cause.on_cpu_ns > 0 && cause.blocked_ns < 10_000_000, "{cause:?}");
    let sampled = timeline.samples(&computed);
    assert!(sampled.iter().all(|sample| sample.blocked_in.is_none()), "{sampled:?}");
    assert!(sampled.is_empty() || is_seen("computes", &timeline, &computed), "{sampled:?}");
}

#[test]
fn a_short_poll_has_neither_cause_nor_samples() {
    let (timeline, polls) = recorded(&[|| {}]);
    // Unless it was interrupted for that long.
    for poll in polls.iter().filter(|poll| poll.length_ns(timeline.end_ns) < 1_000_000) {
        assert_eq!(timeline.cause(poll), None);
        assert!(timeline.samples(poll).is_empty());
    }
}
