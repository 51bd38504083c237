//! The environment variables, for a program that is already built.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::util::message::warn;
use crate::util::privileges::refuse_to_record;

/// Returns `true` if the program is to be recorded: not if it is set-uid, or if `TOKIO_STATEMAP` is `0`, `off`, `false`
/// or `no`.
pub(super) fn is_on() -> bool {
    const NAME: &str = "TOKIO_STATEMAP";
    let is_on = env::var_os(NAME).is_none_or(|value| is_on_by(NAME, &value));
    is_on && !refuse_to_record()
}

/// Returns `true` unless this value of the variable turns recording off.
fn is_on_by(name: &str, value: &OsStr) -> bool {
    let word = value.to_str().map(|text| text.trim().to_ascii_lowercase());
    match word.as_deref() {
        Some("0" | "off" | "false" | "no") => false,
        Some("" | "1" | "on" | "true" | "yes") => true,
        _ => {
            warn(format_args!(
                "{name}={value:?} is ignored: it can be 0, off, false or no, or 1, on, true or yes"
            ));
            true
        }
    }
}

/// Returns the folder for relative paths, from `TOKIO_STATEMAP_DIR`.
pub(super) fn folder() -> Option<PathBuf> {
    env::var_os("TOKIO_STATEMAP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
}
