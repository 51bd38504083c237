//! Measures the picture at scale: the time to write the page and the SVG and to open them in a
//! browser, their sizes, the browser's memory, and the time per frame.
//!
//! `cargo bench -p tokio-statemap --bench page`
//!
//! It draws four programs of 8 to 100 000 tasks, the last with ten million changes of state, and
//! leaves their pages in `target/tmp/page`. The browser's figures require Node, a Chromium and
//! `playwright-core`, as the tests of the page do. If one is missing, a line says what to install;
//! everything else is still measured, but the benchmark fails. Numbers of tasks after `--` (`-- 8
//! 1000`) select programs.

mod service;
mod table;

fn main() -> std::process::ExitCode {
    // Cargo passes `--bench` to a benchmark.
    let only: Vec<String> = std::env::args().skip(1).filter(|only| only != "--bench").collect();
    table::print(&only)
}
