//! The measurements of a child process, which it prints as one JSON object.

use serde_json::{Value, json};

use crate::usage::{self, Since};
use crate::variants::{Limits, Traced, Variant};
use crate::workloads::Workload;
use crate::{scale, service};

/// Runs the command in `words`: `WORKLOAD VARIANT UNITS [account | after WARM_UP_UNITS]`, or one of
/// the others below.
pub(crate) fn run(words: &[&str]) -> Value {
    let number = |word: &str| word.parse().expect("a number");
    match *words {
        ["shop", variant] => service::open(Variant::of_id(variant), false),
        ["shop", variant, "account"] => service::open(Variant::of_id(variant), true),
        ["customers", requests, ref addresses @ ..] => service::go(number(requests), addresses),
        ["flight", max_events, seconds] => scale::flight::run(number(max_events), number(seconds)),
        ["hook-times", max_events, beside, seconds] => {
            scale::hook_times::run(number(max_events) as usize, beside, number(seconds))
        }
        ["exit", files, events] => scale::exit::run(files, number(events)),
        [workload, variant, units, ref more @ ..] => {
            let (workload, units) = (Workload::of_id(workload), number(units));
            let (account, warm_up_units) = match *more {
                [] => (false, workload.warm_up_units(units)),
                ["account"] => (true, workload.warm_up_units(units)),
                ["after", warm_up_units] => (false, number(warm_up_units)),
                _ => panic!("{words:?} can't be run"),
            };
            workload_run(workload, Variant::of_id(variant), units, warm_up_units, account)
        }
        _ => panic!("{words:?} can't be run"),
    }
}

fn workload_run(
    workload: Workload,
    variant: Variant,
    units: u64,
    warm_up_units: u64,
    account: bool,
) -> Value {
    let limits = Limits {
        // The bound is generous, as parks are events, too.
        first: 4 * workload.events(units + warm_up_units) as usize + 1_000_000,
        last: (workload.events(warm_up_units) as usize / 2).min(1_000_000),
    };
    let traced = Traced::new(variant, workload.builder(), limits, account);
    let functions = variant.functions();
    traced.block_on(workload.run(traced.spawner(), functions, warm_up_units));
    traced.is_warm();
    let since = Since::now();
    traced.block_on(workload.run(traced.spawner(), functions, units));
    let (cpu, wall) = (since.cpu(), since.wall());
    let peak_bytes = usage::peak_bytes();
    let per_unit = |time: std::time::Duration| time.as_nanos() as f64 / units as f64;
    let mut figures = json!({
        "cpu_ns": per_unit(cpu),
        "wall_ns": per_unit(wall),
        "peak_bytes": peak_bytes,
    });
    if account && let Some(account) = traced.account() {
        figures["account"] = account.to_json();
    }
    figures
}
