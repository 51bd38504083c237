//! How long one hook takes, poll by poll, while the flight recorder is under full load: not the average, but the
//! slowest.
//!
//! What is timed is what is between a task's last line in a poll and a hook of the program's own, which is called after
//! ours: the end of a poll, and what Tokio does before it. It is on the wall, as a read of a thread's CPU clock takes ten
//! times as long as a hook; so what interrupts a thread is in it. The same interrupts an empty hook: what ours adds is
//! the difference. Of those that took long it is looked up whether the thread waited meanwhile. In a storm of yields
//! nothing but a hook makes it wait.

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
/// How long that thread works each time that it wakes up: about as long as ours under full load.
const WORKS: Duration = Duration::from_micros(60);
/// From which time on it is looked up whether the thread waited.
const LOOKED_UP: Duration = Duration::from_micros(20);

/// Times are told apart in steps of so many ns, so many; the last has all that are longer.
const STEP_NS: usize = 20;
const STEPS: usize = 50_000;

/// Which of a hook's times are told, as shares of all: the median, p99, p99.9, p99.99, p99.999.
pub(crate) const SHARES: [f64; 5] = [0.5, 0.99, 0.999, 0.9999, 0.99999];

/// From which time on a hook is slow: with what the measuring takes, which is some 0.1 µs.
pub(crate) const SLOW_US: usize = 2;

/// What is done beside the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beside {
    /// Nothing is recorded at all: what the measuring takes, and what switches between threads take, as a thread that
    /// does nothing wakes up as often as ours.
    NoHooks,
    Nothing,
    Snapshots,
    Reports,
}

impl Beside {
    pub(crate) const ALL: [Self; 4] =
        [Self::NoHooks, Self::Nothing, Self::Snapshots, Self::Reports];

    /// What a child process is told.
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

/// What one thread saw.
struct Seen {
    /// How many hooks took how many steps.
    steps: Vec<u64>,
    /// How long those took in which the thread waited, in ns.
    waits_ns: Vec<u64>,
    /// How often it had waited at the last look, if there was one.
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

/// All threads that ended.
static ALL: Mutex<Vec<Seen>> = Mutex::new(Vec::new());

/// Called at the end of what a task does in a poll.
fn begin() {
    BEGAN.set(Some(Instant::now()));
}

/// Called behind the hook.
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

/// What [`run`] said of one program.
#[derive(Clone, Debug)]
pub(crate) struct HookTimes {
    pub(crate) max_events: u64,
    pub(crate) beside: Beside,
    /// At these [shares](SHARES), in ns.
    pub(crate) ns: [f64; 5],
    /// How many of a million are [slow](SLOW_US).
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

/// Measures for `seconds`, once it is warm.
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

/// A thread waited for work, which isn't meant.
fn unparked() {
    SEEN.with_borrow_mut(|seen| seen.switches = Some(voluntary_switches()));
}

/// A thread ends.
fn keep() {
    let nothing = Seen { steps: Vec::new(), waits_ns: Vec::new(), switches: None };
    let seen = SEEN.replace(nothing);
    if !seen.steps.is_empty() {
        ALL.lock().expect("no thread panicked").push(seen);
    }
}
