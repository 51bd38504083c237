//! The gate: compares the instructions per poll with the committed ones.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::count::{Counts, Instructions};
use crate::program::Variant;

/// The tolerated increase of what the worker does, in percent.
const TOLERANCE: f64 = 2.0;

/// The tolerated increase of what all threads do, in percent. The background thread looks for chunks at intervals of time,
/// and so works more the longer a run takes: 100.9 to 103.4 instructions were counted for the same program.
const TOLERANCE_ALL: f64 = 6.0;

/// The tolerated increase with evictions, in percent. The worker's share of their work depends on
/// how often valgrind, which runs one thread at a time, schedules the background thread: 104 to 118
/// instructions were counted for the same program.
const TOLERANCE_DROPPING: f64 = 20.0;

/// The tolerated additional instructions per poll after recording started late or again, for tasks
/// spawned since then and for older ones.
const MORE_IF_LATE: [(Variant, f64); 3] =
    [(Variant::Late, 10.0), (Variant::Restarted, 10.0), (Variant::Before, 120.0)];

/// The variants whose instructions are counted.
const COUNTED: [Variant; 7] = [
    // The first one is subtracted from the others.
    Variant::None,
    Variant::Lean,
    Variant::Default,
    Variant::Dropping,
    Variant::Late,
    Variant::Restarted,
    Variant::Before,
];

/// Every variant is counted once. All of them are counted again, up to this number of times, while a figure is over its
/// limit: threads that wait for one another don't always take the same number of instructions.
const ROUNDS: usize = 6;

/// Compares the instructions that recording adds to a poll with the committed ones, and those after
/// a late start with those after an early one.
///
/// This is done below `max_events`, where chunks are new, and far beyond it, where the oldest
/// events are dropped and their chunks reused (`dropping`), for all threads and for the worker
/// alone. The difference is the background thread's.
///
/// With `UPDATE_GOLDEN` in the environment it stores the counts.
pub(crate) fn check() -> ExitCode {
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            println!(
                "If the figures of `instructions.txt` must be larger, say why and commit the new ones:"
            );
            println!("  UPDATE_GOLDEN=1 cargo bench -p tokio-statemap --bench hooks -- check");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("instructions can't be counted: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Returns `true` if all counts are within their limits, in the first round or in a later one.
fn compare() -> Result<bool, String> {
    let mut counts = Vec::new();
    for variant in COUNTED {
        counts.push(Counts::new(variant, 0)?);
    }
    // If its count is too high, all others are too low.
    counts[0].count()?;
    let stores = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut round = 1;
    loop {
        let counted = counts.iter().map(Counts::per_poll).collect::<Vec<_>>();
        let has_ended = round == ROUNDS;
        if stores && has_ended {
            let lines = added(&counted).map(|(name, figure)| format!("{name} {figure:.1}\n"));
            std::fs::write(file(), lines.concat()).expect("the committed figures");
        }
        if !stores || has_ended {
            let is_within = print(&counted)?;
            if is_within || has_ended {
                return Ok(is_within);
            }
            println!("That is too many, so all are counted once more.");
        }
        counts.iter_mut().try_for_each(Counts::count)?;
        round += 1;
    }
}

fn instructions(counted: &[Instructions], variant: Variant) -> Instructions {
    counted[COUNTED.iter().position(|&counted| counted == variant).expect("it is counted")]
}

/// Returns the instructions that recording adds to a poll, for all threads and for the worker alone. `counted` is in the
/// order of `COUNTED`.
fn added(counted: &[Instructions]) -> [(&'static str, f64); 6] {
    let [lean, default, dropping] = [Variant::Lean, Variant::Default, Variant::Dropping]
        .map(|variant| instructions(counted, variant) - instructions(counted, Variant::None));
    [
        ("lean", lean.all),
        ("lean-worker", lean.first),
        ("default", default.all),
        ("default-worker", default.first),
        ("dropping", dropping.all),
        ("dropping-worker", dropping.first),
    ]
}

/// Prints all counts, and returns `true` if they are within their limits.
fn print(counted: &[Instructions]) -> Result<bool, String> {
    let committed = std::fs::read_to_string(file()).expect("the committed figures");
    println!("instructions that recording adds to a poll:");
    let mut is_within = true;
    for (name, is) in added(counted) {
        let line = committed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let was: f64 =
            line.and_then(|figure| figure.parse().ok()).ok_or("a figure isn't committed")?;
        let grown = (is / was - 1.0) * 100.0;
        let most = match name {
            _ if name.starts_with("dropping") => TOLERANCE_DROPPING,
            _ if name.ends_with("-worker") => TOLERANCE,
            _ => TOLERANCE_ALL,
        };
        is_within &= grown <= most;
        println!("  {name}: committed {was:.1}, now {is:.1}: {grown:+.1} % of at most {most:.0} %");
    }
    println!("instructions that a late start adds to these:");
    for (variant, most) in MORE_IF_LATE {
        let more = instructions(counted, variant).all - instructions(counted, Variant::Lean).all;
        is_within &= more <= most;
        println!("  {}: {more:+.1}, of at most {most:.0}", variant.name());
    }
    Ok(is_within)
}

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "benches", "hooks", "instructions.txt"].iter().collect()
}
