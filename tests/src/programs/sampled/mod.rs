//! Programs whose long polls are sampled.

pub mod filtered;
pub mod forks;
pub mod handler;
pub mod idle;
pub mod overflow;
pub mod told;
pub mod waits;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio_statemap::timeline::PollSample;
use tokio_statemap::{Collector, CollectorConfig, Timeline, register_hooks};

/// A runtime that is recorded from its start.
fn recorded(workers: usize) -> (Runtime, Arc<Collector>) {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).enable_all();
    let collector = register_hooks(&mut builder, CollectorConfig::default()).unwrap();
    collector.start();
    (builder.build().unwrap(), collector)
}

/// The samples of all polls.
fn samples(timeline: &Timeline) -> Vec<&PollSample> {
    let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
    polls.flat_map(|poll| timeline.samples(poll)).collect()
}

/// Is on the processor for this long, unless others are.
#[inline(never)]
fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        black_box(&began);
    }
}
