//@ writes: tasks.json
//@ writes: statemap.html: </html>
//@ writes: statemap.svg: </svg>
#![deny(warnings, clippy::all)]
mod settings {
    use tokio::runtime::Builder;

    pub fn configure(builder: &mut Builder) {
        builder.thread_name("mine");
    }

    pub fn hooks() -> tokio_statemap::Hooks {
        tokio_statemap::Hooks::new().on_thread_start(|| {})
    }
}

#[tokio_statemap::main(
    hooks = settings::hooks,
    configure = settings::configure,
    duration = "1h",
    start_after = "0s",
    stacks = true,
    wakes = true,
    warn_after = "1h",
    dump_signal = "SIGUSR1",
    dump_on = "poll > 1h, stall > 1h, panic, SIGUSR1, SIGUSR2",
    dump_limit = "1/h, 1 file, 1GB",
    dump_after = "0s",
    black_box = std::env::temp_dir(),
    source = true,
    long_poll = "1.5ms",
    schedule_latency = false,
    keep = "first",
    max_events = 1_000,
    buffer_capacity = 64,
    spawn_location = false,
    trace = "both",
    report = "report.txt",
    svg = "statemap.svg",
    html = "statemap.html",
    workers = "workers.json",
    tasks = "tasks.json",
    crate = "tokio",
    name = "named",
    worker_threads = 2,
    flavor = "multi_thread",
)]
async fn main() {
    let name = tokio::spawn(async { std::thread::current().name().map(str::to_owned) });
    assert_eq!(name.await.unwrap().as_deref(), Some("mine"));
}
