//! Measures the times and prints the table.

use std::process::Command;

use crate::count::Counts;
use crate::program::Variant;

/// The number of times that each variant is measured.
const ROUNDS: usize = 15;
/// The number of polls of a timed run. With their ends they are 960 000 events, which fit into the
/// default `max_events`.
const POLLS: u64 = 430_000;

/// The number of counts of instructions of each variant.
const COUNTS: usize = 3;

/// The runtimes: their names and numbers of workers (0 for `current_thread`).
const RUNTIMES: [(&str, usize); 2] = [("current_thread", 0), ("multi_thread, 2 workers", 2)];

/// Measures and prints the results.
pub(crate) fn print() {
    let mut uncounted = None;
    for (runtime, workers) in RUNTIMES {
        println!("{runtime}: a yield storm of {POLLS} polls, median of {ROUNDS} runs");
        println!("{:36}{:>10}{:>10}{:>10}{:>10}", "", "ns/poll", "over none", "instr", "over none");
        let ns = time(workers);
        let instructions = Variant::ALL.map(|variant| match uncounted {
            None => match counted(variant, workers) {
                Ok(counted) => Some(counted),
                Err(why) => {
                    uncounted = Some(why);
                    None
                }
            },
            Some(_) => None,
        });
        for (i, variant) in Variant::ALL.into_iter().enumerate() {
            let figure = |value: Option<f64>, sign: bool| match (value, sign) {
                (None, _) => "-".to_owned(),
                (Some(value), true) => format!("{value:+.1}"),
                (Some(value), false) => format!("{value:.1}"),
            };
            let over = instructions[i].zip(instructions[0]).map(|(this, none)| this - none);
            println!(
                "{:36}{:>10}{:>10}{:>10}{:>10}",
                variant.name(),
                figure(Some(ns[i]), false),
                figure(Some(ns[i] - ns[0]), true),
                figure(instructions[i], false),
                figure(over, true),
            );
        }
        println!();
    }
    match uncounted {
        None => println!(
            "Instructions are callgrind's, which doesn't see the kernel's: under valgrind a clock that \
             is read\nby clock_gettime, as Tokio's is for schedule latency, is a system call."
        ),
        Some(why) => println!("Instructions were not counted: {why}."),
    }
}

/// Returns the fewest instructions per poll of some counts, of all threads. `Err` says why they can't be counted.
fn counted(variant: Variant, workers: usize) -> Result<f64, String> {
    let mut counts = Counts::new(variant, workers)?;
    for _ in 1..COUNTS {
        counts.count()?;
    }
    Ok(counts.per_poll().all)
}

/// Returns the ns per poll of each variant.
fn time(workers: usize) -> [f64; Variant::ALL.len()] {
    let mut rounds = Variant::ALL.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (variant, ns) in Variant::ALL.into_iter().zip(&mut rounds) {
            let mut command = Command::new(this_program());
            let output = run(command.args(arguments(variant, workers, POLLS)));
            let total: f64 = output.trim().parse().expect("the program prints its time");
            ns.push(total / POLLS as f64);
        }
    }
    rounds.map(|mut ns| {
        ns.sort_by(f64::total_cmp);
        ns[ns.len() / 2]
    })
}

pub(crate) fn arguments(variant: Variant, workers: usize, polls: u64) -> [String; 4] {
    ["run".to_owned(), variant.name().to_owned(), workers.to_string(), polls.to_string()]
}

pub(crate) fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("a program knows its own path")
}

/// Returns the output of a run of this program.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
