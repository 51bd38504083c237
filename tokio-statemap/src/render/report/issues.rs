//! The issues as a table, if there are several.

use std::ops::RangeInclusive;

use super::layout::table;
use super::run::{NOT_KEPT, delayed};
use crate::analysis::{Issue, Report, function_name};
use crate::util::quantity::{count, human};

/// The number of issues that are listed: at least these, whatever else there is to say.
const LISTED: RangeInclusive<usize> = 3..=6;

impl Report {
    /// Lists the issues in their order, unless the verdict covers them all.
    pub(super) fn issue_lines(&self, room: usize) -> Vec<String> {
        // Other lines: a blank line, the title, the head of the table, "more".
        let listed = room.saturating_sub(4).clamp(*LISTED.start(), *LISTED.end());
        let issues = self.issues();
        if issues.len() < 2 {
            return Vec::new();
        }
        let (listed, more) = issues.split_at(listed.min(issues.len()));
        let heads = ["where, or spawned at", "issue", "number", "time", "delayed"];
        let mut cells = Vec::new();
        for issue in listed {
            add_cells(issue, &mut cells);
        }
        let title = match self.recording.detail_ns {
            Some(_) => {
                "Issues, the worst of the whole run first (numbers: of what is kept in detail):"
            }
            None => "Issues, the worst first:",
        };
        let mut lines = vec![String::new(), title.to_owned()];
        lines.extend(table(&heads, &cells, false));
        if !more.is_empty() {
            lines.push(format!("… and {} more", more.len()));
        }
        lines
    }
}

fn add_cells(issue: &Issue, cells: &mut Vec<String>) {
    let (kind, evidence) = (issue.explanation(), issue.evidence());
    let place = evidence.place.map(|place| place.to_string());
    cells.push(evidence.frame.map(function_name).or(place).unwrap_or_else(|| "-".to_owned()));
    cells.push(kind.name.to_owned());
    cells.push(count(evidence.number, kind.noun));
    cells.push(human(evidence.total_ns));
    cells.push(match evidence.delay {
        Some(delay) => delayed(delay),
        None if evidence.is_dropped => NOT_KEPT.to_owned(),
        None => "-".to_owned(),
    });
}
