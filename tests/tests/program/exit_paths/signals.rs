//! Signals without a handler, and signals that the program handles itself.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::thread;
use std::time::{Duration, Instant};

use tests::child::Running;

use crate::exit_paths::pair::{Pair, either, pair};

#[track_caller]
fn dies_of(pair: Pair, signal: i32) {
    let observed = pair.compare_signalled("ready", signal);
    assert_eq!(observed.ended.status.signal(), Some(signal));
}

#[test]
fn sigint() {
    dies_of(pair!("unit", "waits"), libc::SIGINT);
    dies_of(pair!("single", "waits"), libc::SIGINT);
}

#[test]
fn sigterm() {
    dies_of(pair!("unit", "waits"), libc::SIGTERM);
}

#[test]
fn sighup() {
    dies_of(pair!("unit", "waits"), libc::SIGHUP);
}

/// `timeout` sends SIGTERM to its child, and then to the child's group.
#[test]
fn an_immediately_repeated_signal_counts_once() {
    let twice = |running: &mut Running, signal| loop {
        let began = Instant::now();
        running.signal(signal);
        thread::sleep(Duration::from_micros(300));
        running.signal(signal);
        // Otherwise the machine was so slow that they are two.
        if began.elapsed() < Duration::from_millis(100) {
            return;
        }
        thread::sleep(Duration::from_millis(200));
    };
    for (pair, signal) in [
        (pair!("unit", "waits"), libc::SIGTERM),
        (pair!("unit", "stuck_workers"), libc::SIGTERM),
        (pair!("single", "waits"), libc::SIGINT),
        (pair!("single", "stuck_main"), libc::SIGTERM),
    ] {
        let observed = pair.compare_when(|running| {
            running.wait_for("ready");
            twice(running, signal);
        });
        assert_eq!(observed.ended.status.signal(), Some(signal));
    }
}

#[test]
fn a_stuck_program_is_recorded_and_ended() {
    dies_of(pair!("unit", "stuck_main"), libc::SIGINT);
    dies_of(pair!("unit", "stuck_task"), libc::SIGTERM);
    dies_of(pair!("unit", "stuck_sleep"), libc::SIGTERM);
    dies_of(pair!("unit", "stuck_workers"), libc::SIGTERM);
    dies_of(pair!("single", "stuck_main"), libc::SIGINT);
    dies_of(pair!("single", "stuck_task"), libc::SIGTERM);

    let observed = pair!("unit", "stuck_task").compare_signalled("ready", libc::SIGTERM);
    if cfg!(tokio_unstable) {
        let mut states = observed.tasks.entities.keys().map(|task| observed.tasks.states_of(task));
        assert!(
            states.any(|states| matches!(states[..], [.., "running"])),
            "the stuck task runs at the end"
        );
    }
}

#[test]
fn the_runtime_waits_for_a_stuck_closure() {
    dies_of(pair!("unit", "stuck_blocking"), libc::SIGTERM);
    dies_of(pair!("single", "stuck_blocking"), libc::SIGINT);
}

#[test]
fn own_handler() {
    for pair in [
        pair!("unit", "handler_tokio"),
        pair!("unit", "handler_after"),
        pair!("single", "handler_tokio"),
        either!("handler_before"),
    ] {
        let observed = pair.compare_signalled("ready", libc::SIGINT);
        assert_eq!(observed.ended.status.code(), Some(0));
        assert!(observed.ended.stdout.ends_with("the last line\n"));
    }
    for pair in [
        pair!("unit", "handler_tokio_twice"),
        pair!("unit", "handler_tokio_dropped"),
        pair!("unit", "handler_abort"),
    ] {
        assert_eq!(pair.compare().ended.status.code(), Some(0));
    }
}

#[test]
fn a_handler_may_be_replaced_and_restored() {
    dies_of(pair!("unit", "handler_restored"), libc::SIGTERM);
    dies_of(pair!("single", "handler_restored"), libc::SIGTERM);
}

#[test]
fn a_handler_of_one_signal_does_not_handle_another() {
    let observed = pair!("unit", "handler_other").compare_when(|running| {
        running.wait_for("ready").signal(libc::SIGINT);
        running.wait_for("waits").signal(libc::SIGTERM);
    });
    assert_eq!(observed.ended.status.signal(), Some(libc::SIGTERM));
}

#[test]
fn sigwait_gets_the_signal() {
    let observed = either!("handler_sigwait").compare_signalled("ready", libc::SIGTERM);
    assert_eq!(observed.ended.status.code(), Some(0));
    assert!(observed.ended.stdout.ends_with("signal 15\n"));
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let ignored = pair!("unit", "handler_ignored").with(|command| {
        let ignore = || {
            for signal in [libc::SIGINT, libc::SIGHUP] {
                // SAFETY: it has no precondition, and is async-signal-safe.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
            }
            Ok(())
        };
        // SAFETY: `ignore` calls only functions that are async-signal-safe.
        unsafe { command.pre_exec(ignore) };
    });
    assert_eq!(ignored.compare().ended.status.code(), Some(0));
}

#[test]
fn a_signal_after_the_run_ends_the_program() {
    let observed = either!("after").compare();
    assert_eq!(observed.ended.status.signal(), Some(libc::SIGTERM));
}

/// `main` returns while the files are written for a signal: the signal ends the program.
#[test]
#[ignore = "slow: runs 20 programs"]
fn a_signal_wins_over_the_end_of_main() {
    for count in 0..20 {
        let folder = tests::files::folder(env!("CARGO_TARGET_TMPDIR"), &format!("second{count}"));
        let mut command = tests::child::command(env!("CARGO_BIN_EXE_unit"), &folder);
        let ended = tests::child::Running::start(command.arg("handler_none")).end();
        assert_eq!(ended.status.signal(), Some(libc::SIGINT), "{}", ended.stderr);
        tests::files::data(folder.join("tasks.json"));
        tests::files::pictures(&folder);
    }
}
