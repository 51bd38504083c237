//! Tests of the layer: random programs with nested and concurrent spans, and what becomes of spans that aren't recorded
//! as a whole.

mod oracle;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;
use tracing::dispatcher::{self, Dispatch};
use tracing::{Instrument, Span, info_span};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry;

use self::oracle::Oracle;
use crate::collector::{Collector, register_hooks_with};
use crate::config::CollectorConfig;
use crate::hooks::Hooks;
use crate::layer::layer;
use crate::recorder::spans::SpansSeen;
use crate::util::random::Random;

/// A recorded runtime whose threads have a registry with the layer and an oracle.
struct Recorded {
    runtime: Runtime,
    collector: Arc<Collector>,
    oracle: Oracle,
    dispatch: Dispatch,
}

impl Recorded {
    fn new(workers: usize, fields: &str) -> Self {
        let oracle = Oracle::default();
        let layer = layer().fields(fields);
        let dispatch = Dispatch::new(registry().with(layer).with(oracle.clone()));
        let mut builder = match workers {
            0 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        builder.worker_threads(workers.max(1));
        let config = CollectorConfig { stacks: false, ..CollectorConfig::default() };
        let of_threads = dispatch.clone();
        let hooks = Hooks::new().on_thread_start(move || {
            // It stays for as long as the thread lives.
            std::mem::forget(dispatcher::set_default(&of_threads));
        });
        let collector = register_hooks_with(&mut builder, config, hooks).expect("it is valid");
        collector.start();
        let runtime = builder.build().expect("a runtime");
        Self { runtime, collector, oracle, dispatch }
    }

    fn run(&self, future: impl Future<Output = ()>) {
        dispatcher::with_default(&self.dispatch, || {
            self.collector.block_on(&self.runtime, future);
        });
    }

    fn seen(&self) -> SpansSeen {
        self.collector.recorder().spans.read()
    }
}

fn labels(seen: &SpansSeen) -> Vec<(String, u64)> {
    let mut labels = Vec::new();
    for (number, sums) in seen.sums.iter().enumerate() {
        if sums.lengths.count > 0 {
            let label = &seen.labels[number];
            labels.push((format!("{}|{}", label.name, label.fields), sums.lengths.count));
        }
    }
    labels.sort();
    labels
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Returns a random program, in `span` if it is in any: tasks that enter spans nested and side by side, share them,
/// move to other threads, exit them out of order, and are aborted.
fn program(random: &mut Random, depth: u64, span: Option<Span>) -> Boxed {
    let mut steps: Vec<Boxed> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let kind = if depth == 0 { random.below(2) } else { random.below(8) };
        let step: Boxed = match kind {
            0 => Box::pin(yield_now()),
            1 => {
                let order = random.below(3);
                Box::pin(async move { guards(order) })
            }
            2 | 3 => {
                let span = info_span!("nested", depth);
                let inner = program(random, depth - 1, Some(span.clone()));
                Box::pin(inner.instrument(span))
            }
            4 => {
                let [one, other] = [0, 1].map(|nth| {
                    let span = info_span!("joined", nth);
                    program(random, depth - 1, Some(span.clone())).instrument(span)
                });
                Box::pin(async move {
                    let ((), ()) = tokio::join!(one, other);
                })
            }
            5 => {
                // Another task enters the same span, maybe at the same time.
                let inner = program(random, depth - 1, span.clone());
                let shared = span.clone().unwrap_or_else(|| info_span!("spawned"));
                let is_awaited = random.once_in(2);
                Box::pin(async move {
                    let task = tokio::spawn(inner.instrument(shared));
                    if is_awaited {
                        // It may have been dropped with the runtime.
                        let _ = task.await;
                    }
                })
            }
            6 => {
                let inner = program(random, depth - 1, None);
                let span = info_span!("aborted", late = tracing::field::Empty);
                Box::pin(async move {
                    let task = tokio::spawn(inner.instrument(span.clone()));
                    yield_now().await;
                    span.record("late", 7);
                    task.abort();
                })
            }
            _ => {
                let span = span.clone();
                Box::pin(async move {
                    let work = move || {
                        oracle::IS_BLOCKING.set(true);
                        span.unwrap_or_else(Span::none).in_scope(|| guards(1));
                    };
                    let _ = tokio::task::spawn_blocking(work).await;
                })
            }
        };
        steps.push(step);
    }
    Box::pin(async move {
        for step in steps {
            step.await;
        }
    })
}

/// Enters two spans, and exits them in one of several orders.
fn guards(order: u64) {
    let (outer, inner) = (info_span!("outer"), info_span!("inner", order));
    let first = outer.enter();
    let second = inner.enter();
    match order {
        0 => drop(second),
        1 => {
            drop(first);
            return drop(second);
        }
        _ => {
            let _again = outer.enter();
            drop(second);
        }
    }
    drop(first);
}

#[test]
fn spans_of_random_programs_are_those_of_an_oracle() {
    let is_all = std::env::var_os("STATEMAP_TESTS").is_some_and(|which| which == "all");
    for seed in 1..=if is_all { 300_u64 } else { 30 } {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let recorded = Recorded::new(random.below(4) as usize, "late, order");
        let programs = [0; 3].map(|_| program(&mut random, 4, None));
        recorded.run(async {
            let tasks = programs.map(tokio::spawn);
            for task in tasks {
                task.await.expect("it doesn't panic");
            }
        });
        // The tasks that are left are dropped.
        let Recorded { runtime, collector, oracle, dispatch } = recorded;
        drop(runtime);
        oracle.compare(&collector.recorder().spans.read(), seed);
        collector.stop();
        drop(dispatch);
    }
}

#[test]
fn spans_are_summed_up_by_name_and_fields() {
    let recorded = Recorded::new(0, " http.route,status ,, unknown");
    recorded.run(async {
        for status in [200, 200, 404] {
            let late = tracing::field::Empty;
            let span = info_span!("request", http.route = "/orders", status = late, id = status);
            span.record("status", status);
            async {}.instrument(span).await;
        }
        drop(info_span!("request", status = ?Some("ok"), http.route = %format_args!("/{}", 1)));
        drop(info_span!("plain"));
    });
    let expected = [
        ("plain|", 1),
        ("request|/1 Some(\"ok\")", 1),
        ("request|/orders 200", 2),
        ("request|/orders 404", 1),
    ];
    let expected = expected.map(|(label, count)| (label.to_owned(), count));
    assert_eq!(labels(&recorded.seen()), expected);
}

#[test]
fn values_are_cut_and_labels_beyond_the_most_are_one() {
    let recorded = Recorded::new(0, "path");
    recorded.run(async {
        for n in 0..1010 {
            drop(info_span!("request", path = format!("/{n}")));
        }
        drop(info_span!("request", path = "ä".repeat(99)));
    });
    let labels = labels(&recorded.seen());
    assert_eq!(labels.len(), 1001);
    assert_eq!(labels[0], ("(others)|".to_owned(), 11));
    let recorded = Recorded::new(0, "path");
    recorded.run(async { drop(info_span!("request", path = "ä".repeat(99))) });
    let seen = recorded.seen();
    assert_eq!(seen.labels[1].fields, format!("{}…", "ä".repeat(50)));
}

#[test]
fn a_span_that_is_not_recorded_as_a_whole_is_not_counted() {
    let recorded = Recorded::new(0, "");
    recorded.collector.stop();
    // Another recorder may be at work.
    let _other = Recorded::new(0, "");
    let before = dispatcher::with_default(&recorded.dispatch, || info_span!("before"));
    recorded.collector.start();
    recorded.run(async {
        yield_now().await;
        let across = info_span!("across");
        let open = info_span!("open");
        async {
            yield_now().await;
            recorded.collector.stop();
            recorded.collector.start();
            yield_now().await;
        }
        .instrument(across)
        .await;
        yield_now().await;
        async { yield_now().await }.instrument(info_span!("whole")).await;
        async { yield_now().await }.instrument(before).await;
        std::mem::forget(open);
    });
    let seen = recorded.seen();
    assert_eq!(labels(&seen), [("whole|".to_owned(), 1)]);
    assert_eq!((seen.cut, seen.lost, seen.open), (2, 0, 1));
}

#[test]
fn nothing_happens_while_nothing_is_recorded() {
    let recorded = Recorded::new(1, "");
    recorded.collector.stop();
    recorded.run(async {
        tokio::spawn(async {}.instrument(info_span!("unseen"))).await.expect("it doesn't panic");
    });
    let seen = recorded.seen();
    assert_eq!((labels(&seen), seen.cut, seen.open), (Vec::new(), 0, 0));
}

#[test]
fn a_span_that_is_opened_elsewhere_belongs_to_the_runtime_that_enters_it() {
    let recorded = Recorded::new(2, "");
    let span = dispatcher::with_default(&recorded.dispatch, || info_span!("from outside"));
    recorded.run(async {
        tokio::spawn(async {}.instrument(span)).await.expect("it doesn't panic");
    });
    assert_eq!(labels(&recorded.seen()), [("from outside|".to_owned(), 1)]);
}

#[test]
fn the_newest_are_kept_and_all_are_counted() {
    let recorded = Recorded::new(0, "");
    let spans: u64 = 40_000;
    recorded.run(async {
        for _ in 0..spans {
            info_span!("short").in_scope(|| ());
        }
    });
    let seen = recorded.seen();
    assert_eq!(labels(&seen), [("short|".to_owned(), spans)]);
    assert_eq!(seen.newest.len() as u64 + seen.dropped, spans);
    assert!(seen.dropped > 0 && seen.dropped < spans, "{}", seen.dropped);
    assert!(recorded.collector.snapshot().requests().rows[0].parts.spans > 0);
}

/// A thread is in the span forty times at once, and only the first 1024 times are kept.
#[test]
fn a_span_runs_no_longer_than_it_is_open() {
    fn nested(span: &Span, depth: u64) {
        span.in_scope(|| match depth {
            0 => std::thread::yield_now(),
            _ => nested(span, depth - 1),
        });
    }
    let recorded = Recorded::new(0, "");
    recorded.run(async {
        let span = info_span!("nested");
        (0..200).for_each(|_| nested(&span, 40));
    });
    let seen = recorded.seen();
    let span = &seen.newest[0];
    assert!(!span.has_all);
    let (running_ticks, length_ticks) =
        (seen.sums[span.label].running_ticks, span.closed_ticks - span.opened_ticks);
    assert!(running_ticks <= length_ticks, "{running_ticks} of {length_ticks}");
}

#[test]
fn the_longest_are_known_one_by_one() {
    let recorded = Recorded::new(2, "n");
    recorded.run(async {
        for n in 0..30 {
            let of = async move {
                yield_now().await;
                std::thread::sleep(std::time::Duration::from_millis(if n % 3 == 1 {
                    4
                } else {
                    0
                }));
            };
            let name = if n < 25 { "many" } else { "few" };
            tokio::spawn(of.instrument(info_span!("request", n = name))).await.expect("it ends");
        }
    });
    let timeline = recorded.collector.snapshot();
    for (fields, count) in [("many", 10), ("few", 5)] {
        let row = timeline.requests().rows.iter().find(|row| row.fields == fields).expect(fields);
        assert_eq!(row.longest.len(), count);
        let lengths: Vec<_> = row.longest.iter().map(|span| span.parts.length_ns).collect();
        assert!(lengths.is_sorted_by(|a, b| a >= b), "{lengths:?}");
        assert_eq!(lengths[0], row.slowest.length_ns, "one of {} is the slowest", row.count);
        let mut sum = 0;
        for span in &row.longest {
            let key = span.task.expect("it is in a task");
            let task = timeline.tasks.iter().find(|task| task.key == key).expect("it is kept");
            assert!(task.spawned_ns.is_some_and(|ns| ns >= span.opened_ns), "it opened before");
            let end_ns = span.opened_ns + span.parts.length_ns;
            assert!(task.polls.iter().all(|poll| poll.start_ns() < end_ns), "{span:?} {task:?}");
            sum += span.parts.length_ns;
        }
        // Eight of the first 25 slept, and two of the last five.
        let (slept, most) = if fields == "many" { (8, 25) } else { (2, 5) };
        assert!(sum >= slept * 4_000_000, "{lengths:?}");
        assert_eq!(row.parts.spans, most);
    }
}
