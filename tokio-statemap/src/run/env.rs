//! The environment, for a program that is already built.

use std::env::{self, VarError};
use std::path::PathBuf;

use crate::message::say;

/// Whether the program is to be recorded: unless `TOKIO_STATEMAP` is `0`.
pub(super) fn is_on() -> bool {
    const NAME: &str = "TOKIO_STATEMAP";
    match env::var(NAME) {
        Err(VarError::NotPresent) => true,
        Ok(value) if value == "0" => false,
        Ok(value) if value == "1" || value.is_empty() => true,
        Ok(value) => {
            say(format_args!("{NAME}={value:?} is ignored: it can be 0 (off) or 1 (on)"));
            true
        }
        Err(VarError::NotUnicode(value)) => {
            say(format_args!("{NAME}={value:?} is ignored: it can be 0 (off) or 1 (on)"));
            true
        }
    }
}

/// The folder that relative paths are in: `TOKIO_STATEMAP_DIR`.
pub(super) fn folder() -> Option<PathBuf> {
    env::var_os("TOKIO_STATEMAP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
}
