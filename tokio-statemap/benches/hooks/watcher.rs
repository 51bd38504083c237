//! Measures the CPU time of the background thread, which watches for long polls.
//!
//! `cargo bench -p tokio-statemap --bench hooks -- watcher`

use std::fs;
use std::future::{pending, poll_fn};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tokio_statemap::{Collector, CollectorConfig, register_hooks};

/// The time for which each program is measured, after a warm-up of a quarter of it.
const TIME: Duration = Duration::from_secs(8);

/// The number of threads besides the workers, in programs that have some.
const THREADS: usize = 500;

/// A function that keeps a recorded runtime busy forever.
type Program = fn(&Arc<Runtime>, &Arc<Collector>);

const PROGRAMS: [(&str, Program); 6] = [
    ("2 workers are parked, 1000 tasks wait", wait),
    ("2 workers are busy with short polls", yield_again),
    ("500 threads wait in `block_on`", |runtime, collector| {
        in_block_on(runtime, collector, pending::<()>);
    }),
    ("500 threads in `block_on` are polled 10 times a second each", |runtime, collector| {
        in_block_on(runtime, collector, || poll_fn(|context| wait_for_others(context.waker())));
        std::thread::spawn(wake_all);
    }),
    ("500 threads of the blocking pool sleep", |runtime, _| {
        for _ in 0..THREADS {
            runtime.spawn_blocking(|| sleep(Duration::MAX));
        }
    }),
    ("500 threads in `block_on` are in one long poll each", |runtime, collector| {
        in_block_on(runtime, collector, || async { sleep(Duration::MAX) });
    }),
];

/// Measures all programs, each in its own process, as they never end.
pub(crate) fn print() {
    println!("# What the background thread costs\n");
    println!(
        "Written by `cargo bench -p tokio-statemap --bench hooks -- watcher`, never by hand.\n"
    );
    println!(
        "The thread watches for long polls, with a budget of 1 % of a processor (decision 9). It also collects the"
    );
    println!(
        "records of all threads and evicts old ones, which takes more, the more events there are.\n"
    );
    let seconds = TIME.as_secs();
    println!(
        "The figures are of the kernel's `schedstat`, over {seconds} s of each program. A wake-up is a time"
    );
    println!("that the thread was given a processor. {}\n", machine());
    println!("| program | of a processor | wake-ups a second |");
    println!("| --- | ---: | ---: |");
    let this = std::env::current_exe().expect("this program");
    for (name, _) in PROGRAMS {
        let status = Command::new(&this).args(["watch", name]).status().expect("it starts");
        assert!(status.success(), "{name}: {status}");
    }
}

/// Returns the processor's name, the number of processors, and how busy they are.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let name = name.map_or("?", |(_, name)| name);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!("Machine: {name}, {processors} cores, with a load average of {load} at the start.")
}

/// Runs the program with this name and prints its row.
pub(crate) fn run(name: &str) {
    let (_, program) = PROGRAMS.into_iter().find(|(n, _)| *n == name).expect("a program");
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).max_blocking_threads(THREADS).enable_all();
    let collector =
        register_hooks(&mut builder, CollectorConfig::default()).expect("the flag is set");
    collector.start();
    let runtime = Arc::new(builder.build().expect("a runtime"));
    program(&runtime, &collector);
    sleep(TIME / 4);
    let Some(watcher) = watcher() else {
        println!("{name}: the thread isn't there: it takes the feature `stacks`, and Linux");
        std::process::exit(1);
    };
    let (from, began) = (times(&watcher), Instant::now());
    sleep(TIME);
    let (to, took) = (times(&watcher), began.elapsed());
    let share = (to[0] - from[0]) as f64 / took.as_nanos() as f64;
    let slices = (to[2] - from[2]) as f64 / took.as_secs_f64();
    println!("| {name} | {:.3} % | {slices:.1} |", share * 100.0);
    std::process::exit(0);
}

fn wait(runtime: &Arc<Runtime>, _: &Arc<Collector>) {
    for _ in 0..1000 {
        runtime.spawn(pending::<()>());
    }
}

fn yield_again(runtime: &Arc<Runtime>, _: &Arc<Collector>) {
    for _ in 0..16 {
        runtime.spawn(async {
            loop {
                yield_now().await;
            }
        });
    }
}

fn in_block_on<F>(runtime: &Arc<Runtime>, collector: &Arc<Collector>, future: fn() -> F)
where
    F: Future<Output = ()> + 'static,
{
    for _ in 0..THREADS {
        let (runtime, collector) = (Arc::clone(runtime), Arc::clone(collector));
        std::thread::spawn(move || collector.block_on(&runtime, future()));
    }
}

/// The wakers of tasks that wait to be polled again.
static WAITING: Mutex<Vec<Waker>> = Mutex::new(Vec::new());

fn wait_for_others(waker: &Waker) -> Poll<()> {
    WAITING.lock().expect("nobody panics").push(waker.clone());
    Poll::Pending
}

fn wake_all() {
    loop {
        sleep(Duration::from_millis(100));
        let all = std::mem::take(&mut *WAITING.lock().expect("nobody panics"));
        all.into_iter().for_each(Waker::wake);
    }
}

/// Returns the folder of the watcher's thread.
fn watcher() -> Option<String> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    let mut folders = threads.flatten().map(|thread| thread.path().display().to_string());
    let name = |folder: &str| fs::read_to_string(format!("{folder}/comm")).unwrap_or_default();
    folders.find(|folder| name(folder) == "tokio-statemap\n")
}

/// Returns its CPU time in ns, its run delay in ns, and the number of times it was scheduled.
fn times(folder: &str) -> [u64; 3] {
    let text = fs::read_to_string(format!("{folder}/schedstat")).expect("it runs");
    let mut words = text.split_ascii_whitespace().map(|word| word.parse().expect("a number"));
    std::array::from_fn(|_| words.next().expect("three numbers"))
}
