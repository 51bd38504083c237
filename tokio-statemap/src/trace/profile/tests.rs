//! Tests of the profile with recorded runtimes.

use std::future::{Future, pending, poll_fn};
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

use super::{FunctionProfile, Profile};
use crate::collector::{Collector, register_hooks};
use crate::config::CollectorConfig;
use crate::recorder::clock;
use crate::recorder::functions::{Counted, Function, Instrumented, instrumented};

use crate::trace::state::TaskState;

macro_rules! function {
    ($name:ident) => {
        static $name: Function = Function::named(stringify!($name), "f", line!(), 1);
    };
}

/// Builds a runtime that is recorded.
fn recorded(mut builder: Builder) -> (Runtime, Arc<Collector>) {
    let config = CollectorConfig { stacks: false, ..CollectorConfig::default() };
    let collector = register_hooks(builder.enable_all(), config).expect("it is valid");
    collector.start();
    (builder.build().expect("a runtime"), collector)
}

fn one_thread() -> (Runtime, Arc<Collector>) {
    recorded(Builder::new_current_thread())
}

fn counted(collector: &Collector, function: &'static Function) -> Counted {
    let (all, _) = collector.recorder().functions.read();
    all.into_iter().find(|c| std::ptr::eq(c.function, function)).expect("it was called")
}

/// Keeps the processor busy, and adds how long that took.
fn work(steps: u64, took_ticks: &AtomicU64) {
    let from = clock::ticks();
    let mut x = steps;
    for _ in 0..steps * 100 {
        x = black_box(x.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7));
    }
    took_ticks.fetch_add(clock::ticks() - from, Ordering::Relaxed);
}

fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn own_times_and_those_of_children_add_up() {
    function!(PARENT);
    function!(CHILD);
    let (runtime, collector) = one_thread();
    let (parent_ticks, child_ticks) = (AtomicU64::new(0), AtomicU64::new(0));
    collector.block_on(&runtime, async {
        for _ in 0..20 {
            let child = async {
                for _ in 0..4 {
                    work(100, &child_ticks);
                    yield_now().await;
                }
            };
            let parent = async {
                work(100, &parent_ticks);
                instrumented(&CHILD, child).await;
            };
            instrumented(&PARENT, parent).await;
        }
    });
    let (parent, child) = (counted(&collector, &PARENT), counted(&collector, &CHILD));
    assert_eq!(parent.own_ticks + child.total_ticks, parent.total_ticks);
    assert_eq!(child.own_ticks, child.total_ticks);
    assert_eq!((parent.begun, parent.completed, parent.cancelled), (20, 20, 0));
    assert_eq!((parent.polls, child.polls), (100, 100));
    // The time that each measured itself is part of its own time. The rest may include
    // interruptions.
    let (parent_ticks, child_ticks) = (parent_ticks.into_inner(), child_ticks.into_inner());
    assert!(parent.own_ticks >= parent_ticks, "{parent:?}, {parent_ticks}");
    assert!(child.own_ticks >= child_ticks, "{child:?}, {child_ticks}");
    let rest = parent.total_ticks - parent_ticks - child_ticks;
    assert!(parent.own_ticks - parent_ticks <= rest && child.own_ticks - child_ticks <= rest);
    let [total, own, waiting] = &parent.ended;
    assert_eq!((total.count, own.count, waiting.count), (20, 20, 20));
    assert_eq!((total.sum_ticks, own.sum_ticks), (parent.total_ticks, parent.own_ticks));
}

#[test]
fn the_sum_of_own_times_is_within_the_polls() {
    function!(OUTER);
    function!(INNER);
    let (runtime, collector) = recorded({
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2);
        builder
    });
    let took = Arc::new(AtomicU64::new(0));
    collector.block_on(&runtime, async {
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let took = Arc::clone(&took);
                let inner = async move {
                    for _ in 0..10 {
                        work(10, &took);
                        yield_now().await;
                    }
                };
                tokio::spawn(instrumented(&OUTER, instrumented(&INNER, inner)))
            })
            .collect();
        for task in tasks {
            task.await.expect("it ends");
        }
    });
    collector.stop();
    let timeline = collector.snapshot();
    let spans = timeline.tasks.iter().flat_map(|task| task.spans(timeline.end_ns));
    let running = spans.filter(|span| span.state == TaskState::Running);
    let running_ns: u64 = running.map(|span| span.length_ns()).sum();
    let own_ns: u64 = timeline.profile().functions.iter().map(|f| f.own_ns).sum();
    assert!((1..=running_ns).contains(&own_ns), "{own_ns} of {running_ns}");
    let calls = |profile: &Profile| {
        let of = |f: &FunctionProfile| (f.name.clone(), f.calls, f.polls);
        profile.functions.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(calls(timeline.profile()), calls(&collector.profile()));
    assert_eq!(counted(&collector, &OUTER).completed, 20);
    assert!(timeline.profile().workers <= 2);
}

