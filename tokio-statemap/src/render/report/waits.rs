//! Where tasks waited.

use super::layout::{table, wrap};
use crate::analysis::{Report, WaitRow, in_package};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_sum};

/// How many lines are listed.
const ROWS: usize = 5;

impl Report {
    /// The lines at which tasks waited, those with the longest waits in sum first.
    pub(super) fn waits_lines(&self) -> Vec<String> {
        let waits = &self.waits;
        if waits.lines.is_empty() {
            return Vec::new();
        }
        let heads = ["where, and for what", "times", "total", "longest", "p50", "p99", "now"];
        let mut cells = vec![heads.map(str::to_owned)];
        let rows = waits.lines.iter().take(ROWS);
        cells.extend(rows.map(|row| {
            [
                place(row),
                row.times.to_string(),
                human_sum(row.total_ns),
                human(row.longest_ns),
                human(row.p50_ns),
                human(row.p99_ns),
                row.now.to_string(),
            ]
        }));
        let title = "Where tasks waited (now: how many waited there at the end):";
        let mut lines = vec![String::new(), title.to_owned()];
        lines.extend(table(&cells, false));
        let more = waits.lines.len().saturating_sub(ROWS);
        if more > 0 {
            lines.push(format!("… and {}", count(more as u64, "more line")));
        }
        if waits.unknown > 0 {
            lines.extend(wrap(&format!(
                "Of {}, {} in all, the line isn't known: of tasks not spawned through tokio_statemap.",
                count(waits.unknown, "wait"),
                human_sum(waits.unknown_ns),
            )));
        }
        lines
    }
}

/// `src/shop.rs:17, Mutex::lock`: the line, or else the function, and what is awaited there.
fn place(row: &WaitRow) -> String {
    let line = match (&row.at.file, row.at.line) {
        (Some(file), Some(line)) => format!("{}:{line}", in_package(file)),
        _ => row.at.short(),
    };
    let awaits = row.awaits.as_deref().map(|awaits| format!(", {}", short(awaits)));
    clean(&format!("{line}{}", awaits.unwrap_or_default())).into_owned()
}

/// The last parts of a path, without types: `Mutex::lock`, `Sleep`.
fn short(path: &str) -> String {
    let mut plain = String::new();
    let mut depth = 0_u32;
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            c if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let mut parts = plain.rsplit("::").filter(|part| !part.is_empty());
    let (last, owner) = (parts.next().unwrap_or_default(), parts.next());
    match owner.filter(|owner| owner.starts_with(char::is_uppercase)) {
        Some(owner) => format!("{owner}::{last}"),
        None => last.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_awaited_has_a_short_name() {
        for (path, name) in [
            ("tokio::sync::mutex::Mutex<T>::lock", "Mutex::lock"),
            ("tokio::time::sleep::Sleep", "Sleep"),
            ("tokio::task::yield_now::yield_now", "yield_now"),
            ("shop::Cart<a::B<C>>", "Cart"),
            ("", ""),
        ] {
            assert_eq!(short(path), name, "{path}");
        }
    }
}
