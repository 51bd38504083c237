//! See what every Tokio task and worker was doing, and who held the runtime up.
//!
//! Change `#[tokio::main]` to [`#[tokio_statemap::main]`](macro@main). When the program ends, however
//! it ends, it leaves a page that shows what its tasks and workers did, and a report that names the
//! spawn location that held the runtime up.
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

mod hooks;

pub use hooks::Hooks;
pub use tokio_statemap_macros::{main, test};

#[cfg(feature = "record")]
mod atomic_file;
#[cfg(feature = "record")]
mod clean;
#[cfg(feature = "record")]
mod clock;
#[cfg(feature = "record")]
mod collector;
#[cfg(feature = "record")]
mod config;
#[cfg(feature = "record")]
mod current;
#[cfg(feature = "record")]
#[cfg_attr(not(tokio_unstable), allow(dead_code, reason = "some of it only hooks of tasks call"))]
mod engine;
#[cfg(feature = "record")]
mod error;
#[cfg(feature = "record")]
mod event;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "record")]
mod json;
#[cfg(feature = "record")]
mod lost;
mod message;
#[cfg_attr(
    not(all(unix, feature = "record")),
    allow(dead_code, reason = "some of it is for writes that don't block, and for signals")
)]
mod patience;
#[cfg(feature = "record")]
#[cfg_attr(not(feature = "html"), allow(dead_code, reason = "some of it only the page shows"))]
pub mod picture;
#[cfg_attr(not(feature = "record"), path = "no_records.rs")]
mod records;
#[cfg(feature = "record")]
pub mod report;
#[cfg(feature = "record")]
mod root;
#[cfg(feature = "record")]
mod run;
#[cfg(feature = "record")]
mod side_by_side;
#[cfg(feature = "record")]
mod snapshot;
#[cfg(feature = "record")]
mod state;
#[cfg(feature = "record")]
pub mod statemap;
#[cfg(feature = "record")]
pub mod svg;
#[cfg(feature = "record")]
mod sync;
#[cfg(feature = "record")]
mod sys;
#[cfg(feature = "record")]
mod task_id;
#[cfg(feature = "record")]
pub mod timeline;

#[cfg(feature = "record")]
pub use self::{
    collector::{Collector, register_hooks, register_hooks_with},
    config::{CollectorConfig, Keep, TraceTarget},
    current::current,
    error::{Error, InvalidCasts},
    event::{Event, SpawnLocation},
    lost::Lost,
    state::{TaskState, WorkerState},
    statemap::StatemapData,
    task_id::check_casts,
    timeline::Timeline,
};

#[cfg(feature = "record")]
#[doc = include_str!("cost.md")]
pub mod _cost {}

/// What the attributes expand to, and what the command needs besides. Not for anyone else: it changes
/// without notice.
#[doc(hidden)]
#[cfg(feature = "record")]
pub mod __private {
    pub use crate::atomic_file::write as write_file;
    pub use crate::clean::clean;
    pub use crate::config::{Keep, TraceTarget};
    pub use crate::hooks::Hooks;
    pub use crate::run::{Report, Run, Settings};
}
