//! A program dies in a call that a fatal signal interrupts; it doesn't observe that the call fails.

use std::os::unix::process::ExitStatusExt;

use crate::exit_paths::pair::Pair;
use crate::exit_paths::unread::{Case, FILES, at_once};

const CALLS: [&str; 10] = [
    "pause",
    "poll",
    "select",
    "nanosleep",
    "sleep",
    "sigsuspend",
    "sigtimedwait",
    "epoll_wait",
    "recv",
    "semop",
];

/// Returns the same program under both flavors, in the variant `interrupted_{way}`.
fn pairs(way: &str) -> [Pair; 2] {
    let way = &*format!("interrupted_{way}");
    let pair = |observed, plain, name| Pair::new(observed, plain, &format!("{name}-{way}"), way);
    [
        pair(env!("CARGO_BIN_EXE_unit"), env!("CARGO_BIN_EXE_unit_plain"), "unit"),
        pair(env!("CARGO_BIN_EXE_single"), env!("CARGO_BIN_EXE_single_plain"), "single"),
    ]
}

#[test]
#[ignore = "slow: runs 40 programs"]
fn the_program_dies_in_the_call() {
    at_once(CALLS, |call| {
        for pair in pairs(call) {
            let observed = pair.compare_signalled("ready", libc::SIGTERM);
            assert_eq!(observed.ended.status.signal(), Some(libc::SIGTERM), "{call}");
        }
    });
}

#[test]
#[ignore = "slow: runs 40 programs"]
fn the_program_dies_in_the_call_of_another_thread() {
    at_once(CALLS, |call| {
        for pair in pairs(&format!("thread_{call}")) {
            let observed = pair.compare();
            assert_eq!(observed.ended.status.signal(), Some(libc::SIGTERM), "{call}");
        }
    });
}

#[test]
fn the_program_dies_of_a_signal_to_itself() {
    at_once(["raise", "kill"], |call| {
        for pair in pairs(call) {
            let observed = pair.compare();
            assert_eq!(observed.ended.status.signal(), Some(libc::SIGTERM), "{call}");
        }
    });
}

type Chunk = (&'static str, &'static [i32]);

const BUSY: Chunk = ("busy", &[libc::SIGTERM]);

#[test]
fn a_busy_program_is_not_stuck() {
    are_not_stuck(&[BUSY], 1);
}

#[test]
#[ignore = "slow: runs 12 programs"]
fn busy_programs_are_not_stuck() {
    are_not_stuck(&[BUSY, BUSY, BUSY, ("busy_kills", &[])], 3);
}

/// Runs each program `times` times. Wherever the signal interrupts it, the thread may hold what the writer needs.
fn are_not_stuck(chunks: &[Chunk], times: usize) {
    at_once(chunks.iter().enumerate(), |(chunk, &(way, signals))| {
        for count in 0..times {
            let mut case = Case::new(&format!("{chunk}-{count}-of-{times}"), way, signals);
            assert_eq!(case.ends().status.signal(), Some(libc::SIGTERM));
            case.leaves(&FILES);
        }
    });
}
