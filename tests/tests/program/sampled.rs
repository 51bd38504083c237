//! A program behaves the same when its long polls are sampled.
//!
//! With `STATEMAP_LONG=1` each test takes about ten times as long. It prints its figures (`--nocapture`).
#![cfg(all(
    tokio_unstable,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::os::unix::process::ExitStatusExt;

use tests::child::{Ended, Running, command, folder};

/// Returns `long` in the long form of the tests, or else `short`.
fn amount(short: u32, long: u32) -> u32 {
    if std::env::var_os("STATEMAP_LONG").is_some() { long } else { short }
}

fn run(arguments: &[&str]) -> Ended {
    let folder = folder(env!("CARGO_TARGET_TMPDIR"), &format!("sampled-{}", arguments.join("-")));
    let ended =
        Running::start(command(env!("CARGO_BIN_EXE_sampled"), &folder).args(arguments)).end();
    println!("{arguments:?}\n{}", ended.stdout);
    ended
}

#[track_caller]
fn run_to_the_end(arguments: &[&str]) -> String {
    let ended = run(arguments);
    assert!(ended.status.success() && ended.stdout.ends_with("the last line\n"), "{ended:?}");
    ended.stdout
}

#[test]
fn a_call_that_waits_is_not_interrupted() {
    let printed = run_to_the_end(&["waits", &amount(1, 10).to_string()]);
    for call in ["nanosleep", "poll", "recv", "epoll_wait"] {
        assert!(printed.contains(&format!("\n{call}: 0 of ")), "{printed}");
    }
    assert!(!printed.starts_with("0 samples"), "{printed}");
}

#[test]
fn a_thread_that_blocks_again_and_again_is_not_interrupted() {
    let printed = run_to_the_end(&["alternates", &amount(1, 10).to_string()]);
    assert!(printed.contains("\nnanosleep: 0 of "), "{printed}");
}

/// The system calls that a program makes only because it is recorded. `madvise` isn't one: threads make it when they end.
const OWN_CALLS: [i64; 6] = [
    libc::SYS_process_vm_readv,
    libc::SYS_getrusage,
    libc::SYS_clock_gettime,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_delete,
];

/// If a filter is installed while one of the calls is being prepared, the call isn't made.
#[test]
fn a_filter_that_ends_the_program_for_a_call_ends_it_for_none_of_ours() {
    for when in ["before", "after"] {
        for call in OWN_CALLS {
            run_to_the_end(&["filtered", when, &call.to_string()]);
        }
    }
}

#[test]
fn a_filter_that_is_there_from_the_start_and_allows_all_of_ours_costs_no_sample() {
    let printed = run_to_the_end(&["filtered", "before", &libc::SYS_syslog.to_string()]);
    assert!(!printed.starts_with("0 samples"), "{printed}");
}

#[test]
fn a_handler_of_the_programs_own_stays() {
    for when in ["before", "after"] {
        run_to_the_end(&["handler", when]);
    }
}

#[test]
fn the_child_of_a_fork_has_no_watcher() {
    run_to_the_end(&["forks", &amount(100, 2000).to_string()]);
}

#[test]
fn the_watcher_sleeps_while_nothing_happens() {
    run_to_the_end(&["idle", &amount(1, 10).to_string()]);
}

#[test]
fn a_stack_overflow_ends_the_program_as_before() {
    let plain = run(&["overflow", "plain"]);
    assert_eq!(plain.status.signal(), Some(libc::SIGABRT), "{plain:?}");
    assert!(plain.stderr.contains("has overflowed its stack"), "{plain:?}");
    for _ in 0..amount(1, 100) {
        let observed = run(&["overflow", "observed"]);
        let is_same = observed.status == plain.status && observed.stdout == plain.stdout;
        assert!(is_same, "{observed:?}");
        assert!(observed.comparable_stderr().contains(&plain.comparable_stderr()), "{observed:?}");
    }
}
