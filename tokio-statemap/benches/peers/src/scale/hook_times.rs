//! Measures the times of single hooks while the flight recorder is under full load: not the
//! average, but the slowest.
//!
//! A time spans from a task's last line in a poll to a hook of the program, which is called after
//! ours. It includes the end of the poll and Tokio's work before the hook. Wall-clock time is used,
//! as reading a thread's CPU clock takes ten times as long as a hook, so interruptions of the
//! thread are included. They also affect an empty hook; the difference is what our hooks add. For
//! long times, it is checked if the thread waited meanwhile. In a storm of yields only a hook can
//! make it wait.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, Hooks, TraceTarget, register_hooks_with};

const TASKS: usize = 16;
const WORKERS: usize = 2;
/// The time for which that thread works each time it wakes up, about as long as ours under full
/// load.
const WORKS: Duration = Duration::from_micros(60);
/// The minimum time for which it is checked if the thread waited.
const LOOKED_UP: Duration = Duration::from_micros(20);

/// The resolution in ns and the number of steps of the histogram. The last step has all longer
/// times.
const STEP_NS: usize = 20;
const STEPS: usize = 50_000;

/// The quantiles that are reported: the median, p99, p99.9, p99.99 and p99.999.
pub(crate) const SHARES: [f64; 5] = [0.5, 0.99, 0.999, 0.9999, 0.99999];

/// The minimum time of a slow hook. It includes about 0.1 µs for the measurement.
pub(crate) const SLOW_US: usize = 2;

/// The activity next to the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beside {
    /// Nothing is recorded at all. This shows the cost of the measurement and of switches between
    /// threads, as an idle thread wakes up as often as ours.
    NoHooks,
    Nothing,
    Snapshots,
    Reports,
}

impl Beside {
    pub(crate) const ALL: [Self; 4] =
        [Self::NoHooks, Self::Nothing, Self::Snapshots, Self::Reports];

    /// Returns the name that is passed to a child process.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::NoHooks => "no-hooks",
            Self::Nothing => "nothing",
            Self::Snapshots => "snapshots",
            Self::Reports => "reports",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::NoHooks => "an empty hook, and a thread that wakes up as often as ours",
            Self::Nothing => "ours, evicting all the time",
            Self::Snapshots => "ours, a snapshot every 0.2 s",
            Self::Reports => "ours, a snapshot and its report every 0.2 s",
        }
    }

    fn of_id(id: &str) -> Self {
        let found = Self::ALL.into_iter().find(|beside| beside.id() == id);
        found.unwrap_or_else(|| panic!("{id} is nothing that is done beside"))
    }
}

/// The measurements of one thread.
struct Seen {
    /// The number of hooks per step.
    steps: Vec<u64>,
    /// The times of the hooks in which the thread waited, in ns.
    waits_ns: Vec<u64>,
    /// The number of its waits at the last check, if there was one.
    switches: Option<u64>,
}

thread_local! {
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
    static SEEN: RefCell<Seen> = RefCell::new(Seen {
        steps: vec![0; STEPS],
        waits_ns: Vec::with_capacity(1 << 16),
        switches: None,
    });
}

/// The measurements of threads that ended.
static ALL: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// Starts the measurement, at the end of a task's work in a poll.
fn begin() {
    BEGAN.set(Some(Instant::now()));
}

/// Ends the measurement, after the hook.
fn end() {
    let Some(began) = BEGAN.take() else { return };
    let took = began.elapsed();
    SEEN.with_borrow_mut(|seen| {
        let step = took.as_nanos() as usize / STEP_NS;
        seen.steps[step.min(STEPS - 1)] += 1;
        if took >= LOOKED_UP {
            let switches = voluntary_switches();
            if seen.switches.replace(switches).is_some_and(|before| before != switches) {
                seen.waits_ns.push(took.as_nanos() as u64);
            }
        }
    });
}

fn voluntary_switches() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("this is Linux");
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.expect("it counts them").trim().parse().expect("a count")
}

/// The output of [`run`] for one program.
#[derive(Clone, Debug)]
pub(crate) struct HookTimes {
    pub(crate) max_events: u64,
    pub(crate) beside: Beside,
    /// The times at these [quantiles](SHARES), in ns.
    pub(crate) ns: [f64; 5],
    /// The number of [slow](SLOW_US) hooks per million.
    pub(crate) slow: f64,
    pub(crate) waits: u64,
    pub(crate) longest_wait_ns: f64,
    pub(crate) done: u64,
}

