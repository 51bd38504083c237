//! However a program ends, complete files are left, and its exit status, its death by a signal and
//! what it prints are those of the same program under `#[tokio::main]`.
#![cfg(unix)]

#[path = "ways_out/abort.rs"]
mod abort;
#[path = "ways_out/exits.rs"]
mod exits;
#[path = "ways_out/forks.rs"]
mod forks;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "ways_out/interrupted.rs"]
mod interrupted;
#[path = "ways_out/pair.rs"]
mod pair;
#[path = "ways_out/runtimes.rs"]
mod runtimes;
#[path = "ways_out/signals.rs"]
mod signals;
#[path = "ways_out/stderr.rs"]
mod stderr;
#[cfg(target_os = "linux")]
#[path = "ways_out/unread.rs"]
mod unread;
