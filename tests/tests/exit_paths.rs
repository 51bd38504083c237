//! On every exit path complete files are written, and the exit status, the signal and the output
//! are those of the same program under `#[tokio::main]`.
#![cfg(unix)]

#[path = "exit_paths/abort.rs"]
mod abort;
#[path = "exit_paths/exits.rs"]
mod exits;
#[path = "exit_paths/forks.rs"]
mod forks;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "exit_paths/interrupted.rs"]
mod interrupted;
#[path = "exit_paths/pair.rs"]
mod pair;
#[path = "exit_paths/runtimes.rs"]
mod runtimes;
#[path = "exit_paths/signals.rs"]
mod signals;
#[path = "exit_paths/stderr.rs"]
mod stderr;
#[cfg(target_os = "linux")]
#[path = "exit_paths/unread.rs"]
mod unread;
