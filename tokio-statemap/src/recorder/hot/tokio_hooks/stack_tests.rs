//! A hook needs at most 2.4 KiB of stack on every path, as a runtime may have threads with hardly
//! more stack than Tokio itself needs. (`cargo test --release -p tokio-statemap --lib
//! stack_tests -- --ignored`.)

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use super::TokioHooks;
use crate::config::{CollectorConfig, Keep};
use crate::recorder::Recorder;
use crate::sys::paint::stack_used_by;
use crate::trace::snapshot::Snapshot;
use crate::util::sync::lock;

/// The most stack that a hook may use, in bytes. Without optimization no two variables share a stack slot, and no call is inlined.
const BOUND: usize = if cfg!(debug_assertions) { 8192 } else { 2456 };

/// The most stack that each hook needed, in bytes.
type Needs = Arc<Mutex<BTreeMap<&'static str, usize>>>;

/// Calls `hook` and records how much stack it used.
fn measure(needs: &Needs, name: &'static str, mut hook: impl FnMut()) {
    let used = stack_used_by(&mut hook);
    let mut needs = lock(needs);
    let most = needs.entry(name).or_default();
    *most = used.max(*most);
}

/// Installs all hooks as [`crate::hooks::install`] does, but measured.
fn install(builder: &mut Builder, recorder: &Recorder, needs: &Needs) {
    macro_rules! set {
        ($builder_method:ident, $name:ident, ($($meta:ident)?)) => {
            let (records, needs) = (TokioHooks::new(recorder), Arc::clone(needs));
            builder.$builder_method(move |$($meta)?| {
                measure(&needs, stringify!($name), || records.$name($($meta)?));
            });
        };
    }
    set!(on_thread_start, thread_start, ());
    set!(on_thread_stop, thread_stop, ());
    set!(on_thread_park, thread_park, ());
    set!(on_thread_unpark, thread_unpark, ());
    set!(on_task_spawn, task_spawn, (meta));
    set!(on_before_task_poll, before_seen_task_poll, (meta));
    set!(on_after_task_poll, after_seen_task_poll, (meta));
    set!(on_task_terminate, task_terminate, (meta));
}

/// A runtime whose hooks are measured, and its recorder.
struct Measured {
    recorder: Recorder,
    runtime: Runtime,
    needs: Needs,
}

impl Measured {
    fn new(workers: usize, config: CollectorConfig) -> Self {
        let needs = Needs::default();
        let recorder = Recorder::new(config);
        let mut builder = match workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        if workers > 0 {
            builder.worker_threads(workers);
        }
        install(&mut builder, &recorder, &needs);
        let builder = builder.enable_all().thread_keep_alive(Duration::from_millis(1));
        let runtime = builder.build().expect("a runtime");
        Self { recorder, runtime, needs }
    }

    fn run(&self, program: impl Future<Output = ()> + Send + 'static) {
        self.runtime.block_on(async {
            tokio::spawn(program).await.expect("it ends");
        });
    }

    /// Drops the runtime and checks what the hooks needed.
    fn end(self, scenario: &str) {
        drop(self.runtime);
        let needs = std::mem::take(&mut *lock(&self.needs));
        println!("{scenario}: {needs:?}");
        assert!(needs.len() >= 4, "{needs:?}");
        lock(&FAILED).extend(
            needs
                .into_iter()
                .filter(|&(_, used)| used > BOUND)
                .map(|n| format!("{scenario}: {n:?}")),
        );
    }
}

static FAILED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn last(max_events: usize) -> CollectorConfig {
    CollectorConfig { max_events, buffer_capacity: 64, ..CollectorConfig::default() }
}

/// Long enough for workers to park, and for blocking threads to end.
async fn sleep(ms: u64) {
    let sleep = move || std::thread::sleep(Duration::from_millis(ms));
    tokio::task::spawn_blocking(sleep).await.expect("it ends");
}

/// Polls, parks, short-lived tasks, short-lived threads.
async fn all_kinds() {
    for _ in 0..4 {
        tokio::task::spawn_blocking(|| ()).await.expect("it ends");
        sleep(3).await;
    }
    for _ in 0..10 {
        let tasks = (0..50).map(|_| {
            tokio::spawn(async {
                for _ in 0..5 {
                    yield_now().await;
                }
                tokio::task::spawn_blocking(|| ()).await.expect("it ends");
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.expect("it ends");
        }
        sleep(1).await;
    }
}

/// Tasks that stay alive, interleaved with short-lived ones.
async fn many_live(tasks: usize) {
    for _ in 0..tasks {
        tokio::spawn(std::future::pending::<()>());
        tokio::spawn(yield_now()).await.expect("it ends");
    }
}

/// Spawns from more locations than any cache has room for.
async fn many_places() {
    macro_rules! eight {
        ($($what:tt)*) => { $($what)*; $($what)*; $($what)*; $($what)*; $($what)*; $($what)*; $($what)*; $($what)* };
    }
    // All spawns are of one type, so that a single task type is compiled.
    eight!(eight!(eight!(tokio::spawn(ready(())))));
    for _ in 0..100 {
        yield_now().await;
    }
}

#[test]
#[ignore = "slow"]
fn a_hook_needs_little_stack() {
    for workers in [0, 2] {
        let measured = |config| Measured::new(workers, config);

        let off = measured(last(1000));
        off.run(all_kinds());
        off.end("off");

        for keep in [Keep::First, Keep::Last] {
            for max_events in [1000, 1_000_000] {
                for schedule_latency in [false, true] {
                    let config = CollectorConfig { keep, schedule_latency, ..last(max_events) };
                    let on = measured(config);
                    on.recorder.start();
                    on.run(all_kinds());
                    on.end(&format!("{keep:?} {max_events}"));
                }
            }
        }

        let windows = measured(last(1000));
        for _ in 0..3 {
            windows.run(all_kinds());
            windows.recorder.start();
            windows.run(all_kinds());
            windows.recorder.stop();
        }
        windows.end("windows");

        let live = measured(last(1000));
        live.recorder.start();
        live.run(many_live(20_000));
        live.end("many live tasks");

        let places = measured(last(1000));
        places.recorder.start();
        places.run(many_places());
        places.end("many places");

        let (one, other) = (measured(last(1000)), measured(last(1000)));
        one.recorder.start();
        other.recorder.start();
        for _ in 0..3 {
            one.run(all_kinds());
            other.run(all_kinds());
        }
        one.end("two on one thread");
        other.end("two on one thread, the other");

        let looked_at = measured(last(1000));
        looked_at.recorder.start();
        let snapshots: Vec<_> = (0..5)
            .map(|_| {
                looked_at.run(all_kinds());
                Snapshot::take(&looked_at.recorder, false)
            })
            .collect();
        looked_at.end("looked at");
        drop(snapshots);
    }
    let failed = std::mem::take(&mut *lock(&FAILED));
    assert!(failed.is_empty(), "{failed:#?}");
}
