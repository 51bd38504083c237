//! The comparison as text.

use std::fmt;

use crate::analysis::compare::{
    Change, Comparison, Figures, LineChange, RequestChange, RequestFigures, Side,
};
use crate::render::report::layout::{COLUMNS, keep_right, table, wrap};
use crate::util::columns::width;
use crate::util::quantity::{count, human, percent};

/// The largest number of changed lines that are listed, per kind.
const CHANGED: usize = 10;

/// The largest number of unchanged lines that are listed.
const OTHERS: usize = 15;

/// The text in place of an unknown value.
const UNKNOWN: &str = "-";

/// Writes lines of 80 columns, without a newline at the end.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = wrap(&self.verdict());
        lines.push(String::new());
        lines.extend(wrap(&side("Before", &self.before)));
        lines.extend(wrap(&side("After", &self.after)));
        lines.extend(self.remarks().iter().flat_map(|remark| wrap(remark)));
        let kind = |of: fn(&LineChange) -> Option<&'static str>, title: &str| {
            let of_kind = self.lines.iter().filter(|line| of(line) == Some(title));
            changed(title, &of_kind.collect::<Vec<_>>())
        };
        for title in ["Took longer", "Took less"] {
            lines.extend(kind(polls_title, title));
        }
        for title in ["Ready for longer", "Ready for less"] {
            lines.extend(kind(ready_title, title));
        }
        for (title, is_after) in [("New long polls", true), ("Long polls that are gone", false)] {
            let polls = self.long_polls.iter();
            let told =
                polls.filter(|polls| polls.is_more_than_chance && polls.is_after == is_after);
            let told: Vec<String> = told.flat_map(|polls| wrap(&polls.sentence())).collect();
            if !told.is_empty() {
                lines.extend([String::new(), title.to_owned()]);
                lines.extend(told);
            }
        }
        lines.extend(requests(self));
        lines.extend(others(self));
        f.write_str(&lines.join("\n"))
    }
}

fn polls_title(line: &LineChange) -> Option<&'static str> {
    match line.polls {
        Change::Longer(_) => Some("Took longer"),
        Change::Shorter(_) => Some("Took less"),
        _ => None,
    }
}

fn ready_title(line: &LineChange) -> Option<&'static str> {
    match line.ready {
        Change::Longer(_) => Some("Ready for longer"),
        Change::Shorter(_) => Some("Ready for less"),
        _ => None,
    }
}

fn side(which: &str, side: &Side) -> String {
    let mut text = format!(
        "{which}: {}, {} recorded, {}, {}",
        count(side.runs as u64, "run"),
        human(side.recorded_ns),
        count(side.tasks, "task"),
        count(side.polls, "poll"),
    );
    if let Some(busy) = side.busy_share {
        text.push_str(&format!(", workers busy {} of the time", percent(busy)));
    }
    if let Some(taken_ns) = side.taken_ns.filter(|ns| *ns >= side.recorded_ns / 1_000) {
        text.push_str(&format!("; the machine took {} from their threads", human(taken_ns)));
    }
    text + "."
}

/// Returns the changed lines, each with its figures before and after.
fn changed(title: &str, of_kind: &[&LineChange]) -> Vec<String> {
    let mut lines = Vec::new();
    if of_kind.is_empty() {
        return lines;
    }
    lines.extend([String::new(), title.to_owned()]);
    for line in of_kind.iter().take(CHANGED) {
        lines.push(String::new());
        lines.extend(wrap(&format!("{}: {}.", line.line.named(), line.times())));
        let head = ["", "polls", "held", "p50", "p50 of blocks", "p99", "longest", "ready p50"];
        let rows = [row("before", line.before.as_ref()), row("after", line.after.as_ref())];
        lines.extend(table(&head, rows.as_flattened(), true));
    }
    if of_kind.len() > CHANGED {
        lines.extend([String::new(), format!("… and {} more", of_kind.len() - CHANGED)]);
    }
    lines
}

