//! The measuring, and the table.

use std::io::ErrorKind;
use std::process::Command;

use crate::program::Variant;

/// How often each variant is timed.
const ROUNDS: usize = 15;
/// Polls of a timed run: with their ends 960 000 events, which the default `max_events` holds.
const POLLS: u64 = 430_000;
/// Polls of the two runs under callgrind.
const COUNTED_POLLS: [u64; 2] = [30_000, 230_000];
/// How often each of these two is counted. The fewest instructions are taken: threads that wait for
/// one another don't do so with the same number of instructions each time.
const COUNTS: usize = 3;

/// The runtimes: their names, and the number of workers (0 is `current_thread`).
const RUNTIMES: [(&str, usize); 2] = [("current_thread", 0), ("multi_thread, 2 workers", 2)];

/// Measures, and prints what came out.
pub(crate) fn print() {
    let mut uncounted = None;
    for (runtime, workers) in RUNTIMES {
        println!("{runtime}: a yield storm of {POLLS} polls, median of {ROUNDS} runs");
        println!("{:36}{:>10}{:>10}{:>10}{:>10}", "", "ns/poll", "over none", "instr", "over none");
        let ns = time(workers);
        let instructions = Variant::ALL.map(|variant| match uncounted {
            None => count(variant, workers).map_err(|why| uncounted = Some(why)).ok(),
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

/// ns a poll of each variant.
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

/// Instructions a poll; `Err` says why they can't be counted.
pub(crate) fn count(variant: Variant, workers: usize) -> Result<f64, String> {
    let [few, many] = COUNTED_POLLS.map(|polls| {
        let counts = (0..COUNTS).map(|_| collected(&arguments(variant, workers, polls)));
        Ok::<_, String>(counts.collect::<Result<Vec<_>, _>>()?.into_iter().min())
    });
    // A run warms up with a tenth more.
    let polls = (COUNTED_POLLS[1] - COUNTED_POLLS[0]) as f64 * 1.1;
    let [few, many] = [few?, many?].map(|fewest| fewest.expect("it is counted at least once"));
    Ok((many - few) as f64 / polls)
}

/// Instructions of a run of this program.
fn collected(arguments: &[String]) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    // Nobody reads it. Not /dev/null, which valgrind would replace if it may.
    let file = concat!("--callgrind-out-file=", env!("CARGO_TARGET_TMPDIR"), "/callgrind.out");
    command.args(["--tool=callgrind", file]);
    let output = command.arg(this_program()).args(arguments).output();
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => "there is no `valgrind` in PATH; install it".to_owned(),
        _ => format!("valgrind: {error}"),
    })?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let why = stderr.lines().find(|line| !line.is_empty()).unwrap_or_default();
        return Err(format!("valgrind: {}: {why}", output.status));
    }
    // ==4711== Collected : 62512345
    let collected = stderr.split_once("Collected :").and_then(|(_, count)| {
        count.split_whitespace().next().and_then(|count| count.parse().ok())
    });
    collected.ok_or_else(|| "callgrind didn't say how many".to_owned())
}

fn arguments(variant: Variant, workers: usize, polls: u64) -> [String; 4] {
    ["run".to_owned(), variant.name().to_owned(), workers.to_string(), polls.to_string()]
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("a program knows its own path")
}

/// What a run of this program prints.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
