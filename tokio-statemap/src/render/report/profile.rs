//! The text of a profile: the whole table, and the part that a report shows.

use std::fmt;

use super::layout::{cells_and_widths, table};
use crate::trace::profile::{Ended, FunctionProfile, PerCall, Profile};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, percent};
use crate::util::source_path::shown;

/// Selects one of the times of a call.
type TimesOf = fn(&Ended) -> PerCall;

/// The least and the most functions that a report lists.
pub(super) const FUNCTIONS: std::ops::RangeInclusive<usize> = 5..=20;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.functions.is_empty() {
            f.write_str("No call of an instrumented async function is known.")?;
            return self.uncounted().map_or(Ok(()), |line| write!(f, "\n{line}"));
        }
        let workers = count(self.workers, "worker");
        writeln!(f, "Async functions in {} on {workers}:", human(self.recorded_ns))?;
        let heads = ["calls", "running", "cancelled", "polls", "own", "share", "total", "function"];
        let mut rows = Vec::new();
        for function in &self.functions {
            rows.push([
                function.calls.to_string(),
                function.running().to_string(),
                function.cancelled.to_string(),
                function.polls.to_string(),
                human(function.own_ns),
                self.share(function),
                human(function.total_ns),
                full_name(function),
            ]);
        }
        f.write_str(&aligned(&heads, &rows))?;
        let kinds: [(&str, TimesOf); 3] = [
            ("How long a call was polled, with what it called:", |ended| ended.total),
            ("How long a call was polled, without what it called:", |ended| ended.own),
            ("How long a call waited, from its first poll to its end:", |ended| ended.waiting),
        ];
        for (title, of) in kinds {
            write!(f, "\n\n{title}\n")?;
            let heads = ["mean", "p50", "p90", "p99", "longest", "function"];
            let mut rows = Vec::new();
            for function in &self.functions {
                let Some(ended) = &function.ended else { continue };
                let PerCall { mean_ns, p50_ns, p90_ns, p99_ns, longest_ns } = of(ended);
                rows.push([
                    human(mean_ns),
                    human(p50_ns),
                    human(p90_ns),
                    human(p99_ns),
                    human(longest_ns),
                    clean(&function.name).into(),
                ]);
            }
            f.write_str(&aligned(&heads, &rows))?;
        }
        self.uncounted().map_or(Ok(()), |line| write!(f, "\n\n{line}"))
    }
}

impl Profile {
    /// Returns the lines for a report, about `room` of them.
    pub(super) fn lines(&self, room: usize, is_whole_run: bool) -> Vec<String> {
        if self.functions.is_empty() {
            return self.uncounted().into_iter().collect();
        }
        // Besides a blank line, the title, the head of the table, and "more".
        let most = room.saturating_sub(4).clamp(*FUNCTIONS.start(), *FUNCTIONS.end());
        let (listed, more) = self.functions.split_at(most.min(self.functions.len()));
        let heads =
            ["async function", "calls", "own time", "share", "total", "p50", "p99", "waits"];
        let mut cells = Vec::new();
        for function in listed {
            let time = |of: fn(&Ended) -> u64| {
                function.ended.as_ref().map_or_else(|| "-".to_owned(), |ended| human(of(ended)))
            };
            cells.push(clean(&function.name).into());
            cells.push(function.calls.to_string());
            cells.push(human(function.own_ns));
            cells.push(self.share(function));
            cells.push(human(function.total_ns));
            cells.push(time(|ended| ended.total.p50_ns));
            cells.push(time(|ended| ended.total.p99_ns));
            cells.push(time(|ended| ended.waiting.mean_ns));
        }
        let of = if is_whole_run { "" } else { " in the whole run" };
        let mut lines = vec![
            String::new(),
            format!("What async functions took{of} (p50, p99: a call polled; waits: its mean):"),
        ];
        lines.extend(table(&heads, &cells, true));
        if !more.is_empty() {
            lines.push(format!("… and {} more", count(more.len() as u64, "function")));
        }
        lines.extend(self.uncounted());
        lines
    }

    fn share(&self, function: &FunctionProfile) -> String {
        match self.share_of_workers(function.own_ns) {
            Some(share) => percent(share),
            None => "-".to_owned(),
        }
    }

    fn uncounted(&self) -> Option<String> {
        let calls = count(self.uncounted_calls, "call");
        (self.uncounted_calls > 0)
            .then(|| format!("Not counted: {calls} of functions beyond the first 4096."))
    }
}

fn full_name(function: &FunctionProfile) -> String {
    let FunctionProfile { name, file, line, column, .. } = function;
    format!("{} at {}:{line}:{column}", clean(name), clean(&shown(file)))
}

/// Aligns rows below their heads. The last column is left-aligned, without a limit.
pub(super) fn aligned<const N: usize>(heads: &[&str; N], rows: &[[String; N]]) -> String {
    aligned_rows(heads, rows.as_flattened())
}

fn aligned_rows(heads: &[&str], rows: &[String]) -> String {
    let columns = heads.len();
    let (cells, widths) = cells_and_widths(heads, rows, |cell| cell.chars().count());
    let mut text = String::new();
    for (at, cell) in cells.iter().enumerate() {
        let column = at % columns;
        if column == 0 && at > 0 {
            text.push('\n');
        }
        text += &match column + 1 < columns {
            true => format!("{cell:>0$}  ", widths[column]),
            false => (*cell).to_owned(),
        };
    }
    text
}
