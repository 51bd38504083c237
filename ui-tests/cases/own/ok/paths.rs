//@ writes: folder/tasks.json
//@ writes: workers.json
//@ writes: report.txt
use std::path::PathBuf;

const FOLDER: &str = "folder";

fn folder() -> PathBuf {
    PathBuf::from(FOLDER)
}

#[tokio_statemap::main(
    tasks = folder().join("tasks.json"),
    workers = concat!("workers", ".json"),
    report = String::from("report.txt"),
)]
async fn main() {
    tokio::spawn(async {}).await.unwrap();
}
