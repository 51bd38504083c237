//! The programs that are measured.

mod ping_pong;
mod spawn_storm;
mod yield_storm;

use tokio::runtime::Builder;

use crate::variants::{Spawner, Variant};
pub(crate) use yield_storm::storm;

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Yield,
    Spawn,
    PingPong,
}

/// A program and its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    /// 0 is `current_thread`.
    pub(crate) workers: usize,
}

/// The numbers of workers that each is timed with.
pub(crate) const WORKERS: [usize; 2] = [0, 2];

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Yield, Self::Spawn, Self::PingPong];

    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::Yield => "yield",
            Self::Spawn => "spawn",
            Self::PingPong => "ping-pong",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Yield => "Yield storm: 16 tasks that do nothing but yield",
            Self::Spawn => "Spawn storm: tasks that end at once, 64 at a time",
            Self::PingPong => "Channel ping-pong: 8 pairs of tasks, `mpsc` channels of 1",
        }
    }

    /// What is counted.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Self::Yield => "poll",
            Self::Spawn => "spawn…end",
            Self::PingPong => "message",
        }
    }

    /// How many events one unit is, or a little less.
    fn unit_events(self) -> u64 {
        match self {
            Self::Yield | Self::PingPong => 2,
            Self::Spawn => 4,
        }
    }

    /// How many units are timed with `variant`.
    pub(crate) fn timed_units(self, variant: Variant) -> u64 {
        let units = match self {
            Self::Yield => 2_000_000,
            Self::Spawn => 600_000,
            Self::PingPong => 1_000_000,
        };
        units / self.slowness(variant)
    }

    /// How many units the shorter and the longer run under callgrind have.
    pub(crate) fn counted_units(self, variant: Variant) -> [u64; 2] {
        let units = match self {
            Self::Yield => [40_000, 200_000],
            Self::Spawn => [10_000, 60_000],
            Self::PingPong => [20_000, 100_000],
        };
        units.map(|units| units / self.slowness(variant))
    }

    /// A variant gets one of so many parts of the work. The console keeps so much of each task
    /// that has ended that it gets even less of the spawn storm.
    pub(crate) fn slowness(self, variant: Variant) -> u64 {
        match (variant, self) {
            (Variant::Console, Self::Spawn) => 50,
            _ => variant.slowness(),
        }
    }
}

impl Workload {
    /// What a child process is told.
    pub(crate) fn id(self) -> String {
        format!("{}-{}", self.kind.id(), self.workers)
    }

    pub(crate) fn of_id(id: &str) -> Self {
        let (kind, workers) = id.rsplit_once('-').expect("a kind and a number of workers");
        let kind = Kind::ALL.into_iter().find(|of| of.id() == kind).expect("a kind");
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

    /// How many units it takes until a program that is to do `units` is warm: ours, keeping the last
    /// events, uses its memory again then.
    pub(crate) fn warm_up_units(self, units: u64) -> u64 {
        units / 2
    }

    /// The least number of events of so many units.
    pub(crate) fn events(self, units: u64) -> u64 {
        units * self.kind.unit_events()
    }

    /// Does `units` units.
    pub(crate) async fn run(self, spawner: Spawner, units: u64) {
        match self.kind {
            Kind::Yield => yield_storm::storm(&spawner, 16, units).await,
            Kind::Spawn => spawn_storm::storm(&spawner, units).await,
            Kind::PingPong => ping_pong::play(&spawner, units).await,
        }
    }
}
