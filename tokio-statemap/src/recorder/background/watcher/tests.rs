use std::hint::black_box;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::collector::Collector;
use crate::config::CollectorConfig;
use crate::hooks::{Hooks, install};
use crate::recorder::hot::woken::WokenThread;
use crate::recorder::root_future::Root;
use crate::recorder::store::buffer::Buffer;
use crate::recorder::{Recorder, TokioHooks};
use crate::sys::threads::absent::AbsentPage;
use crate::trace::snapshot::Snapshot;
use crate::trace::timeline::{Poll, SamplingState, TaskKey, Timeline};

/// Runs the culprits one after the other, each in a task, all of them spawned here. Returns each one's
/// longest poll.
fn recorded(culprits: &[fn()]) -> (Timeline, Vec<Poll>) {
    recorded_with(CollectorConfig::default(), culprits)
}

fn recorded_with(config: CollectorConfig, culprits: &[fn()]) -> (Timeline, Vec<Poll>) {
    let recorder = Recorder::new(config);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    install(builder.worker_threads(2), Hooks::new(), Some(TokioHooks::new(&recorder)));
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

/// The time that a culprit takes, in milliseconds.
static LENGTH_MS: AtomicU64 = AtomicU64::new(60);

fn culprits_length() -> Duration {
    Duration::from_millis(LENGTH_MS.load(Ordering::Relaxed))
}

#[inline(never)]
fn sleeps() {
    std::thread::sleep(culprits_length());
}

#[inline(never)]
fn computes() {
    let began = Instant::now();
    let mut x = 0_u64;
    while began.elapsed() < culprits_length() {
        for i in 0..1000 {
            x = black_box(x.wrapping_mul(31).wrapping_add(i));
        }
    }
}

/// Returns whether the function of this module is one of those that are seen in all samples of `poll`, but for samples of
/// the hook that records its end, where a busy machine may keep the thread for long.
fn is_seen(name: &str, timeline: &Timeline, poll: &Poll) -> bool {
    let full = format!("tokio_statemap::recorder::background::watcher::tests::{name}");
    let samples = timeline.samples(poll);
    let is_in =
        |frames: &[crate::symbols::StackFrame]| frames.iter().any(|frame| *frame.function == *full);
    let is_of_hook = |frames: &[crate::symbols::StackFrame]| {
        frames.iter().any(|frame| frame.function.starts_with("tokio_statemap::recorder::hot::"))
    };
    let is_expected = |frames| is_in(frames) || is_of_hook(frames);
    !samples.is_empty()
        && samples.iter().all(|sample| sample.is_complete && is_expected(&sample.frames))
}

#[test]
fn a_poll_that_blocks_is_told_from_one_that_computes() {
    // On a busy machine the watcher may get no processor for that long. Then nothing is known, and the polls are made
    // longer.
    let is_known = |(timeline, polls): &(Timeline, Vec<Poll>)| {
        let is_known = |poll| timeline.cause(poll).is_some();
        polls.iter().all(is_known) && !timeline.samples(&polls[0]).is_empty()
    };
    let mut all = (0..8).map(|doublings| {
        LENGTH_MS.store(60 << doublings, Ordering::Relaxed);
        recorded(&[sleeps, computes])
    });
    let (timeline, polls) = all.find(is_known).expect("it is known of long ones");
    LENGTH_MS.store(60, Ordering::Relaxed);
    let [slept, computed] = polls[..] else { panic!("{polls:?}") };

    let cause = timeline.cause(&slept).unwrap();
    let length_ns = slept.length_ns(timeline.end_ns);
    let slept_ns = cause.blocked_ns;
    // On a busy machine the thread may have waited longer for a processor.
    assert!(slept_ns > cause.on_cpu_ns, "{cause:?}");
    assert_eq!(cause.on_cpu_ns + cause.blocked_ns + cause.taken_ns(), length_ns);
    assert!(is_seen("sleeps", &timeline, &slept), "{:?}", timeline.samples(&slept));
    for sample in timeline.samples(&slept) {
        assert_eq!(sample.blocked_in.as_deref(), Some("clock_nanosleep"));
        assert!(sample.at_ns > slept.start_ns());
    }

    // On a busy machine others may run for most of the time, but it never blocked.
    let cause = timeline.cause(&computed).unwrap();
    assert!(cause.on_cpu_ns > 0 && cause.blocked_ns < slept_ns, "{cause:?}");
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

#[test]
fn what_is_not_to_be_watched_is_not() {
    let config = CollectorConfig { stacks: false, ..CollectorConfig::default() };
    let (timeline, polls) = recorded_with(config, &[sleeps]);
    assert_eq!(timeline.long_polls.sampling.state, SamplingState::Off);
    assert!(timeline.long_polls.samples.is_empty() && timeline.long_polls.causes.is_empty());
    assert_eq!(timeline.cause(&polls[0]), None);
}

#[test]
fn a_long_poll_is_told_while_it_goes_on() {
    let recorder = Recorder::new(CollectorConfig::default());
    let collector = Collector::from_recorder(recorder.clone());
    let (tell, told) = std::sync::mpsc::channel();
    let goes_on = Arc::new(AtomicBool::new(true));
    let stop = Arc::clone(&goes_on);
    collector.on_long_poll(Duration::from_millis(1), |_| panic!("that is the listener's"));
    collector.on_long_poll(Duration::from_millis(20), move |poll| {
        stop.store(false, Ordering::SeqCst);
        tell.send(poll.clone()).expect("it is received");
    });
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    install(builder.worker_threads(1), Hooks::new(), Some(TokioHooks::new(&recorder)));
    let runtime = builder.build().expect("a runtime");
    collector.start();
    let line = line!() + 1;
    let task = runtime.spawn(async move {
        while goes_on.load(Ordering::SeqCst) {
            sleeps();
        }
    });
    let id = crate::recorder::task_id::number(task.id());
    runtime.block_on(task).expect("it ends");
    let poll = told.recv_timeout(Duration::from_secs(60)).expect("it is told");
    collector.stop();
    assert!(told.try_recv().is_err(), "once");
    assert_eq!((poll.task, poll.worker), (TaskKey::Spawned(id), Some(0)));
    assert_eq!(poll.location.map(|location| location.line), Some(line));
    assert!(poll.age >= Duration::from_millis(20));
    // Between two calls it may have been on the processor, or about to be.
    if poll.blocked_in.is_some() {
        assert!(poll.frames.iter().any(|frame| frame.function.ends_with("::sleeps")), "{poll}");
    }
}

#[test]
fn a_thread_is_looked_at_once_for_each_recorder() {
    let recorders = [(), ()].map(|()| Recorder::new(CollectorConfig::default()));
    let buffers = [(), ()].map(|()| &*Box::leak(Box::new(Buffer::unassigned())));
    let places = [(0, 0), (0, 1), (0, 0), (1, 0), (0, 1), (0, 0)];
    let thread = |(of, buffer): (usize, usize)| {
        Awake::new(WokenThread { recorder: recorders[of].this(), buffer: buffers[buffer] })
    };
    let mut awake: Vec<_> = places.map(thread).into();
    awake[0].quiet_looks = 7;
    remove_repeated(&mut awake);
    let is_of = |one: &Awake, (of, buffer): (usize, usize)| {
        std::ptr::eq(one.thread.buffer, buffers[buffer])
            && one.thread.recorder.ptr_eq(&Arc::downgrade(&recorders[of]))
    };
    assert!(awake.iter().zip([(0, 0), (0, 1), (1, 0)]).all(|(one, place)| is_of(one, place)));
    assert_eq!((awake.len(), awake[0].quiet_looks), (3, 7));
}

#[test]
#[ignore = "slow"]
fn a_page_that_is_not_there_blocks() {
    static PAGE: AtomicUsize = AtomicUsize::new(0);
    fn reads() {
        AbsentPage::read(PAGE.load(Ordering::SeqCst));
        // Otherwise this function would be gone from the stack by then.
        std::hint::black_box(&PAGE);
    }
    // On a busy machine the watcher may get no processor for that long.
    for _ in 0..20 {
        let Some(page) = AbsentPage::new() else {
            return eprintln!("LEFT OUT: a page fault that blocks: userfaultfd is not permitted");
        };
        PAGE.store(page.address(), Ordering::SeqCst);
        let provides = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            page.provide();
        });
        let (timeline, polls) = recorded(&[reads]);
        provides.join().expect("it ends");
        let samples = timeline.samples(&polls[0]);
        let Some(sample) = samples.iter().find(|sample| sample.blocked_in.is_some()) else {
            continue;
        };
        assert_eq!(sample.blocked_in.as_deref(), Some("a page fault"));
        let is_named = |name| sample.frames.iter().any(|frame| frame.function.ends_with(name));
        assert!(is_named("AbsentPage::read") && is_named("::reads"), "{sample:?}");
        return assert!(sample.is_complete, "{sample:?}");
    }
    panic!("it was never seen");
}
