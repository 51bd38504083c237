//@ writes: folder/tasks.json: own-ok-paths.rs:24:10"
//@ writes: folder/tasks.json: own-ok-paths.rs:25:5"
//@ writes: workers.json
//@ writes: report.txt: 1 task
//@ writes: folder/pages/statemap.html: own-ok-paths.rs:25:5"
//@ writes: folder/statemap.svg: </svg>
// (The body is named by the place of the function's name, a task by that of its `spawn`.)

use std::path::PathBuf;

const FOLDER: &str = "folder";

fn folder() -> PathBuf {
    PathBuf::from(FOLDER)
}

#[tokio_statemap::main(
    tasks = folder().join("tasks.json"),
    workers = concat!("workers", ".json"),
    html = folder().join("pages/statemap.html"),
    svg = format!("{FOLDER}/statemap.svg"),
    report = String::from("report.txt"),
)]
async fn main() {
    tokio::spawn(async {}).await.unwrap();
}
