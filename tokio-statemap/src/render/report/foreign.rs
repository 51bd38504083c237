//! The report of data that isn't from a run of Tokio, as text.

use std::fmt;

use super::layout::{COLUMNS, keep_right, table, wrap};
use crate::analysis::foreign::DataReport;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_sum, moment, percent, share};

/// The largest number of tags that are listed.
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

    /// Returns the table of the states, with the share of each in the time of all entities.
    fn state_lines(&self) -> Vec<String> {
        let time: u128 = self.states.iter().map(|state| state.total_ns).sum();
        if time == 0 {
            return Vec::new();
        }
        let heads = ["state", "share", "total", "times", "longest"];
        let mut rows = Vec::new();
        for state in self.states.iter().filter(|state| state.times > 0) {
            rows.push([
                clean(&state.name).into_owned(),
                percent(share(state.total_ns, time).unwrap_or_default()),
                human_sum(state.total_ns),
                state.times.to_string(),
                human(state.longest_ns),
            ]);
        }
        [vec![String::new()], table(&heads, rows.as_flattened(), true)].concat()
    }

    fn tag_lines(&self) -> Vec<String> {
        if self.groups.is_empty() {
            return Vec::new();
        }
        let heads = ["state: tag", "of", "times", "total", "longest"];
        let mut rows = Vec::new();
        for group in self.groups.iter().take(TAGS) {
            rows.push([
                clean(&group.label).into_owned(),
                group.entities.to_string(),
                group.spans.to_string(),
                human_sum(group.total_ns),
                human(group.longest_ns),
            ]);
        }
        let mut lines = vec![String::new(), "The tags:".to_owned()];
        lines.extend(table(&heads, rows.as_flattened(), true));
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
        // Short data needs a finer unit than milliseconds.
        let at = if self.length_ns < 1_000_000_000 { human } else { moment };
        let heads = ["state", "at", "length", "entity"];
        let mut rows = Vec::new();
        for span in &self.longest {
            let least = if span.is_open { ">" } else { "" };
            rows.push([
                clean(&span.label).into_owned(),
                at(span.start_ns),
                format!("{least}{}", human(span.length_ns)),
                keep_right(&clean(&span.entity), COLUMNS / 4),
            ]);
        }
        let mut lines = vec![String::new(), "The longest times in one state:".to_owned()];
        lines.extend(table(&heads, rows.as_flattened(), false));
        lines
    }
}
