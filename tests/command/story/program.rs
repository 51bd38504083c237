//! Random programs: trees of tasks that yield, block, wait, panic and are aborted, on all kinds of
//! runtimes, recorded in all kinds of ways.

use std::future::{Future, pending};
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinHandle, block_in_place, yield_now};
use tokio_statemap::{
    Collector, CollectorConfig, Keep, Timeline, TraceTarget, check_casts, register_hooks,
};

use super::super::random::Random;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A program, and the way in which it is recorded.
#[derive(Clone, Debug)]
pub(super) struct Program {
    seed: u64,
    /// `None`: the current thread is the worker.
    workers: Option<usize>,
    name: Option<&'static str>,
    config: CollectorConfig,
    /// `true` if recording is stopped for a while.
    has_gap: bool,
    end: End,
    pub(super) hands_over: bool,
}

/// The moment at which the timeline is taken.
#[derive(Clone, Copy, Debug)]
enum End {
    /// After the runtime is gone.
    Gone,
    /// Once `main` has returned, while tasks may still run.
    Returned,
    /// From within `main`.
    Within,
}

impl Program {
    pub(super) fn random(seed: u64) -> Self {
        check_casts().unwrap();
        let mut random = Random::new(seed);
        let mut one_in = |n| random.below(n) == 0;
        let mut config = CollectorConfig {
            schedule_latency: !one_in(6),
            include_spawn_location: !one_in(8),
            trace_target: match (one_in(16), one_in(16)) {
                (true, _) => TraceTarget::Workers,
                (_, true) => TraceTarget::Tasks,
                _ => TraceTarget::Both,
            },
            keep: if one_in(2) { Keep::First } else { Keep::Last },
            // With stacks, a few polls without samples are not blamed.
            stacks: !one_in(2),
            ..CollectorConfig::default()
        };
        let is_small = one_in(4);
        let has_gap = one_in(10);
        let name = one_in(5).then_some("api");
        let hands_over = one_in(8);
        if is_small {
            config.max_events = 10 + random.below(300) as usize;
        }
        let long_polls = [300, 1_000, 1_000, 1_000, 2_500];
        config.long_poll = Duration::from_micros(long_polls[random.below(5) as usize]);
        Self {
            seed,
            workers: [None, Some(1), Some(2), Some(3)][random.below(4) as usize],
            name,
            config,
            has_gap,
            end: [End::Gone, End::Returned, End::Within][random.below(3) as usize],
            hands_over,
        }
    }

    /// Runs the program.
    pub(super) fn run(&self) -> Timeline {
        let mut builder = match self.workers {
            None => Builder::new_current_thread(),
            Some(workers) => {
                let mut builder = Builder::new_multi_thread();
                builder.worker_threads(workers);
                builder
            }
        };
        if let Some(name) = self.name {
            builder.name(name);
        }
        let collector = register_hooks(builder.enable_time(), self.config.clone()).unwrap();
        collector.start();
        let runtime = builder.build().unwrap();
        match self.end {
            End::Within => {
                let (on, program) = (Arc::clone(&collector), self.clone());
                let main = async move {
                    program.main(&on).await;
                    on.snapshot()
                };
                let timeline = collector.block_on(&runtime, main);
                runtime.shutdown_background();
                timeline
            }
            End::Returned => {
                collector.block_on(&runtime, self.main(&collector));
                collector.stop();
                let timeline = collector.snapshot();
                runtime.shutdown_background();
                timeline
            }
            End::Gone => {
                collector.block_on(&runtime, self.main(&collector));
                Runtime::shutdown_timeout(runtime, Duration::from_secs(10));
                collector.stop();
                collector.snapshot()
            }
        }
    }

    async fn main(&self, collector: &Collector) {
        let mut random = Random::new(self.seed + 1_000_000);
        let can_hand_over = self.hands_over && self.workers.is_some();
        if random.below(8) == 0 {
            block(1_500);
        }
        let mut first = Vec::new();
        for n in 0..1 + random.below(6) {
            first.push(spawn(&mut random, 0, can_hand_over, n == 0));
            if random.below(3) == 0 {
                yield_now().await;
            }
        }
        if self.has_gap {
            tokio::time::sleep(Duration::from_millis(1)).await;
            collector.stop();
            tokio::time::sleep(Duration::from_millis(1)).await;
            collector.start();
        }
        for task in first {
            let wait = Duration::from_millis(5 + random.below(20));
            let _ = tokio::time::timeout(wait, task).await;
        }
    }
}

/// Blocks its thread for `us` microseconds.
fn block(us: u64) {
    if us % 2 == 0 {
        thread::sleep(Duration::from_micros(us));
    } else {
        let from = Instant::now();
        while from.elapsed() < Duration::from_micros(us) {
            std::hint::spin_loop();
        }
    }
}

/// Spawns a task at one of several places.
fn spawn(random: &mut Random, depth: u64, hands_over: bool, ends: bool) -> JoinHandle<()> {
    let seed = random.below(u64::from(u32::MAX));
    let task = task(seed, depth, hands_over, ends);
    match random.below(4) {
        0 => tokio::spawn(task),
        1 => tokio::spawn(task),
        2 => tokio::spawn(task),
        _ => tokio::spawn(task),
    }
}

fn task(seed: u64, depth: u64, hands_over: bool, ends: bool) -> Boxed {
    Box::pin(async move {
        let mut random = Random::new(seed);
        let mut children = Vec::new();
        for _ in 0..random.below(6) {
            match random.below(14) {
                0 => {
                    let longer = if random.below(3) == 0 { 11_000 } else { 0 };
                    block(1_100 + random.below(2_000) + longer);
                }
                1 | 2 => block(random.below(400)),
                3 | 4 if depth < 3 => {
                    for _ in 0..random.below(4) {
                        children.push(spawn(&mut random, depth + 1, hands_over, true));
                    }
                }
                5 => tokio::time::sleep(Duration::from_micros(random.below(2_000))).await,
                6 => {
                    if let Some(child) = children.pop() {
                        child.abort();
                    }
                }
                7 if !ends => pending().await,
                8 if depth > 0 => resume_unwind(Box::new(())),
                9 if hands_over => {
                    block_in_place(|| block(1_200));
                    yield_now().await;
                }
                _ => {
                    for _ in 0..random.below(8) {
                        yield_now().await;
                    }
                }
            }
        }
        for child in children {
            let _ = child.await;
        }
        if !ends && random.below(4) == 0 {
            pending().await
        }
    })
}
