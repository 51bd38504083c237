//! Counts instructions with callgrind, as the difference between a longer and a shorter run, so
//! that start and end cancel.
//!
//! Instructions before `main` are not counted: a clock is calibrated there, which always takes the
//! same time but never the same number of instructions. The smaller of two counts is taken:
//! periodic work, as in dial9, is done more often on a slower machine. The kernel's instructions
//! are not seen; under valgrind, reading a clock with `clock_gettime` is a system call.

use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::plan::Plan;
use crate::programs::{self, Programs};
use crate::samples::Samples;
use crate::workloads::Workload;

/// The name of the metric: instructions per unit.
pub(crate) const INSTRUCTIONS: &str = "instructions";

/// Returns the first line of `valgrind --version`; `None` if it is not installed.
pub(crate) fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Counts as the plan says, with one worker, as only that is reproducible. Other load on the
/// machine doesn't matter, so all its processors are used.
pub(crate) fn count(plan: &Plan, programs: &Programs, samples: &mut Samples) {
    if plan.counts == 0 || version().is_none() {
        return;
    }
    let mut todo = Vec::new();
    for &kind in &plan.workloads {
        for variant in programs.built(kind.variants()) {
            todo.push((Workload { kind, workers: 0 }, variant, kind.counted_units(variant)));
        }
    }
    let all = todo.len();
    let (todo, done) = (Mutex::new(todo), Mutex::new(Vec::new()));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = todo.lock().expect("nobody panicked").pop();
                    let Some((workload, variant, units)) = next else { return };
                    let program = programs.path(variant).expect("it was built");
                    // The warm-up is the same for both runs, so that it cancels: with some variants
                    // it costs more.
                    let warm_up_units = workload.warm_up_units(units[0]).to_string();
                    let [few, many] = units.map(|units| {
                        let (workload, variant) = (workload.id(), variant.id());
                        let units = units.to_string();
                        let arguments =
                            ["run", &workload, variant, &units, "after", &warm_up_units];
                        let counts = (0..plan.counts).map(|_| instructions(program, arguments));
                        counts.min().expect("at least one")
                    });
                    let each = (many as f64 - few as f64) / (units[1] - units[0]) as f64;
                    let mut done = done.lock().expect("nobody panicked");
                    done.push((workload, variant, each));
                    eprint!("\rinstructions: {} of {all}  ", done.len());
                }
            });
        }
    });
    eprintln!();
    for (workload, variant, each) in done.into_inner().expect("nobody panicked") {
        samples.push((workload, variant), INSTRUCTIONS, each);
    }
}

fn instructions(program: &std::path::Path, arguments: [&str; 6]) -> u64 {
    // /dev/null would be replaced by a file.
    let folder = std::env::temp_dir();
    let file = folder.join(format!("peers-{}-{}", std::process::id(), arguments.join("-")));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--zero-before=main"]);
    command.arg(format!("--callgrind-out-file={}", file.display())).arg(program);
    let (_, stderr) = programs::output_of(command.args(arguments));
    // Nobody reads it.
    let _ = std::fs::remove_file(file);
    // ==4711== Collected : 62512345
    let (_, collected) = stderr.split_once("Collected :").expect("callgrind's last word");
    let count = collected.split_whitespace().next().expect("a count");
    count.parse().expect("a number")
}
