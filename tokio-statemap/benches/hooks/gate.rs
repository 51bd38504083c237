//! The gate: instructions a poll may not grow without anyone saying so.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::program::Variant;
use crate::table;

/// How much more than what is committed passes, in percent.
const TOLERANCE: f64 = 2.0;

/// At most so many instructions more may a poll take once recording was started late, or again: of a task
/// that was spawned since, and of one from before.
const MORE_IF_LATE: [(Variant, f64); 3] =
    [(Variant::Late, 10.0), (Variant::Restarted, 10.0), (Variant::Before, 120.0)];

/// Compares the instructions that recording adds to a poll with those that are committed, and those of a
/// late start with those of an early one.
///
/// With `UPDATE_GOLDEN` in the environment it commits what it counts.
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

/// Whether all passes.
fn compare() -> Result<bool, String> {
    let count = |variant| table::count(variant, 0);
    let none = count(Variant::None)?;
    let (lean, default) = (count(Variant::Lean)?, count(Variant::Default)?);
    let counted = format!("lean {:.1}\ndefault {:.1}\n", lean - none, default - none);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(file(), &counted).expect("the committed figures");
    }
    let committed = std::fs::read_to_string(file()).expect("the committed figures");
    println!("instructions that recording adds to a poll:");
    let mut has_grown = false;
    for (was, is) in committed.lines().zip(counted.lines()) {
        let grown = (figure(is) / figure(was) - 1.0) * 100.0;
        has_grown |= grown > TOLERANCE;
        println!("  committed {was}, now {is}: {grown:+.1} %");
    }
    println!("instructions that a late start adds to these:");
    for (variant, most) in MORE_IF_LATE {
        let more = count(variant)? - lean;
        println!("  {}: {more:+.1}, of at most {most:.0}", variant.name());
        if more > most {
            println!("That is too many.");
            return Ok(false);
        }
    }
    if has_grown {
        println!(
            "That is over {TOLERANCE} % more. If it must be, say why and commit the new ones:"
        );
        println!("  UPDATE_GOLDEN=1 cargo bench -p tokio-statemap --bench hooks -- check");
    }
    Ok(!has_grown)
}

fn figure(line: &str) -> f64 {
    let figure = line.split(' ').nth(1).and_then(|figure| figure.parse().ok());
    figure.unwrap_or_else(|| panic!("a name and a figure: {line}"))
}

fn file() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "benches", "hooks", "instructions.txt"].iter().collect()
}
