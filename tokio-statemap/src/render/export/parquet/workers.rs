//! The workers: one row for each.

use std::collections::HashMap;
use std::io;

use super::table::{Cell, Column, Kind, Table};
use crate::render::export::Run;

pub(super) const COLUMNS: &[Column] = &[
    ("run", Kind::Text),
    ("worker", Kind::Number),
    ("running_ns", Kind::Number),
    ("parked_ns", Kind::Number),
    ("parks", Kind::Number),
    ("polls", Kind::Number),
    ("held_ns", Kind::Number),
];

pub(super) fn write(run: &Run<'_>, id: &str, table: &mut Table<'_>) -> io::Result<()> {
    let timeline = run.timeline;
    // The number of polls of each worker, and how long they held it, in what is kept in detail.
    let mut of_polls: HashMap<u32, (u64, u64)> = HashMap::new();
    for poll in timeline.tasks.seen().iter().flat_map(|task| &task.polls) {
        let Some(worker) = poll.worker() else { continue };
        let (polls, held_ns) = of_polls.entry(worker).or_default();
        *polls += 1;
        *held_ns = held_ns.saturating_add(timeline.held_ns(poll));
    }
    // If only a part is kept, the report's workers are those of the whole run.
    let sums = run.report.recording.detail_ns.and_then(|_| timeline.whole_run());
    for worker in &run.report.workers {
        let mut known = of_polls.get(&worker.index).copied().unwrap_or_default();
        let mut summed = sums.into_iter().flat_map(|sums| &sums.workers);
        if let Some(sum) = summed.find(|of| of.index == worker.index) {
            known.0 = sum.polls;
        }
        let known = (!timeline.lacking.tasks).then_some(known);
        table.row(&[
            Cell::Text(Some(id)),
            Cell::Number(Some(worker.index.into())),
            Cell::Number(Some(worker.running_ns)),
            Cell::Number(Some(worker.parked_ns)),
            Cell::Number(Some(worker.parks)),
            Cell::Number(known.map(|(polls, _)| polls)),
            Cell::Number(known.map(|(_, held_ns)| held_ns)),
        ])?;
    }
    Ok(())
}
