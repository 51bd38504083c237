//! Measures the cost of tokio-statemap and of its peers, on one machine in one run:
//!
//! ```text
//! cargo run --release --manifest-path tokio-statemap/benches/peers/Cargo.toml
//! ```
//!
//! writes `tokio-statemap/benches/RESULTS.md`. A word after ` -- ` measures only a part and prints the
//! results: `quick`, `instructions`, `yield`, `spawn`, `ping-pong`, `http`, `exit`, `startup`, `flight`
//! or `hooks`. `flight` takes its duration in seconds, `hooks` the number of turns. `functions` writes
//! `tokio-statemap/benches/FUNCTIONS.md`; `functions quick` and `functions instructions` only print.
//!
//! Everything is measured in separate child processes, `peers run …`. The variants take turns, so that
//! other load on the machine affects them alike, and are compared within one turn.

mod accounts;
mod bounds;
mod callgrind;
mod child;
mod functions;
mod machine;
mod measure;
mod plan;
mod programs;
mod results;
mod samples;
mod scale;
mod service;
mod startup;
mod usage;
mod variants;
mod workloads;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["run", ref what @ ..] => println!("{}", child::run(what)),
        ref what => match plan::Plan::parse(what) {
            Some(plan) => results::make(&plan),
            None => {
                eprintln!("it is one of {}, or nothing for all", plan::WORDS.join(", "));
                std::process::exit(2);
            }
        },
    }
}
