//! No file, whatever is in it, makes anything that reads it panic, or take long, or take much.
//!
//! Some hundreds of mutated files here, for a minute in CI, and as many as one likes by hand:
//! `cargo run --release --package tests --bin mutate -- --count 100000` (with
//! `CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true` and `CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true`).
#![cfg(tokio_unstable)]

use std::process::{Command, Output};

use tests::mutate::Seeds;

fn mutate(arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mutate"));
    command.args(arguments.split(' ')).output().expect("it can be run")
}

#[test]
fn mutated_files_are_told_or_drawn() {
    let ended = mutate("--from 0 --count 300");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    print!("{said}");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    // It is not that all of them are refused, or none.
    let count = |name: &str| -> u64 {
        let (_, rest) = said.split_once(name).unwrap_or_else(|| panic!("{said}"));
        rest.split([',', ' ']).next().and_then(|number| number.parse().ok()).expect("a number")
    };
    assert_eq!(count("files: "), 300);
    assert!((50..250).contains(&count("read: ")), "{said}");
    assert!(count("checked: ") > 20 && count("ours: ") > 5 && count("pairs: ") > 20, "{said}");
}

/// What failed can be tried again.
#[test]
fn the_same_number_is_the_same_file() {
    let (one, other) = (Seeds::new(), Seeds::new());
    for number in 0..100 {
        assert_eq!(one.file(number).0, other.file(number).0, "{number}");
    }
}
