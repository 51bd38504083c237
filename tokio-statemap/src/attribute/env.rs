//! The environment, for a program that is already built.
//!
//! Whoever starts a set-uid program chooses its environment, so there none of it counts.

use std::env;
use std::path::PathBuf;

use crate::util::message::say;

/// Whether the program is to be recorded: unless `TOKIO_STATEMAP` is `0`, or a word for it.
pub(super) fn is_on() -> bool {
    const NAME: &str = "TOKIO_STATEMAP";
    if is_secure() {
        return true;
    }
    let Some(value) = env::var_os(NAME) else { return true };
    let word = value.to_str().map(|text| text.trim().to_ascii_lowercase());
    match word.as_deref() {
        Some("0" | "off" | "false" | "no") => false,
        Some("" | "1" | "on" | "true" | "yes") => true,
        _ => {
            say(format_args!(
                "{NAME}={value:?} is ignored: it can be 0, off, false or no, or 1, on, true or yes"
            ));
            true
        }
    }
}

/// The folder that relative paths are in: `TOKIO_STATEMAP_DIR`.
pub(super) fn folder() -> Option<PathBuf> {
    if is_secure() {
        return None;
    }
    env::var_os("TOKIO_STATEMAP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether the program has rights that its caller lacks.
#[cfg(unix)]
pub(super) fn is_secure() -> bool {
    crate::sys::secure::is_secure()
}

#[cfg(not(unix))]
pub(super) fn is_secure() -> bool {
    false
}
