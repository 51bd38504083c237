//! The requests: one row for each kind of span of `tracing`.

use std::io;

use super::table::{Cell, Column, Kind, Table};
use crate::render::export::Run;

pub(super) const COLUMNS: &[Column] = &[
    ("run", Kind::Text),
    ("name", Kind::Text),
    ("fields", Kind::Text),
    ("target", Kind::Text),
    ("count", Kind::Number),
    ("mean_ns", Kind::Number),
    ("p50_ns", Kind::Number),
    ("p90_ns", Kind::Number),
    ("p99_ns", Kind::Number),
    ("longest_ns", Kind::Number),
    ("total_ns", Kind::Number),
    ("running_ns", Kind::Number),
    ("own_ns", Kind::Number),
    ("detail_spans", Kind::Number),
    ("detail_ns", Kind::Number),
    ("detail_running_ns", Kind::Number),
    ("detail_ready_ns", Kind::Number),
    ("detail_waiting_ns", Kind::Number),
    ("detail_elsewhere_ns", Kind::Number),
    ("detail_unknown_ns", Kind::Number),
];

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    for request in &run.timeline.requests().rows {
        let (times, parts) = (request.times, &request.parts);
        let fields = (!request.fields.is_empty()).then_some(&*request.fields);
        let texts = [Some(id), Some(&*request.name), fields, Some(&*request.target)];
        let numbers = [
            request.count,
            times.mean_ns,
            times.p50_ns,
            times.p90_ns,
            times.p99_ns,
            times.longest_ns,
            request.total_ns,
            request.running_ns,
            request.own_ns,
            parts.spans,
            parts.length_ns,
            parts.running_ns,
            parts.ready_ns,
            parts.waiting_ns,
            parts.elsewhere_ns,
            parts.unknown_ns,
        ];
        let numbers = numbers.map(|number| Cell::Number(Some(number)));
        let cells: Vec<_> = texts.map(Cell::Text).into_iter().chain(numbers).collect();
        table.row(&cells)?;
    }
    Ok(())
}
