//! Programs whose long polls are sampled.

pub mod filtered;
pub mod forks;
pub mod handler;
pub mod idle;
pub mod listener;
pub mod overflow;
pub mod waits;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_statemap::timeline::PollSample;
use tokio_statemap::{Collector, CollectorConfig, Timeline};

use crate::runtime;

fn recorded(workers: usize) -> (Arc<Collector>, Runtime) {
    runtime::recorded(runtime::builder(workers), CollectorConfig::default())
}

/// Returns the samples of all polls.
fn samples(timeline: &Timeline) -> Vec<&PollSample> {
    let polls = timeline.tasks.iter().flat_map(|task| &task.polls);
    polls.flat_map(|poll| timeline.samples(poll)).collect()
}

/// Computes for this long, as wall time.
#[inline(never)]
fn compute(time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        black_box(&began);
    }
}
