//! What can go wrong, told so that one knows what to do.

use std::io;
use std::path::PathBuf;

/// What can go wrong in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Tasks were to be recorded, but Tokio was built without its task hooks.
    #[error(
        "recording tasks needs Tokio's task hooks: build with RUSTFLAGS=\"--cfg tokio_unstable\", \
         or put `[build] rustflags = [\"--cfg\", \"tokio_unstable\"]` into .cargo/config.toml \
         (workers alone can be recorded without: `trace_target: TraceTarget::Workers`)"
    )]
    UnstableFeaturesRequired,
    /// A task id can't be read as a number.
    #[error(transparent)]
    InvalidCasts(#[from] InvalidCasts),
    /// A field of the configuration has a value that can't be used.
    #[error("CollectorConfig::{field}: {reason}")]
    InvalidConfig {
        /// The field.
        field: &'static str,
        /// What is wrong with its value, and what would be right.
        reason: &'static str,
    },
    /// A file couldn't be written or read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A value couldn't be put into JSON.
    #[error("writing JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Statemap data breaks a rule of its format.
    #[error(transparent)]
    Read(#[from] crate::statemap::read::ReadError),
}

/// `tokio::task::Id` doesn't yield the number that it displays, so that tasks can't be told apart.
///
/// This can't happen with the versions of Tokio that were tested; see
/// [`check_casts`](crate::check_casts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tokio::task::Id can't be read as a u64: this version of Tokio isn't supported by this version \
     of tokio-statemap"
)]
#[non_exhaustive]
pub struct InvalidCasts;
