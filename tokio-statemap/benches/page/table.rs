//! Measures the page and prints the table.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use tokio_statemap::Timeline;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::Labels;
use tokio_statemap::{html, svg};

use crate::service::Service;

const PROGRAMS: [Service; 4] = [
    Service { tasks: 8, polls: 300, life_polls: None },
    Service { tasks: 1_000, polls: 30_000, life_polls: Some(40) },
    Service { tasks: 10_000, polls: 400_000, life_polls: Some(40) },
    Service { tasks: 100_000, polls: 3_350_000, life_polls: None },
];

/// Measures and prints the results for the programs with these numbers of tasks, or for all if none
/// is given.
pub(crate) fn print(only: &[String]) -> ExitCode {
    let has = |service: &Service, tasks: &String| service.tasks.to_string() == *tasks;
    if let Some(wrong) = only.iter().find(|tasks| !PROGRAMS.iter().any(|p| has(p, tasks))) {
        let all = PROGRAMS.map(|service| service.tasks.to_string()).join(", ");
        eprintln!("`{wrong}` is none of {all}");
        return ExitCode::from(2);
    }
    // Checked before the measurement, which takes minutes. Without a browser, the rest is still
    // measured.
    let mut has_failed = !browser(&[]);
    let is_looked_at = !has_failed;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&folder).expect("a folder for the pages");
    let selected = |service: &Service| only.is_empty() || only.iter().any(|t| has(service, t));
    for service in PROGRAMS.into_iter().filter(selected) {
        let name = format!("{} tasks", in_thousands(service.tasks));
        let data = service.run();
        let timeline = data.timeline();
        let file = name.replace(' ', "-");
        let transitions: usize = timeline.tasks.iter().map(|t| t.transitions().count()).sum();
        println!("\n{name}: {transitions} changes of state");
        let page = folder.join(format!("{file}.html"));
        written("page", timeline, &page, transitions, html::write);
        let image = folder.join(format!("{file}.svg"));
        written("SVG", timeline, &image, transitions, svg::write);
        drop(data);
        has_failed |= is_looked_at && !browser(&[&page, &image]);
    }
    println!("\nThe files are in {}.", folder.display());
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Formats a number with thousands separators: 100 000.
fn in_thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        _ => format!("{} {:03}", number / 1_000, number % 1_000),
    }
}

fn written(
    what: &str,
    timeline: &Timeline,
    path: &PathBuf,
    transitions: usize,
    write: impl Fn(&Picture<'_>, File) -> io::Result<()>,
) {
    let labels = Labels { title: "service".to_owned(), host: None };
    let began = Instant::now();
    let file = File::create(path).expect("a file");
    write(&Picture::of_timeline(timeline, &labels), file).expect("written");
    let seconds = began.elapsed().as_secs_f64();
    let bytes = fs::metadata(path).expect("the file").len();
    println!(
        "  {what:4} written in {seconds:.2} s, {:.2} MB, {:.2} bytes a change",
        bytes as f64 / 1e6,
        bytes as f64 / transitions as f64,
    );
}

/// Measures a page and an SVG in a browser; without files it only checks that there is one. Prints
/// problems itself.
fn browser(files: &[&Path]) -> bool {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = here.join("benches/page/browser.mjs");
    match Command::new("node").arg(script).args(files).env("NODE_PATH", tools()).status() {
        Ok(status) => status.success(),
        Err(error) => {
            let why = match error.kind() {
                io::ErrorKind::NotFound => {
                    "there is no `node` in PATH; install Node.js 20 or later".to_owned()
                }
                _ => format!("node: {error}"),
            };
            eprintln!("no figures of a browser: {why}");
            false
        }
    }
}

/// Returns the folder in which the tests of the page also look for `playwright-core`.
fn tools() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser")
}
