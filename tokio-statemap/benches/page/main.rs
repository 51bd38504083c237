//! The picture at scale: how long the page and the SVG take to be written and to be ready in a
//! browser, how large they are, what the browser needs for them, and how long a frame takes.
//!
//! `cargo bench -p tokio-statemap --bench page`
//!
//! It draws four programs of 8 to 100 000 tasks, the last with ten million changes of state, and
//! leaves their pages in `target/tmp/page`. The browser's figures need Node, a Chromium and
//! `playwright-core`, as the tests of the page do. Where one is missing, a line names it and what to
//! do; the rest is measured all the same, and the benchmark fails. Numbers of tasks behind `--`
//! (`-- 8 1000`) select programs.

mod service;
mod table;

fn main() -> std::process::ExitCode {
    // Cargo says `--bench` to a benchmark.
    let only: Vec<String> = std::env::args().skip(1).filter(|only| only != "--bench").collect();
    table::print(&only)
}
