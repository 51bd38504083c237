//@ writes: given.json
//@ writes: given.txt
//@ writes: given.html
use std::path::{Path, PathBuf};

// The body takes what the path expressions have looked at.
#[tokio_statemap::main(tasks = folder.join("given.json"), report = &body, html = folder.join("given.html"), flavor = "current_thread")]
async fn work(folder: PathBuf, body: String) -> usize {
    let body: String = tokio::spawn(async move { body }).await.unwrap();
    drop(folder);
    body.len()
}

fn main() {
    assert_eq!(work(Path::new(".").to_owned(), "given.txt".to_owned()), 9);
}
