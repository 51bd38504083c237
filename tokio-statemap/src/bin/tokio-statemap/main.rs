//! The command `tokio-statemap`.

mod args;
mod awaits;
#[cfg(has_black_box)]
mod boxes;
mod check;
mod diff;
#[path = "../../util/duration.rs"]
mod duration;
mod export;
mod failure;
mod generate;
mod globs;
mod input;
mod limits;
mod output;
mod progress;
#[cfg(has_black_box)]
mod ps;
#[cfg(has_black_box)]
mod recover;
mod render;
mod report;
mod symbolize;
mod units;
mod usage;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Args, Command};

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage::refuse(&error, &Args::command()),
    };
    let done = match args.command {
        Command::Render(args) => render::run(args),
        Command::Report(args) => report::run(&args),
        #[cfg(has_black_box)]
        Command::Ps(args) => ps::run(&args),
        #[cfg(has_black_box)]
        Command::Recover(args) => recover::run(args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Symbolize(args) => symbolize::run(&args),
        Command::Awaits(args) => awaits::run(&args),
        Command::Completions { shell } => generate::completions(shell),
        Command::Man => generate::man(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
