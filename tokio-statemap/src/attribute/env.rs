//! The environment variables, for a program that is already built.

use std::env;
use std::path::PathBuf;

use crate::util::message::warn;
use crate::util::privileges::refuse_to_record;

/// Returns `true` if the program is to be recorded: not if it is set-uid, or if `TOKIO_STATEMAP` is `0`, `off`, `false`
/// or `no`.
pub(super) fn is_on() -> bool {
    const NAME: &str = "TOKIO_STATEMAP";
    if refuse_to_record() {
        return false;
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

/// Returns the folder for relative paths, from `TOKIO_STATEMAP_DIR`.
pub(super) fn folder() -> Option<PathBuf> {
    env::var_os("TOKIO_STATEMAP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
}
