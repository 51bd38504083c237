//! The environment variables, for a program that is already built.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Once, OnceLock};

use crate::choices::BlackBox;
use crate::util::message::warn;
use crate::util::privileges::refuse_to_record;

/// Returns `true` if the program is to be recorded: by `TOKIO_STATEMAP`, or else by `default`, and never if it is
/// set-uid.
pub(super) fn is_on(default: bool) -> bool {
    const NAME: &str = "TOKIO_STATEMAP";
    let is_on = env::var_os(NAME).map_or(default, |value| is_on_by(NAME, &value, default));
    is_on && !refuse_to_record()
}

/// Returns what this value of the variable says, or else `default`.
fn is_on_by(name: &str, value: &OsStr, default: bool) -> bool {
    let text = value.to_str();
    match text.and_then(switch) {
        Some(is_on) => is_on,
        None if text.is_some_and(|text| text.trim().is_empty()) => default,
        None => {
            warn(format_args!(
                "{name}={value:?} is ignored: it can be 0, off, false or no, or 1, on, true or yes"
            ));
            default
        }
    }
}

/// Returns whether a word turns something on or off; `None` if it is another word.
fn switch(value: &str) -> Option<bool> {
    let is_one_of =
        |words: [&str; 4]| words.iter().any(|word| value.trim().eq_ignore_ascii_case(word));
    if is_one_of(["0", "off", "false", "no"]) {
        return Some(false);
    }
    is_one_of(["1", "on", "true", "yes"]).then_some(true)
}

/// Returns `true` if `value` is a word for what is turned off.
pub(super) fn is_off(value: &str) -> bool {
    switch(value) == Some(false)
}

/// Returns the value of a variable, unless it isn't set or empty.
pub(super) fn text(name: &str) -> Option<String> {
    let value = env::var_os(name).filter(|value| !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// Returns the folder for relative paths, from `TOKIO_STATEMAP_DIR`.
pub(super) fn folder() -> Option<PathBuf> {
    env::var_os("TOKIO_STATEMAP_DIR").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Returns whether there is a black box, and where: by `TOKIO_STATEMAP_BOX`, or else by `default`.
pub(super) fn black_box(default: BlackBox) -> BlackBox {
    const NAME: &str = "TOKIO_STATEMAP_BOX";
    let Some(value) = env::var_os(NAME).filter(|value| !value.is_empty()) else { return default };
    if !cfg!(has_black_box) {
        static WARNED: Once = Once::new();
        WARNED.call_once(|| {
            warn(format_args!(
                "{NAME} is ignored: the program was built without the feature `black-box`, or for another system than \
                 Linux on x86-64 or aarch64"
            ));
        });
        return default;
    }
    match value.to_str().and_then(switch) {
        Some(is_on) => is_on.into(),
        None => BlackBox::Folder(value.into()),
    }
}

/// Returns the folder of the program's package, if `cargo run` or `cargo test` runs the program.
pub(super) fn package() -> Option<&'static str> {
    static PACKAGE: OnceLock<Option<String>> = OnceLock::new();
    PACKAGE.get_or_init(|| env::var("CARGO_MANIFEST_DIR").ok()).as_deref()
}
