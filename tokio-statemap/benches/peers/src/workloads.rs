//! The measured programs.

mod chains;
mod ping_pong;
mod spawn_storm;
mod yield_storm;

use tokio::runtime::Builder;

use crate::functions::Functions;
use crate::variants::{Spawner, Variant};
pub(crate) use yield_storm::storm;

/// The activity of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Yield,
    Spawn,
    PingPong,
    /// Chains of so many async functions that are polled repeatedly; a yield storm if there are
    /// none.
    Waits(u8),
    /// The same chains, called repeatedly.
    Calls(u8),
}

/// A program and its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    /// The number of workers; 0 for `current_thread`.
    pub(crate) workers: usize,
}

impl Kind {
    /// The programs about tasks.
    pub(crate) const ALL: [Self; 3] = [Self::Yield, Self::Spawn, Self::PingPong];

    /// The programs about async functions.
    pub(crate) const FUNCTIONS: [Self; 5] =
        [Self::Waits(0), Self::Waits(1), Self::Waits(4), Self::Waits(16), Self::Calls(4)];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Yield => "yield",
            Self::Spawn => "spawn",
            Self::PingPong => "ping-pong",
            Self::Waits(0) => "waits-0",
            Self::Waits(1) => "waits-1",
            Self::Waits(4) => "waits-4",
            Self::Waits(16) => "waits-16",
            Self::Calls(4) => "calls-4",
            Self::Waits(_) | Self::Calls(_) => panic!("{self:?} isn't measured"),
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Yield => "Yield storm: 16 tasks that do nothing but yield",
            Self::Spawn => "Spawn storm: tasks that end at once, 64 at a time",
            Self::PingPong => "Channel ping-pong: 8 pairs of tasks, `mpsc` channels of 1",
            Self::Waits(0) => "Features: a yield storm without functions",
            Self::Waits(_) => "Polls: 16 tasks, each in a chain of async functions that yields",
            Self::Calls(_) => {
                "Calls: 16 tasks that call a chain of 4 async functions, which yields once"
            }
        }
    }

    /// Returns the unit of the counts.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Yield => "poll",
            Self::Spawn => "spawn…end",
            Self::PingPong => "message",
            Self::Waits(_) => "poll",
            Self::Calls(_) => "call of the chain",
        }
    }

    /// Returns the number of functions of a chain.
    pub(crate) fn functions(self) -> String {
        match self {
            Self::Waits(1) => "1 function".to_owned(),
            Self::Waits(functions) | Self::Calls(functions) => format!("{functions} functions"),
            Self::Yield | Self::Spawn | Self::PingPong => "no functions".to_owned(),
        }
    }

    /// Returns the variants to measure with it.
    pub(crate) fn variants(self) -> &'static [Variant] {
        match self {
            Self::Yield | Self::Spawn | Self::PingPong => &Variant::ALL,
            Self::Waits(0) => &Variant::FEATURES,
            Self::Waits(_) | Self::Calls(_) => &Variant::FUNCTIONS,
        }
    }

    /// Returns the numbers of workers to time it with.
    pub(crate) fn workers(self) -> &'static [usize] {
        match self {
            Self::Yield | Self::Spawn | Self::PingPong => &[0, 2],
            Self::Waits(_) | Self::Calls(_) => &[0],
        }
    }

    /// Returns a lower bound of the number of events per unit.
    fn unit_events(self) -> u64 {
        match self {
            Self::Yield | Self::PingPong | Self::Waits(_) => 2,
            Self::Spawn | Self::Calls(_) => 4,
        }
    }

    /// Returns the number of units to time with `variant`.
    pub(crate) fn timed_units(self, variant: Variant) -> u64 {
        let units = match self {
            Self::Yield => 2_000_000,
            Self::Spawn => 600_000,
            Self::PingPong => 1_000_000,
            Self::Waits(_) => 400_000,
            Self::Calls(_) => 100_000,
        };
        units / self.slowness(variant)
    }

    /// Returns the numbers of units of the shorter and the longer run under callgrind.
    pub(crate) fn counted_units(self, variant: Variant) -> [u64; 2] {
        let units = match self {
            Self::Yield => [40_000, 200_000],
            Self::Spawn => [10_000, 60_000],
            Self::PingPong => [20_000, 100_000],
            // Slow variants get no fewer: some have a thread, for which a short run says little.
            Self::Waits(_) => return [4_000, 20_000],
            Self::Calls(_) => return [2_000, 10_000],
        };
        units.map(|units| units / self.slowness(variant))
    }

    /// Returns the divisor of a variant's work. The console keeps so much for each ended task that
    /// its share of the spawn storm is even smaller.
    pub(crate) fn slowness(self, variant: Variant) -> u64 {
        match (variant, self) {
            (Variant::Console, Self::Spawn) => 50,
            _ => variant.slowness(),
        }
    }
}

impl Workload {
    /// Returns the name that is passed to a child process.
    pub(crate) fn id(self) -> String {
        format!("{}-{}", self.kind.id(), self.workers)
    }

    pub(crate) fn of_id(id: &str) -> Self {
        let (kind, workers) = id.rsplit_once('-').expect("a kind and a number of workers");
        let mut kinds = Kind::ALL.into_iter().chain(Kind::FUNCTIONS);
        let kind = kinds.find(|of| of.id() == kind).expect("a kind");
        Self { kind, workers: workers.parse().expect("a number of workers") }
    }

    pub(crate) fn builder(self) -> Builder {
        let mut builder = match self.workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        if self.workers > 0 {
            builder.worker_threads(self.workers);
        }
        builder
    }

    /// Returns the number of units for the warm-up of a program that does `units` units. Our crate,
    /// keeping the last events, reuses its memory after that.
    pub(crate) fn warm_up_units(self, units: u64) -> u64 {
        units / 2
    }

    /// Returns a lower bound of the number of events of so many units.
    pub(crate) fn events(self, units: u64) -> u64 {
        units * self.kind.unit_events()
    }

    /// Does `units` units.
    pub(crate) async fn run(self, spawner: Spawner, functions: Functions, units: u64) {
        match self.kind {
            Kind::Yield => yield_storm::storm(&spawner, 16, units).await,
            Kind::Spawn => spawn_storm::storm(&spawner, units).await,
            Kind::PingPong => ping_pong::play(&spawner, units).await,
            Kind::Waits(depth) => chains::wait(&spawner, functions, depth, units).await,
            Kind::Calls(depth) => chains::call(&spawner, functions, depth, units).await,
        }
    }
}

/// Spawns `tasks` tasks and waits for them.
async fn join<F>(spawner: &Spawner, tasks: u64, future: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for task in (0..tasks).map(|_| spawner.spawn(future())).collect::<Vec<_>>() {
        task.await.expect("it only yields");
    }
}
