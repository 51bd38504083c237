//! The text of a report of data.

use std::fmt;

use super::{DataReport, GroupTime};
use crate::render::report::layout::{COLUMNS, keep_right, pad_left, pad_right, width, wrap};
use crate::statemap::Ours;
use crate::util::clean::clean;
use crate::util::quantity::{count, human, human_sum, moment, percent, share};

/// How many groups are listed.
const GROUPS: usize = 10;

impl fmt::Display for DataReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if let Some(verdict) = &self.verdict {
            lines.extend(wrap(verdict));
            lines.push(String::new());
        }
        lines.extend(wrap(&self.summary()));
        lines.extend(self.state_lines());
        lines.extend(self.group_lines());
        lines.extend(self.longest_lines());
        f.write_str(&lines.join("\n"))
    }
}

impl DataReport {
    fn summary(&self) -> String {
        let title = if self.title.is_empty() { "No title" } else { &self.title };
        let kind = clean(&self.entity_kind);
        let mut entities = match self.entities - self.roots {
            1 => format!("1 {kind}"),
            n => match kind.strip_suffix('y') {
                Some(stem) => format!("{n} {stem}ies"),
                None => format!("{n} {kind}s"),
            },
        };
        match self.roots {
            0 => {}
            1 => entities.push_str(" and main"),
            n => entities.push_str(&format!(" and {n} futures of block_on")),
        }
        let changes = match self.changes {
            1 => "1 change of state".to_owned(),
            n => format!("{n} changes of state"),
        };
        let mut text =
            format!("{}: {entities}, {changes} in {}.", clean(title), human(self.length_ns));
        for (n, noun, end) in [
            (self.live_tasks, "task", "lived at the end"),
            (self.running_polls, "poll", "ran at the end"),
        ] {
            if n > 0 {
                text.push_str(&format!(" {} still {end}.", count(n, noun)));
            }
        }
        for remark in &self.remarks {
            text.push(' ');
            text.push_str(remark);
        }
        text
    }

    /// The share of each state in the time of all entities; what is over has no time any more.
    fn state_lines(&self) -> Vec<String> {
        let live = || self.states.iter().filter(|state| !state.is_end && state.times > 0);
        let time: u128 = live().map(|state| state.total_ns).sum();
        if time == 0 {
            return Vec::new();
        }
        let mut table = vec![["share", "total", "times", "longest"].map(str::to_owned)];
        let mut names = vec!["state".to_owned()];
        for state in live() {
            names.push(clean(&state.name).into_owned());
            table.push([
                percent(share(state.total_ns, time).unwrap_or_default()),
                human_sum(state.total_ns),
                state.times.to_string(),
                human(state.longest_ns),
            ]);
        }
        names_first(None, &names, &table)
    }

    fn group_lines(&self) -> Vec<String> {
        let is_ready_known = matches!(self.kind, Some(Ours::Tasks { is_ready_known: true }));
        let cells = |group: &GroupTime| -> Vec<String> {
            let is_known = is_ready_known && group.longest_ready_ns.is_some();
            let ready = |ns: u128| if is_known { human_sum(ns) } else { "-".to_owned() };
            let [spans, total] = [group.spans.to_string(), human_sum(group.total_ns)];
            let longest = human(group.longest_ns);
            match self.kind {
                Some(Ours::Tasks { .. }) => {
                    let [all, most] = [
                        ready(group.ready_ns),
                        ready(group.longest_ready_ns.unwrap_or_default().into()),
                    ];
                    vec![group.entities.to_string(), spans, total, longest, all, most]
                }
                Some(Ours::Workers) => vec![spans, total, longest],
                None => vec![group.entities.to_string(), spans, total, longest],
            }
        };
        let (title, first, heads): (_, _, &[&str]) = match self.kind {
            Some(Ours::Tasks { .. }) => (
                "What ran (ready: from woken to polled):",
                "spawned at",
                &["tasks", "polls", "total", "longest", "ready", "longest"],
            ),
            Some(Ours::Workers) => {
                ("What the workers ran:", "worker", &["times", "total", "longest"])
            }
            None => ("The tags:", "state: tag", &["of", "times", "total", "longest"]),
        };
        if self.groups.is_empty() {
            return Vec::new();
        }
        let mut names = vec![first.to_owned()];
        let mut table = vec![heads.iter().map(|&head| head.to_owned()).collect::<Vec<_>>()];
        for group in self.groups.iter().take(GROUPS) {
            names.push(clean(&group.label).into_owned());
            table.push(cells(group));
        }
        let mut lines = names_first(Some(title), &names, &table);
        match self.groups.len().saturating_sub(GROUPS) {
            0 => {}
            n => lines.push(format!("… and {n} more")),
        }
        lines
    }

    fn longest_lines(&self) -> Vec<String> {
        if self.longest.is_empty() {
            return Vec::new();
        }
        let title = match self.kind {
            Some(_) => "The longest polls:",
            None => "The longest times in one state:",
        };
        let mut names = vec![if self.kind.is_some() { "spawned at" } else { "state" }.to_owned()];
        let mut table = vec![["at", "length", "entity"].map(str::to_owned)];
        for span in &self.longest {
            let least = if span.is_open || span.is_cut { ">" } else { "" };
            names.push(clean(&span.label).into_owned());
            table.push([
                since_start(span.start_ns, self.length_ns),
                format!("{least}{}", human(span.length_ns)),
                keep_right(&clean(&span.entity), COLUMNS / 4),
            ]);
        }
        let widths = widths(&table);
        let taken: usize = widths.iter().map(|width| width + 2).sum();
        let mut lines = vec![String::new(), title.to_owned()];
        for (name, cells) in names.iter().zip(&table) {
            let cells =
                cells.iter().zip(&widths).map(|(cell, width)| pad_left(cell, *width) + "  ");
            let name = keep_right(name, COLUMNS.saturating_sub(taken));
            lines.push(cells.collect::<String>() + &name);
        }
        lines
    }
}

/// A moment in data of some length: in short data, milliseconds tell nothing apart.
pub(super) fn since_start(ns: u64, length_ns: u64) -> String {
    if length_ns < 1_000_000_000 { human(ns) } else { moment(ns) }
}

/// A table under a title, the names on its left.
fn names_first<C: AsRef<[String]>>(
    title: Option<&str>,
    names: &[String],
    table: &[C],
) -> Vec<String> {
    let widths = widths(table);
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let fit = |name: &String| keep_right(name, COLUMNS.saturating_sub(taken));
    let names: Vec<String> = names.iter().map(fit).collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or_default();
    let mut lines = vec![String::new()];
    lines.extend(title.map(str::to_owned));
    for (name, cells) in names.iter().zip(table) {
        let cells = cells.as_ref().iter().zip(&widths);
        let cells: String = cells.map(|(cell, width)| pad_left(cell, width + 2)).collect();
        lines.push(pad_right(name, name_width) + &cells);
    }
    lines
}

fn widths<C: AsRef<[String]>>(table: &[C]) -> Vec<usize> {
    let columns = table.first().map_or(0, |row| row.as_ref().len());
    let width_of =
        |column: usize| table.iter().map(|row| width(&row.as_ref()[column])).max().unwrap_or(0);
    (0..columns).map(width_of).collect()
}
