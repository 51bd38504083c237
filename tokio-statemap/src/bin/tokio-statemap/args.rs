//! The command line.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::usage::misused;
use crate::{globs, units};

/// See what every Tokio task and worker was doing, and what held the runtime up
///
/// Reads statemap data: the files that tokio-statemap writes for `tasks = "…"` and `workers = "…"`, its pages, and
/// files of any other program in the same format. All of them may be compressed with gzip.
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

Exit status: 0 for success, 1 for invalid data or a file that can't be read or written, 2 for a wrong \
command line, 3 for a run that exceeds a limit of `check`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Draw data as an interactive page or an SVG, or export it for other tools
    Render(RenderArgs),
    /// Print a text report that says where the time went
    Report(ReportArgs),
    /// Show what recorded processes do now, or did when they ended: what each worker polls, and where tasks wait
    #[cfg(has_black_box)]
    Ps(PsArgs),
    /// Make a page, a report or data of a black box, of a process that was killed or of one that runs
    #[command(visible_alias = "snapshot")]
    #[cfg(has_black_box)]
    Recover(RecoverArgs),
    /// Check that data keeps the rules of the format, and that runs keep limits
    Check(CheckArgs),
    /// Compare two runs: what got slower, and whether that is more than chance
    Diff(DiffArgs),
    /// Name the functions of a stripped program, by its unstripped binary
    Symbolize(SymbolizeArgs),
    /// List where each async fn of a program awaits, and what, without running it
    Awaits(AwaitsArgs),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  tokio-statemap completions bash > ~/.local/share/bash-completion/completions/tokio-statemap
  tokio-statemap completions fish > ~/.config/fish/completions/tokio-statemap.fish")]
    Completions {
        /// The shell
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

Files that overlap in time share one time axis, workers above tasks. Otherwise each file begins at the \
left edge. The times of a part count from --begin. The output replaces an existing file only once it is \
complete.")]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The output: a file that ends with .html, .svg, .pftrace, .folded or .csv, a folder that ends with
    /// .parquet, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The format, if the name of the output doesn't tell
    #[arg(long)]
    pub(crate) format: Option<Format>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// The title, instead of the data's own
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// The folder of the program's source: the page shows the lines around blamed lines and spawn locations
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// The largest size of an SVG: rows that don't fit are left out [default: 4MB]
    #[arg(long, value_name = "SIZE", value_parser = units::bytes, allow_hyphen_values = true)]
    pub(crate) max_size: Option<u64>,
    /// A row for each kind of span of tracing, in place of each poll: for CSV
    #[arg(long)]
    pub(crate) requests: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap report tasks.json
  tokio-statemap report tasks.json workers.json --begin 1s
  tokio-statemap report statemap.html
  tokio-statemap report --profile tasks.json
  tokio-statemap report --requests tasks.json")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Print the time in each instrumented async fn, over the whole run, instead of the report
    #[arg(long)]
    pub(crate) profile: bool,
    /// Print what spans of tracing took, over the whole run, and what they did, instead of the report
    #[arg(long, conflicts_with = "profile")]
    pub(crate) requests: bool,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[cfg(has_black_box)]
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap ps
  tokio-statemap ps 4711
  tokio-statemap ps /var/lib/shop/boxes --watch

A process is recorded in a black box with `black_box = true`, or with TOKIO_STATEMAP_BOX=1 if it was built with the \
feature `black-box`. Nothing is asked of the process, which may run, hang, be stopped, or be dead. What is shown is up \
to a tenth of a second old.")]
pub(crate) struct PsArgs {
    /// Processes, by id, or folders with boxes, or boxes [default: $XDG_RUNTIME_DIR and /dev/shm]
    #[arg(value_name = "WHAT")]
    pub(crate) what: Vec<PathBuf>,
    /// Repeat it each second
    #[arg(long)]
    pub(crate) watch: bool,
}

#[cfg(has_black_box)]
#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap recover 4711 -o statemap.html
  tokio-statemap recover /dev/shm/tokio-statemap.shop.4711.19b1-0.0.box -o statemap.html
  tokio-statemap recover /dev/shm -o tasks.json
  tokio-statemap recover 4711

The other commands read boxes, too, by the names of their files.")]
pub(crate) struct RecoverArgs {
    /// A process, by id, or a box, or a folder: of the boxes in it, the newest of a dead process is taken, or else the newest
    #[arg(value_name = "WHAT")]
    pub(crate) what: PathBuf,
    /// The output, as for `render`, or a file that ends with .json: the data of the tasks [default: the report is printed]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap check tasks.json
  some-instrumentation | tokio-statemap check -
  tokio-statemap check tasks.json --max-poll 100ms --max-ready 100ms

Prints one line per file: `FILE: ok, …` on standard output, or the rule that is broken, with line and byte, on \
standard error. For a page, its data is checked. Limits apply to runs of tokio-statemap: each exceeded limit \
is a line on standard error, and the exit status is 3. If a limit can't be judged, for example because ready \
times weren't recorded, the exit status is 1.")]
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
    /// The longest time that a poll may hold a worker, such as 5ms; time taken by the machine doesn't count
    #[arg(long, value_name = "TIME", value_parser = units::limit, allow_hyphen_values = true)]
    pub(crate) max_poll: Option<u64>,
    /// The longest time that a task may be ready before it is polled, such as 20ms; time taken by the machine doesn't count
    #[arg(long, value_name = "TIME", value_parser = units::limit, allow_hyphen_values = true)]
    pub(crate) max_ready: Option<u64>,
    /// The longest time that spans of tracing with a name may be open, such as 'GET /orders' 50ms; may be given several times
    #[arg(long, num_args = 2, value_names = ["NAME", "TIME"], allow_hyphen_values = true)]
    pub(crate) max_span: Vec<String>,
    /// Source files to which no long poll may be attributed, by the blamed line or else the spawn location, such as 'src/**'
    #[arg(long, value_name = "GLOB", value_parser = globs::Glob::new)]
    pub(crate) no_long_polls_from: Vec<globs::Glob>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  tokio-statemap diff before.json after.json
  tokio-statemap diff before/ after/ --format json
  tokio-statemap diff before.json after.json -o diff.html

BEFORE and AFTER are each the tasks' file of a run, its page, or a folder with the .json and .json.gz files of one \
or more runs: with three or more runs each, smaller differences can be told from chance. The tasks' and workers' \
files of two runs may also be named one by one, those before first. Lines that moved in the source are matched.

Runs differ even without any change. Only differences beyond chance are reported. Time that the machine took from \
long polls doesn't count, and a difference that all lines share is attributed to the machine.")]
pub(crate) struct DiffArgs {
    /// The data before, then the data after
    #[arg(required = true, num_args = 2.., value_names = ["BEFORE", "AFTER"])]
    pub(crate) files: Vec<PathBuf>,
    /// The output [default: standard output]; a file that ends with .html becomes a page of both runs
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The format, if the name of the output doesn't tell [default: text]
    #[arg(long)]
    pub(crate) format: Option<DiffFormat>,
}

/// The format of a comparison. Aliases are extensions of file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text for people
    #[value(alias = "txt")]
    Text,
    /// JSON for programs
    Json,
    /// A page with both runs, one above the other
    #[value(alias = "htm")]
    Html,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
The data of a stripped program has addresses in place of functions, in the stacks of long polls and of waiting tasks. \
The binary before it was stripped, or a file with its debug information, has their names, files and lines. It must be \
of the same build: the build ids are compared.

  tokio-statemap symbolize statemap.html --binary target/release/shop
  tokio-statemap symbolize tasks.json --binary shop.debug -o named.json

The output replaces an existing file only once it is complete.")]
pub(crate) struct SymbolizeArgs {
    /// The tasks' data of a run, or a page; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The program with its symbols, or its debug information
    #[arg(long, value_name = "PATH")]
    pub(crate) binary: PathBuf,
    /// The output, or - for standard output [default: FILE]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The folder of the program's source: the page shows the lines around blamed lines and spawn locations
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Reads the debug information of a Linux program, which must be built with `debug = \"full\"` in its profile. \
Each line is a place where a task may wait, and what it awaits there; below an async fn of the program are its own \
such places. A branch ends at a future that isn't an async fn (a timer, a lock, a `poll` written by hand), and at a \
`dyn Future`, whose type only the running program knows. What a macro awaits (`join!`, `select!`) has the lines of \
the async fn that calls it. Async fns that nothing uses aren't compiled, and so aren't listed.

  CARGO_PROFILE_RELEASE_DEBUG=full cargo build --release
  tokio-statemap awaits target/release/shop
  tokio-statemap awaits target/release/shop shop::checkout
  tokio-statemap awaits target/release/shop --html awaits.html")]
pub(crate) struct AwaitsArgs {
    /// The program, or the file with its debug information
    #[arg(value_name = "BINARY")]
    pub(crate) binary: PathBuf,
    /// List only async fns whose path contains this, including those of dependencies
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: Option<String>,
    /// Include the async fns of dependencies
    #[arg(long, conflicts_with = "pattern")]
    pub(crate) all: bool,
    /// Write a page with foldable trees, instead of text; - is standard output
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
    /// The start of the part to show, as the time since the left edge, such as 250ms
    #[arg(long, value_name = "TIME", value_parser = units::nanoseconds, allow_hyphen_values = true)]
    pub(crate) begin: Option<u64>,
    /// The length of the part to show, such as 2s
    #[arg(long, value_name = "TIME", value_parser = units::positive_nanoseconds, allow_hyphen_values = true)]
    pub(crate) duration: Option<u64>,
}

/// The format of a rendered file. Aliases are extensions of file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An interactive page
    #[value(alias = "htm")]
    Html,
    /// A picture to embed
    Svg,
    /// A trace for Perfetto, ui.perfetto.dev
    #[value(aliases = ["pftrace", "perfetto-trace"])]
    Perfetto,
    /// The stacks of polls, folded, for flame graphs
    Folded,
    /// A table with a row for each poll, or with --requests for each kind of span
    Csv,
    /// A folder of tables, for DuckDB and the like (in a build with the feature `parquet`)
    Parquet,
}

impl Files {
    /// Ends the process if an input would be read twice.
    pub(crate) fn check(&self, command: &str) {
        let files = &self.files;
        if files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
            misused(command, "standard input (`-`) can be read only once: name the other file");
        }
        for (index, file) in files.iter().enumerate() {
            if let Some(other) = files[..index].iter().find(|other| is_same_file(other, file)) {
                let (other, file) = (other.display(), file.display());
                misused(command, &format!("{other} and {file} are the same file: name it once"));
            }
        }
    }
}

impl RenderArgs {
    /// Returns the output's format. Ends the process if it is unclear or doesn't fit the other arguments.
    pub(crate) fn format(&self) -> Format {
        let refuse = |problem| misused("render", problem);
        let endings = ".html, .svg, .pftrace, .folded, .csv or .parquet";
        let format = selected("render", self.format, &self.output)
            .unwrap_or_else(|| refuse_name("render", &self.output, endings));
        if self.max_size.is_some() && format != Format::Svg {
            refuse(
                "`--max-size` is for an SVG, as other formats leave nothing out: write an .svg, or leave it out",
            );
        }
        if self.source.is_some() && format != Format::Html {
            refuse(
                "`--source` is for a page, as no other format shows source: write an .html, or leave it out",
            );
        }
        if self.requests && format != Format::Csv {
            refuse("`--requests` is for CSV: write a .csv, or leave it out");
        }
        match format {
            Format::Parquet => {
                if let Some(problem) = no_tables(cfg!(feature = "parquet"), &self.output) {
                    refuse(problem);
                }
            }
            Format::Folded | Format::Csv => {}
            Format::Html | Format::Svg | Format::Perfetto => {
                refuse_terminal("render", "-o", &self.output);
            }
        }
        format
    }
}

/// Returns why tables can't be written there, if so, by a command that was built with Parquet or without.
fn no_tables(has_parquet: bool, output: &Path) -> Option<&'static str> {
    match has_parquet {
        false => {
            Some("this command was built without Parquet: install it with `--features cli,parquet`")
        }
        true => (output.as_os_str() == "-")
            .then_some("Parquet is a folder of tables: it can't go to standard output"),
    }
}

