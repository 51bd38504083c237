//! A program that is recorded or not, as its first argument says: `either observed WAY`, `either plain WAY`.

use std::time::Duration;

use tests::programs::{build_and_run, by_hand, handlers, is_by_hand, out, recording, run, way};
use tokio::runtime::Builder;

fn main() {
    let is_observed = std::env::args().nth(1).expect("a mode") == "observed";
    let start = match (is_observed, is_by_hand()) {
        (false, _) => plain,
        (true, false) => observed,
        (true, true) => observed_by_hand,
    };
    match way().as_str() {
        "handler_before" => {
            handlers::set();
            start("handler_before");
        }
        "handler_sigwait" => {
            let thread = handlers::sigwait();
            println!("ready");
            start("returns");
            println!("signal {}", thread.join().unwrap());
        }
        "twice" => {
            start("returns");
            start("returns");
        }
        "after" => {
            start("returns");
            println!("after");
            handlers::send(libc::SIGTERM);
            loop {
                std::thread::park();
            }
        }
        "shutdown_background" => by_hand::shut_down(is_observed, |rt| rt.shutdown_background()),
        "shutdown_timeout" => {
            by_hand::shut_down(is_observed, |rt| rt.shutdown_timeout(Duration::from_millis(10)))
        }
        "thread_local_first_multi" => by_hand::drop_in_thread_local(is_observed, true, true),
        "thread_local_first_single" => by_hand::drop_in_thread_local(is_observed, true, false),
        "thread_local_last_multi" => by_hand::drop_in_thread_local(is_observed, false, true),
        "thread_local_last_single" => by_hand::drop_in_thread_local(is_observed, false, false),
        way => panic!("no such way: {way}"),
    }
}

fn observed_by_hand(way: &str) {
    build_and_run(Builder::new_multi_thread(), recording(), run(way));
}

#[tokio_statemap::main(
    tasks = out("tasks.json"),
    workers = out("workers.json"),
    html = out("statemap.html"),
    svg = out("statemap.svg"),
    report = out("report.txt")
)]
async fn observed(way: &str) {
    run(way).await
}

#[tokio::main]
async fn plain(way: &str) {
    run(way).await
}
