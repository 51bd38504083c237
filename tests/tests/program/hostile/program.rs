//! Programs with a high load, or with misbehaving hooks.

use super::run::{Run, messages};

#[test]
fn hooks_may_panic() {
    let run = Run::new("hooks", "hooks");
    let ended = run.ends(|_| {});
    assert!(ended.stdout.ends_with("the sum is 4951\nthe last line\n"), "{}", ended.stdout);
    messages(&ended, &[&["hook", "panicked"]]);
    let tasks = run.file("tasks.json");
    run.pictures();
    if cfg!(tokio_unstable) {
        assert_eq!(tasks.entities.len(), 101);
    }
    assert!(run.file("workers.json").entities.contains_key("worker-0"));
}

#[test]
fn a_hook_may_end_the_process() {
    let run = Run::new("exit_in_hook", "exit_in_hook");
    let ended = tests::child::Running::start(&mut run.command(env!("CARGO_BIN_EXE_hostile"))).end();
    assert_eq!(ended.status.code(), Some(3));
    messages(&ended, &[]);
    run.file("tasks.json");
    run.file("workers.json");
    run.pictures();
}

#[test]
#[cfg(tokio_unstable)]
fn a_hook_may_spawn() {
    let run = Run::new("spawn_in_hook", "spawn_in_hook");
    let ended = tests::child::Running::start(&mut run.command(env!("CARGO_BIN_EXE_hostile"))).end();
    assert_eq!(ended.status.code(), Some(0));
    messages(&ended, &[]);
    // The program has `main` and a task; the hook spawns another.
    assert_eq!(run.file("tasks.json").entities.len(), 3);
}

#[test]
#[ignore = "slow: 100 000 tasks"]
fn a_hundred_thousand_tasks_are_recorded() {
    let run = Run::new("tasks", "tasks");
    let ended = run.is_unharmed(|_| {});
    messages(&ended, &[]);
    let tasks = run.file("tasks.json");
    let page = run.pictures();
    if cfg!(tokio_unstable) {
        assert_eq!(tasks.entities.len(), 100_001);
        assert_eq!(page.rows("tasks"), 100_001);
    }
}

#[test]
#[ignore = "slow: 10 000 threads"]
fn ten_thousand_short_lived_threads_take_little_memory() {
    let run = Run::new("threads", "threads");
    let mut command = run.command(env!("CARGO_BIN_EXE_hostile"));
    let ended = tests::child::Running::start(&mut command).end();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    messages(&ended, &[]);
    let grown = ended.stdout.lines().find_map(|line| line.strip_prefix("grown by "));
    let grown_bytes: i64 = grown.expect("it says how much").parse().unwrap();
    // Nine thousand threads started and ended in between. A few events of 16 bytes are kept for each, and nothing else: a
    // buffer alone takes 31 KiB.
    assert!(grown_bytes < 9_000 * 512, "{grown_bytes} bytes");
}
