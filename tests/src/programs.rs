//! The bodies of the child programs in `bin/`. Most are compiled under `#[tokio_statemap::main]` and under
//! `#[tokio::main]`, so that any difference is caused by this crate.

pub mod by_hand;
pub mod dumps;
pub mod exits;
pub mod forks;
pub mod handlers;
pub mod hostile;
#[cfg(target_os = "linux")]
pub mod interrupted;
pub mod quiet;
#[cfg(all(tokio_unstable, target_os = "linux"))]
pub mod sampled;
pub mod small_stack;
pub mod stuck;
#[cfg(unix)]
pub mod trees;
#[cfg(target_os = "linux")]
pub mod warns;

use std::future::pending;
use std::path::PathBuf;

use tokio::runtime::Builder;
use tokio_statemap::Recording;

/// Returns the path of the file `name` of this run.
///
/// # Panics
///
/// If `OUT` isn't set.
pub fn out(name: &str) -> PathBuf {
    let folder = std::env::var_os("OUT").expect("OUT says where the files go");
    PathBuf::from(folder).join(name)
}

/// Returns `true` if the runtime is to be built by hand, and not by the attribute.
pub fn is_by_hand() -> bool {
    std::env::var_os("BY_HAND").is_some_and(|value| !value.is_empty())
}

/// Returns a recording with all files of this run.
pub fn recording() -> Recording {
    let recording = Recording::new();
    recording
        .tasks(out("tasks.json"))
        .workers(out("workers.json"))
        .html(out("statemap.html"))
        .svg(out("statemap.svg"))
        .report(out("report.txt"))
}

/// Runs `body` on a recorded runtime that is built from `builder`, as the attribute does.
///
/// # Panics
///
/// If the runtime can't be built, or `body` panics.
pub fn build_and_run<F: Future>(mut builder: Builder, recording: Recording, body: F) -> F::Output {
    let recording = recording.start(&mut builder).expect("the keys are valid");
    let runtime = builder.enable_all().build().expect("a runtime");
    recording.block_on(&runtime, body)
}

/// Returns the variant of this run, which is the last argument.
///
/// # Panics
///
/// If there is none.
pub fn way() -> String {
    std::env::args().next_back().expect("the way is an argument")
}

/// Runs the body of most programs in the variant `way`.
pub async fn run(way: &str) {
    println!("{way}");
    tokio::spawn(async {}).await.unwrap();
    match way {
        "returns" => {}
        "many_events" => tokio::spawn(many_events()).await.unwrap(),
        "many_events_wait" => {
            tokio::spawn(many_events()).await.unwrap();
            println!("ready");
            pending().await
        }
        "waits" => {
            println!("ready");
            pending().await
        }
        _ => match way.split_once('_') {
            Some(("exit", from)) => exits::exit_from(from).await,
            Some(("panic", place)) => exits::panic_in(place).await,
            #[cfg(target_os = "linux")]
            Some(("interrupted", call)) => interrupted::run(call).await,
            Some(("handler", which)) => handlers::run(which).await,
            Some(("stuck", how)) => stuck::run(how).await,
            Some(("fork", child)) => forks::run(child).await,
            _ => panic!("no such way: {way}"),
        },
    }
    println!("the last line");
}

/// Causes so many events that the files are written in parallel.
async fn many_events() {
    for _ in 0..110_000 {
        tokio::task::yield_now().await;
    }
}
