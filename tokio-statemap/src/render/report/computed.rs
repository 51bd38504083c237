//! The table of functions in which polls computed.

use super::layout::{keep_right, table};
use crate::analysis::{ComputedIn, Report, function_name};
use crate::trace::timeline::StackFrame;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, percent};

/// The most functions that are listed.
const ROWS: usize = 5;

/// A function with less than this share is not listed.
const LEAST: f64 = 0.01;

/// The most columns of a caller's name.
const MOST_COLUMNS: usize = 24;

impl Report {
    /// Lists the functions in which polls computed, those with the most time first.
    pub(super) fn computed_lines(&self) -> Vec<String> {
        let computed = &self.computed;
        let is_listed = |function: &&ComputedIn| function.share >= LEAST;
        let mut cells = Vec::new();
        for function in computed.functions.iter().filter(is_listed).take(ROWS) {
            cells.push(function_name(&function.frame));
            cells.push(percent(function.share));
            cells.push(function.callers.first().map_or_else(|| "-".to_owned(), caller_name));
        }
        if cells.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![
            String::new(),
            format!(
                "Where polls computed (share of {} of CPU time, {}):",
                human(computed.cpu_ns),
                count(computed.samples, "sample"),
            ),
        ];
        lines.extend(table(&["function", "share", "called from"], &cells, false));
        lines
    }
}

fn caller_name(caller: &StackFrame) -> String {
    keep_right(&clean(&caller.short()), MOST_COLUMNS)
}
