//! The program that is measured: a yield storm.

use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, register_hooks};

/// What the hooks do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variant {
    /// There are none.
    None,
    /// Nothing.
    Empty,
    /// They record, without schedule latency.
    Lean,
    /// They record with the defaults.
    Default,
}

impl Variant {
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::Empty, Self::Lean, Self::Default];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "no hooks",
            Self::Empty => "eight empty hooks",
            Self::Lean => "recorded, schedule_latency = false",
            Self::Default => "recorded",
        }
    }
}

/// How many tasks yield.
const TASKS: u64 = 16;

/// Runs what the arguments say, the variant's name, the number of workers (0 is
/// `current_thread`) and of polls: how long the polls took.
pub(crate) fn run(arguments: &[String]) -> Duration {
    let [variant, workers, polls] = arguments else { panic!("three arguments: {arguments:?}") };
    let variant = Variant::ALL.into_iter().find(|v| v.name() == variant).expect("a variant");
    let workers: usize = workers.parse().expect("a number of workers");
    let polls: u64 = polls.parse().expect("a number of polls");

    let mut builder = match workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    if workers > 0 {
        builder.worker_threads(workers);
    }
    let collector = match variant {
        Variant::None => None,
        Variant::Empty => {
            set_empty_hooks(&mut builder);
            None
        }
        Variant::Lean | Variant::Default => {
            let schedule_latency = variant == Variant::Default;
            let config = CollectorConfig { schedule_latency, ..CollectorConfig::default() };
            Some(register_hooks(&mut builder, config).expect("the flag is set"))
        }
    };
    if let Some(collector) = &collector {
        collector.start();
    }
    let runtime = builder.build().expect("a runtime");
    runtime.block_on(async {
        storm(polls / 10).await; // to warm up
        let begin = Instant::now();
        storm(polls).await;
        begin.elapsed()
    })
}

fn set_empty_hooks(builder: &mut Builder) {
    builder
        .on_thread_start(|| ())
        .on_thread_stop(|| ())
        .on_thread_park(|| ())
        .on_thread_unpark(|| ())
        .on_task_spawn(|_| ())
        .on_before_task_poll(|_| ())
        .on_after_task_poll(|_| ())
        .on_task_terminate(|_| ());
}

async fn storm(polls: u64) {
    let yields = |_| {
        tokio::spawn(async move {
            for _ in 1..polls / TASKS {
                yield_now().await;
            }
        })
    };
    for task in (0..TASKS).map(yields).collect::<Vec<_>>() {
        task.await.expect("it only yields");
    }
}
