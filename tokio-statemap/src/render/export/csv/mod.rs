//! A row a poll, as CSV.

mod field;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Write};

use super::rows::{PollRow, for_each_poll};
use super::{Run, text};
use crate::util::clean::clean;
use field::Line;

/// The columns: times in ns, those of `start_ns` since the start of recording, as in the report.
pub(super) const COLUMNS: [&str; 26] = [
    "run",
    "runtime",
    "host",
    "task",
    "name",
    "spawn_location",
    "worker",
    "thread",
    "start_ns",
    "length_ns",
    "held_ns",
    "ready_ns",
    "is_running",
    "is_cut",
    "own_ns",
    "on_cpu_ns",
    "blocked_ns",
    "run_delay_ns",
    "stolen_ns",
    "unknown_ns",
    "major_faults",
    "is_excused",
    "blamed_function",
    "blamed_file",
    "blamed_line",
    "blamed_act",
];

/// Writes every poll of the runs, as RFC 4180 has it: with a header, lines that end with CR LF, and quotes around what
/// needs them. What isn't known is empty.
///
/// What is invisible in names is escaped, and a text that a spreadsheet would take for a formula has a `'` in front.
///
/// # Errors
///
/// If `w` fails.
pub fn write(runs: &[&Run<'_>], w: impl Write) -> io::Result<()> {
    let mut w = BufWriter::with_capacity(1 << 16, w);
    let mut line = Line::default();
    COLUMNS.iter().for_each(|name| line.text(name));
    line.write(&mut w)?;
    for run in runs {
        let [title, runtime, host] =
            [Some(run.title), run.timeline.runtime.as_deref(), run.labels.host.as_deref()]
                .map(|text| clean(text.unwrap_or_default()).into_owned());
        for_each_poll(run, |row| {
            line.text(&title);
            line.text(&runtime);
            line.text(&host);
            poll(row, &mut line);
            line.write(&mut w)
        })?;
    }
    w.flush()
}

fn poll(row: &PollRow<'_>, line: &mut Line) {
    let PollRow { task, spawn_location, poll, facts, .. } = row;
    line.text(&task.key.to_string());
    line.text(&clean(task.name.as_deref().unwrap_or_default()));
    line.text(spawn_location);
    line.number(poll.worker().map(u64::from));
    line.number(Some(poll.thread().into()));
    line.number(Some(poll.start_ns()));
    line.number(Some(row.length_ns));
    line.number(Some(facts.held_ns));
    line.number(facts.ready_ns);
    line.bool(poll.end_ns().is_none());
    line.bool(poll.is_cut_left() || poll.is_cut_right());
    line.number(Some(facts.own_ns));
    let cause = facts.cause.as_ref();
    line.number(cause.map(|cause| cause.on_cpu_ns));
    line.number(cause.map(|cause| cause.blocked_ns));
    line.number(cause.map(|cause| cause.run_delay_ns));
    line.number(cause.map(|cause| cause.stolen_ns));
    line.number(cause.map(|cause| cause.unknown_ns));
    line.number(cause.map(|cause| cause.major_faults));
    line.bool(facts.is_excused);
    let frame = facts.blame.as_ref().and_then(|blame| blame.frame.as_ref());
    line.text(&frame.map(text::function).unwrap_or_default());
    line.text(&frame.and_then(text::file).unwrap_or_default());
    line.number(frame.and_then(|frame| frame.line).map(u64::from));
    line.text(&facts.blame.as_ref().map(|blame| clean(&blame.act)).unwrap_or_default());
}
