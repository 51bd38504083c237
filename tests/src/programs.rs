//! The bodies of the child programs in `bin/`. Most are compiled under `#[tokio_statemap::main]` and under
//! `#[tokio::main]`, so that any difference is caused by this crate.

pub mod by_hand;
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

/// Returns the path of the file `name` of this run.
///
/// # Panics
///
/// If `OUT` isn't set.
pub fn out(name: &str) -> PathBuf {
    let folder = std::env::var_os("OUT").expect("OUT says where the files go");
    PathBuf::from(folder).join(name)
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
    for _ in 0..150_000 {
        tokio::task::yield_now().await;
    }
}
