//! Measures the cost of the hooks in nanoseconds and instructions per poll, compared to the same
//! program without hooks and with eight empty ones.
//!
//! `cargo bench -p tokio-statemap --bench hooks`
//!
//! With `-- check` it only compares the instructions with the committed ones, and fails if they have
//! grown. With `-- watcher`, and the feature `stacks`, it measures the CPU time of the background
//! thread, which samples long polls.
//!
//! The program is the worst case: tasks that do nothing but yield. Each figure comes from runs in
//! separate child processes. The variants take turns, so that other load on the machine affects
//! them alike. Instructions are counted by callgrind, if valgrind is installed, as the difference
//! between a run with many polls and one with fewer, so that start and end cancel.

#[cfg(tokio_unstable)]
mod count;
#[cfg(tokio_unstable)]
mod gate;
#[cfg(tokio_unstable)]
mod program;
#[cfg(tokio_unstable)]
mod table;
#[cfg(tokio_unstable)]
mod watcher;

#[cfg(tokio_unstable)]
fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("run") => println!("{}", program::run(&arguments[1..]).as_nanos()),
        Some("check") => return gate::check(),
        Some("watcher") => watcher::print(),
        Some("watch") => watcher::run(&arguments[1]),
        _ => table::print(),
    }
    std::process::ExitCode::SUCCESS
}

#[cfg(not(tokio_unstable))]
fn main() {
    println!("Without --cfg tokio_unstable there are no hooks of polls to measure.");
}
