//! A forked child ends as it would without this crate, and leaves its parent's files alone.

use crate::exit_paths::pair::pair;

#[test]
fn a_forked_child_ends_as_before() {
    for (pair, status) in [
        (pair!("single", "fork__exit"), "0x400"),
        (pair!("single", "fork_exit"), "0x400"),
        (pair!("single", "fork_returns"), "0x0"),
        (pair!("single", "fork_panics"), "0x6500"),
        (pair!("single", "fork_sigint"), "0x2"),
        (pair!("single", "fork_sigterm_from_without"), "0xf"),
        (pair!("unit", "fork__exit"), "0x400"),
        (pair!("unit", "fork_exit"), "0x400"),
        (pair!("unit", "fork_sigint"), "0x2"),
    ] {
        let observed = pair.compare();
        assert_eq!(observed.ended.status.code(), Some(0));
        let expected = format!("the child's status: {status}\nthe last line\n");
        assert!(observed.ended.stdout.ends_with(&expected), "{}", observed.ended.stdout);
        // The parent recorded this after the child had ended.
        if cfg!(tokio_unstable) {
            assert_eq!(observed.tasks.entries("main", "completed"), 1);
        }
    }
}
