//! On every exit path complete files are written, and the exit status, the signal and the output are those of the same
//! program under `#[tokio::main]`.
#![cfg(unix)]

mod abort;
mod exits;
#[cfg(target_os = "linux")]
mod few_threads;
mod forks;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod interrupted;
mod pair;
mod runtimes;
mod signals;
mod stderr;
#[cfg(target_os = "linux")]
mod unread;
