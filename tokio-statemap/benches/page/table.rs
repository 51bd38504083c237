//! The measuring, and the table.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use tokio_statemap::Timeline;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::Labels;
use tokio_statemap::{html, svg};

use crate::service::Service;

const PROGRAMS: [(&str, Service); 4] = [
    ("8 tasks", Service { tasks: 8, polls: 300, life_polls: None }),
    ("1 000 tasks", Service { tasks: 1_000, polls: 30_000, life_polls: Some(40) }),
    ("10 000 tasks", Service { tasks: 10_000, polls: 400_000, life_polls: Some(40) }),
    ("100 000 tasks", Service { tasks: 100_000, polls: 3_350_000, life_polls: None }),
];

/// Measures, and prints what came out.
pub(crate) fn print() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    fs::create_dir_all(&folder).expect("a folder for the pages");
    for (name, service) in PROGRAMS {
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
        look_at(&page, &image);
    }
    println!("\nThe files are in {}.", folder.display());
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

/// What a browser makes of them.
fn look_at(page: &Path, image: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let status = Command::new("node")
        .arg(here.join("benches/page/browser.mjs"))
        .args([page, image])
        .env("NODE_PATH", tools())
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => println!("  the browser's figures failed: {status}"),
        Err(error) => println!("  no figures of a browser: node: {error}"),
    }
}

/// Where the tests of the page put what they install.
fn tools() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser")
}
