//! CSV, with one row for each poll.

mod field;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Write};

use super::Run;
use super::rows::{POLL_COLUMNS, for_each_poll};
use field::Line;

/// Returns the names of the columns: after the run come its runtime and host.
fn columns() -> impl Iterator<Item = &'static str> {
    let [(run, _), rest @ ..] = POLL_COLUMNS;
    [run, "runtime", "host"].into_iter().chain(rest.map(|(name, _)| name))
}

/// Writes every poll of the runs according to RFC 4180: with a header, lines that end with CR LF, and quotes around
/// fields that need them. Values that aren't known are empty.
///
/// Invisible characters in names are escaped, and a text that a spreadsheet would take for a formula is preceded by
/// `'`.
///
/// # Errors
///
/// If `w` fails.
pub fn write(runs: &[&Run<'_>], w: impl Write) -> io::Result<()> {
    let mut w = BufWriter::with_capacity(1 << 16, w);
    let mut line = Line::default();
    columns().for_each(|name| line.text(name));
    line.write(&mut w)?;
    for run in runs {
        let (runtime, host) = (run.timeline.runtime.as_deref(), run.labels.host.as_deref());
        for_each_poll(run, |row| {
            for text in [Some(run.title), runtime, host] {
                line.text(text.unwrap_or_default());
            }
            row.cells("", |cells| cells[1..].iter().for_each(|&cell| line.cell(cell)));
            line.write(&mut w)
        })?;
    }
    w.flush()
}
