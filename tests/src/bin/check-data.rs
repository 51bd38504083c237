//! Checks statemap data, pages (`.html`) and pictures (`.svg`) as strictly as the tests: `check-data FILE…`.

use std::path::PathBuf;
use std::process::ExitCode;

use tests::check::{self, Summary};
use tests::page::{self, Page};

fn main() -> ExitCode {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if files.is_empty() {
        eprintln!("usage: check-data FILE…");
        return ExitCode::FAILURE;
    }
    let mut all_passed = true;
    for file in &files {
        let shown = file.display();
        let read = std::fs::read(file).map_err(|error| error.to_string());
        let checked = read.and_then(|bytes| match file.extension().and_then(|e| e.to_str()) {
            Some("html") => page::check(&bytes).map(|page| describe_page(&page)),
            Some("svg") => page::check_svg(&bytes).map(|()| format!("{} bytes", bytes.len())),
            _ => check::check(&bytes).map(|data| describe(&data)),
        });
        match checked {
            Ok(described) => println!("ok   {shown}: {described}"),
            Err(error) => {
                all_passed = false;
                println!("err  {shown}: {error}");
            }
        }
    }
    if all_passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn describe_page(page: &Page) -> String {
    format!(
        "{} workers, {} tasks, {} ms",
        page.rows("workers"),
        page.rows("tasks"),
        page.meta["length"].as_u64().unwrap_or_default() / 1_000_000
    )
}

fn describe(data: &Summary) -> String {
    format!(
        "{} entities ({}), {} transitions, {} ms",
        data.entities.len(),
        data.entity_kind,
        data.transitions(),
        data.end_ns / 1_000_000
    )
}
