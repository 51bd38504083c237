//! Times all variants, by turns.

use std::process::Command;

use serde_json::Value;

use crate::plan::Plan;
use crate::programs::{self, Programs};
use crate::samples::Samples;
use crate::variants::Variant;
use crate::workloads::{Kind, Workload};

/// What a child says of itself.
pub(crate) const CPU_NS: &str = "cpu_ns";
pub(crate) const PEAK_BYTES: &str = "peak_bytes";
pub(crate) const REQUESTS_PER_S: &str = "requests_per_s";
pub(crate) const P50_NS: &str = "p50_ns";
pub(crate) const P99_NS: &str = "p99_ns";

const METRICS: [&str; 5] = [CPU_NS, PEAK_BYTES, REQUESTS_PER_S, P50_NS, P99_NS];

/// The variants that are measured with `kind`, as far as they could be built.
pub(crate) fn variants(kind: Kind, programs: &Programs) -> Vec<Variant> {
    let all: &[Variant] = if kind == Kind::Http { &Variant::SERVICE } else { &Variant::ALL };
    all.iter().copied().filter(|&variant| programs.of(variant).is_some()).collect()
}

/// Times what the plan says.
pub(crate) fn time(plan: &Plan, programs: &Programs, samples: &mut Samples) {
    for workload in plan.timed() {
        let mut variants = variants(workload.kind, programs);
        let all_turns = plan.turns_of(workload.kind);
        let turns = all_turns + plan.further_turns_of(workload.kind);
        for turn in 0..turns {
            eprint!("\r{}: turn {} of {turns}  ", workload.id(), turn + 1);
            if turn == all_turns {
                variants.retain(|variant| Variant::FURTHER.contains(variant));
            }
            // Nobody always follows the same other one.
            variants.rotate_left(1);
            if turn % 2 == 1 {
                variants.reverse();
            }
            for &variant in &variants {
                let units = workload.kind.timed_units(variant) / plan.part;
                let said = programs::json_of(&mut command(programs, workload, variant, units));
                for metric in METRICS {
                    if let Some(figure) = said[metric].as_f64() {
                        samples.push((workload, variant), metric, figure);
                    }
                }
            }
        }
        eprintln!();
    }
}

/// What a variant kept of one run of `workload`, in which it is not timed.
pub(crate) fn account(
    plan: &Plan,
    programs: &Programs,
    workload: Workload,
    variant: Variant,
) -> Option<Value> {
    if !variant.keeps_account() {
        return None;
    }
    let units = workload.kind.timed_units(variant) / plan.part;
    let mut command = command(programs, workload, variant, units);
    Some(programs::json_of(command.arg("account"))["account"].take())
}

fn command(programs: &Programs, workload: Workload, variant: Variant, units: u64) -> Command {
    let mut command = Command::new(programs.of(variant).expect("it was built"));
    command.args(["run", &workload.id(), variant.id(), &units.to_string()]);
    command
}
