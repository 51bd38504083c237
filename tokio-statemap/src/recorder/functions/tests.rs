//! Calls of instrumented functions, in runtimes that are recorded.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::collector::{Collector, register_hooks};
use crate::config::CollectorConfig;
use crate::recorder::calls::call_stack;

static PARENT: Function = Function::named("parent", "f", 1, 1);
static CHILD: Function = Function::named("child", "f", 2, 1);

/// A runtime of one thread, which is recorded.
fn recorded() -> (Runtime, Arc<Collector>) {
    let mut builder = Builder::new_current_thread();
    let config = CollectorConfig { stacks: false, ..CollectorConfig::default() };
    let collector = register_hooks(builder.enable_all(), config).expect("it is valid");
    collector.start();
    (builder.build().expect("a runtime"), collector)
}

fn names() -> Vec<(&'static str, u64)> {
    let mut names = Vec::new();
    call_stack::calls_above(0, |call| names.push((call.function.name(), call.entered_ticks)));
    names
}

fn are_auto<T: Send + Sync + Unpin>(_: &T) {}

#[test]
fn a_wrapper_has_the_auto_traits_of_what_is_in_it() {
    are_auto(&instrumented(&PARENT, std::future::ready(())));
    are_auto(&instrumented_with(&PARENT, |f| f.write_str("x"), std::future::ready(())));
    let named = std::future::ready(3).instrument("named");
    are_auto(&named);
    assert!(format!("{named:?}").contains("named at "), "{named:?}");
    assert!(format!("{named:?}").contains("functions/tests.rs"), "{named:?}");
}

#[test]
fn a_poll_has_its_calls_on_the_stack() {
    let (runtime, collector) = recorded();
    let first = collector.block_on(&runtime, async {
        let child = instrumented(&CHILD, async {
            let first = names();
            tokio::task::yield_now().await;
            assert_eq!(names(), first, "a call begins once");
            first
        });
        instrumented(&PARENT, child).await
    });
    assert_eq!(first.iter().map(|call| call.0).collect::<Vec<_>>(), ["parent", "child"]);
    assert!(first[0].1 <= first[1].1 && first[0].1 > 0, "{first:?}");
    collector.stop();
    let while_off = collector.block_on(&runtime, instrumented(&PARENT, async { names() }));
    assert_eq!(while_off, []);
}

#[test]
fn arguments_are_found_while_the_call_goes_on() {
    let (runtime, collector) = recorded();
    let call = |text: &'static str, ends: bool| {
        let write = move |f: &mut std::fmt::Formatter<'_>| match text {
            "panic" => panic!("on purpose"),
            "fail" => Err(std::fmt::Error),
            text => f.write_str(text),
        };
        let poll = poll_fn(move |_| match ends {
            true => Poll::Ready(()),
            false => Poll::Pending,
        });
        instrumented_with(&CHILD, write, poll)
    };
    collector.block_on(&runtime, async {
        for (text, found) in [("id = 7", Some("id = 7")), ("panic", None), ("fail", None)] {
            let mut call = Box::pin(call(text, false));
            assert!(futures_poll(call.as_mut()).is_pending());
            let entered_ticks = call.entered_ticks().expect("it was polled");
            assert_eq!(fields_of(&CHILD, entered_ticks).as_deref(), found);
            assert_eq!(fields_of(&PARENT, entered_ticks), None);
            let on_another = std::thread::spawn(move || fields_of(&CHILD, entered_ticks));
            assert_eq!(on_another.join().expect("it is caught").as_deref(), found);
            drop(call);
            assert_eq!(fields_of(&CHILD, entered_ticks), None, "the call ended");
        }
    });
}

fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}
