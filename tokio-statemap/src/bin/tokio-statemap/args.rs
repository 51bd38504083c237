//! The command line.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::same_file::same_files;
use crate::usage::misused;
use crate::{globs, units};

/// See what every Tokio task and worker was doing, and who held the runtime up
///
/// Reads statemap data: what tokio-statemap's `tasks = "…"` and `workers = "…"` leave, and any other
/// instrumentation's that keeps the format. The page holds its data, so that it can be read, too; and all of it may
/// be compressed with gzip.
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
  tokio-statemap report statemap.html
  tokio-statemap check tasks.json workers.json
  tokio-statemap diff before.json after.json

Exit status: 0 if all went well, 1 for bad data or a file that can't be read or written, 2 for a \
command line that can't be understood, 3 for a run that is over a limit of `check`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw data as a page to explore, or as an SVG; or export it for other tools
    Render(RenderArgs),
    /// Say where the time went, in text
    Report(ReportArgs),
    /// Check data strictly: each rule of the format, and of this program's own data
    Check(CheckArgs),
    /// Compare two runs: what got longer, and whether that is more than chance
    Diff(DiffArgs),
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
  tokio-statemap render statemap.html -o statemap.svg
  tokio-statemap render tasks.json workers.json -o run.pftrace
  cat tasks.json.gz | tokio-statemap render - --format html -o - > statemap.html

Files that overlap in time are laid out by their clocks, one below the other, workers above tasks. Of \
others each begins at the left edge. With --begin, times count from there. The output takes the \
file's place when it is complete, so that it is all there or as it was.")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Where to write: a file that ends with .html, .svg, .pftrace, .folded or .csv, or - for standard
    /// output; or a folder that ends with .parquet
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
    /// Where the program's source is: the page shows the lines around blamed lines and spawn locations
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// How large an SVG may get: rows that don't fit are left out [default: 4MB]
    #[arg(long, value_name = "SIZE", value_parser = units::bytes, allow_hyphen_values = true)]
    pub(crate) max_size: Option<u64>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap report tasks.json
  tokio-statemap report tasks.json workers.json --begin 1s
  tokio-statemap report statemap.html
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
  tokio-statemap check tasks.json --max-poll 100ms --max-ready 100ms

For each file there is a line: `FILE: ok, …` on standard output, or on standard error where and how \
it breaks which rule. Of a page, the data in it is checked. Limits are for runs of tokio-statemap: what is over one is said on \
standard error, and the exit status is 3. It is 1 where a limit can't be judged: where it wasn't recorded when tasks became ready, say.")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Refuse data that tokio-statemap didn't write
    #[arg(long)]
    pub(crate) ours: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How long a poll may hold a worker, such as 5ms; what the machine took doesn't count
    #[arg(long, value_name = "TIME", value_parser = units::limit, allow_hyphen_values = true)]
    pub(crate) max_poll: Option<u64>,
    /// How long a task may be ready before it is polled, such as 20ms; what the machine took doesn't count
    #[arg(long, value_name = "TIME", value_parser = units::limit, allow_hyphen_values = true)]
    pub(crate) max_ready: Option<u64>,
    /// Files that no long poll may be from, by the line that is to blame, or else the spawn location, such as 'src/**'
    #[arg(long, value_name = "GLOB", value_parser = globs::Glob::new)]
    pub(crate) no_long_polls_from: Vec<globs::Glob>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap diff before.json after.json
  tokio-statemap diff before/ after/ --format json
  tokio-statemap diff before.json after.json -o diff.html

Before and after are each the tasks' file of a run, its page, or a folder with the .json and .json.gz files of one run or of several: with \
three or more of each, smaller differences can be told from chance. The tasks' and workers' files of two runs may \
also be named one by one, those before first. Lines that moved in the source are found again.

