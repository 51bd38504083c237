//! Our crate at scale: the flight recorder under load, and the exit.

pub(crate) mod exit;
pub(crate) mod flight;
pub(crate) mod hook_times;

use serde_json::Value;

use crate::plan::Plan;
use crate::programs;
use crate::samples::Spread;
use crate::scale::hook_times::{Beside, HookTimes};

/// The kinds of files written, each with the output of its runs.
pub(crate) type Exits = Vec<(&'static str, Vec<Value>)>;

pub(crate) type Flights = Vec<flight::Flight>;

pub(crate) type AllHookTimes = Vec<hook_times::HookTimes>;

pub(crate) const DATA: &str = "tasks.json, workers.json";
pub(crate) const ALL_FILES: &str = "the same, the page and the SVG";

/// Measures the exit, in turns.
pub(crate) fn exits(plan: &Plan) -> Exits {
    const EVENTS: u64 = 10_000_000;
    let mut exits = vec![(DATA, Vec::new()), (ALL_FILES, Vec::new())];
    for turn in 0..plan.exits {
        eprint!("\rexit: turn {} of {}  ", turn + 1, plan.exits);
        for (files, runs) in &mut exits {
            let what = if *files == DATA { "data" } else { "all" };
            let events = (EVENTS / plan.part).to_string();
            runs.push(programs::json_of(programs::this().args(["run", "exit", what, &events])));
        }
    }
    eprintln!();
    exits
}

/// Measures the flight recorder with the default `max_events` and with ten times that.
pub(crate) fn flights(plan: &Plan) -> Flights {
    if plan.flight_seconds == 0 {
        return Vec::new();
    }
    let flight = |max_events: u64| {
        eprintln!("flight: {max_events} events, {} s", plan.flight_seconds);
        let words = [max_events, plan.flight_seconds].map(|number| number.to_string());
        let said = programs::json_of(programs::this().args(["run", "flight"]).args(&words));
        flight::Flight::read(max_events, plan.flight_seconds, &said)
    };
    [1_000_000, 10_000_000].map(flight).into()
}

/// Measures the times of single hooks under the load of a flight recorder with different activities
/// next to it, in turns.
pub(crate) fn hook_times(plan: &Plan) -> AllHookTimes {
    let mut all = Vec::new();
    for turn in 0..plan.hook_turns {
        for max_events in [1_000_000, 10_000_000] {
            eprint!("\rhooks: turn {} of {}  ", turn + 1, plan.hook_turns);
            for beside in hook_times::Beside::ALL {
                let words = [max_events.to_string(), beside.id().to_owned(), "3".to_owned()];
                let said =
                    programs::json_of(programs::this().args(["run", "hook-times"]).args(&words));
                all.push(hook_times::HookTimes::read(max_events, beside, &said));
            }
        }
    }
    eprintln!();
    all
}

/// Groups the measurements by setting, turn by turn.
pub(crate) fn turns(all: &[HookTimes]) -> impl Iterator<Item = ((u64, Beside), Vec<&HookTimes>)> {
    let mut kinds: Vec<_> = all.iter().map(|times| (times.max_events, times.beside)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.into_iter().map(|kind| (kind, of_kind(all, kind).collect()))
}

fn of_kind(all: &[HookTimes], kind: (u64, Beside)) -> impl Iterator<Item = &HookTimes> {
    all.iter().filter(move |times| (times.max_events, times.beside) == kind)
}

/// Returns the number of slow hooks per million beyond those of an empty one, turn by turn.
pub(crate) fn slow_beyond(all: &[HookTimes], max_events: u64, beside: Beside) -> Option<Spread> {
    let none = of_kind(all, (max_events, Beside::NoHooks)).filter(|_| beside != Beside::NoHooks);
    let pairs = of_kind(all, (max_events, beside)).zip(none);
    Spread::from_figures(pairs.map(|(this, none)| this.slow - none.slow))
}
