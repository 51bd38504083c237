//! The program's own source beside its polls, however it ends.

use tests::child::Running;
use tests::page::Page;

use super::run::Run;

/// Returns all lines of source in a page.
fn lines(page: &Page) -> Vec<String> {
    let all = page.meta["source"]["all"].as_array().into_iter().flatten();
    let lines = all.flat_map(|excerpt| excerpt[2].as_array().cloned().unwrap_or_default());
    lines.filter_map(|line| line.as_str().map(str::to_owned)).collect()
}

/// Returns whether the page has the lines of `main` and of the spawn that each program has.
fn has_source(page: &Page) -> bool {
    let lines = lines(page);
    let has = |text: &str| lines.iter().any(|line| line.contains(text));
    let has_root = has("async fn by_attribute() {") || has("recording.block_on(&runtime, body)");
    // Without the flag, no spawned task is known.
    has_root && (has("tokio::spawn(async {})") || cfg!(not(tokio_unstable)))
}

#[test]
fn the_page_has_source_however_the_program_ends() {
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
