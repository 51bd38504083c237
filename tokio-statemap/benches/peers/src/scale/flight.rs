//! Measures the flight recorder (`keep = "last"`) under the highest load that the machine can
//! produce.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio_statemap::{CollectorConfig, Event, Keep, TraceTarget, register_hooks};

use crate::usage;
use crate::variants::Spawner;
use crate::workloads::storm;

const TASKS: u64 = 16;
const WORKERS: usize = 2;

/// The maximum length of a short flight, in s.
const SHORT_S: u64 = 60;

/// The result of one flight.
pub(crate) struct Flight {
    pub(crate) max_events: u64,
    pub(crate) seconds: u64,
    pub(crate) events_per_s: f64,
    pub(crate) emitted_events: u64,
    pub(crate) kept_events: u64,
    pub(crate) dropped_events: u64,
    pub(crate) lost_events: u64,
    pub(crate) are_whole: bool,
    /// The RSS beyond that before the hooks, after the warm-up: minimum, median and maximum.
    pub(crate) resident_bytes: [f64; 3],
    /// The same for the memory that the program filled itself.
    pub(crate) filled_bytes: [f64; 3],
}

impl Flight {
    /// Parses the output of [`run`].
    pub(crate) fn read(max_events: u64, seconds: u64, said: &Value) -> Self {
        let count = |key: &str| said[key].as_u64().expect("a count");
        let bytes = |which: usize| {
            let before = said["before_bytes"][which].as_f64().expect("a count");
            let all = said["resident_bytes"].as_array().expect("a list").iter();
            let mut over: Vec<f64> =
                all.filter_map(|bytes| Some(bytes[which].as_f64()? - before)).collect();
            // The buffers fill at first.
            over.drain(..over.len() / 4);
            over.sort_by(f64::total_cmp);
            [over[0], over[over.len() / 2], over[over.len() - 1]]
        };
        Self {
            max_events,
            seconds,
            events_per_s: said["events_per_s"].as_f64().expect("a rate"),
            emitted_events: count("emitted_events"),
            kept_events: count("kept_events"),
            dropped_events: count("dropped_events"),
            lost_events: count("lost_events"),
            are_whole: said["are_whole"].as_bool().expect("yes or no"),
            resident_bytes: bytes(0),
            filled_bytes: bytes(1),
        }
    }

    /// Returns the allowance in MB beyond 2.5 times the records, for events that arrive while the
    /// background thread has no processor. In a run of minutes this sometimes takes longer.
    pub(crate) fn extra_mb(&self) -> u32 {
        if self.seconds > SHORT_S { 24 } else { 16 }
    }

    /// Returns the maximum of this kind of memory as a share of the allowance.
    pub(crate) fn of_budget(&self, [.., most]: [f64; 3]) -> f64 {
        most / (self.max_events as f64 * 16.0 * 2.5 + f64::from(self.extra_mb()) * 1e6)
    }

    /// Returns 0 if the account is exact.
    pub(crate) fn unaccounted_events(&self) -> i64 {
        let accounted = self.kept_events + self.dropped_events + self.lost_events;
        self.emitted_events as i64 - accounted as i64
    }
}

/// Records for so many seconds.
pub(crate) fn run(max_events: u64, seconds: u64) -> Value {
    // Measures such a program without hooks.
    let runtime = builder().build().expect("a runtime");
    runtime.block_on(storm(&Spawner::Tokio, TASKS, 100_000));
    let before_bytes = memory();
    drop(runtime);

    let mut builder = builder();
    let config = CollectorConfig {
        max_events: max_events as usize,
        keep: Keep::Last,
        schedule_latency: false,
        // The program can count the events of its tasks; only Tokio knows the number of parks.
        trace_target: TraceTarget::Tasks,
        ..CollectorConfig::default()
    };
    let collector = register_hooks(&mut builder, config).expect("our hooks");
    collector.start();
    let runtime = builder.build().expect("a runtime");

    let is_over = Arc::new(AtomicBool::new(false));
    let watch = watch(Duration::from_secs(seconds), Arc::clone(&is_over));
    let began = Instant::now();
    let polls: u64 = runtime.block_on(async {
        let flies = |_| {
            let is_over = Arc::clone(&is_over);
            tokio::spawn(async move {
                let mut polls = 1_u64;
                while !is_over.load(Ordering::Relaxed) {
                    yield_now().await;
                    polls += 1;
                }
                polls
            })
        };
        let mut polls = 0;
        for task in (0..TASKS).map(flies).collect::<Vec<_>>() {
            polls += task.await.expect("it only yields");
        }
        polls
    });
    let took = began.elapsed();
    drop(runtime);
    collector.stop();
    let resident = watch.join().expect("it only looks");

    // A worker's run loop terminates as a task does.
    let emitted_events = 2 * polls + 2 * TASKS + WORKERS as u64;
    let lost = collector.lost();
    let recent_ns = collector.snapshot().recent_ns;
    let events = collector.drain_events();
    // Earlier events are around the longest polls.
    let recent = &events[events.partition_point(|event| event.time_ns() < recent_ns)..];
    json!({
        "events_per_s": emitted_events as f64 / took.as_secs_f64(),
        "emitted_events": emitted_events,
        "kept_events": events.len(),
        "lost_events": lost.total() - lost.dropped_events,
        "dropped_events": lost.dropped_events,
        "are_whole": are_whole(recent),
        "before_bytes": before_bytes,
        "resident_bytes": resident,
    })
}

fn builder() -> Builder {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(WORKERS);
    builder
}

/// Returns the RSS, and the part of it that the program filled.
fn memory() -> [u64; 2] {
    [usage::resident_bytes(), usage::filled_bytes()]
}

/// Stops the program after `length`, and samples its memory until then.
fn watch(length: Duration, is_over: Arc<AtomicBool>) -> thread::JoinHandle<Vec<[u64; 2]>> {
    thread::spawn(move || {
        let until = Instant::now() + length;
        let mut resident = Vec::new();
        while Instant::now() < until {
            thread::sleep(Duration::from_millis(100));
            resident.push(memory());
        }
        is_over.store(true, Ordering::Relaxed);
        resident
    })
}

/// Returns `true` if there is no gap: each start of a task's poll is followed by its end, up to the
/// task's end.
fn are_whole(events: &[Event]) -> bool {
    let mut polled = HashMap::new();
    let mut ended = 0;
    for event in events {
        let (id, is_start) = match *event {
            Event::TaskPollStart { task_id, .. } => (task_id, true),
            Event::TaskPollEnd { task_id, .. } => (task_id, false),
            Event::TaskTerminate { task_id, .. } if polled.contains_key(&task_id) => {
                ended += 1;
                continue;
            }
            _ => continue,
        };
        if polled.insert(id, is_start) == Some(is_start) {
            return false;
        }
    }
    ended == TASKS
}
