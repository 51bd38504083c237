//! The command line.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args as ClapArgs, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::units;

/// See what every Tokio task and worker was doing, and who held the runtime up
///
/// Reads statemap data: what tokio-statemap's `tasks = "…"` and `workers = "…"` leave, and any other
/// instrumentation's that keeps the format.
#[derive(Debug, Parser)]
#[command(name = "tokio-statemap", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  tokio-statemap render tasks.json workers.json -o statemap.html
  tokio-statemap report tasks.json
  tokio-statemap check tasks.json workers.json

Exit status: 0 if all went well, 1 for bad data or a file that can't be read or written, 2 for a \
command line that can't be understood.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw data as a page to explore, or as an SVG
    Render(RenderArgs),
    /// Say where the time went, in text
    Report(ReportArgs),
    /// Check data strictly: each rule of the format, and of this program's own data
    Check(CheckArgs),
    /// Name the functions of a stripped program, by the binary before it was stripped
    Symbolize(SymbolizeArgs),
    /// Say where each async fn of a program awaits, and what, without running it
    Awaits(AwaitsArgs),
    /// Print a script that completes this command's arguments in a shell
    #[command(after_help = "\
Examples:
  tokio-statemap completions bash > ~/.local/share/bash-completion/completions/tokio-statemap
  tokio-statemap completions fish > ~/.config/fish/completions/tokio-statemap.fish")]
    Completions {
        /// Which shell's
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "\
Examples:
  tokio-statemap man > tokio-statemap.1")]
    Man,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap render tasks.json workers.json -o statemap.html
  tokio-statemap render tasks.json --begin 250ms --duration 2s -o part.svg
  zcat tasks.json.gz | tokio-statemap render - --format html -o - > statemap.html

Files that overlap in time are laid out by their clocks, one below the other, workers above tasks. Of \
others each begins at the left edge. With --begin, times count from there. The output takes the \
file's place when it is complete, so that it is all there or as it was.")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Where to write: a file that ends with .html or .svg, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// What to write, if the output's name doesn't tell
    #[arg(long)]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// The title, instead of that of the data
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// How large an SVG may get: rows that don't fit are left out [default: 4MB]
    #[arg(long, value_name = "SIZE", value_parser = units::bytes)]
    pub(crate) max_size: Option<u64>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap report tasks.json
  tokio-statemap report tasks.json workers.json --begin 1s
  tokio-statemap report --profile tasks.json")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Print what every instrumented async function took in the whole run, instead of the report
    #[arg(long)]
    pub(crate) profile: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap check tasks.json
  some-instrumentation | tokio-statemap check -

For each file there is a line: `FILE: ok, …` on standard output, or on standard error where and how \
it breaks which rule.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Refuse data that tokio-statemap didn't write
    #[arg(long)]
    pub(crate) ours: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
The data of a program that was stripped has addresses where the stacks of its long polls, and its tasks that wait, have functions. \
What it was before it was stripped, or a file with its debug information, has their names, files and \
lines. It must be of the same build: both bear its build id.

  tokio-statemap symbolize FILE --binary target/release/shop
  tokio-statemap symbolize FILE --binary shop.debug -o named.json

The output takes the file's place when it is complete, so that it is all there or as it was.")]
pub(crate) struct SymbolizeArgs {
    /// The tasks' data of a run; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The program with its symbols, or its debug information
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: PathBuf,
    /// Where to write, or - for standard output [default: FILE]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Reads the debug information of a program for Linux, which must be that of `debug = \"full\"` in its \
profile. Each line is a place where a task may wait, and what it awaits there; an async fn of the program \
has its own such places below it. A line ends the tree where a future isn't an async fn's: a timer, a \
lock, a `poll` written by hand; or where only the running program knows which future it is, behind `dyn \
Future`. For what a macro awaits (`join!`, `select!`) it has the lines of the async fn that it is in. Only \
what the compiler generated is in a program: an async fn that nothing uses isn't.

  CARGO_PROFILE_RELEASE_DEBUG=full cargo build --release
  tokio-statemap awaits target/release/shop
  tokio-statemap awaits target/release/shop shop::checkout
  tokio-statemap awaits target/release/shop --html awaits.html")]
pub(crate) struct AwaitsArgs {
    /// The program, or the file with its debug information
    #[arg(value_name = "BINARY")]
    pub(crate) binary: PathBuf,
    /// Only those async fns whose path contains this, also those of dependencies
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: Option<String>,
    /// Those of dependencies, too
    #[arg(long, conflicts_with = "pattern")]
    pub(crate) all: bool,
    /// Write a page that folds, instead of text; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Files {
    /// Statemap data; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct WindowArgs {
    /// Where to begin, from the left edge, such as 250ms
    #[arg(long, value_name = "TIME", value_parser = units::nanoseconds)]
    pub(crate) begin: Option<u64>,
    /// How much to show, such as 2s
    #[arg(long, value_name = "TIME", value_parser = units::positive_nanoseconds)]
    pub(crate) duration: Option<u64>,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A page to explore
    Html,
    /// A picture to embed
    Svg,
}

impl Files {
    /// Ends the program if standard input is to be read twice.
    pub(crate) fn check(&self, command: &str) {
        if self.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            misused(command, "standard input (`-`) can be read only once");
        }
    }
}

impl RenderArgs {
    /// What to write; ends the program if that isn't clear.
    pub(crate) fn format(&self) -> Format {
        let extension = self.output.extension().map(|e| e.to_ascii_lowercase());
        let by_name = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("html" | "htm") => Some(Format::Html),
            Some("svg") => Some(Format::Svg),
            _ => None,
        };
        let format = self.format.or(by_name).unwrap_or_else(|| {
            let problem = "the output doesn't end with .html or .svg: say `--format html` or `svg`";
            misused("render", problem)
        });
        if self.max_size.is_some() && format != Format::Svg {
            misused("render", "`--max-size` is for an SVG: a page leaves nothing out");
        }
        format
    }

    /// Ends the program if the output would take the place of the data.
    pub(crate) fn check_output(&self) {
        let Ok(output) = self.output.canonicalize() else { return };
        let is_output = |file: &PathBuf| file.canonicalize().is_ok_and(|file| file == output);
        // A terminal or a pipe may be both.
        if output.is_file() && self.files.files.iter().any(is_output) {
            misused("render", "the output is one of the files that are read: it would be lost");
        }
    }
}

/// Ends the program as the parser does where this command was used wrongly.
fn misused(command: &str, problem: &str) -> ! {
    let mut args = Args::command();
    args.build();
    match args.find_subcommand_mut(command) {
        Some(command) => command.error(ErrorKind::ValueValidation, problem).exit(),
        None => args.error(ErrorKind::ValueValidation, problem).exit(),
    }
}
