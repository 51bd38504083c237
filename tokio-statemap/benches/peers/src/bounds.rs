//! The bounds that the cost is held to, and whether they hold.

pub(crate) mod functions;

use crate::callgrind::INSTRUCTIONS;
use crate::measure::CPU_NS;
use crate::results::Measured;
use crate::samples::{Samples, Spread};
use crate::scale;
use crate::service::{Pair, Service};
use crate::startup::Start;
use crate::variants::Variant::{self, *};
use crate::workloads::{Kind, Workload};

pub(crate) struct Bound {
    pub(crate) what: String,
    pub(crate) bound: String,
    pub(crate) measured: String,
    pub(crate) holds: bool,
}

/// All bounds that something was measured for.
pub(crate) fn check(measured: &Measured) -> Vec<Bound> {
    let mut bounds = Vec::new();
    storms(&measured.samples, &mut bounds);
    services(&measured.service, &mut bounds);
    exits(measured, &mut bounds);
    starts(measured, &mut bounds);
    flights(measured, &mut bounds);
    bounds
}

const THREADS: [(usize, &str); 2] = [(0, "1 thread"), (2, "2 workers")];

fn storms(samples: &Samples, bounds: &mut Vec<Bound>) {
    let over = samples.over_none((on(Kind::Yield, 0), LeanFirst), INSTRUCTIONS);
    let what = "lean, every event kept: instructions a poll over none".to_owned();
    bounds.extend(Spread::of(over).map(|spread| at_most(what, spread, 130.0, "")));
    lean_beside_dial9(samples, bounds);
    let mut push = |what: String, spread: Option<Spread>, most: f64, unit: &str| {
        bounds.extend(spread.map(|spread| at_most(what, spread, most, unit)));
    };
    for (variant, name) in [(Stopped, "after `stop()`"), (Full, "`keep = \"first\"`, full")] {
        for (workers, threads) in THREADS {
            let workload = on(Kind::Yield, workers);
            let pairs = samples.pairs((workload, variant), (workload, Empty), CPU_NS);
            let what = format!("{name}, {threads}: ns a poll over empty hooks");
            push(what, Spread::of(pairs.map(|(this, empty)| this - empty)), 2.0, " ns");
        }
    }
    for (variant, keep) in [(LeanLast, "last"), (LeanFirst, "first")] {
        let [one, two] = [0, 2].map(|workers| extras(samples, on(Kind::Yield, workers), variant));
        let what =
            format!("lean, `keep = \"{keep}\"`: an event with 2 workers to one with 1 thread");
        push(what, Spread::of(two.zip(one).map(|(two, one)| two / one)), 1.15, " ×");
    }
    for (variant, keep) in [(DefaultLast, "last"), (DefaultFirst, "first")] {
        for (workers, threads) in THREADS {
            let what = format!(
                "default, `keep = \"{keep}\"`, yield storm, {threads}: extra ns to dial9's with its own spawn"
            );
            push(
                what,
                beside(samples, CPU_NS, on(Kind::Yield, workers), variant, Dial9Spawn),
                0.6,
                " ×",
            );
        }
    }
}

/// With what the clock alone takes, as that is most of it, and no two processors take the same.
fn lean_beside_dial9(samples: &Samples, bounds: &mut Vec<Bound>) {
    for (kind, storm, most) in
        [(Kind::Yield, "yield storm", [0.15, 0.30]), (Kind::Spawn, "spawn storm", [0.25; 2])]
    {
        for ((variant, keep), most) in
            [(LeanLast, "last"), (LeanFirst, "first")].into_iter().zip(most)
        {
            for (workers, threads) in THREADS {
                let workload = on(kind, workers);
                let Some(spread) = beside(samples, CPU_NS, workload, variant, Dial9) else {
                    continue;
                };
                let what =
                    format!("lean, `keep = \"{keep}\"`, {storm}, {threads}: extra ns to dial9's");
                let mut bound = at_most(what, spread, most, " ×");
                if let Some(ticks) = beside(samples, CPU_NS, workload, Ticks, Dial9) {
                    bound.measured +=
                        &format!("; hooks that only read the clock {:.2} ×", ticks.median);
                }
                bounds.push(bound);
            }
        }
    }
}

fn on(kind: Kind, workers: usize) -> Workload {
    Workload { kind, workers }
}

/// What a variant takes beyond the program without hooks, in parts of what a peer takes beyond it.
fn beside(
    samples: &Samples,
    metric: &'static str,
    workload: Workload,
    this: Variant,
    peer: Variant,
) -> Option<Spread> {
    let [these, those] = [this, peer].map(|variant| samples.over_none((workload, variant), metric));
    let pairs = these.zip(those);
    Spread::of(pairs.map(|(this, peer)| this / peer))
}

