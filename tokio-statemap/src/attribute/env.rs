//! The environment variables, for a program that is already built.
//!
//! They are ignored in a set-uid program: the caller chooses its environment.

use std::env;
use std::path::PathBuf;

use crate::util::message::warn;

/// Whether the program is to be recorded: not if `TOKIO_STATEMAP` is `0`, `off`, `false` or `no`.
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
            warn(format_args!(
                "{NAME}={value:?} is ignored: it can be 0, off, false or no, or 1, on, true or yes"
            ));
            true
        }
    }
}

/// The folder for relative paths: `TOKIO_STATEMAP_DIR`.
pub(super) fn folder() -> Option<PathBuf> {
    if is_secure() {
        return None;
    }
    env::var_os("TOKIO_STATEMAP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Whether the program has privileges that its caller lacks.
#[cfg(unix)]
pub(super) fn is_secure() -> bool {
    crate::sys::secure::is_secure()
}

#[cfg(not(unix))]
pub(super) fn is_secure() -> bool {
    false
}
