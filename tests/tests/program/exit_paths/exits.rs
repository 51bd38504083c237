//! Returns, panics and exits.

use crate::exit_paths::pair::pair;

#[test]
fn main_returns() {
    let observed = pair!("unit", "returns").compare();
    assert_eq!(observed.ended.status.code(), Some(0));
    if cfg!(tokio_unstable) {
        assert_eq!(observed.tasks.entities.len(), 2);
        assert_eq!(observed.tasks.entries("main", "completed"), 1);
    }
    assert!(observed.workers.entities.contains_key("worker-0"));
    assert_eq!(observed.workers.entries("worker-0", "stopped"), 1);
    pair!("single", "returns").compare();
}

#[test]
#[ignore = "slow: 110 000 polls"]
fn many_events_are_written_in_parallel() {
    let observed = pair!("unit", "many_events").compare();
    assert_eq!(observed.ended.status.code(), Some(0));
    if cfg!(tokio_unstable) {
        let running: usize = observed
            .tasks
            .entities
            .keys()
            .map(|task| observed.tasks.entries(task, "running"))
            .sum();
        assert!(running > 110_000, "{running}");
    }
}

#[test]
fn main_returns_a_result() {
    let observed = pair!("result", "an error").compare();
    assert_eq!(observed.ended.status.code(), Some(1));
    assert_eq!(observed.ended.stderr, "Error: \"an error\"\n");
    let observed = pair!("result", "ok").compare();
    assert_eq!(observed.ended.status.code(), Some(0));
}

#[test]
fn main_returns_an_exit_code() {
    let observed = pair!("code", "7").compare();
    assert_eq!(observed.ended.status.code(), Some(7));
}

#[test]
fn main_panics() {
    let observed = pair!("unit", "panic_main").compare();
    assert_eq!(observed.ended.status.code(), Some(101));
    assert!(observed.ended.stderr.contains("main panics"));
    pair!("single", "panic_main").compare();
}

#[test]
fn the_program_survives_panics_outside_of_main() {
    for pair in [
        pair!("unit", "panic_task"),
        pair!("unit", "panic_blocking"),
        pair!("unit", "panic_thread"),
        pair!("single", "panic_task"),
    ] {
        let observed = pair.compare();
        assert_eq!(observed.ended.status.code(), Some(0));
        assert!(observed.ended.stdout.ends_with("the last line\n"));
    }
}

#[test]
fn a_destructor_may_panic_while_the_runtime_shuts_down() {
    for pair in [pair!("unit", "panic_drop"), pair!("single", "panic_drop")] {
        let observed = pair.compare();
        assert!(observed.ended.stderr.contains("a destructor panics"));
    }
}

#[test]
fn panic_hooks_of_the_program_are_called() {
    pair!("unit", "panic_chained").compare();
    pair!("unit", "panic_replaced").compare();
}

#[test]
fn exit_anywhere() {
    for pair in [
        pair!("unit", "exit_main"),
        pair!("unit", "exit_task"),
        pair!("unit", "exit_blocking"),
        pair!("unit", "exit_thread"),
        pair!("single", "exit_main"),
        pair!("single", "exit_task"),
        pair!("single", "exit_blocking"),
        pair!("single", "exit_thread"),
    ] {
        let observed = pair.compare();
        assert_eq!(observed.ended.status.code(), Some(3));
    }
}
