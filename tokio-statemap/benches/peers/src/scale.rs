//! Ours at scale: the flight recorder under load, and the way out.

pub(crate) mod exit;
pub(crate) mod flight;

use serde_json::Value;

use crate::plan::Plan;
use crate::programs;

/// The files written, and what each run says.
pub(crate) type Exits = Vec<(&'static str, Vec<Value>)>;

pub(crate) type Flights = Vec<flight::Flight>;

pub(crate) const DATA: &str = "tasks.json, workers.json";
pub(crate) const ALL_FILES: &str = "the same, the page and the SVG";

/// The way out, so often, by turns.
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

/// The flight recorder, with the default `max_events` and with ten times that.
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
