//! Compares what `tokio-statemap awaits` says, on standard input, with the source:
//!
//! ```sh
//! tokio-statemap awaits target/debug/shop | check-awaits src/main.rs src/db.rs
//! ```
//!
//! The paths are as the output has them; where they begin may be given as `ROOT/:` before them.

use std::io::Read as _;
use std::process::ExitCode;

use tests::awaits::{compare, listed, written};

fn main() -> ExitCode {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("it is text");
    let all = listed(&text);
    let mut is_right = true;
    for argument in std::env::args().skip(1) {
        let (root, file) = argument.split_once(":").unwrap_or(("", &argument));
        let source = std::fs::read_to_string(format!("{root}{file}")).expect("it can be read");
        let compared = compare(&all, file, written(&source).expect("it is Rust"));
        let (left_out, wrong) = (compared.left_out.len(), compared.wrong.len());
        println!(
            "{file}: {} right with {} points, {wrong} wrong, {} unclear, {left_out} not in the program",
            compared.right, compared.points, compared.unclear
        );
        compared.wrong.iter().for_each(|wrong| println!("  {wrong}"));
        is_right &= compared.wrong.is_empty();
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
