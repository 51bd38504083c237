//! Each key of the attribute, under the attribute and as a method of `Recording`: `keys attribute|builder KEY`.

use std::time::Duration;

use tests::programs::{build_and_run, out, way};
use tokio::runtime::Builder;
use tokio_statemap::{Hooks, Keep, Recording, TraceTarget};

/// Declares a run for each key: the attribute's arguments, then the same for `Recording`.
macro_rules! twins {
    ($($name:ident: ($($keys:tt)*) is $recording:expr;)*) => {
        /// The names of the runs.
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        fn run(name: &str, is_by_attribute: bool) {
            match (name, is_by_attribute) {
                $(
                    (stringify!($name), true) => {
                        #[tokio_statemap::main(flavor = "current_thread", $($keys)*)]
                        async fn by_attribute() {
                            body().await
                        }
                        by_attribute();
                    }
                    (stringify!($name), false) => {
                        let recording = Recording::new()
                            .version(option_env!("CARGO_PKG_VERSION"))
                            .package(option_env!("CARGO_MANIFEST_DIR"));
                        let with_keys: fn(Recording) -> Recording = $recording;
                        build_and_run(Builder::new_current_thread(), with_keys(recording), body());
                    }
                )*
                _ => panic!("no such key: {name}"),
            }
        }
    };
}

twins! {
    none: () is |r| r;
    tasks: (tasks = out("a.json")) is |r| r.tasks(out("a.json"));
    workers: (workers = out("a.json")) is |r| r.workers(out("a.json"));
    html: (html = out("{bin}-a.html")) is |r| r.html(out("{bin}-a.html"));
    svg: (svg = out("a.svg")) is |r| r.svg(out("a.svg"));
    report: (report = out("sub/a.txt")) is |r| r.report(out("sub/a.txt"));
    trace: (trace = "workers", tasks = out("t.json"), workers = out("w.json")) is
        |r| r.trace(TraceTarget::Workers).tasks(out("t.json")).workers(out("w.json"));
    spawn_location: (spawn_location = false, tasks = out("a.json")) is
        |r| r.spawn_location(false).tasks(out("a.json"));
    buffer_capacity: (buffer_capacity = 64, tasks = out("a.json")) is
        |r| r.buffer_capacity(64).tasks(out("a.json"));
    max_events: (max_events = 200, tasks = out("a.json")) is
        |r| r.max_events(200).tasks(out("a.json"));
    keep: (keep = "first", max_events = 200, tasks = out("a.json")) is
        |r| r.keep(Keep::First).max_events(200).tasks(out("a.json"));
    schedule_latency: (schedule_latency = false, tasks = out("a.json")) is
        |r| r.schedule_latency(false).tasks(out("a.json"));
    long_poll: (long_poll = "7ms", tasks = out("a.json")) is
        |r| r.long_poll(Duration::from_millis(7)).tasks(out("a.json"));
    stacks: (stacks = false, tasks = out("a.json")) is |r| r.stacks(false).tasks(out("a.json"));
    wakes: (wakes = false, tasks = out("a.json")) is |r| r.wakes(false).tasks(out("a.json"));
    warn_after: (warn_after = "5s", stacks = false, tasks = out("a.json")) is
        |r| r.warn_after(Duration::from_secs(5)).stacks(false).tasks(out("a.json"));
    dump_signal: (dump_signal = "SIGUSR1", tasks = out("a.json")) is
        |r| r.dump_signal("SIGUSR1").tasks(out("a.json"));
    dump_on: (dump_on = "panic", tasks = out("a.json")) is
        |r| r.dump_on("panic").tasks(out("a.json"));
    dump_limit: (dump_limit = "1/h", tasks = out("a.json")) is
        |r| r.dump_limit("1/h").tasks(out("a.json"));
    dump_after: (dump_after = "2s", tasks = out("a.json")) is
        |r| r.dump_after(Duration::from_secs(2)).tasks(out("a.json"));
    black_box: (black_box = true, tasks = out("a.json")) is
        |r| r.black_box(true).tasks(out("a.json"));
    recover: (recover = out("b.html"), black_box = true, tasks = out("a.json")) is
        |r| r.recover(out("b.html")).black_box(true).tasks(out("a.json"));
    source: (source = true) is |r| r.source(true);
    start_after: (start_after = "1h", tasks = out("a.json")) is
        |r| r.start_after(Duration::from_secs(3600)).tasks(out("a.json"));
    duration: (duration = "1h", tasks = out("a.json")) is
        |r| r.duration(Duration::from_secs(3600)).tasks(out("a.json"));
    name: (name = "api", tasks = out("a.json")) is |r| r.name("api").tasks(out("a.json"));
    hooks: (hooks = hooks, tasks = out("a.json")) is |r| r.hooks(hooks()).tasks(out("a.json"));
}

fn hooks() -> Hooks {
    Hooks::new().on_thread_park(|| {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| println!("the program's own hook"));
    })
}

async fn body() {
    for _ in 0..2 {
        let task = tokio::spawn(async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        });
        task.await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(2)).await;
    println!("the last line");
}

fn main() {
    match std::env::args().nth(1).expect("a mode").as_str() {
        "names" => println!("{}", NAMES.join("\n")),
        mode => run(&way(), mode == "attribute"),
    }
}