Runs differ without any change. Only what differs by more than chance is called longer or shorter; what the machine \
took from long polls doesn't count, and what all lines do alike is taken for the machine's.")]
pub(crate) struct DiffArgs {
    /// Before, then after
    #[arg(required = true, num_args = 2.., value_names = ["BEFORE", "AFTER"])]
    pub(crate) files: Vec<PathBuf>,
    /// Where to write [default: standard output]; a file that ends with .html becomes a page of both
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// What to write, if the output's name doesn't tell [default: text]
    #[arg(long)]
    pub(crate) format: Option<DiffFormat>,
}

/// What a comparison is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// A page with both, one above the other
    Html,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
The data or the page of a program that was stripped has addresses where the stacks of its long polls, and its tasks that wait, have functions. \
What it was before it was stripped, or a file with its debug information, has their names, files and \
lines. It must be of the same build: both bear its build id.

  tokio-statemap symbolize statemap.html --binary target/release/shop
  tokio-statemap symbolize tasks.json --binary shop.debug -o named.json

The output takes the file's place when it is complete, so that it is all there or as it was.")]
pub(crate) struct SymbolizeArgs {
    /// The tasks' data of a run, or a page; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The program with its symbols, or its debug information
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: PathBuf,
    /// Where to write, or - for standard output [default: FILE]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Have the page show the lines of source in this folder around blamed lines and spawn locations
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
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
    /// Statemap data, or pages; - is standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct WindowArgs {
    /// Where to begin, from the left edge, such as 250ms
    #[arg(long, value_name = "TIME", value_parser = units::nanoseconds, allow_hyphen_values = true)]
    pub(crate) begin: Option<u64>,
    /// How much to show, such as 2s
    #[arg(long, value_name = "TIME", value_parser = units::positive_nanoseconds, allow_hyphen_values = true)]
    pub(crate) duration: Option<u64>,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A page to explore
    Html,
    /// A picture to embed
    Svg,
    /// A trace for Perfetto, ui.perfetto.dev
    Perfetto,
    /// The stacks of polls, folded, for flame graphs
    Folded,
    /// A row a poll
    Csv,
    /// A folder of tables, for DuckDB and its like (in a build with the feature `parquet`)
    Parquet,
}

/// The formats, and the names of files that are of each: the first of them is usual.
const FORMATS: [(Format, &[&str]); 6] = [
    (Format::Html, &["html", "htm"]),
    (Format::Svg, &["svg"]),
    (Format::Perfetto, &["pftrace", "perfetto-trace"]),
    (Format::Folded, &["folded"]),
    (Format::Csv, &["csv"]),
    (Format::Parquet, &["parquet"]),
];

impl Format {
    /// That of a file with this name.
    fn of(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_ascii_lowercase();
        let is_its = |(_, names): &&(_, &[&str])| names.iter().any(|name| extension == *name);
        FORMATS.iter().find(is_its).map(|(format, _)| *format)
    }

    /// What `--format` calls it.
    fn name(self) -> &'static str {
        FORMATS.iter().find(|(format, _)| *format == self).map_or("", |(_, names)| names[0])
    }

    /// Whether a terminal would print it.
    fn is_text(self) -> bool {
        match self {
            Self::Folded | Self::Csv => true,
            Self::Html | Self::Svg | Self::Perfetto | Self::Parquet => false,
        }
    }
}

impl Files {
    /// Ends the program if a file is to be read twice.
    pub(crate) fn check(&self, command: &str) {
        if self.files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            misused(command, "standard input (`-`) can be read only once: name the other file");
        }
        if let Some((one, other)) = same_files(&self.files) {
            let (one, other) = (one.display(), other.display());
            misused(command, &format!("{one} and {other} are the same file: name it once"));
        }
    }
}

