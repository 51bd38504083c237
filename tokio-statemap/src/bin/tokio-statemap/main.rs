//! The command `tokio-statemap`: draws, reports on, checks, compares and completes statemap data; and says what the
//! async fns of a program await.

mod args;
mod awaits;
mod check;
mod diff;
mod duration;
mod export;
mod failure;
mod generate;
mod globs;
mod gzip;
mod input;
mod limits;
mod page;
mod progress;
mod render;
mod report;
mod same_file;
mod symbolize;
mod units;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage::refuse(&error),
    };
    let done = match args.command {
        Command::Render(args) => render::run(args),
        Command::Report(args) => report::run(args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Symbolize(args) => symbolize::run(&args),
        Command::Awaits(args) => awaits::run(&args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man => generate::man(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.say(),
    }
}
