//! The program's own source beside its polls, however it ends; and none where its caller could see by it what
//! they can't read.

use std::fs;

use tests::child::Running;
use tests::page::Page;

use super::run::{Run, page};
use super::set_uid::set_uid;

/// All lines of source in a page.
fn lines(page: &Page) -> Vec<String> {
    let all = page.meta["source"]["all"].as_array().into_iter().flatten();
    let lines = all.flat_map(|excerpt| excerpt[2].as_array().cloned().unwrap_or_default());
    lines.filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

/// Whether the spawn that each program has is there, and its `main`.
fn has_source(page: &Page) -> bool {
    let lines = lines(page);
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    // Without the flag no spawned task is known.
    has("async fn main() {") && (has("tokio::spawn(async {})") || cfg!(not(tokio_unstable)))
}

#[test]
fn is_there_however_the_program_ends() {
    let run = Run::new("source_returns", "returns");
    run.is_unharmed(|_| {});
    assert!(has_source(&run.pictures()));
    for (name, way) in [("source_exits", "exit_task"), ("source_panics", "panic_main")] {
        let run = Run::new(name, way);
        run.ends(|_| {});
        assert!(has_source(&run.pictures()), "{way}");
    }
    let run = Run::new("source_signal", "waits");
    let mut command = run.command(env!("CARGO_BIN_EXE_hostile"));
    let mut running = Running::start(&mut command);
    running.wait_for("ready").signal(libc::SIGTERM);
    running.end();
    assert!(has_source(&run.pictures()));
}

#[test]
fn a_set_uid_program_reads_none() {
    let run = Run::new("set_uid_source", "returns");
    let Some((mut command, folder)) = set_uid(&run, env!("CARGO_BIN_EXE_hostile")) else {
        return;
    };
    let html = folder.join("logs/page.html");
    let ended = Running::start(command.env("HTML", &html)).end();
    let page = page(&html);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(lines(&page).is_empty());
}