impl RenderArgs {
    /// What to write; ends the program if that isn't clear.
    pub(crate) fn format(&self) -> Format {
        let by_name = Format::of(&self.output);
        let format = match (self.format, by_name) {
            (Some(said), Some(named)) if said != named => {
                let (output, said, named) = (self.output.display(), said.name(), named.name());
                misused(
                    "render",
                    &format!(
                        "`-o {output}` is {named}, and `--format` says {said}: leave `--format` out, \
                         or name the output .{said}"
                    ),
                )
            }
            (Some(format), _) | (None, Some(format)) => format,
            (None, None) => {
                let names: Vec<_> =
                    FORMATS.iter().map(|(_, names)| format!(".{}", names[0])).collect();
                let (last, others) = names.split_last().expect("there are several");
                misused(
                    "render",
                    &format!(
                        "the name of the output, {}, doesn't tell what to write: end it with {} or \
                         {last}, or say `--format`",
                        self.output.display(),
                        others.join(", ")
                    ),
                )
            }
        };
        if self.max_size.is_some() && format != Format::Svg {
            misused(
                "render",
                "`--max-size` is for an SVG: a page leaves nothing out; leave it out, or write an .svg",
            );
        }
        if !format.is_text() {
            refuse_terminal("render", "-o", &self.output);
        }
        if format == Format::Parquet {
            if !cfg!(feature = "parquet") {
                let problem = "this command was built without Parquet: install it with \
                               `--features cli,parquet`";
                misused("render", problem);
            }
            if self.output.as_os_str() == "-" {
                misused("render", "Parquet is a folder of tables: it can't go to standard output");
            }
        }
        if self.source.is_some() && format != Format::Html {
            misused(
                "render",
                "`--source` is for a page, which alone shows source: leave it out, or write an .html",
            );
        }
        format
    }

    /// Ends the program if the output would take the place of the data.
    pub(crate) fn check_output(&self) {
        let Ok(output) = self.output.canonicalize() else { return };
        let is_output = |file: &PathBuf| file.canonicalize().is_ok_and(|file| file == output);
        // A terminal or a pipe may be both.
        if output.is_file() && self.files.files.iter().any(is_output) {
            misused(
                "render",
                &format!(
                    "the output, {}, is one of the files that are read, and would take its place: name \
                     another",
                    self.output.display()
                ),
            );
        }
    }
}

impl DiffArgs {
    /// What to write; ends the program if that isn't clear.
    pub(crate) fn format(&self) -> DiffFormat {
        let name = self.output.as_ref().filter(|output| output.as_os_str() != "-");
        let extension = name.and_then(|output| output.extension()).map(|e| e.to_ascii_lowercase());
        let by_name = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("html" | "htm") => Some(DiffFormat::Html),
            Some("json") => Some(DiffFormat::Json),
            Some("txt") => Some(DiffFormat::Text),
            _ => None,
        };
        if name.is_some() && self.format.or(by_name).is_none() {
            let problem =
                "the output doesn't end with .html, .json or .txt: say which it is by `--format`";
            misused("diff", problem);
        }
        if let (Some(said), Some(named)) = (self.format, by_name) {
            if said != named {
                let output = name.map(|output| output.display().to_string()).unwrap_or_default();
                let problem = format!(
                    "the name of the output, {output}, says something else than `--format`: leave `--format` out, \
                     or name the output otherwise"
                );
                misused("diff", &problem);
            }
        }
        let format = self.format.or(by_name).unwrap_or(DiffFormat::Text);
        if format == DiffFormat::Html {
            match &self.output {
                None => misused("diff", "a page goes to a file: say which by `-o FILE`"),
                Some(output) => refuse_terminal("diff", "-o", output),
            }
        }
        format
    }

    /// Ends the program if the output would take the place of the data.
    pub(crate) fn check_output(&self, read: &[PathBuf]) {
        let Some(output) = self.output.as_ref().and_then(|file| file.canonicalize().ok()) else {
            return;
        };
        let is_output = |file: &PathBuf| file.canonicalize().is_ok_and(|file| file == output);
        if output.is_file() && read.iter().any(is_output) {
            misused("diff", "the output is one of the files that are read: it would be lost");
        }
    }
}

/// Ends the program if the output is a terminal, which can't show it.
pub(crate) fn refuse_terminal(command: &str, option: &str, output: &Path) {
    if output.as_os_str() == "-" && std::io::stdout().is_terminal() {
        misused(
            command,
            &format!(
                "`{option} -` would print it on the terminal: say `{option} FILE`, or have standard \
                 output go to a file or a pipe"
            ),
        );
    }
}
