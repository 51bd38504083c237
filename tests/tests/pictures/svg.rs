//! The SVG in a real browser: it opens on the worst poll, can be zoomed, shows details on a click and the
//! totals of the timeline, and is a still picture in an `<img>`.
//!
//! The tests in the browser are in `page/browser/svg.test.mjs`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::browser::browser;
use tests::planted;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::Labels;
use tokio_statemap::{SpawnLocation, TaskState, Timeline, WorkerState, svg};

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");

fn draw(folder: &Path, name: &str, timeline: &Timeline) {
    let labels = Labels { title: name.to_owned(), host: Some("host-1".to_owned()) };
    draw_as(folder, name, timeline, &labels);
}

fn draw_as(folder: &Path, name: &str, timeline: &Timeline, labels: &Labels) {
    let file = File::create(folder.join(name).with_extension("svg")).unwrap();
    svg::write(&Picture::of_timeline(timeline, labels), file).unwrap();
}

/// Writes pictures with malicious names; returns their number.
fn draw_hostile(folder: &Path) -> usize {
    let names = [
        "]]></script><script>window.hacked=1</script>",
        "--></style><svg onload=\"window.hacked=1\"><!--",
        "\"'`${window.hacked=1}\\",
        "\u{202e}gnp.exe\u{2066}\u{200f}\u{2028}\u{2029}\0\u{1b}[31m",
        "<image href=x onerror=window.hacked=1/>&amp;&lt;&#60;",
        "]]&gt;</metadata><script>window.hacked=1</script>",
    ];
    let long = "long</script>".repeat(800);
    let names: Vec<&str> = names.into_iter().chain([long.as_str()]).collect();
    for (n, name) in names.iter().enumerate() {
        let mut timeline = planted::blocked();
        timeline.runtime = Some((*name).to_owned());
        let file: &'static str = Box::leak((*name).to_owned().into_boxed_str());
        for task in &mut timeline.tasks {
            let location = task.location.unwrap_or(planted::ANSWERS);
            task.location = Some(SpawnLocation { file, ..location });
        }
        let labels = Labels { title: (*name).to_owned(), host: Some((*name).to_owned()) };
        draw_as(folder, &n.to_string(), &timeline, &labels);
    }
    names.len()
}

/// Returns the states of workers and of tasks with their times in the timeline.
fn totals(timeline: &Timeline) -> Value {
    let mut workers = [0; WorkerState::ALL.len()];
    for span in timeline.workers.iter().flat_map(|worker| worker.spans(timeline.end_ns)) {
        workers[span.state.value() as usize] += span.end_ns - span.start_ns;
    }
    let mut tasks = [0; TaskState::ALL.len()];
    for span in timeline.tasks.iter().flat_map(|task| task.spans(timeline.end_ns)) {
        tasks[span.state.value() as usize] += span.end_ns - span.start_ns;
    }
    let workers = WorkerState::ALL.map(|s| json!([s.name(), workers[s.value() as usize]]));
    let tasks = TaskState::ALL.map(|s| json!([s.name(), tasks[s.value() as usize]]));
    json!([workers, tasks])
}

#[test]
#[ignore = "slow: needs a browser"]
fn can_be_zoomed_and_clicked() {
    let Some(browser) = browser(Path::new(TARGET)) else { return };
    let folder = PathBuf::from(TARGET).join("pages/svg");
    fs::create_dir_all(&folder).unwrap();
    let blocked = planted::blocked();
    draw(&folder, "blocked", &blocked);
    draw(&folder, "random", &planted::random(2_000, 3));
    draw(&folder, "empty", &planted::timeline(&[]));
    // A page that is dark on a dark screen.
    let img = "<!DOCTYPE html><meta name=\"color-scheme\" content=\"light dark\"><title>img</title>\
               <img src=\"blocked.svg\" alt=\"blocked\">";
    fs::write(folder.join("img.html"), img).unwrap();
    let expected = json!({
        "names": draw_hostile(&folder),
        "totals": totals(&blocked),
        "lengthNs": blocked.length_ns(),
        "rows": blocked.workers.len() + blocked.tasks.len(),
    });
    fs::write(folder.join("expected.json"), expected.to_string()).unwrap();
    let test = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/browser/svg.test.mjs");
    if let Err(printed) = browser.test(&test, &folder) {
        panic!("{printed}");
    }
}
