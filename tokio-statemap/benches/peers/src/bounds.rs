//! The bounds of the cost, and checks of them.

pub(crate) mod functions;

use crate::callgrind::INSTRUCTIONS;
use crate::measure::CPU_NS;
use crate::results::Measured;
use crate::samples::{Samples, Spread};
use crate::scale::{self, hook_times::SLOW_US};
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

/// Checks all bounds for which there are measurements.
pub(crate) fn check(measured: &Measured) -> Vec<Bound> {
    let mut bounds = Vec::new();
    storms(&measured.samples, &mut bounds);
    services(&measured.service, &mut bounds);
    exits(measured, &mut bounds);
    starts(measured, &mut bounds);
    flights(measured, &mut bounds);
    hook_times(measured, &mut bounds);
    bounds
}

const THREADS: [(usize, &str); 2] = [(0, "1 thread"), (2, "2 workers")];

fn storms(samples: &Samples, bounds: &mut Vec<Bound>) {
    let mut push = |what: String, spread: Option<Spread>, most: f64, unit: &str| {
        bounds.extend(spread.map(|spread| at_most(what, spread, most, unit)));
    };
    // These bounds hold on any processor.
    for (kind, storm, unit) in
        [(Kind::Yield, "yield storm", "poll"), (Kind::Spawn, "spawn storm", "spawn…end")]
    {
        for (variant, name, most) in [
            (LeanFirst, "every event kept", [130.0, 360.0]),
            (LeanLast, "`keep = \"last\"`, of all threads", [350.0, 1900.0]),
        ] {
            let over = samples.over_none((on(kind, 0), variant), INSTRUCTIONS);
            let most = most[usize::from(kind == Kind::Spawn)];
            push(
                format!("lean, {name}, {storm}: instructions a {unit} over none"),
                Spread::from_figures(over),
                most,
                "",
            );
        }
    }
    beside_dial9(samples, bounds);
    let mut push = |what: String, spread: Option<Spread>, most: f64, unit: &str| {
        bounds.extend(spread.map(|spread| at_most(what, spread, most, unit)));
    };
    // The time can't show this, as it is below the machine's noise. A full recorder counts: two
    // events per poll, in the thread's own memory.
    for (variant, name, most) in
        [(Stopped, "after `stop()`", 40.0), (Full, "`keep = \"first\"`, full", 50.0)]
    {
        let workload = on(Kind::Yield, 0);
        let pairs = samples.pairs((workload, variant), (workload, Empty), INSTRUCTIONS);
        let what = format!("{name}: instructions a poll over empty hooks");
        push(what, Spread::from_figures(pairs.map(|(this, empty)| this - empty)), most, "");
    }
    for (kind, program) in [(Kind::Yield, "yield storm"), (Kind::PingPong, "ping-pong")] {
        for (variant, keep) in [(DefaultLast, "last"), (DefaultFirst, "first")] {
            for (workers, threads) in THREADS {
                let what = format!(
                    "default, `keep = \"{keep}\"`, {program}, {threads}: extra ns to dial9's with its own spawn"
                );
                let spread = beside(samples, CPU_NS, on(kind, workers), variant, Dial9Spawn);
                push(what, spread, 0.45, " ×");
            }
        }
    }
}

/// The bounds relative to dial9, over all threads. Hooks that only read the clock are no base for
/// comparison: that takes 5 ns per event on one processor and 35 on another, and the rest is
/// memory, which is unrelated. They are listed alongside.
fn beside_dial9(samples: &Samples, bounds: &mut Vec<Bound>) {
    for (kind, storm, most) in
        [(Kind::Yield, "yield storm", [0.5, 0.5]), (Kind::Spawn, "spawn storm", [1.0, 0.5])]
    {
        for ((variant, keep), most) in
            [(LeanLast, "last"), (LeanFirst, "first")].into_iter().zip(most)
        {
            for (workers, threads) in THREADS {
                let workload = on(kind, workers);
                let what =
                    format!("lean, `keep = \"{keep}\"`, {storm}, {threads}: extra ns to dial9's");
                let Some(spread) = beside(samples, CPU_NS, workload, variant, Dial9) else {
                    continue;
                };
                let mut bound = at_most(what, spread, most, " ×");
                if let Some(times) = of_medians(samples, workload, variant, Ticks) {
                    bound.measured += &format!("; {times:.1} × hooks that only read the clock");
                }
                bounds.push(bound);
            }
        }
    }
}