fn services(service: &Service, bounds: &mut Vec<Bound>) {
    type Worse = fn(&Pair) -> f64;
    let throughput: Worse = |pair| -pair.percent_over(|shop| &shop.requests_per_s);
    let p99: Worse = |pair| pair.percent_over(|shop| &shop.p99_ns);
    for (variant, name, most) in [(DefaultLast, "default", 2.0), (LeanLast, "lean", 1.0)] {
        for (worse, of) in [(throughput, "throughput"), (p99, "p99")] {
            let Some(spread) = service.spread(variant, worse) else { continue };
            let mut bound = at_most(format!("HTTP, {name}: {of} worse by"), spread, most, " %");
            if let Some(dial9) = service.spread(Dial9, worse) {
                bound.measured += &format!("; dial9 {:.2} %", dial9.median);
            }
            bounds.push(bound);
        }
    }
}

fn exits(measured: &Measured, bounds: &mut Vec<Bound>) {
    for (files, runs) in &measured.exits {
        let of = |key: &str| runs.iter().filter_map(|run| run[key].as_f64()).collect::<Vec<_>>();
        let most = if *files == scale::DATA { 1.5 } else { 4.0 };
        let Some(wall) = Spread::of(of("wall_s")) else { continue };
        bounds.push(at_most(format!("the way out: {files}"), wall, most, " s"));
        let records = of("extra_bytes").into_iter().zip(of("kept_events"));
        let times = Spread::of(records.map(|(bytes, events)| bytes / (16.0 * events)));
        let what = format!("the way out: {files}: memory beyond the records");
        bounds.extend(times.map(|times| at_most(what, times, 2.5, " × the records")));
    }
}

fn starts(measured: &Measured, bounds: &mut Vec<Bound>) {
    let Ok([plain, fastant, on, _, off, plain_off]) = measured.starts.as_deref() else { return };
    let over = |this: &Start, that: &Start| {
        let pairs = this.cpu_ms.iter().zip(&that.cpu_ms);
        Spread::of(pairs.map(|(this, that)| this - that)).expect("it was started")
    };
    let what = "start-up: CPU of the attribute beyond plain Tokio's".to_owned();
    let mut bound = at_most(what, over(on, plain), 1.0, " ms");
    bound.measured +=
        &format!("; linking fastant alone takes {:.2} ms", over(fastant, plain).median);
    bounds.push(bound);
    let what = "start-up: CPU without `record` beyond plain Tokio's".to_owned();
    bounds.push(at_most(what, over(off, plain_off), 0.2, " ms"));
}

fn flights(measured: &Measured, bounds: &mut Vec<Bound>) {
    for flight in &measured.flights {
        let name = format!("flight recorder of {} events", flight.max_events);
        bounds.push(Bound {
            what: format!("{name}: events/s"),
            bound: "≥ 5 M".to_owned(),
            measured: format!("{:.2} M", flight.events_per_s / 1e6),
            holds: flight.events_per_s >= 5e6,
        });
        bounds.push(Bound {
            what: format!("{name}: RSS that it filled"),
            bound: "≤ 100 % of records × 16 bytes + 10 %".to_owned(),
            measured: format!(
                "{:.1} %; with the pages of its files {:.1} %",
                100.0 * flight.of_budget(flight.filled_bytes),
                100.0 * flight.of_budget(flight.resident_bytes),
            ),
            holds: flight.of_budget(flight.filled_bytes) <= 1.0,
        });
        bounds.push(Bound {
            what: format!("{name}: the account, and the last events"),
            bound: "exact, whole".to_owned(),
            measured: format!(
                "off by {}, {}",
                flight.unaccounted_events(),
                if flight.are_whole { "whole" } else { "with gaps" }
            ),
            holds: flight.unaccounted_events() == 0 && flight.are_whole,
        });
    }
}

/// What a variant takes beyond the program without hooks, turn by turn, in ns.
fn extras(samples: &Samples, workload: Workload, variant: Variant) -> impl Iterator<Item = f64> {
    samples.over_none((workload, variant), CPU_NS)
}

fn at_most(what: String, spread: Spread, most: f64, unit: &str) -> Bound {
    let Spread { median, low, high } = spread;
    let measured = match low == high {
        true => format!("{median:.2}{unit}"),
        false => format!("{median:.2} ({low:.2}…{high:.2}){unit}"),
    };
    Bound { what, bound: format!("≤ {most}{unit}"), measured, holds: median <= most }
}
