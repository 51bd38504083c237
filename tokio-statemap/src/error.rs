//! The errors of this crate.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::util::clean::clean;

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Tasks are to be recorded, but Tokio was built without its task hooks.
    #[error(
        "recording tasks requires Tokio's task hooks: build with RUSTFLAGS=\"--cfg tokio_unstable\", \
         or add `[build] rustflags = [\"--cfg\", \"tokio_unstable\"]` to .cargo/config.toml \
         (recording only workers, `trace_target: TraceTarget::Workers`, works without)"
    )]
    UnstableFeaturesRequired,
    /// A task id can't be read as a number.
    #[error(transparent)]
    InvalidCasts(#[from] InvalidCasts),
    /// A field of the configuration has an invalid value.
    #[error("`{field}` is invalid: {reason}")]
    InvalidConfig {
        /// The field.
        field: &'static str,
        /// The problem with the value, and the values that are valid.
        reason: Cow<'static, str>,
    },
    /// An I/O error, such as a full disk.
    #[error("{}{source}", file_prefix(path.as_deref()))]
    Io {
        /// The file; `None` if the path of the reader or writer is unknown.
        path: Option<PathBuf>,
        /// The system's error.
        source: io::Error,
    },
    /// A JSON error. No function of this crate returns it; it lets a program that reads JSON use `?`.
    #[cfg(feature = "read")]
    #[error("JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Statemap data breaks a rule of its format.
    #[cfg(feature = "read")]
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Io { path: None, source }
    }
}

/// Returns the prefix of a message about a file: its path and a colon.
fn file_prefix(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!("{}: ", clean(&path.display().to_string())))
}

/// The error if a `tokio::task::Id` can't be read as the number that it displays, so that tasks
/// can't be identified.
///
/// This does not happen with the tested versions of Tokio; see
/// [`check_casts`](crate::check_casts).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tokio::task::Id can't be read as a u64: this version of Tokio isn't supported by this version \
     of tokio-statemap"
)]
#[non_exhaustive]
pub struct InvalidCasts;

/// The error if statemap data can't be read or breaks a rule of its format.
#[cfg(feature = "read")]
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// The line, from 1.
    pub line: u64,
    /// The offset in bytes from the start of the data, from 0.
    pub byte: u64,
    /// The problem, and what would be valid. Quoted data is shortened, and control and other
    /// invisible characters in it are escaped.
    pub problem: String,
    pub(crate) source: Option<io::Error>,
}

#[cfg(feature = "read")]
impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, byte {}: {}", self.line, self.byte, self.problem)
    }
}

#[cfg(feature = "read")]
impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