impl DiffArgs {
    /// Returns the output's format. Ends the process if it is unclear.
    pub(crate) fn format(&self) -> DiffFormat {
        let Some(output) = &self.output else {
            let format = self.format.unwrap_or(DiffFormat::Text);
            if format == DiffFormat::Html {
                misused("diff", "a page is written to a file: name it by `-o FILE`");
            }
            return format;
        };
        let format = match selected("diff", self.format, output) {
            None if output.as_os_str() == "-" => DiffFormat::Text,
            format => format.unwrap_or_else(|| refuse_name("diff", output, ".html, .json or .txt")),
        };
        if format == DiffFormat::Html {
            refuse_terminal("diff", "-o", output);
        }
        format
    }
}

/// Returns the format that `--format` or the name of the output selects. Ends the process if they disagree.
fn selected<F: ValueEnum + PartialEq>(command: &str, given: Option<F>, output: &Path) -> Option<F> {
    let extension = output.extension().and_then(|extension| extension.to_str());
    let named = extension.and_then(|extension| F::from_str(extension, true).ok());
    if let (Some(given), Some(named)) = (&given, &named) {
        if given != named {
            let name =
                |format: &F| format.to_possible_value().map(|value| value.get_name().to_owned());
            let (given, named) = (name(given).unwrap_or_default(), name(named).unwrap_or_default());
            let output = output.display();
            let problem = format!(
                "`-o {output}` is {named}, but `--format` is {given}: leave `--format` out, or name the output .{given}"
            );
            misused(command, &problem);
        }
    }
    given.or(named)
}