#[test]
fn recursion_counts_totals_once() {
    function!(RECURSIVE);
    fn recursive(depth: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(instrumented(&RECURSIVE, async move {
            work(10, &AtomicU64::new(0));
            yield_now().await;
            if depth > 0 {
                recursive(depth - 1).await;
            }
        }))
    }
    for depth in [5, 100] {
        let (runtime, collector) = one_thread();
        collector.block_on(&runtime, recursive(depth));
        let counted = counted(&collector, &RECURSIVE);
        assert_eq!((counted.begun, counted.completed), (depth as u64 + 1, depth as u64 + 1));
        assert_eq!(counted.total_ticks, counted.own_ticks, "{depth}");
        assert!(counted.ended[0].sum_ticks > counted.total_ticks);
        assert_eq!(counted.ended[1].sum_ticks, counted.own_ticks);
    }
}

#[test]
fn concurrent_children_are_told_apart() {
    function!(JOIN);
    function!(LEFT);
    function!(RIGHT);
    let (runtime, collector) = one_thread();
    async fn child(took: &AtomicU64) {
        for _ in 0..3 {
            work(20, took);
            yield_now().await;
        }
    }
    let (left_ticks, right_ticks) = (AtomicU64::new(0), AtomicU64::new(0));
    collector.block_on(
        &runtime,
        instrumented(&JOIN, async {
            let left = instrumented(&LEFT, child(&left_ticks));
            tokio::join!(left, instrumented(&RIGHT, child(&right_ticks)));
        }),
    );
    let [join, left, right] = [&JOIN, &LEFT, &RIGHT].map(|f| counted(&collector, f));
    assert_eq!(join.own_ticks + left.own_ticks + right.own_ticks, join.total_ticks);
    assert_eq!((left.total_ticks, right.total_ticks), (left.own_ticks, right.own_ticks));
    // It begins first and ends after the other's last work.
    assert!(left.ended[2].sum_ticks >= right_ticks.into_inner(), "{left:?} {right:?}");
}

#[test]
fn it_is_counted_how_calls_end() {
    function!(ENDS);
    let (runtime, collector) = one_thread();
    collector.block_on(&runtime, async {
        instrumented(&ENDS, async {}).await;
        let mut cancelled = Box::pin(instrumented(&ENDS, pending::<()>()));
        assert!(poll_once(cancelled.as_mut()).is_pending());
        drop(cancelled);
        drop(instrumented(&ENDS, pending::<()>()));
        let mut running = Box::pin(instrumented(&ENDS, pending::<()>()));
        assert!(poll_once(running.as_mut()).is_pending());
        let profile = collector.profile();
        let ends = &profile.functions.iter().find(|f| f.name == "ENDS").expect("it was called");
        assert_eq!((ends.calls, ends.completed, ends.cancelled, ends.running()), (3, 1, 1, 1));
        // The call is dropped on a thread on which nothing is recorded.
        std::thread::spawn(move || drop(running)).join().expect("it ends");
    });
    let ends = counted(&collector, &ENDS);
    assert_eq!((ends.begun, ends.completed, ends.cancelled), (3, 1, 2));
}

#[test]
fn a_call_ends_while_nothing_is_recorded() {
    function!(PAUSED);
    let (runtime, collector) = one_thread();
    let mut polls = 0;
    let mut call = Box::pin(instrumented(
        &PAUSED,
        poll_fn(move |_| {
            polls += 1;
            if polls == 3 { Poll::Ready(()) } else { Poll::Pending }
        }),
    ));
    collector.block_on(&runtime, async { assert!(poll_once(call.as_mut()).is_pending()) });
    collector.stop();
    runtime.block_on(async { assert!(poll_once(call.as_mut()).is_pending()) });
    runtime.block_on(async { assert!(poll_once(call.as_mut()).is_ready()) });
    let paused = counted(&collector, &PAUSED);
    assert_eq!((paused.begun, paused.completed, paused.polls), (1, 1, 1));
}

