//! The requests of a run, as the tables have them: one row for each kind of span of `tracing`.

use std::io;

use super::Run;
use super::rows::{Cell, Column, Kind};

/// The columns of a table of requests. Times are in ns.
pub(super) const REQUEST_COLUMNS: [Column; 20] = [
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

/// Calls `each` with the cells of [`REQUEST_COLUMNS`] of each kind of span. The first is `id`.
pub(super) fn for_each_request(
    run: &Run<'_>,
    id: &str,
    mut each: impl FnMut(&[Cell<'_>]) -> io::Result<()>,
) -> io::Result<()> {
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
        each(&cells)?;
    }
    Ok(())
}
