//! The waits of tasks: one row for each line of each wait.

use std::io;

use super::table::{Cell, Column, Kind, Table};
use crate::analysis::{for_each_wait, line_of};
use crate::render::export::{Run, text};
use crate::trace::timeline::{Shutdown, WaitId};

pub(super) const COLUMNS: &[Column] = &[
    ("run", Kind::Text),
    ("task", Kind::Text),
    ("name", Kind::Text),
    ("spawn_location", Kind::Text),
    ("start_ns", Kind::Number),
    ("length_ns", Kind::Number),
    ("is_at_end", Kind::Bool),
    ("known", Kind::Text),
    ("branch", Kind::Number),
    ("function", Kind::Text),
    ("file", Kind::Text),
    ("line", Kind::Number),
    ("awaits", Kind::Text),
];

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    let timeline = run.timeline;
    let shutdown = Shutdown::from_timeline(timeline);
    for task in timeline.tasks.one_by_one() {
        let (key, place) = (task.key.to_string(), run.report.place_of(&task).to_string());
        let mut written = Ok(());
        for_each_wait(timeline, &task, shutdown, &mut |wait, from_ns, length_ns, is_at_end| {
            let known = match wait {
                Some(WaitId::NOTHING) => "nothing",
                Some(wait) if timeline.wait(wait).is_some() => "line",
                Some(wait) if timeline.places.unnamed.has(wait) => "unnamed",
                _ => "unknown",
            };
            // Both branches of a `join!` may be on one line.
            let mut lines: Vec<_> = Vec::new();
            for line in wait.and_then(|wait| timeline.wait(wait)).iter().flat_map(|w| w.lines()) {
                let line = Some(line_of(line));
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            if lines.is_empty() {
                lines.push(None);
            }
            for (branch, line) in (0..).zip(lines) {
                let at = line.map(|(at, _)| at);
                let function = at.map(text::function);
                let file = at.and_then(text::file);
                let row = [
                    Cell::Text(Some(id)),
                    Cell::Text(Some(&key)),
                    Cell::Text(task.name.as_deref()),
                    Cell::Text(Some(&place)),
                    Cell::Number(Some(from_ns)),
                    Cell::Number(Some(length_ns)),
                    Cell::Bool(is_at_end),
                    Cell::Text(Some(known)),
                    Cell::Number(Some(branch)),
                    Cell::Text(function.as_deref()),
                    Cell::Text(file.as_deref()),
                    Cell::Number(at.and_then(|at| at.line).map(u64::from)),
                    Cell::Text(line.and_then(|(_, awaits)| awaits)),
                ];
                if written.is_ok() {
                    written = table.row(&row);
                }
            }
        });
        written?;
    }
    Ok(())
}
