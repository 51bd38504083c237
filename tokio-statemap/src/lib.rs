//! Shows what every Tokio task and worker was doing, and which spawn location held the runtime up.
//!
//! Change `#[tokio::main]` to [`#[tokio_statemap::main]`](macro@main). When the program ends, on
//! whatever path, it writes a page with the states of its tasks and workers, and a report that names
//! the spawn location that *held the runtime up*: the one whose polls blocked its workers the most.
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
#![cfg_attr(feature = "record", doc = include_str!("guide.md"))]
#![cfg_attr(
    not(feature = "record"),
    doc = "This is a build without the feature `record`: the attributes expand to exactly Tokio's, and \
           of the rest of this crate only [`Hooks`] is left."
)]
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "record")]
mod analysis;
#[cfg(feature = "record")]
mod attribute;
#[cfg(feature = "record")]
mod collector;
#[cfg(feature = "record")]
mod config;
#[cfg(feature = "record")]
mod current;
#[cfg(feature = "record")]
mod error;
mod hooks;
#[cfg_attr(not(feature = "record"), path = "no_recorder.rs")]
#[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "some of it only hooks of tasks call"))]
mod recorder;
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

pub use hooks::Hooks;
pub use recorder::{Instrument, Instrumented};
pub use task::{spawn, spawn_local};
/// Shows an async function by name: what its calls take, and which tasks wait in it.
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
/// `#[tokio::main]`, and a record of what every task and worker did.
///
#[cfg_attr(feature = "html", doc = "```no_run")]
#[cfg_attr(not(feature = "html"), doc = "```ignore")]
/// #[tokio_statemap::main(html = "statemap.html")]
/// async fn main() {
///     tokio::spawn(async { /* … */ }).await.unwrap();
/// }
/// ```
pub use tokio_statemap_macros::main;
/// `#[tokio::test]`, and a record of what every task and worker did.
///
#[cfg_attr(feature = "html", doc = "```no_run")]
#[cfg_attr(not(feature = "html"), doc = "```ignore")]
/// #[tokio_statemap::test(html = "answered.html")]
/// async fn all_requests_are_answered() { /* … */ }
///
/// #[tokio_statemap::test(max_poll = "5ms", max_ready = "20ms")]
/// async fn nobody_blocks() { /* … */ }
/// ```
pub use tokio_statemap_macros::test;

#[cfg(feature = "html")]
pub use self::render::html;
#[cfg(feature = "record")]
pub use self::{
    analysis::picture,
    collector::{Collector, register_hooks, register_hooks_with},
    config::{CollectorConfig, Keep, TraceTarget},
    current::current,
    error::{Error, InvalidCasts},
    recorder::{lost::Lost, task_id::check_casts},
    render::trees::TaskTree,
    render::{compare, report, svg, trees},
    statemap::StatemapData,
    trace::event::{Event, SpawnLocation},
    trace::live_poll::LivePoll,
    trace::profile::{self, Profile},
    trace::state::{TaskState, WorkerState},
    trace::summary,
    trace::timeline::{self, Timeline},
};

#[cfg(feature = "record")]
#[doc = include_str!("cost.md")]
pub mod _cost {}

/// Used by the code that the attributes expand to, and by the command. Not public API.
#[doc(hidden)]
#[cfg(feature = "record")]
pub mod __private {
    #[cfg(feature = "cli")]
    pub use crate::analysis::awaits::{Awaits, Node, Note};
    pub use crate::analysis::limits::{FileOf, Files, Judgement, Limits, judge};
    pub use crate::attribute::{OutputPaths, Run, Settings};
    pub use crate::config::{Keep, TraceTarget};
    pub use crate::hooks::Hooks;
    pub use crate::recorder::functions::{Function, instrumented, instrumented_with};
    #[cfg(feature = "cli")]
    pub use crate::render::awaits::{write_html, write_text};
    #[cfg(feature = "read")]
    pub use crate::render::export;
    pub use crate::render::report::terminal::{Colours, coloured_report, coloured_text};
    #[cfg(all(feature = "symbols", feature = "read"))]
    pub use crate::statemap::renew::renewed;
    #[cfg(all(
        feature = "dwarf",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub use crate::symbols::coroutines::cells::AwaitNode;
    #[cfg(all(feature = "symbols", feature = "read"))]
    pub use crate::trace::timeline::symbolize::{Symbolized, has_addresses, symbolize};
    pub use crate::util::atomic_file::write as write_file;
    pub use crate::util::clean::clean;
    pub use crate::util::counting::Counting;

    /// What each live task awaits that isn't polled now, by its id, as it is in memory.
    #[cfg(all(
        feature = "dwarf",
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    pub fn chains(collector: &crate::Collector) -> Vec<(u64, AwaitNode)> {
        collector.chains().into_iter().map(|task| (task.id, task.awaits)).collect()
    }
}
