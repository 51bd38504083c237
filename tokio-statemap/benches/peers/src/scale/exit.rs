//! Measures the exit: the kept events become files, which are written in parallel as in a run of
//! the attribute.

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio_statemap::picture::Picture;
use tokio_statemap::statemap::Labels;
use tokio_statemap::{CollectorConfig, Keep, html, register_hooks, svg};

use crate::usage::{self, Since};
use crate::variants::Spawner;
use crate::workloads::storm;

const TASKS: u64 = 1000;

/// Keeps so many events and writes `files`: `data`, or `all` with the page and the SVG.
pub(crate) fn run(files: &str, events: u64) -> Value {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2);
    let config = CollectorConfig {
        max_events: events as usize,
        keep: Keep::First,
        ..CollectorConfig::default()
    };
    let collector = register_hooks(&mut builder, config).expect("our hooks");
    collector.start();
    let runtime = builder.build().expect("a runtime");
    // A poll is two events. A few more are emitted than kept.
    runtime.block_on(storm(&Spawner::Tokio, TASKS, events / 2 + events / 50));
    drop(runtime);
    collector.stop();

    let folder = env::temp_dir().join(format!("peers-exit-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let create = |name| File::create(folder.join(name)).expect("a file");
    usage::forget_peak();
    let before_bytes = usage::resident_bytes();
    let since = Since::now();
    let data = collector.snapshot().into_data();
    let snapshot_s = since.wall().as_secs_f64();
    let labels = Labels { title: "peers".to_owned(), host: None };
    let picture = (files == "all").then(|| Picture::of_timeline(data.timeline(), &labels));
    thread::scope(|scope| {
        scope.spawn(|| data.write_tasks(create("tasks.json")).expect("written"));
        scope.spawn(|| data.write_workers(create("workers.json")).expect("written"));
        if let Some(picture) = &picture {
            scope.spawn(|| html::write(picture, create("statemap.html")).expect("written"));
            scope.spawn(|| svg::write(picture, create("statemap.svg")).expect("written"));
        }
    });
    let (wall, cpu) = (since.wall(), since.cpu());
    let extra_bytes = usage::peak_bytes() - before_bytes;
    let written_bytes = size_of(&folder);
    fs::remove_dir_all(&folder).expect("the folder is ours");
    json!({
        "kept_events": data.timeline().events,
        "snapshot_s": snapshot_s,
        "wall_s": wall.as_secs_f64(),
        "cpu_s": cpu.as_secs_f64(),
        "extra_bytes": extra_bytes,
        "written_bytes": written_bytes,
    })
}

fn size_of(folder: &PathBuf) -> u64 {
    let files = fs::read_dir(folder).expect("the folder is there");
    files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len()).sum()
}
