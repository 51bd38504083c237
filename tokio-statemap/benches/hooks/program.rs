//! The measured program: tasks that do nothing but yield.

use std::time::{Duration, Instant};

use tokio::runtime::Builder;
use tokio::task::{JoinHandle, yield_now};
use tokio_statemap::{CollectorConfig, register_hooks};

/// The behaviour of the hooks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variant {
    /// There are no hooks.
    None,
    /// The hooks do nothing.
    Empty,
    /// The hooks record, without schedule latency.
    Lean,
    /// The hooks record with the defaults.
    Default,
    /// Like `Lean`, but recording starts when tasks are already alive; those that yield are spawned
    /// later.
    Late,
    /// Like `Lean`, but recording was stopped and started again.
    Restarted,
    /// Like `Lean`, but the tasks that yield were spawned before recording started.
    Before,
    /// Like `Lean`, but far beyond `max_events`: the oldest events are dropped, and their memory is
    /// reused.
    Dropping,
}

impl Variant {
    pub(crate) const ALL: [Self; 8] = [
        Self::None,
        Self::Empty,
        Self::Lean,
        Self::Default,
        Self::Late,
        Self::Restarted,
        Self::Before,
        Self::Dropping,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "no hooks",
            Self::Empty => "eight empty hooks",
            Self::Lean => "recorded, schedule_latency = false, wakes = false",
            Self::Default => "recorded",
            Self::Late => "lean, started late",
            Self::Restarted => "lean, stopped and started again",
            Self::Before => "lean, of tasks from before the start",
            Self::Dropping => "lean, the oldest dropped",
        }
    }
}

/// The number of tasks.
const TASKS: u64 = 16;

/// Runs the program and returns the duration of its polls. The arguments are the variant's name,
/// the number of workers (0 for `current_thread`) and the number of polls.
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
        _ => {
            let schedule_latency = variant == Variant::Default;
            let wakes = matches!(variant, Variant::Default | Variant::Dropping);
            let mut config =
                CollectorConfig { schedule_latency, wakes, ..CollectorConfig::default() };
            if variant == Variant::Dropping {
                // Even the shortest counted run is far beyond this.
                config.max_events = 40_000;
                // Under callgrind, a poll takes long if another thread runs meanwhile.
                config.long_poll = Duration::from_secs(3600);
            }
            Some(register_hooks(&mut builder, config).expect("the flag is set"))
        }
    };
    let start = || collector.iter().for_each(|collector| collector.start());
    let stop = || collector.iter().for_each(|collector| collector.stop());
    if !matches!(variant, Variant::Late | Variant::Before) {
        start();
    }
    let runtime = builder.build().expect("a runtime");
    runtime.block_on(async {
        match variant {
            Variant::Late => {
                storm(0).await;
                start();
            }
            Variant::Restarted => {
                storm(0).await;
                stop();
                start();
            }
            _ => {}
        }
        // Only the tasks of the measured storm can be older than the recording.
        let tasks = if variant == Variant::Before { spawn(polls / 10 + polls) } else { Vec::new() };
        if variant == Variant::Before {
            start();
        } else {
            storm(polls / 10).await; // to warm up
        }
        let begin = Instant::now();
        match variant {
            Variant::Before => end(tasks).await,
            _ => storm(polls).await,
        }
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
    end(spawn(polls)).await;
}

/// Spawns tasks with so many polls in all.
fn spawn(polls: u64) -> Vec<JoinHandle<()>> {
    let yields = |_| {
        tokio::spawn(async move {
            for _ in 1..polls / TASKS {
                yield_now().await;
            }
        })
    };
    (0..TASKS).map(yields).collect()
}

async fn end(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("it only yields");
    }
}