fn row(name: &str, figures: Option<&Figures>) -> [String; 8] {
    let name = name.to_owned();
    let unknown = || UNKNOWN.to_owned();
    let Some(of) = figures else {
        return [
            name,
            "0".to_owned(),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
            unknown(),
        ];
    };
    let spread = |(low, high)| match (human(low), human(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    [
        name,
        of.polls.to_string(),
        human(of.held_ns),
        human(of.p50_ns),
        of.p50_spread_ns.map_or_else(unknown, spread),
        human(of.p99_ns),
        human(of.longest_ns),
        of.ready_p50_ns.map_or_else(unknown, human),
    ]
}

/// Returns the requests as a table.
fn requests(comparison: &Comparison) -> Vec<String> {
    let all = &comparison.requests;
    if all.is_empty() {
        return Vec::new();
    }
    let head =
        ["requests (not judged)", "before", "after", "p50 before", "after", "p99 before", "after"];
    let mut rows = Vec::new();
    rows.extend(all.iter().take(OTHERS).map(|request| {
        let cell = |of: Option<RequestFigures>, text: fn(RequestFigures) -> String| {
            of.map_or_else(|| UNKNOWN.to_owned(), text)
        };
        let (before, after) = (request.before, request.after);
        [
            request_name(all, request),
            cell(before, |of| of.count.to_string()),
            cell(after, |of| of.count.to_string()),
            cell(before, |of| human(of.p50_ns)),
            cell(after, |of| human(of.p50_ns)),
            cell(before, |of| human(of.p99_ns)),
            cell(after, |of| human(of.p99_ns)),
        ]
    }));
    let mut lines = vec![String::new()];
    lines.extend(table(&head, rows.as_flattened(), true));
    if all.len() > OTHERS {
        lines.push(format!("… and {} more", all.len() - OTHERS));
    }
    lines
}

/// Returns the name of a kind of spans, behind which its target stands if another kind is called the same.
fn request_name(all: &[RequestChange], request: &RequestChange) -> String {
    /// The least width of the first column.
    const ROOM: usize = 29;
    let name = keep_left(&request.name, ROOM);
    let is_alone = all.iter().filter(|other| other.name == request.name).count() == 1;
    // The end of a target says more than its crate.
    let room = ROOM.saturating_sub(width(&name) + width(" …"));
    let target =
        || request.target.char_indices().find(|(at, _)| width(&request.target[*at..]) <= room);
    match is_alone {
        true => name,
        false => target().map_or(name.clone(), |(at, _)| match at {
            0 => format!("{name} {}", request.target),
            at => format!("{name} …{}", &request.target[at..]),
        }),
    }
}

/// Returns the beginning of a text, at most `columns` wide.
fn keep_left(text: &str, columns: usize) -> String {
    let fits = |end: usize| width(&text[..end]) < columns;
    match width(text) <= columns {
        true => text.to_owned(),
        false => {
            let end = text.char_indices().map(|(at, _)| at).take_while(|&at| fits(at)).last();
            format!("{}…", &text[..end.unwrap_or(0)])
        }
    }
}

/// Returns the unchanged lines as a table.
fn others(comparison: &Comparison) -> Vec<String> {
    let all = comparison.lines.iter().filter(|line| !line.polls.is_a_change());
    let others: Vec<_> = all.collect();
    if others.is_empty() {
        return Vec::new();
    }
    let head = ["no significant change", "p50 before", "after", "times", "at least", "at most"];
    let mut rows = Vec::new();
    rows.extend(others.iter().take(OTHERS).map(|line| {
        let p50 = |figures: &Option<Figures>| {
            figures.as_ref().map_or_else(|| UNKNOWN.to_owned(), |of| human(of.p50_ns))
        };
        let name = line.line.frame.as_ref().filter(|_| line.line.is_of_function);
        let name = name.map_or_else(|| line.line.place.to_string(), ToString::to_string);
        let [times, low, high] = match line.polls {
            Change::Same(factor) => {
                [factor.factor, factor.low, factor.high].map(|of| format!("{of:.2}"))
            }
            _ => ["too few".to_owned(), String::new(), String::new()],
        };
        [keep_right(&name, COLUMNS / 2), p50(&line.before), p50(&line.after), times, low, high]
    }));
    let mut lines = vec![String::new()];
    lines.extend(table(&head, rows.as_flattened(), true));
    if others.len() > OTHERS {
        lines.push(format!("… and {} more", others.len() - OTHERS));
    }
    lines
}