impl HookTimes {
    pub(crate) fn read(max_events: u64, beside: Beside, said: &Value) -> Self {
        let number = |value: &Value| value.as_f64().expect("a number");
        Self {
            max_events,
            beside,
            ns: std::array::from_fn(|i| number(&said["ns"][i])),
            slow: number(&said["slow"]),
            waits: said["waits"].as_u64().expect("a count"),
            longest_wait_ns: said["longest_wait_ns"].as_f64().unwrap_or_default(),
            done: said["done"].as_u64().expect("a count"),
        }
    }
}

/// Measures for `seconds` after a warm-up.
pub(crate) fn run(max_events: usize, beside: &str, seconds: u64) -> Value {
    let beside = Beside::of_id(beside);
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(WORKERS);
    let collector = (beside != Beside::NoHooks).then(|| {
        let config = CollectorConfig {
            max_events,
            schedule_latency: false,
            trace_target: TraceTarget::Both,
            ..CollectorConfig::default()
        };
        let hooks = Hooks::new()
            .on_thread_stop(keep)
            .on_thread_unpark(unparked)
            .on_after_task_poll(|_| end());
        let collector = register_hooks_with(&mut builder, config, hooks).expect("our hooks");
        collector.start();
        collector
    });
    if beside == Beside::NoHooks {
        builder.on_thread_stop(keep).on_thread_unpark(unparked);
        builder.on_after_task_poll(|_| end());
    }
    let runtime = builder.build().expect("a runtime");
    let (is_warm, is_over) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let tasks = (0..TASKS).map(|_| {
        let (is_warm, is_over) = (Arc::clone(&is_warm), Arc::clone(&is_over));
        runtime.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                if is_warm.load(Ordering::Relaxed) {
                    begin();
                }
                yield_now().await;
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    std::thread::sleep(Duration::from_secs(2));
    is_warm.store(true, Ordering::Relaxed);
    if beside == Beside::NoHooks {
        let is_over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(1));
                let woken = Instant::now();
                while woken.elapsed() < WORKS {}
            }
        });
    }
    let began = Instant::now();
    let mut done = 0_u64;
    while began.elapsed() < Duration::from_secs(seconds) {
        std::thread::sleep(Duration::from_millis(200));
        let snapshot = match (beside, &collector) {
            (Beside::Snapshots | Beside::Reports, Some(collector)) => collector.snapshot(),
            _ => continue,
        };
        done += 1;
        if beside == Beside::Reports {
            assert!(!snapshot.report().to_string().is_empty());
        }
    }
    is_over.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        for task in tasks {
            task.await.expect("it only yields");
        }
    });
    drop(runtime);
    let all = std::mem::take(&mut *ALL.lock().expect("no thread panicked"));
    let steps: Vec<u64> =
        (0..STEPS).map(|step| all.iter().map(|seen| seen.steps[step]).sum()).collect();
    let hooks: u64 = steps.iter().sum();
    let at = |share: f64| {
        let (mut so_far, rank) = (0, (hooks as f64 * share).ceil() as u64);
        let reached = steps.iter().position(|n| {
            so_far += n;
            so_far >= rank
        });
        reached.map_or(STEPS, |step| step + 1) * STEP_NS
    };
    let slow: u64 = steps[SLOW_US * 1000 / STEP_NS..].iter().sum();
    let waits = || all.iter().flat_map(|seen| &seen.waits_ns);
    json!({
        "hooks": hooks,
        "ns": SHARES.map(at),
        "slow": slow as f64 * 1e6 / hooks as f64,
        "done": done,
        "waits": waits().count(),
        "longest_wait_ns": waits().max(),
    })
}

/// Discards the time in which a thread waited for work.
fn unparked() {
    SEEN.with_borrow_mut(|seen| seen.switches = Some(voluntary_switches()));
}

/// Stores the measurements of a thread that ends.
fn keep() {
    let nothing = Seen { steps: Vec::new(), waits_ns: Vec::new(), switches: None };
    let seen = SEEN.replace(nothing);
    if !seen.steps.is_empty() {
        ALL.lock().expect("no thread panicked").push(seen);
    }
}
