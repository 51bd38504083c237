//! The plan of a measurement.

use crate::workloads::{Kind, Workload};

/// The words allowed after ` -- `.
pub(crate) const WORDS: [&str; 12] = [
    "all",
    "quick",
    "instructions",
    "yield",
    "spawn",
    "ping-pong",
    "http",
    "exit",
    "startup",
    "flight",
    "hooks",
    "functions",
];

pub(crate) struct Plan {
    pub(crate) workloads: Vec<Kind>,
    /// The number of turns in which each variant is timed once; 0 for none.
    pub(crate) turns: usize,
    /// The number of instruction counts, of which the smallest is taken; 0 for none.
    pub(crate) counts: usize,
    /// The number of pairs of shops per variant.
    pub(crate) pairs: usize,
    /// The number of runs of the exit.
    pub(crate) exits: usize,
    /// The number of starts of each tiny program.
    pub(crate) starts: usize,
    pub(crate) flight_seconds: u64,
    /// The number of turns in which single hooks are timed.
    pub(crate) hook_turns: usize,
    /// Each timed run does the work divided by this.
    pub(crate) part: u64,
    /// The text to produce.
    pub(crate) text: Text,
    /// `true` if the text is written to its file.
    pub(crate) is_all: bool,
}

/// The subject of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// `RESULTS.md`: tools that look at tasks.
    Tasks,
    /// `FUNCTIONS.md`: tools that look into async functions.
    Functions,
}

impl Text {
    pub(crate) fn file(self) -> &'static str {
        match self {
            Self::Tasks => "RESULTS.md",
            Self::Functions => "FUNCTIONS.md",
        }
    }
}

const NOTHING: Plan = Plan {
    workloads: Vec::new(),
    turns: 0,
    counts: 0,
    pairs: 0,
    exits: 0,
    starts: 0,
    flight_seconds: 0,
    hook_turns: 0,
    part: 1,
    text: Text::Tasks,
    is_all: false,
};

impl Plan {
    pub(crate) fn parse(words: &[&str]) -> Option<Self> {
        let all = Self {
            workloads: Kind::ALL.to_vec(),
            turns: 7,
            counts: 2,
            pairs: 4,
            exits: 3,
            starts: 51,
            flight_seconds: 30,
            hook_turns: 5,
            part: 1,
            text: Text::Tasks,
            is_all: true,
        };
        let functions = Self {
            workloads: Kind::FUNCTIONS.to_vec(),
            turns: all.turns,
            counts: all.counts,
            text: Text::Functions,
            ..NOTHING
        };
        let plan = match *words {
            [] | ["all"] => all,
            ["quick"] => Self {
                turns: 3,
                counts: 0,
                pairs: 1,
                exits: 1,
                starts: 15,
                flight_seconds: 3,
                hook_turns: 1,
                part: 6,
                is_all: false,
                ..all
            },
            ["instructions"] => Self { workloads: all.workloads, counts: all.counts, ..NOTHING },
            ["http"] => Self { pairs: all.pairs, ..NOTHING },
            ["exit"] => Self { exits: all.exits, ..NOTHING },
            ["startup"] => Self { starts: all.starts, ..NOTHING },
            ["flight"] => Self { flight_seconds: all.flight_seconds, ..NOTHING },
            ["flight", seconds] => Self { flight_seconds: seconds.parse().ok()?, ..NOTHING },
            ["hooks"] => Self { hook_turns: all.hook_turns, ..NOTHING },
            ["hooks", turns] => Self { hook_turns: turns.parse().ok()?, ..NOTHING },
            ["functions"] => Self { is_all: true, ..functions },
            ["functions", "quick"] => Self { turns: 3, counts: 0, part: 6, ..functions },
            ["functions", "instructions"] => Self { turns: 0, ..functions },
            [kind] => {
                let kind = Kind::ALL.into_iter().find(|of| of.id() == kind)?;
                Self { workloads: vec![kind], turns: all.turns, counts: all.counts, ..NOTHING }
            }
            _ => return None,
        };
        Some(plan)
    }

    /// Iterates over the programs to time.
    pub(crate) fn timed(&self) -> impl Iterator<Item = Workload> {
        self.workloads
            .iter()
            .flat_map(|&kind| kind.workers().iter().map(move |&workers| Workload { kind, workers }))
    }
}
