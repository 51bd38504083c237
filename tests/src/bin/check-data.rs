//! Checks files of statemap data as strictly as the tests do: `check-data FILE…`.

use std::path::PathBuf;
use std::process::ExitCode;

use tests::check::{self, Summary};

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: check-data FILE…");
        return ExitCode::FAILURE;
    }
    let mut all_passed = true;
    for file in &files {
        let shown = file.display();
        match std::fs::read(file).map_err(|error| error.to_string()).and_then(|b| check::check(&b))
        {
            Ok(summary) => println!("ok   {shown}: {}", described(&summary)),
            Err(error) => {
                all_passed = false;
                println!("err  {shown}: {error}");
            }
        }
    }
    if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn described(data: &Summary) -> String {
    format!(
        "{} entities ({}), {} transitions, {} ms",
        data.entities.len(),
        data.entity_kind,
        data.transitions(),
        data.end_ns / 1_000_000
    )
}
