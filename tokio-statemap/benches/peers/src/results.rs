//! Measures as the plan says and writes the results.

mod functions;
mod parts;
mod tables;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::accounts::{self, Accounts};
use crate::plan::{Plan, Text};
use crate::programs::Programs;
use crate::samples::Samples;
use crate::scale::{AllHookTimes, Exits, Flights};
use crate::service::{self, Service};
use crate::startup::{self, Start};
use crate::{bounds, callgrind, machine, measure, scale};

/// All measurements.
pub(crate) struct Measured {
    pub(crate) samples: Samples,
    pub(crate) accounts: Accounts,
    pub(crate) service: Service,
    pub(crate) exits: Exits,
    pub(crate) flights: Flights,
    pub(crate) hook_times: AllHookTimes,
    pub(crate) starts: Result<Vec<Start>, String>,
}

/// Measures and prints the results, and writes them to their file if they are complete.
pub(crate) fn make(plan: &Plan) {
    let measured = measure(plan);
    let text = match plan.text {
        Text::Tasks => text(plan, &measured),
        Text::Functions => functions::text(plan, &measured.samples),
    };
    print!("{text}");
    if plan.is_all {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(plan.text.file());
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        eprintln!("written to {}", path.display());
    }
}

fn measure(plan: &Plan) -> Measured {
    let mut samples = Samples::default();
    let mut accounts = Accounts::new();
    let mut service = Service::default();
    if !plan.workloads.is_empty() || plan.pairs > 0 {
        let variants = plan.workloads.iter().flat_map(|kind| kind.variants()).copied();
        let of_service = service::VARIANTS.into_iter().filter(|_| plan.pairs > 0);
        let programs = Programs::build(variants.chain(of_service));
        service = service::measure(plan, &programs);
        measure::time(plan, &programs, &mut samples);
        if plan.text == Text::Tasks {
            accounts = accounts::take(plan, &programs, &samples);
        }
        callgrind::count(plan, &programs, &mut samples);
    }
    let exits = scale::exits(plan);
    let flights = scale::flights(plan);
    let hook_times = scale::hook_times(plan);
    let starts = if plan.starts > 0 { startup::measure(plan) } else { Ok(Vec::new()) };
    Measured { samples, accounts, service, exits, flights, hook_times, starts }
}

fn text(plan: &Plan, measured: &Measured) -> String {
    let mut text = String::from(
        "# What it costs\n\n\
         Written by `cargo run --release --manifest-path tokio-statemap/benches/peers/Cargo.toml`, \
         never by hand.\n\n",
    );
    text += &machine::describe(&machine::OF_TASKS);
    if plan.turns > 0 {
        let _ = writeln!(text, "- {} turns", plan.turns);
    }
    if plan.pairs > 0 {
        let (all, more) = (plan.pairs, service::MORE * plan.pairs);
        let _ = writeln!(
            text,
            "- the HTTP service: {all} pairs of shops, {more} of lean, of default and of none"
        );
    }
    text += parts::HOW;
    text += &tables::bounds(&bounds::check(measured));
    for &kind in &plan.workloads {
        text += &tables::storm(kind, measured);
    }
    text += &tables::service(&measured.service);
    text += &parts::exits(&measured.exits);
    text += &parts::flights(&measured.flights);
    text += &parts::hook_times(&measured.hook_times);
    text += &parts::starts(&measured.starts);
    text
}
