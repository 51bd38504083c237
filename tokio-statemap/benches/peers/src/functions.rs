//! Chains of async functions, once for each tool that looks into functions, with that tool's
//! annotations.
//!
//! Every call is boxed, with all tools alike. Otherwise the optimizer would turn such a short chain
//! into one function, while a real program's functions are longer.

use std::future::Future;
use std::pin::Pin;

use await_tree::InstrumentAwait;
use tokio::task::yield_now;

/// The available lengths.
pub(crate) const DEPTHS: [u8; 3] = [1, 4, 16];

/// A call.
type Call = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The annotations of a chain's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Functions {
    /// No annotation.
    Plain,
    /// `#[tokio_statemap::instrument]`.
    Ours,
    /// `.instrument_await(…)` at each call.
    AwaitTree,
    /// `#[async_backtrace::framed]`.
    AsyncBacktrace,
    /// `#[fastrace::trace]`: a span for each call.
    Fastrace,
    /// The same, with a span for each poll.
    FastracePolls,
    /// `#[hotpath::measure]`: calls.
    Hotpath,
    /// The same, with polls.
    HotpathPolls,
    /// `#[tracing::instrument]`.
    Tracing,
}

impl Functions {
    /// Calls the outermost of `depth` functions. The innermost one waits `waits` times.
    pub(crate) fn call(self, depth: u8, waits: u64) -> Call {
        let call = match self {
            Self::Plain => plain::call,
            Self::Ours => ours::call,
            Self::AwaitTree => await_tree_::call,
            Self::AsyncBacktrace => async_backtrace_::call,
            Self::Fastrace => fastrace_::call,
            Self::FastracePolls => fastrace_polls::call,
            Self::Hotpath => hotpath_::call,
            Self::HotpathPolls => hotpath_polls::call,
            Self::Tracing => tracing_::call,
        };
        call(depth, waits)
    }
}

fn boxed(_: &'static str, call: impl Future<Output = ()> + Send + 'static) -> Call {
    Box::pin(call)
}

fn awaited(name: &'static str, call: impl Future<Output = ()> + Send + 'static) -> Call {
    Box::pin(call.instrument_await(name))
}

async fn wait(waits: u64) {
    for _ in 0..waits {
        yield_now().await;
    }
}

/// Declares a module with a chain of functions with these attributes. `made_by` makes a call of
/// one.
macro_rules! chain {
    ($module:ident, $attributes:tt, $made_by:path) => {
        mod $module {
            use super::Call;

            pub(super) fn call(depth: u8, waits: u64) -> Call {
                match depth {
                    1 => $made_by("f1", f1(waits)),
                    4 => $made_by("f4", f4(waits)),
                    16 => $made_by("f16", f16(waits)),
                    _ => panic!("no chain has {depth} functions"),
                }
            }

            function!($attributes f1(waits) super::wait(waits));
            function!($attributes f2(waits) $made_by("f1", f1(waits)));
            function!($attributes f3(waits) $made_by("f2", f2(waits)));
            function!($attributes f4(waits) $made_by("f3", f3(waits)));
            function!($attributes f5(waits) $made_by("f4", f4(waits)));
            function!($attributes f6(waits) $made_by("f5", f5(waits)));
            function!($attributes f7(waits) $made_by("f6", f6(waits)));
            function!($attributes f8(waits) $made_by("f7", f7(waits)));
            function!($attributes f9(waits) $made_by("f8", f8(waits)));
            function!($attributes f10(waits) $made_by("f9", f9(waits)));
            function!($attributes f11(waits) $made_by("f10", f10(waits)));
            function!($attributes f12(waits) $made_by("f11", f11(waits)));
            function!($attributes f13(waits) $made_by("f12", f12(waits)));
            function!($attributes f14(waits) $made_by("f13", f13(waits)));
            function!($attributes f15(waits) $made_by("f14", f14(waits)));
            function!($attributes f16(waits) $made_by("f15", f15(waits)));
        }
    };
}

macro_rules! function {
    ([$(#[$attribute:meta])*] $name:ident($waits:ident) $body:expr) => {
        $(#[$attribute])*
        async fn $name($waits: u64) {
            $body.await
        }
    };
}

chain!(plain, [], super::boxed);
chain!(ours, [#[tokio_statemap::instrument]], super::boxed);
chain!(await_tree_, [], super::awaited);
chain!(async_backtrace_, [#[async_backtrace::framed]], super::boxed);
chain!(fastrace_, [#[fastrace::trace]], super::boxed);
chain!(fastrace_polls, [#[fastrace::trace(enter_on_poll = true)]], super::boxed);
chain!(hotpath_, [#[hotpath::measure]], super::boxed);
chain!(hotpath_polls, [#[hotpath::measure(future = true)]], super::boxed);
chain!(tracing_, [#[tracing::instrument(skip_all)]], super::boxed);

#[test]
fn every_chain_waits_as_often() {
    use Functions::*;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let all = [
        Plain,
        Ours,
        AwaitTree,
        AsyncBacktrace,
        Fastrace,
        FastracePolls,
        Hotpath,
        HotpathPolls,
        Tracing,
    ];
    for functions in all {
        for depth in DEPTHS {
            let mut call = functions.call(depth, 3);
            let mut polls = 0;
            runtime.block_on(std::future::poll_fn(|cx| {
                polls += 1;
                call.as_mut().poll(cx)
            }));
            assert_eq!(polls, 4, "{functions:?}, {depth}");
        }
    }
}
