//! The tasks: one row for each.

use std::borrow::Cow;
use std::io;

use super::table::{Cell, Column, Kind, Table};
use crate::analysis::polls::Polls;
use crate::render::export::Run;

pub(super) const COLUMNS: &[Column] = &[
    ("run", Kind::Text),
    ("task", Kind::Text),
    ("name", Kind::Text),
    ("spawn_location", Kind::Text),
    ("parent", Kind::Text),
    ("first_ns", Kind::Number),
    ("spawned_ns", Kind::Number),
    ("ended_ns", Kind::Number),
    ("state", Kind::Text),
    ("polls", Kind::Number),
    ("held_ns", Kind::Number),
    ("longest_poll_ns", Kind::Number),
    ("ready_ns", Kind::Number),
];

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    let timeline = run.timeline;
    let polls = Polls::new(timeline, &run.report);
    let mut seen = 0;
    for task in timeline.tasks.one_by_one() {
        let (mut held_ns, mut longest_ns, mut ready_ns) = (0_u64, None, None);
        if let Cow::Borrowed(task) = &task {
            for i in 0..task.polls.len() {
                let facts = polls.facts(seen, i);
                held_ns = held_ns.saturating_add(facts.held_ns);
                longest_ns = longest_ns.max(Some(facts.own_ns));
                if let Some(ns) = facts.ready_ns {
                    ready_ns = Some(ready_ns.unwrap_or(0_u64).saturating_add(ns));
                }
            }
            seen += 1;
        }
        let state = timeline.transitions(&task).last().map(|(_, state)| state.name());
        let place = run.report.place_of(&task).to_string();
        table.row(&[
            Cell::Text(Some(id)),
            Cell::Text(Some(&task.key.to_string())),
            Cell::Text(task.name.as_deref()),
            Cell::Text(Some(&place)),
            Cell::Text(task.parent.map(|parent| parent.to_string()).as_deref()),
            Cell::Number(Some(task.first_ns)),
            Cell::Number(task.spawned_ns),
            Cell::Number(task.terminated_ns),
            Cell::Text(state),
            Cell::Number(Some(task.polls.len() as u64)),
            Cell::Number(Some(held_ns)),
            Cell::Number(longest_ns),
            Cell::Number(ready_ns),
        ])?;
    }
    Ok(())
}
