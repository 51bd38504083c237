//! The gate: compares the instructions per poll with the committed ones.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::count::{Instructions, count};
use crate::program::Variant;

/// The tolerated increase, in percent.
const TOLERANCE: f64 = 2.0;

/// The tolerated increase with evictions, in percent. The worker's share of their work depends on
/// how often valgrind, which runs one thread at a time, schedules the background thread: 104 to 118
/// instructions were counted for the same program.
const TOLERANCE_DROPPING: f64 = 20.0;

/// The tolerated additional instructions per poll after recording started late or again, for tasks
/// spawned since then and for older ones.
const MORE_IF_LATE: [(Variant, f64); 3] =
    [(Variant::Late, 10.0), (Variant::Restarted, 10.0), (Variant::Before, 120.0)];

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
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("instructions can't be counted: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Returns `true` if all counts are within their limits.
fn compare() -> Result<bool, String> {
    let count = |variant| count(variant, 0);
    let none = count(Variant::None)?;
    let lean = count(Variant::Lean)?;
    let figures = [
        ("lean", lean - none),
        ("default", count(Variant::Default)? - none),
        ("dropping", count(Variant::Dropping)? - none),
    ];
    let counted = figures.map(|(name, Instructions { first, all })| {
        [(name.to_owned(), all), (format!("{name}-worker"), first)]
    });
    let counted = counted.concat();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let lines = counted.iter().map(|(name, figure)| format!("{name} {figure:.1}\n"));
        std::fs::write(file(), lines.collect::<String>()).expect("the committed figures");
    }
    let committed = std::fs::read_to_string(file()).expect("the committed figures");
    println!("instructions that recording adds to a poll:");
    let mut has_grown = false;
    for (name, is) in &counted {
        let line = committed.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let was: f64 =
            line.and_then(|figure| figure.parse().ok()).ok_or("a figure isn't committed")?;
        let grown = (is / was - 1.0) * 100.0;
        let most = if name.starts_with("dropping") { TOLERANCE_DROPPING } else { TOLERANCE };
        has_grown |= grown > most;
        println!("  {name}: committed {was:.1}, now {is:.1}: {grown:+.1} %");
    }
    println!("instructions that a late start adds to these:");
    for (variant, most) in MORE_IF_LATE {
        let more = count(variant)?.all - lean.all;
        println!("  {}: {more:+.1}, of at most {most:.0}", variant.name());
        if more > most {
            println!("That is too many.");
            return Ok(false);
        }
    }
    if has_grown {
        println!(
            "That is over {TOLERANCE} % more, or {TOLERANCE_DROPPING} %. If it must be, say why and commit the new ones:"
        );
        println!("  UPDATE_GOLDEN=1 cargo bench -p tokio-statemap --bench hooks -- check");
    }
    Ok(!has_grown)
}

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "benches", "hooks", "instructions.txt"].iter().collect()
}