/// Ends the process because the name of the output tells no format.
fn refuse_name(command: &str, output: &Path, endings: &str) -> ! {
    let output = output.display();
    let problem = format!(
        "the name of the output, {output}, doesn't tell the format: end it with {endings}, or use `--format`"
    );
    misused(command, &problem)
}

/// Ends the process if the output would replace one of the input files.
pub(crate) fn refuse_overwrite(command: &str, output: &Path, input: &[PathBuf]) {
    // A terminal or a pipe may be both.
    if output.is_file() && input.iter().any(|file| is_same_file(file, output)) {
        let output = output.display();
        misused(command, &format!("the output, {output}, is one of the input files: name another"));
    }
}

/// Ends the process if the output is a terminal, which can't show it.
pub(crate) fn refuse_terminal(command: &str, option: &str, output: &Path) {
    if output.as_os_str() == "-" && std::io::stdout().is_terminal() {
        let problem = format!(
            "`{option} -` would print it on the terminal: use `{option} FILE`, or redirect standard output"
        );
        misused(command, &problem);
    }
}

/// Returns `true` if two paths lead to the same existing file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let [one, other] =
        [one, other].map(|path| path.canonicalize().ok().filter(|path| path.is_file()));
    one.is_some() && one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_parquet_says_so() {
        for output in ["run.parquet", "-"] {
            let said = no_tables(false, Path::new(output)).expect("it is refused");
            assert!(said.contains("without Parquet"), "{said}");
        }
        assert_eq!(no_tables(true, Path::new("run.parquet")), None);
    }
}
