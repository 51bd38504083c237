//! Messages of our own to the user, on stderr.

use std::fmt::Arguments;
use std::io::Write;

/// Says one line.
pub(crate) fn say(line: Arguments<'_>) {
    print(format_args!("tokio-statemap: {line}\n"));
}

/// Prints `text` in one write, so that other threads' lines don't come between. Unlike `eprint!`
/// it doesn't panic where stderr is closed or full.
pub(crate) fn print(text: Arguments<'_>) {
    let _ = std::io::stderr().write_all(text.to_string().as_bytes());
}
