use std::hint::black_box;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::*;
use crate::config::CollectorConfig;
use crate::hooks::{Hooks, install};
use crate::recorder::TokioHooks;
use crate::recorder::root_future::Root;
use crate::recorder::watch::Sample;
use crate::symbols::{Resolver, StackFrame};

/// Runs `culprit` in a task, all tasks being spawned here; returns the samples of its poll.
fn sampled(culprit: fn()) -> Vec<Sample> {
    let recorder = Recorder::new(CollectorConfig::default());
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    install(builder.worker_threads(2), Hooks::new(), Some(TokioHooks::of(&recorder)));
    let runtime = builder.build().expect("a runtime");
    recorder.start();
    let main = async move { tokio::spawn(async move { culprit() }).await.expect("it ends") };
    runtime.block_on(Root::new(main, Location::caller(), Some(&recorder)));
    recorder.stop();
    drop(runtime);
    let samples = lock(&recorder.samples);
    samples.all.clone()
}

/// The program's own innermost function of a sample.
fn innermost(sample: &Sample, resolver: &mut Resolver) -> Option<StackFrame> {
    let frames = sample.addresses.iter().flat_map(|&at| resolver.frames(at).to_vec());
    // This crate's own functions are the runtime's elsewhere.
    frames.into_iter().find(|frame| frame.function.contains("watcher::tests::"))
}

#[inline(never)]
fn sleeps() {
    std::thread::sleep(Duration::from_millis(40));
}

#[inline(never)]
fn computes() {
    let began = Instant::now();
    let mut x = 0_u64;
    while began.elapsed() < Duration::from_millis(40) {
        for i in 0..1000 {
            x = black_box(x.wrapping_mul(31).wrapping_add(i));
        }
    }
}

#[test]
fn the_function_that_held_the_worker_is_found() {
    let mut resolver = Resolver::default();
    for (culprit, name, blocks) in
        [(sleeps as fn(), "sleeps", true), (computes as fn(), "computes", false)]
    {
        let began = Instant::now();
        let samples = sampled(culprit);
        assert!(!samples.is_empty(), "{name}: {:?}", began.elapsed());
        for sample in &samples {
            assert_eq!(sample.blocked.is_some(), blocks, "{name}");
            let frame = innermost(sample, &mut resolver).unwrap();
            assert!(frame.function.ends_with(name), "{frame:?}");
        }
    }
}
