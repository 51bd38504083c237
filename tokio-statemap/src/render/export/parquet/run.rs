//! The runs: one row for each.

use std::io;

use super::table::{Cell, Column, Kind, Table};
use crate::recorder::lost::Lost;
use crate::render::export::Run;

pub(super) const COLUMNS: &[Column] = &[
    ("run", Kind::Text),
    ("title", Kind::Text),
    ("bin", Kind::Text),
    ("version", Kind::Text),
    ("host", Kind::Text),
    ("runtime", Kind::Text),
    ("start", Kind::Moment),
    ("begin_ns", Kind::Number),
    ("end_ns", Kind::Number),
    ("recorded_ns", Kind::Number),
    ("detail_ns", Kind::Number),
    ("long_poll_ns", Kind::Number),
    ("workers", Kind::Number),
    ("tasks", Kind::Number),
    ("polls", Kind::Number),
    ("verdict", Kind::Text),
    ("run_delay_ns", Kind::Number),
    ("stolen_ns", Kind::Number),
    ("dropped_events", Kind::Number),
    ("lost_events", Kind::Number),
];

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    let (timeline, report) = (run.timeline, &run.report);
    let verdict = report.verdict.to_string();
    let start_us = u64::try_from(timeline.utc_at_zero.as_micros()).unwrap_or(u64::MAX);
    let long_poll_ns = u64::try_from(timeline.settings.long_poll.as_nanos()).unwrap_or(u64::MAX);
    let lost = Lost { dropped_events: 0, ..timeline.lost };
    table.row(&[
        Cell::Text(Some(id)),
        Cell::Text(Some(run.title)),
        Cell::Text(Some(&run.labels.title)),
        Cell::Text(timeline.version.as_deref()),
        Cell::Text(run.labels.host.as_deref()),
        Cell::Text(timeline.runtime.as_deref()),
        Cell::Number(Some(start_us)),
        Cell::Number(Some(timeline.begin_ns)),
        Cell::Number(Some(timeline.end_ns)),
        Cell::Number(Some(report.recording.recorded_ns)),
        Cell::Number(Some(report.recording.kept_ns())),
        Cell::Number(Some(long_poll_ns)),
        Cell::Number((!timeline.lacking.workers).then_some(report.workers.len() as u64)),
        Cell::Number((!timeline.lacking.tasks).then_some(report.counts.tasks)),
        Cell::Number((!timeline.lacking.tasks).then_some(report.counts.polls)),
        Cell::Text(Some(&verdict)),
        Cell::Number(Some(timeline.machine.run_delay_ns)),
        Cell::Number(Some(timeline.machine.stolen_ns)),
        Cell::Number(Some(timeline.lost.dropped_events)),
        Cell::Number(Some(lost.total())),
    ])
}
