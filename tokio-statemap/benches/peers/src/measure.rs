//! Measures the times of all variants in turns.

use std::process::Command;

use serde_json::Value;

use crate::plan::Plan;
use crate::programs::{self, Programs};
use crate::samples::Samples;
use crate::variants::Variant;
use crate::workloads::Workload;

/// The metrics that a child reports.
pub(crate) const CPU_NS: &str = "cpu_ns";
pub(crate) const PEAK_BYTES: &str = "peak_bytes";

const METRICS: [&str; 2] = [CPU_NS, PEAK_BYTES];

/// Measures the times as the plan says.
pub(crate) fn time(plan: &Plan, programs: &Programs, samples: &mut Samples) {
    for workload in plan.timed() {
        let mut variants = programs.built(workload.kind.variants());
        for turn in 0..plan.turns {
            eprint!("\r{}: turn {} of {}  ", workload.id(), turn + 1, plan.turns);
            // No variant always follows the same other one.
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

/// Returns the account of a variant for one run of `workload`, in which it is not timed.
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
    let mut command = Command::new(programs.path(variant).expect("it was built"));
    command.args(["run", &workload.id(), variant.id(), &units.to_string()]);
    command
}
