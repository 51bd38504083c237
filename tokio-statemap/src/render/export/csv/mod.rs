//! CSV, with one row for each poll, or for each kind of span of `tracing`.
//!
//! It follows RFC 4180: with a header, lines that end with CR LF, and quotes around fields that need them. Values that aren't known are
//! empty. Invisible characters in names are escaped, and a text that a spreadsheet would take for a formula is preceded by `'`.

mod field;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Write};

use super::Run;
use super::requests::{REQUEST_COLUMNS, for_each_request};
use super::rows::{Cell, Column, POLL_COLUMNS, for_each_poll};
use field::Line;

/// Writes every poll of the runs.
///
/// # Errors
///
/// If `w` fails.
pub fn write_polls(runs: &[&Run<'_>], w: impl Write) -> io::Result<()> {
    write(runs, &POLL_COLUMNS, w, |run, line| {
        for_each_poll(run, |row| row.cells("", |cells| line(cells)))
    })
}

/// Writes every kind of span of `tracing` of the runs.
///
/// # Errors
///
/// If `w` fails.
pub fn write_requests(runs: &[&Run<'_>], w: impl Write) -> io::Result<()> {
    write(runs, &REQUEST_COLUMNS, w, |run, line| for_each_request(run, "", line))
}

/// Returns the names of the columns: after the run come its runtime and host.
fn columns(columns: &[Column]) -> impl Iterator<Item = &'static str> {
    let rest = columns.iter().skip(1).map(|&(name, _)| name);
    ["run", "runtime", "host"].into_iter().chain(rest)
}

/// Writes the header, and the rows of each run. `rows` calls its second argument with the cells of each row. The first cell is left
/// out: the run stands there.
fn write(
    runs: &[&Run<'_>],
    of: &[Column],
    w: impl Write,
    rows: impl Fn(&Run<'_>, &mut dyn FnMut(&[Cell<'_>]) -> io::Result<()>) -> io::Result<()>,
) -> io::Result<()> {
    let mut w = BufWriter::with_capacity(1 << 16, w);
    let mut line = Line::default();
    columns(of).for_each(|name| line.text(name));
    line.write(&mut w)?;
    for run in runs {
        let (runtime, host) = (run.timeline.runtime.as_deref(), run.labels.host.as_deref());
        rows(run, &mut |cells| {
            for text in [Some(run.title), runtime, host] {
                line.text(text.unwrap_or_default());
            }
            cells.iter().skip(1).for_each(|&cell| line.cell(cell));
            line.write(&mut w)
        })?;
    }
    w.flush()
}
