//! The table of lines at which tasks waited.

use super::layout::{table, wrap};
use crate::analysis::{Report, WaitRow};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_sum};

/// The most lines that are listed.
const ROWS: usize = 5;

impl Report {
    /// Lists the lines at which tasks waited, by the total time.
    pub(super) fn waits_lines(&self) -> Vec<String> {
        let waits = &self.waits;
        let notes: Vec<_> = waits.notes().iter().map(|note| wrap(note)).collect();
        let notes = notes.concat();
        if waits.lines.is_empty() {
            let mut lines = Vec::new();
            if waits.unnamed > 0 {
                lines.push(String::new());
            }
            lines.extend(notes);
            return lines;
        }
        let heads = ["where, and for what", "times", "total", "longest", "p50", "p99", "now"];
        let mut cells = Vec::new();
        let listed = &waits.lines[..waits.lines.len().min(ROWS)];
        for row in listed {
            cells.push(clean(&row.label()).into_owned());
            cells.push(row.times.to_string());
            cells.push(human_sum(row.total_ns));
            cells.push(human(row.longest_ns));
            cells.push(human(row.p50_ns));
            cells.push(human(row.p99_ns));
            cells.push(row.now.to_string());
        }
        let title = "Where tasks waited (now: how many waited there at the end):";
        let mut lines = vec![String::new(), title.to_owned()];
        lines.extend(table(&heads, &cells, false));
        let more = waits.lines.len().saturating_sub(ROWS);
        if more > 0 {
            lines.push(format!("… and {}", count(more as u64, "more line")));
        }
        for row in listed {
            lines.extend(held(row));
        }
        lines.extend(notes);
        lines
    }
}

/// Describes where the holder of a lock waited meanwhile.
fn held(row: &WaitRow) -> Vec<String> {
    let Some(holder) = &row.holder else { return Vec::new() };
    wrap(&holder.sentence(Some(&row.label())))
}
