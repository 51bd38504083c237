//! Tasks whose polls the compiler has put into the function of the runtime that polls them.

use std::path::Path;
use std::process::Command;

use tests::build::{Variant, build_program};

/// Returns what the program `folded` prints: the name of each task, the line at which it waits, and what is recorded.
fn printed(program: impl AsRef<Path>) -> Vec<[String; 3]> {
    let ended = Command::new(program.as_ref()).output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let lines = String::from_utf8(ended.stdout).unwrap();
    let parts = |line: &str| {
        let (task, recorded) = line.split_once(": ").unwrap();
        let (name, line) = task.split_once(", ").unwrap();
        [name, line, recorded].map(ToOwned::to_owned)
    };
    lines.lines().map(parts).collect()
}

#[test]
fn all_places_are_known_if_nothing_is() {
    let all = printed(env!("CARGO_BIN_EXE_folded"));
    assert_eq!(all.len(), 6, "{all:?}");
    for [name, line, recorded] in &all {
        let expected = if name == "has no waker" { "nothing" } else { line };
        assert_eq!(recorded, expected, "{name}");
    }
}

/// Clones that are compiled into a poll aren't seen. So it isn't known of any task that it has no waker.
#[test]
#[ignore = "slow: builds a program"]
fn no_place_is_wrong_where_all_is() {
    let all =
        printed(build_program(Path::new(env!("CARGO_TARGET_TMPDIR")), Variant::Whole, "folded"));
    assert_eq!(all.len(), 6, "{all:?}");
    for [name, line, recorded] in &all {
        let is_tokios = !["keeps", "has no waker"].contains(&&**name);
        assert!(
            recorded == line || !is_tokios && recorded == "unknown",
            "{name}: {recorded}, {line}"
        );
    }
}