#[test]
fn a_panic_in_a_poll_leaves_all_in_order() {
    function!(CATCHES);
    function!(PANICS);
    function!(UNWOUND);
    let (runtime, collector) = one_thread();
    collector.block_on(
        &runtime,
        instrumented(&CATCHES, async {
            let held = instrumented(&UNWOUND, pending::<()>());
            let mut call = Box::pin(instrumented(&PANICS, async move {
                let mut held = Box::pin(held);
                assert!(poll_once(held.as_mut()).is_pending());
                panic!("on purpose");
            }));
            let polled = std::panic::AssertUnwindSafe(|| poll_once(call.as_mut()));
            assert!(std::panic::catch_unwind(polled).is_err());
            assert_eq!(crate::recorder::calls::call_stack::depth(), 1);
            drop(call);
        }),
    );
    let [catches, panics, unwound] = [&CATCHES, &PANICS, &UNWOUND].map(|f| counted(&collector, f));
    assert_eq!((panics.polls, panics.completed, panics.cancelled), (1, 0, 1));
    assert_eq!((unwound.polls, unwound.cancelled), (1, 1), "dropped while unwinding");
    let own = catches.own_ticks + panics.own_ticks + unwound.own_ticks;
    assert_eq!(own, catches.total_ticks);
}

#[test]
fn a_call_may_move_between_threads_and_recorders() {
    function!(MOVES);
    fn poll_on(
        runtime: &Runtime,
        collector: &Collector,
        mut call: Pin<Box<Instrumented<impl Future<Output = ()> + Send>>>,
    ) -> Pin<Box<Instrumented<impl Future<Output = ()> + Send>>> {
        std::thread::scope(|scope| {
            let polls = scope.spawn(|| {
                collector.block_on(runtime, async {
                    let _ = poll_once(call.as_mut());
                });
                call
            });
            polls.join().expect("it ends")
        })
    }
    let (one, other) = (one_thread(), one_thread());
    let call = Box::pin(instrumented(&MOVES, pending::<()>()));
    let call = poll_on(&one.0, &one.1, call);
    let call = poll_on(&one.0, &one.1, call);
    let call = poll_on(&other.0, &other.1, call);
    let moves = counted(&one.1, &MOVES);
    assert_eq!((moves.begun, moves.polls, moves.cancelled), (1, 3, 0));
    drop(call);
    assert_eq!(counted(&one.1, &MOVES).cancelled, 1);
    let (of_other, _) = other.1.recorder().functions.read();
    assert!(!of_other.iter().any(|c| c.function.name() == "MOVES"));
    drop((one, other));
}

#[test]
fn polls_of_other_tasks_within_a_poll_are_not_its_own() {
    function!(HOST);
    function!(LOCAL);
    let (runtime, collector) = one_thread();
    collector.block_on(
        &runtime,
        instrumented(&HOST, async {
            let local = tokio::task::LocalSet::new();
            local
                .run_until(async {
                    tokio::task::spawn_local(instrumented(&LOCAL, async {
                        work(100, &AtomicU64::new(0));
                        yield_now().await;
                    }))
                    .await
                    .expect("it ends");
                })
                .await;
        }),
    );
    let (host, local) = (counted(&collector, &HOST), counted(&collector, &LOCAL));
    assert_eq!(host.own_ticks + local.total_ticks, host.total_ticks);
}

#[test]
fn threads_that_end_leave_their_counts() {
    function!(BLOCKING);
    let (runtime, collector) = one_thread();
    for _ in 0..5 {
        let (handle, collector) = (runtime.handle(), &collector);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                collector.recorder();
                let root = collector.root(
                    instrumented(&BLOCKING, yield_now()),
                    std::panic::Location::caller(),
                    || {},
                );
                handle.block_on(root);
            });
        });
    }
    assert_eq!(counted(&collector, &BLOCKING).completed, 5);
}

#[test]
fn a_profile_is_a_table() {
    assert_eq!(
        Profile::default().to_string(),
        "No call of an instrumented async function is known."
    );
    function!(SHOWN);
    let (runtime, collector) = one_thread();
    collector.block_on(&runtime, instrumented(&SHOWN, async {}));
    let text = collector.profile().to_string();
    assert!(text.contains("SHOWN at f:"), "{text}");
    let report = collector.snapshot().report().to_string();
    assert!(report.contains("What async functions took"), "{report}");
    assert!(report.lines().any(|line| line.starts_with("SHOWN")), "{report}");
}

#[cfg(feature = "read")]
#[test]
fn it_is_the_same_from_the_data() {
    use crate::statemap::{Recording, read::read, recordings};

    function!(WRITTEN);
    let (runtime, collector) = one_thread();
    collector.block_on(&runtime, instrumented(&WRITTEN, yield_now()));
    let timeline = collector.snapshot();
    let bytes = timeline.to_data().tasks_to_bytes().expect("it is memory");
    let files = [read(&bytes[..]).expect("it is ours")];
    let Some(Recording::Run { timeline: again, .. }) = recordings(&files).pop() else {
        panic!("it is a run");
    };
    assert_eq!(again.profile(), timeline.profile());
    assert_eq!(again.profile().to_string(), timeline.profile().to_string());
}
