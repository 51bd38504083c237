//! The polls: a row each.

use std::io;

use super::table::{Cell, Column, Kind, Table};
use crate::render::export::rows::for_each_poll;
use crate::render::export::{Run, text};

pub(super) const COLUMNS: &[Column] = &[
    ("run", Kind::Text),
    ("task", Kind::Text),
    ("name", Kind::Text),
    ("spawn_location", Kind::Text),
    ("worker", Kind::Number),
    ("thread", Kind::Number),
    ("start_ns", Kind::Number),
    ("length_ns", Kind::Number),
    ("held_ns", Kind::Number),
    ("ready_ns", Kind::Number),
    ("is_running", Kind::Bool),
    ("is_cut", Kind::Bool),
    ("own_ns", Kind::Number),
    ("on_cpu_ns", Kind::Number),
    ("blocked_ns", Kind::Number),
    ("run_delay_ns", Kind::Number),
    ("stolen_ns", Kind::Number),
    ("unknown_ns", Kind::Number),
    ("major_faults", Kind::Number),
    ("is_excused", Kind::Bool),
    ("blamed_function", Kind::Text),
    ("blamed_file", Kind::Text),
    ("blamed_line", Kind::Number),
    ("blamed_act", Kind::Text),
];

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    for_each_poll(run, |row| {
        let (poll, facts) = (row.poll, &row.facts);
        let cause = facts.cause.as_ref();
        let frame = facts.blame.as_ref().and_then(|blame| blame.frame.as_ref());
        let act = facts.blame.as_ref().map(|blame| blame.act.as_str());
        let function = frame.map(text::function);
        let file = frame.and_then(text::file);
        table.row(&[
            Cell::Text(Some(id)),
            Cell::Text(Some(&row.task.key.to_string())),
            Cell::Text(row.task.name.as_deref()),
            Cell::Text(Some(row.spawn_location)),
            Cell::Number(poll.worker().map(u64::from)),
            Cell::Number(Some(poll.thread().into())),
            Cell::Number(Some(poll.start_ns())),
            Cell::Number(Some(row.length_ns)),
            Cell::Number(Some(facts.held_ns)),
            Cell::Number(facts.ready_ns),
            Cell::Bool(poll.end_ns().is_none()),
            Cell::Bool(poll.is_cut_left() || poll.is_cut_right()),
            Cell::Number(Some(facts.own_ns)),
            Cell::Number(cause.map(|cause| cause.on_cpu_ns)),
            Cell::Number(cause.map(|cause| cause.blocked_ns)),
            Cell::Number(cause.map(|cause| cause.run_delay_ns)),
            Cell::Number(cause.map(|cause| cause.stolen_ns)),
            Cell::Number(cause.map(|cause| cause.unknown_ns)),
            Cell::Number(cause.map(|cause| cause.major_faults)),
            Cell::Bool(facts.is_excused),
            Cell::Text(function.as_deref()),
            Cell::Text(file.as_deref()),
            Cell::Number(frame.and_then(|frame| frame.line).map(u64::from)),
            Cell::Text(act.filter(|act| !act.is_empty())),
        ])
    })
}
