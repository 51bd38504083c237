//! Runtimes that are built by hand, in one recording, and what a user may forget.

use std::thread;
use std::time::Duration;

use tests::programs::{out, way};
use tokio::runtime::{Builder, Runtime};
use tokio_statemap::{Recording, TraceTarget};

fn recording() -> Recording {
    // Without the flag, a warning says that tasks can't be recorded.
    let trace = if cfg!(tokio_unstable) { TraceTarget::Both } else { TraceTarget::Workers };
    Recording::new()
        .tasks(out("tasks.json"))
        .workers(out("workers.json"))
        .html(out("statemap.html"))
        .report(out("report.txt"))
        .trace(trace)
}

fn builder(name: &str) -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).name(name).enable_all();
    builder
}

/// Blocks the runtime's worker so often that the spawn location is blamed even if no stack was sampled, as on a busy machine.
fn block(runtime: &Runtime) {
    for _ in 0..12 {
        let blocks = runtime.spawn(async { thread::sleep(Duration::from_millis(101)) });
        runtime.block_on(blocks).unwrap();
    }
}

/// Runs two runtimes. The second one blocks. Then another thread adds a third.
fn several() {
    let mut builders = [builder("calm"), builder("blocked")];
    let recording = recording().start(&mut builders[0]).unwrap();
    let blocked = recording.runtime(&mut builders[1]);
    let [calm_runtime, blocked_runtime] = builders.map(|mut builder| builder.build().unwrap());
    recording.block_on(&calm_runtime, tokio::task::yield_now());
    blocked.block_on(&blocked_runtime, tokio::task::yield_now());
    block(&blocked_runtime);
    thread::scope(|scope| {
        let late = scope.spawn(|| {
            let mut builder = Builder::new_current_thread();
            recording.runtime(&mut builder);
            builder.build().unwrap().block_on(async {
                tokio::spawn(async {}).await.unwrap();
            });
        });
        late.join().unwrap();
    });
    match way().as_str() {
        "several_exit" => std::process::exit(3),
        "several_wait" => {
            println!("ready");
            thread::park();
        }
        _ => {}
    }
}

/// Hundreds of runtimes that come and go. The last one blocks.
fn many() {
    let mut first = builder("first");
    let recording = recording().start(&mut first).unwrap();
    drop(first.build().unwrap());
    drop(first);
    for number in 0..300 {
        let mut builder = Builder::new_current_thread();
        let recorded = recording.runtime(&mut builder);
        let runtime = builder.build().unwrap();
        recorded.block_on(&runtime, async {
            tokio::spawn(async {}).await.unwrap();
        });
        if number == 299 {
            // Another task waits meanwhile.
            runtime.block_on(async {
                let blocks = tokio::spawn(async { thread::sleep(Duration::from_millis(50)) });
                tokio::spawn(async {}).await.unwrap();
                blocks.await.unwrap();
            });
        }
    }
}

fn main() {
    match way().as_str() {
        "several" | "several_exit" | "several_wait" => several(),
        "many" => many(),
        "busy_and_ended" => {
            let mut busy = builder("busy");
            let recording = recording().max_events(1000).start(&mut busy).unwrap();
            let runtime = busy.build().unwrap();
            recording.block_on(&runtime, async {
                for _ in 0..5000 {
                    tokio::task::yield_now().await;
                }
            });
            drop((runtime, busy));
            let mut next = builder("next");
            recording.runtime(&mut next);
            drop(next.build().unwrap());
        }
        "after_the_window" => {
            let mut first = builder("first");
            let recording = recording().duration(Duration::from_millis(50)).start(&mut first);
            let recording = recording.unwrap();
            let runtime = first.build().unwrap();
            recording.block_on(&runtime, tokio::task::yield_now());
            thread::sleep(Duration::from_millis(300));
            for _ in 0..300 {
                let mut late = Builder::new_current_thread();
                let recorded = recording.runtime(&mut late);
                recorded.block_on(&late.build().unwrap(), tokio::task::yield_now());
            }
        }
        "late_start" => {
            let mut builder = Builder::new_current_thread();
            builder.enable_all();
            let recording = recording().start_after(Duration::from_millis(20)).start(&mut builder);
            // Not `recording.block_on`: no root future says that the runtime was built.
            builder.build().unwrap().block_on(async {
                for _ in 0..100 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    tokio::spawn(async {}).await.unwrap();
                }
            });
            drop(recording);
        }
        "never_started" => drop(recording()),
        "started_after_build" => {
            let mut builder = builder("api");
            let runtime = builder.build().unwrap();
            let recording = recording().start(&mut builder).unwrap();
            recording.block_on(&runtime, async {});
        }
        "dropped_early" => {
            let mut builder = builder("api");
            let recording = recording().start(&mut builder).unwrap();
            let runtime = builder.build().unwrap();
            recording.block_on(&runtime, async {
                tokio::spawn(async {}).await.unwrap();
            });
            drop(recording);
            runtime.block_on(async {});
        }
        "started_twice" => {
            let mut builders = [builder("api"), builder("jobs")];
            let recording = recording().start(&mut builders[0]).unwrap();
            let recording = recording.start(&mut builders[1]).unwrap();
            let runtimes = builders.map(|mut builder| builder.build().unwrap());
            drop((runtimes, recording));
        }
        "runtime_before_start" => {
            let mut builders = [builder("api"), builder("jobs")];
            let recording = recording();
            recording.runtime(&mut builders[1]);
            let recording = recording.start(&mut builders[0]).unwrap();
            let runtimes = builders.map(|mut builder| builder.build().unwrap());
            drop((runtimes, recording));
        }
        "key_after_start" => {
            let mut builder = builder("api");
            let recording = recording().start(&mut builder).unwrap().max_events(7);
            drop((builder.build().unwrap(), recording));
        }
        "invalid" => {
            let mut builder = builder("api");
            for recording in [
                recording().buffer_capacity(0),
                recording().max_events(0),
                recording().dump_signal("SIGKILL"),
                recording().dump_on("SIGKILL"),
                recording().dump_limit("3/h, 0 files"),
            ] {
                println!("{}", recording.start(&mut builder).unwrap_err());
            }
        }
        "from_env" => {
            let mut builder = builder("api");
            let recording = Recording::from_env().html(out("statemap.html")).start(&mut builder);
            let runtime = builder.build().unwrap();
            recording.unwrap().block_on(&runtime, async {
                tokio::spawn(async {}).await.unwrap();
            });
            let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
            println!("{threads} threads");
        }
        way => panic!("no such way: {way}"),
    }
    println!("the last line");
}