/// Returns the time of a variant beyond the program without hooks, relative to that of another
/// variant. Medians are used, as in a turn in which reading the clock happens to take no time the
/// ratio would be arbitrary.
fn of_medians(samples: &Samples, workload: Workload, this: Variant, that: Variant) -> Option<f64> {
    let median = |variant| {
        Spread::from_figures(samples.over_none((workload, variant), CPU_NS))
            .map(|spread| spread.median)
    };
    Some(median(this)? / median(that)?)
}

fn on(kind: Kind, workers: usize) -> Workload {
    Workload { kind, workers }
}

/// Adds a bound of a variant's time beyond the program without hooks, relative to that of a peer.
fn beside(
    samples: &Samples,
    metric: &'static str,
    workload: Workload,
    this: Variant,
    peer: Variant,
) -> Option<Spread> {
    let [these, those] = [this, peer].map(|variant| samples.over_none((workload, variant), metric));
    let pairs = these.zip(those);
    Spread::from_figures(pairs.map(|(this, peer)| this / peer))
}

/// The bounds of throughput. The p99 of such short visits shows the machine's noise, which is in
/// the table.
fn services(service: &Service, bounds: &mut Vec<Bound>) {
    let worse = |pair: &Pair| -pair.percent_over(|shop| &shop.requests_per_s);
    // Both have the same bound: the saving of lean is below the error, as hooks that do nothing are
    // off by up to 1 %.
    for (variant, name, most) in [(DefaultLast, "default", 2.0), (LeanLast, "lean", 2.0)] {
        let Some(spread) = service.spread(variant, worse) else { continue };
        let mut bound = at_most(format!("HTTP, {name}: throughput worse by"), spread, most, " %");
        if let Some(dial9) = service.spread(Dial9Spawn, worse) {
            bound.measured += &format!("; dial9 with its own spawn {:.2} %", dial9.median);
        }
        bounds.push(bound);
    }
}

fn exits(measured: &Measured, bounds: &mut Vec<Bound>) {
    for (files, runs) in &measured.exits {
        let of = |key: &str| runs.iter().filter_map(|run| run[key].as_f64()).collect::<Vec<_>>();
        let most = if *files == scale::DATA { 1.5 } else { 4.0 };
        let Some(wall) = Spread::from_figures(of("wall_s")) else { continue };
        bounds.push(at_most(format!("the way out: {files}"), wall, most, " s"));
        let records = of("extra_bytes").into_iter().zip(of("kept_events"));
        let times = Spread::from_figures(records.map(|(bytes, events)| bytes / (16.0 * events)));
        let what = format!("the way out: {files}: memory beyond the records");
        bounds.extend(times.map(|times| at_most(what, times, 2.5, " × the records")));
    }
}

fn starts(measured: &Measured, bounds: &mut Vec<Bound>) {
    let Ok([plain, fastant, on, _, off, plain_off]) = measured.starts.as_deref() else { return };
    let over = |this: &Start, that: &Start| {
        let pairs = this.cpu_ms.iter().zip(&that.cpu_ms);
        Spread::from_figures(pairs.map(|(this, that)| this - that)).expect("it was started")
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
            bound: format!("≤ 100 % of records × 16 bytes × 2.5, and {} MB", flight.extra_mb()),
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

fn hook_times(measured: &Measured, bounds: &mut Vec<Bound>) {
    let all = &measured.hook_times;
    for ((max_events, beside), _) in scale::turns(all) {
        let Some(spread) = scale::slow_beyond(all, max_events, beside) else { continue };
        let what = format!(
            "`max_events` of {max_events}, {}: hooks over {SLOW_US} µs beyond an empty one's",
            beside.title()
        );
        // The p99.99 is then at most that.
        bounds.push(at_most(what, spread, 100.0, " of a million"));
    }
}

fn at_most(what: String, spread: Spread, most: f64, unit: &str) -> Bound {
    let Spread { median, low, high } = spread;
    let measured = match low == high {
        true => format!("{median:.2}{unit}"),
        false => format!("{median:.2} ({low:.2}…{high:.2}){unit}"),
    };
    Bound { what, bound: format!("≤ {most}{unit}"), measured, holds: median <= most }
}
