//! Records what every Tokio task and worker does, and names the function that kept workers from polling.
//!
//! Replace `#[tokio::main]` by [`#[tokio_statemap::main]`](crate::main). When the program returns, panics, exits, or is ended by Ctrl-C or SIGTERM, it
//! writes one html page with the states of its tasks and workers over time, and prints a report to stderr. Both begin
//! with the *verdict*: the function and the line that *held the runtime up*, which means that its polls blocked
//! workers, or computed on them, while other tasks waited. Time that the machine took, such as that of other programs,
//! is measured apart and blamed on nobody.
//!
//! # Quick start
//!
//! With `rustflags = ["--cfg", "tokio_unstable"]` under `[build]` in `.cargo/config.toml`:
//!
#![cfg_attr(feature = "record", doc = "```no_run")]
#![cfg_attr(not(feature = "record"), doc = "```ignore")]
//! #[tokio_statemap::main]
//! async fn main() {
//!     tokio::spawn(async { /* … */ }).await.unwrap();
//! }
//! ```
//!
#![cfg_attr(
    feature = "record",
    doc = "\
This writes `<program>.statemap.html` and prints the report. The keys of [`main`](crate::main) select other files and settings.

# Where to go from here

- [`guide`] answers one question per page, from [setting it up](guide::setup) to [what it costs](guide::cost).
- [`main`](crate::main) and [`test`](macro@test) are drop-ins for Tokio's attributes.
- [`spawn`], [`task`], and [`instrument`](macro@instrument) show [where tasks wait](guide::waiting).
- [`Recording`] records runtimes that are [built by hand](guide::builder), and writes the same files. [`register_hooks`] gives
  its parts: [`Collector::snapshot`] returns a [`Timeline`] at any moment, with its [report](Timeline::report).
- [`statemap`] writes the recorded data, and reads it with the feature `read`.

Blamed functions, and the lines at which tasks wait, are known on Linux on x86-64 and aarch64. See [all limits](guide::limits)."
)]
#![cfg_attr(
    not(feature = "record"),
    doc = "This is a build without the feature `record`: the attributes expand to exactly Tokio's, \
           [`Recording`] does nothing, and of the rest only [`Hooks`] and what spawns and instruments is left."
)]
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "record")]
mod analysis;
mod choices;
#[cfg(feature = "record")]
mod collector;
#[cfg(feature = "record")]
mod config;
#[cfg(feature = "record")]
mod current;
#[cfg(feature = "record")]
mod error;
mod hooks;
#[cfg(feature = "tracing")]
mod layer;
#[cfg_attr(not(feature = "record"), path = "no_recorder.rs")]
#[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "some of it only hooks of tasks call"))]
mod recorder;
#[cfg_attr(not(feature = "record"), path = "no_recording.rs")]
mod recording;
#[cfg(feature = "record")]
mod render;
#[cfg(feature = "record")]
pub mod statemap;
#[cfg(feature = "record")]
mod symbols;
mod sys;
pub mod task;
#[cfg(feature = "record")]
mod trace;
mod util;

pub use choices::{BlackBox, Keep, TraceTarget};
pub use hooks::Hooks;
#[cfg(feature = "tracing")]
pub use layer::{SpanLayer, layer};
pub use recorder::{Instrument, Instrumented};
#[cfg(not(feature = "record"))]
pub use recording::Error;
pub use recording::{RecordedRuntime, Recording};
pub use task::{spawn, spawn_local};
/// Measures the calls of an async function, and shows which tasks wait in it.
///
/// ```no_run
/// # struct Order;
/// #[tokio_statemap::instrument]
/// async fn load(id: u64) -> std::io::Result<Order> {
///     /* … */
/// #   Ok(Order)
/// }
///
/// #[tokio_statemap::instrument(name = "send an invoice", fields = "customer={customer} n={n:?}")]
/// async fn send_invoice(customer: &str, n: Option<u64>) { /* … */ }
/// ```
pub use tokio_statemap_macros::instrument;
/// Runs an async function on a Tokio runtime, as `#[tokio::main]` does, and records every task and worker.
///
#[cfg_attr(feature = "html", doc = "```no_run")]
#[cfg_attr(not(feature = "html"), doc = "```ignore")]
/// #[tokio_statemap::main(html = "statemap.html")]
/// async fn main() {
///     tokio::spawn(async { /* … */ }).await.unwrap();
/// }
/// ```
pub use tokio_statemap_macros::main;
/// Runs a test on a Tokio runtime, as `#[tokio::test]` does, and records every task and worker.
///
#[cfg_attr(feature = "html", doc = "```no_run")]
#[cfg_attr(not(feature = "html"), doc = "```ignore")]
/// #[tokio_statemap::test(html = "answered.html")]
/// async fn all_requests_are_answered() { /* … */ }
///
/// #[tokio_statemap::test(max_poll = "5ms", max_ready = "20ms")]
/// async fn no_worker_is_blocked() { /* … */ }
/// ```
pub use tokio_statemap_macros::test;

#[cfg(feature = "read")]
pub use self::render::compare;
#[cfg(feature = "html")]
pub use self::render::html;
#[cfg(feature = "svg")]
pub use self::render::svg;
#[cfg(has_requests)]
pub use self::trace::requests::{self, Request, Requests};
#[cfg(feature = "record")]
pub use self::{
    analysis::picture,
    collector::{Collector, register_hooks, register_hooks_with},
    config::CollectorConfig,
    current::current,
    error::{Error, InvalidCasts},
    recorder::{lost::Lost, task_id::check_casts},
    render::trees::TaskTree,
    render::{report, trees},
    statemap::StatemapData,
    trace::event::{Event, SpawnLocation},
    trace::live_poll::LivePoll,
    trace::profile::{self, Profile},
    trace::state::{TaskState, WorkerState},
    trace::summary,
    trace::timeline::{self, Timeline},
    trace::woken_by::WokenBy,
};

#[cfg(all(doc, feature = "record"))]
pub mod guide;

// The blocks of code in the README are compiled with the examples of the documentation.
#[cfg(all(doctest, feature = "record", feature = "html"))]
#[doc = include_str!("../README.md")]
mod readme {}

/// Items for the expansion of the attributes and for the command. Not public API.
#[doc(hidden)]
#[cfg(feature = "record")]
pub mod __private {
    #[cfg(feature = "cli")]
    pub use crate::analysis::awaits::{Awaits, Node, Note};
    pub use crate::analysis::limits::{FileOf, Files, Judgement, Limits, judge};
    #[cfg(all(has_black_box, feature = "read"))]
    pub use crate::recorder::black_box::{Found, find, folders, is_begin_of_box, is_live, owner};
    pub use crate::recorder::functions::{Function, instrumented, instrumented_with};
    #[cfg(feature = "cli")]
    pub use crate::render::awaits::{write_html, write_text};
    #[cfg(feature = "read")]
    pub use crate::render::export;
    #[cfg(all(has_black_box, feature = "read"))]
    pub use crate::render::now::{lately, workers_now};
    pub use crate::render::report::terminal::{Colours, coloured_report, coloured_text};
    #[cfg(all(feature = "symbols", feature = "read"))]
    pub use crate::statemap::renew::renewed;
    #[cfg(all(has_black_box, feature = "read"))]
    pub use crate::trace::recovered::{Recovered, recover};
    #[cfg(all(feature = "symbols", feature = "read"))]
    pub use crate::trace::timeline::symbolize::{Symbolized, has_addresses, symbolize};
    pub use crate::util::atomic_file::write as write_file;
    pub use crate::util::clean::clean;
    pub use crate::util::counting::Counting;
}
