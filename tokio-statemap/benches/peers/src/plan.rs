//! What is to be measured, and how often.

use crate::workloads::{Kind, Workload};

/// What may stand behind ` -- `.
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
    /// Turns in which each variant is timed once; 0 for not at all.
    pub(crate) turns: usize,
    /// How often instructions are counted; 0 for not at all; the fewest are taken.
    pub(crate) counts: usize,
    /// Pairs of shops that each variant gets.
    pub(crate) pairs: usize,
    /// Runs of the way out.
    pub(crate) exits: usize,
    /// Starts of each tiny program.
    pub(crate) starts: usize,
    pub(crate) flight_seconds: u64,
    /// Turns in which single hooks are timed.
    pub(crate) hook_turns: usize,
    /// Each timed run does one of this many parts of its work.
    pub(crate) part: u64,
    /// What is said of it.
    pub(crate) text: Text,
    /// Whether it is written to the file of that.
    pub(crate) is_all: bool,
}

/// What a run is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// `RESULTS.md`: what looks at tasks.
    Tasks,
    /// `FUNCTIONS.md`: what looks into async functions.
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
    pub(crate) fn of(words: &[&str]) -> Option<Self> {
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

    /// The programs that are timed.
    pub(crate) fn timed(&self) -> impl Iterator<Item = Workload> {
        self.workloads
            .iter()
            .flat_map(|&kind| kind.workers().iter().map(move |&workers| Workload { kind, workers }))
    }
}
