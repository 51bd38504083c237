//! A runtime with an observer.

use std::future::Future;
use std::sync::Arc;

use await_tree::Registry;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_statemap::{Collector, CollectorConfig, Keep, register_hooks};

use super::dial9::Dial9;
use super::{Spawner, Variant, console, listeners};

/// The maximum numbers of events that our crate keeps.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The limit with `keep = "first"`: all events.
    pub(crate) first: usize,
    /// The limit with `keep = "last"`: few enough for memory to be reused repeatedly once the
    /// program is warm.
    pub(crate) last: usize,
}

/// A runtime with an observer.
pub(crate) struct Traced {
    runtime: Runtime,
    variant: Variant,
    tracer: Tracer,
}

enum Tracer {
    None,
    Ours(Arc<Collector>),
    Dial9(Dial9),
}

/// The numbers of events by what happened to them.
pub(crate) struct Account {
    pub(crate) kept_events: u64,
    pub(crate) lost_events: u64,
    /// The number of events dropped or refused by design because of `max_events`.
    pub(crate) surplus_events: u64,
    /// The size of the kept events in bytes, unless the process's memory shows it.
    pub(crate) encoded_bytes: Option<u64>,
}

impl Account {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "kept_events": self.kept_events,
            "lost_events": self.lost_events,
            "surplus_events": self.surplus_events,
            "encoded_bytes": self.encoded_bytes,
        })
    }
}

impl Traced {
    pub(crate) fn new(
        variant: Variant,
        mut builder: Builder,
        limits: Limits,
        account: bool,
    ) -> Self {
        use Variant::*;
        let (runtime, tracer) = match variant {
            None | Spans | TaskMonitor | TimedOff | AwaitTree | AsyncBacktrace | FastraceOff
            | FastraceCalls | FastracePolls | HotpathCalls | HotpathPolls | TracingOff
            | TracingRegistry => {
                listeners::listen(variant);
                (build(builder), Tracer::None)
            }
            Console => {
                console::listen();
                (build(builder), Tracer::None)
            }
            Empty => {
                set_empty_hooks(&mut builder);
                (build(builder), Tracer::None)
            }
            Ticks => {
                set_empty_hooks(&mut builder);
                builder
                    .on_task_spawn(|_| read_ticks())
                    .on_before_task_poll(|_| read_ticks())
                    .on_after_task_poll(|_| read_ticks())
                    .on_task_terminate(|_| read_ticks());
                (build(builder), Tracer::None)
            }
            Clock => {
                set_empty_hooks(&mut builder);
                builder.track_task_schedule_latency();
                (build(builder), Tracer::None)
            }
            TokioDtrace => {
                tokio_dtrace::register_hooks(&mut builder).expect("its hooks");
                (build(builder), Tracer::None)
            }
            LeanLast | LeanFirst | DefaultLast | DefaultFirst | Stopped | Full | LeanSdt
            | LeanNoStacks | Located | Timed | LocatedTimed | LocatedTimedSdt => {
                let config = config(variant, limits);
                let collector = register_hooks(&mut builder, config).expect("our hooks");
                collector.start();
                (build(builder), Tracer::Ours(collector))
            }
            Dial9 | Dial9Spawn => {
                let (dial9, runtime) = super::dial9::Dial9::attach(builder, account);
                (runtime, Tracer::Dial9(dial9))
            }
        };
        Self { runtime, variant, tracer }
    }

    pub(crate) fn spawner(&self) -> Spawner {
        use Variant::*;
        match self.variant {
            Dial9Spawn => Spawner::Dial9,
            TaskMonitor => Spawner::Monitor(tokio_metrics::TaskMonitor::new()),
            AwaitTree => Spawner::AwaitTree(Registry::new(await_tree::Config::default())),
            FastraceOff | FastraceCalls | FastracePolls => Spawner::Fastrace,
            _ => Spawner::Tokio,
        }
    }

    pub(crate) fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future<Output: Send> + Send + 'static,
    {
        match &self.tracer {
            Tracer::Ours(collector) => collector.block_on(&self.runtime, future),
            Tracer::Dial9(_) if self.variant == Variant::Dial9Spawn => {
                dial9_tokio_telemetry::block_on(&self.runtime, future)
            }
            _ => self.runtime.block_on(future),
        }
    }

    /// Signals the end of the warm-up.
    pub(crate) fn is_warm(&self) {
        if let (Variant::Stopped, Tracer::Ours(collector)) = (self.variant, &self.tracer) {
            collector.stop();
        }
    }

    /// Ends the runtime and returns the account.
    pub(crate) fn account(self) -> Option<Account> {
        let metrics = self.runtime.metrics();
        drop(self.runtime);
        let polls =
            (0..metrics.num_workers()).map(|worker| metrics.worker_poll_count(worker)).sum();
        match self.tracer {
            Tracer::None => None,
            Tracer::Ours(collector) => {
                let lost = collector.lost();
                Some(Account {
                    kept_events: collector.drain_events().len() as u64,
                    lost_events: lost.reentrant_events,
                    surplus_events: lost.total() - lost.reentrant_events,
                    encoded_bytes: None,
                })
            }
            Tracer::Dial9(dial9) => Some(dial9.account(polls)),
        }
    }
}

fn build(mut builder: Builder) -> Runtime {
    builder.build().expect("a runtime")
}

fn config(variant: Variant, limits: Limits) -> CollectorConfig {
    use Variant::*;
    let keep = match variant {
        LeanFirst | DefaultFirst | Full => Keep::First,
        _ => Keep::Last,
    };
    let max_events = match (variant, keep) {
        (Full, _) => 1000,
        (_, Keep::First) => limits.first,
        (_, Keep::Last) => limits.last,
    };
    let schedule_latency = matches!(variant, DefaultLast | DefaultFirst);
    let wakes = schedule_latency || matches!(variant, Located | LocatedTimed | LocatedTimedSdt);
    CollectorConfig { max_events, keep, schedule_latency, wakes, ..CollectorConfig::default() }
}

fn set_empty_hooks(builder: &mut Builder) {
    builder
        .on_thread_start(|| ())
        .on_thread_stop(|| ())
        .on_thread_park(|| ())
        .on_thread_unpark(|| ())
        .on_task_spawn(|_| ())
        .on_before_task_poll(|_| ())
        .on_after_task_poll(|_| ())
        .on_task_terminate(|_| ());
}

/// Reads the clock that our crate uses on such a machine, and discards the result.
#[inline]
fn read_ticks() {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the instruction has no safe name")]
    // SAFETY: every processor of this architecture has it; it reads a register and nothing else.
    let ticks = unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    let ticks = std::time::Instant::now();
    std::hint::black_box(ticks);
}
