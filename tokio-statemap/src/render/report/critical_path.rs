//! The table of what the length of the program depended on.

use super::layout::{table, wrap};
use crate::analysis::{CriticalPath, PathState, Report};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, percent, share};

/// The most parts that are listed.
const ROWS: usize = 6;

/// A part with less than this share is not listed.
const LEAST: f64 = 0.01;

impl Report {
    /// Lists what the length of `main` depended on.
    pub(super) fn critical_path_lines(&self) -> Vec<String> {
        let Some(path) = &self.critical_path else { return Vec::new() };
        let CriticalPath { task, length_ns, tasks, parts, .. } = path;
        let share_of = |ns| share(ns, *length_ns).unwrap_or_default();
        let heads = ["where, or spawned at", "state", "total", "share", "times", "longest", "in"];
        let mut cells = Vec::new();
        let mut rest_ns = *length_ns;
        for (nth, part) in parts.iter().enumerate() {
            let is_listed = nth == 0 || share_of(part.total_ns) >= LEAST;
            if nth == ROWS || !is_listed {
                break;
            }
            rest_ns -= part.total_ns;
            let place = match part.state {
                PathState::Unknown => "not known",
                _ => &part.place,
            };
            cells.push(clean(place).into_owned());
            cells.push(part.state.to_string());
            cells.push(human(part.total_ns));
            cells.push(percent(share_of(part.total_ns)));
            cells.push(part.times.to_string());
            cells.push(human(part.longest_ns));
            cells.push(part.longest_task.to_string());
        }
        if rest_ns > 0 {
            for cell in
                ["all others", "-", &human(rest_ns), &percent(share_of(rest_ns)), "-", "-", "-"]
            {
                cells.push(cell.to_owned());
            }
        }
        let mut lines = vec![String::new()];
        lines.extend(wrap(&format!(
            "What the length of {task} depended on, {}: its critical path, which led through {}.",
            human(*length_ns),
            count(*tasks, "task"),
        )));
        lines.extend(table(&heads, &cells, false));
        lines
    }
}
