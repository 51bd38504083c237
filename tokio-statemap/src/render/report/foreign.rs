//! The text of a report of data that isn't a run's.

use std::fmt;

use super::layout::{COLUMNS, keep_right, pad_left, pad_right, width, wrap};
use crate::analysis::foreign::DataReport;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_sum, moment, percent, share};

/// How many tags are listed.
const TAGS: usize = 10;

impl fmt::Display for DataReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = wrap(&self.summary());
        lines.extend(self.state_lines());
        lines.extend(self.tag_lines());
        lines.extend(self.longest_lines());
        f.write_str(&lines.join("\n"))
    }
}

impl DataReport {
    fn summary(&self) -> String {
        let title = if self.title.is_empty() { "No title" } else { &self.title };
        let kind = clean(&self.entity_kind);
        let entities = match (self.entities, kind.strip_suffix('y')) {
            (1, _) => format!("1 {kind}"),
            (n, Some(stem)) => format!("{n} {stem}ies"),
            (n, None) => format!("{n} {kind}s"),
        };
        let changes = count(self.changes, "change");
        let length = human(self.length_ns);
        let part = if self.is_part { " This is a part of the data." } else { "" };
        format!("{}: {entities}, {changes} of state in {length}.{part}", clean(title))
    }

    /// The share of each state in the time of all entities.
    fn state_lines(&self) -> Vec<String> {
        let time: u128 = self.states.iter().map(|state| state.total_ns).sum();
        if time == 0 {
            return Vec::new();
        }
        let mut table = vec![["state", "share", "total", "times", "longest"].map(str::to_owned)];
        for state in self.states.iter().filter(|state| state.times > 0) {
            table.push([
                clean(&state.name).into_owned(),
                percent(share(state.total_ns, time).unwrap_or_default()),
                human_sum(state.total_ns),
                state.times.to_string(),
                human(state.longest_ns),
            ]);
        }
        names_first(None, &table)
    }

    fn tag_lines(&self) -> Vec<String> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let mut table = vec![["state: tag", "of", "times", "total", "longest"].map(str::to_owned)];
        for group in self.groups.iter().take(TAGS) {
            table.push([
                clean(&group.label).into_owned(),
                group.entities.to_string(),
                group.spans.to_string(),
                human_sum(group.total_ns),
                human(group.longest_ns),
            ]);
        }
        let mut lines = names_first(Some("The tags:"), &table);
        match self.groups.len().saturating_sub(TAGS) {
            0 => {}
            n => lines.push(format!("… and {n} more")),
        }
        lines
    }

    fn longest_lines(&self) -> Vec<String> {
        if self.longest.is_empty() {
            return Vec::new();
        }
        // In short data, milliseconds tell nothing apart.
        let at = if self.length_ns < 1_000_000_000 { human } else { moment };
        let mut table = vec![["state", "at", "length", "entity"].map(str::to_owned)];
        for span in &self.longest {
            let least = if span.is_open { ">" } else { "" };
            table.push([
                clean(&span.label).into_owned(),
                at(span.start_ns),
                format!("{least}{}", human(span.length_ns)),
                keep_right(&clean(&span.entity), COLUMNS / 4),
            ]);
        }
        let (names, widths) = names_and_widths(&table);
        let mut lines = vec![String::new(), "The longest times in one state:".to_owned()];
        for (name, row) in names.iter().zip(&table) {
            let cells = row[1..].iter().zip(&widths);
            let cells: String = cells.map(|(cell, width)| pad_left(cell, *width) + "  ").collect();
            lines.push(cells + name);
        }
        lines
    }
}

/// A table under a title, whose first cells are names.
fn names_first<const N: usize>(title: Option<&str>, table: &[[String; N]]) -> Vec<String> {
    let (names, widths) = names_and_widths(table);
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let mut lines = vec![String::new()];
    lines.extend(title.map(str::to_owned));
    for (name, row) in names.iter().zip(table) {
        let cells = row[1..].iter().zip(&widths);
        let cells: String = cells.map(|(cell, width)| pad_left(cell, width + 2)).collect();
        lines.push(pad_right(name, name_width) + &cells);
    }
    lines
}

/// The first cells in the room that the others leave, and the widths of these.
fn names_and_widths<const N: usize>(table: &[[String; N]]) -> (Vec<String>, Vec<usize>) {
    let width_of = |column: usize| table.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (1..N).map(width_of).collect();
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let room = COLUMNS.saturating_sub(taken);
    (table.iter().map(|row| keep_right(&row[0], room)).collect(), widths)
}
