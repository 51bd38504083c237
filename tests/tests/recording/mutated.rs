//! No file makes its readers panic, or take much time or memory.
//!
//! The test tries 300 mutated files. To try more: `cargo run --release --package tests --bin mutate -- --count 100000`,
//! with `CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true` and `CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true`.
#![cfg(tokio_unstable)]

use std::process::{Command, Output};

use tests::mutate::Seeds;

fn mutate(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mutate"));
    command.args(arguments.split(' ')).output().expect("it can be run")
}

#[test]
fn mutated_files_are_refused_or_drawn() {
    let ended = mutate("--from 0 --count 300");
    let output = String::from_utf8_lossy(&ended.stdout).into_owned();
    print!("{output}");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    // Some files are refused, but not all.
    let count = |name: &str| -> u64 {
        let (_, rest) = output.split_once(name).unwrap_or_else(|| panic!("{output}"));
        rest.split([',', ' ']).next().and_then(|number| number.parse().ok()).expect("a number")
    };
    assert_eq!(count("files: "), 300);
    assert!((50..250).contains(&count("read: ")), "{output}");
    assert!(count("checked: ") > 20 && count("ours: ") > 5 && count("pairs: ") > 20, "{output}");
}

/// A failure can be reproduced by the number of its file.
#[test]
fn the_same_number_gives_the_same_file() {
    let (one, other) = (Seeds::new(), Seeds::new());
    for number in 0..100 {
        assert_eq!(one.file(number).0, other.file(number).0, "{number}");
    }
}
