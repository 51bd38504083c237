//! What tokio-statemap costs, beside its peers, measured on one machine in one run:
//!
//! ```text
//! cargo run --release --manifest-path tokio-statemap/benches/peers/Cargo.toml
//! ```
//!
//! writes `tokio-statemap/benches/RESULTS.md`. Behind ` -- ` may stand one word, which measures less
//! and prints what it measured: `quick`, `instructions`, `yield`, `spawn`, `ping-pong`, `http`, `exit`,
//! `startup`, `flight` or `hooks`; behind `flight` the seconds it is to last, behind `hooks` the turns.
//! `functions` writes `tokio-statemap/benches/FUNCTIONS.md`; `functions quick` and `functions instructions`
//! only print.
//!
//! Everything is measured in child processes of their own, `peers run …`, all variants by turns, so
//! that whatever else the machine does hits them alike; and compared within one turn.

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
        ref what => match plan::Plan::of(what) {
            Some(plan) => results::make(&plan),
            None => {
                eprintln!("it is one of {}, or nothing for all", plan::WORDS.join(", "));
                std::process::exit(2);
            }
        },
    }
}
