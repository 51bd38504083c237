//! The text of the requests: the whole table, and the part that a report shows.

use std::cmp::Reverse;
use std::fmt;

use super::layout::{table, wrap};
use super::profile::aligned;
use crate::trace::requests::{PartState, Parts, Request, RequestSpan, Requests};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, moment, percent, share};

/// The most rows that a report lists, and the most of them whose slowest spans it explains.
const ROWS: usize = 10;
const EXPLAINED: usize = 3;

impl fmt::Display for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            f.write_str("No span of tracing is known.")?;
        } else {
            let heads = [
                "count", "mean", "p50", "p90", "p99", "longest", "total", "running", "own", "span",
            ];
            let mut rows = Vec::new();
            for row in &self.rows {
                let times = row.times;
                rows.push([
                    row.count.to_string(),
                    human(times.mean_ns),
                    human(times.p50_ns),
                    human(times.p90_ns),
                    human(times.p99_ns),
                    human(times.longest_ns),
                    human(row.total_ns),
                    human(row.running_ns),
                    human(row.own_ns),
                    format!("{} of {}", clean(&row.to_string()), clean(&row.target)),
                ]);
            }
            write!(f, "Spans of tracing:\n{}", aligned(&heads, &rows))?;
            for row in &self.rows {
                for (which, parts) in [("spans", &row.parts), ("slowest", &row.slowest)] {
                    if parts.spans > 0 {
                        write!(f, "\n\n{}", whole_parts(row, which, parts))?;
                    }
                }
                if !row.longest.is_empty() {
                    write!(f, "\n\n{}", longest(row))?;
                }
            }
        }
        match self.missing() {
            Some(missing) => write!(f, "\n\n{missing}"),
            None => Ok(()),
        }
    }
}

/// Describes parts with all their causes.
fn whole_parts(row: &Request, which: &str, parts: &Parts) -> String {
    let name = row.to_string();
    let mut text = format!("{}, {} {which}: {}", clean(&name), parts.spans, shares(parts, false));
    for cause in &parts.causes {
        text +=
            &format!("\n  {:>8} {}", human(cause.length_ns), at_cause(cause.state, &cause.place));
    }
    text
}

/// Describes the longest spans of a kind, one by one.
fn longest(row: &Request) -> String {
    let mut text = format!("{}, the longest:", clean(&row.to_string()));
    for span in &row.longest {
        let length = human(span.parts.length_ns);
        text += &format!("\n  {length:>8} {}: {}", at_span(span), shares(&span.parts, true));
    }
    text
}

/// Says when a span opened, and in which task.
fn at_span(span: &RequestSpan) -> String {
    let task = span.task.map_or_else(String::new, |task| format!(" in {task}"));
    format!("at {}{task}", moment(span.opened_ns))
}

impl Requests {
    /// Returns the lines for a report.
    pub(super) fn lines(&self, is_whole_run: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if self.rows.is_empty() {
            lines.extend(self.missing().iter().flat_map(|text| wrap(text)));
            return lines;
        }
        let of = if is_whole_run { "" } else { " in the whole run" };
        lines.push(String::new());
        lines.push(format!("Requests{of}, by total time (spans of tracing):"));
        let (listed, more) = self.rows.split_at(ROWS.min(self.rows.len()));
        let heads =
            ["span", "count", "p50", "p90", "p99", "longest", "running", "ready", "waiting"];
        let mut cells = Vec::new();
        let (mut kept, mut all) = (0, 0);
        for row in listed {
            let parts = &row.parts;
            let of = |ns| whole_percent(ns, parts.length_ns);
            cells.push([
                clean(&row.to_string()).into(),
                row.count.to_string(),
                human(row.times.p50_ns),
                human(row.times.p90_ns),
                human(row.times.p99_ns),
                human(row.times.longest_ns),
                of(parts.running_ns),
                of(parts.ready_ns),
                of(parts.waiting_ns),
            ]);
            (kept, all) = (kept + parts.spans, all + row.count);
        }
        lines.extend(table(&heads, cells.as_flattened(), true));
        if !more.is_empty() {
            lines.push(format!("… and {} more", count(more.len() as u64, "kind")));
        }
        if kept < all {
            lines.extend(wrap(&format!(
                "running, ready and waiting are those of {kept} of these {all} spans, whose surroundings are kept."
            )));
        }
        // One of several for which the same place matters most: spans are often within each other.
        let mut explained: Vec<&Request> = Vec::new();
        for row in listed {
            let place = |row: &Request| row.slowest.causes.first().cloned();
            let Some(first) = place(row) else { continue };
            let is_new = |other: &&Request| {
                place(other)
                    .is_none_or(|of| (of.state, of.place) != (first.state, first.place.clone()))
            };
            if explained.len() < EXPLAINED && explained.iter().all(is_new) {
                explained.push(row);
            }
        }
        for row in explained {
            let (name, parts) = (row.to_string(), &row.slowest);
            let longest = row.longest.first();
            let longest = longest.map(|span| format!(" The longest opened {}.", at_span(span)));
            lines.extend(wrap(&format!(
                "{}, the slowest {} of {}: {}.{}",
                clean(&name),
                parts.spans,
                row.parts.spans,
                shares(parts, true),
                longest.unwrap_or_default()
            )));
        }
        lines.extend(self.missing().iter().flat_map(|text| wrap(text)));
        lines
    }

    /// Describes the spans that aren't in the table.
    fn missing(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.open > 0 {
            parts.push(format!("{} still open at the end", count(self.open, "span")));
        }
        if self.cut > 0 {
            parts.push(format!("{} not recorded as a whole", count(self.cut, "span")));
        }
        if self.lost > 0 {
            parts.push(format!("{} lost", count(self.lost, "span")));
        }
        (!parts.is_empty()).then(|| format!("Not counted: {}.", parts.join(", ")))
    }
}

/// Describes what spans did, the longest part first, with the place where most of it was if `with_places`.
pub(in crate::render) fn shares(parts: &Parts, with_places: bool) -> String {
    let mut all = [
        (parts.running_ns, "running", Some(PartState::Running)),
        (parts.ready_ns, "ready", Some(PartState::Ready)),
        (parts.waiting_ns, "waiting", Some(PartState::Waiting)),
        (parts.elsewhere_ns, "outside of the span in its task", None),
        (parts.unknown_ns, "unknown", None),
    ];
    all.sort_by_key(|&(ns, ..)| Reverse(ns));
    let mut texts = Vec::new();
    for (ns, name, state) in all {
        let Some(part) = share(ns, parts.length_ns).filter(|&part| part >= 0.01) else { continue };
        let cause = parts.causes.iter().find(|cause| state == Some(cause.state));
        let late = parts.causes.iter().find(|cause| cause.state == PartState::Late);
        let late = late.filter(|_| state == Some(PartState::Waiting));
        let mut places = Vec::new();
        for cause in [cause, late].into_iter().flatten().filter(|_| with_places) {
            let how = if cause.length_ns >= ns / 2 { "mostly" } else { "partly" };
            places.push(format!("{how} {}", at_cause(cause.state, &cause.place)));
        }
        let places = match places.is_empty() {
            true => String::new(),
            false => format!(" ({})", places.join(", and ")),
        };
        texts.push(format!("{} {name}{places}", percent(part)));
    }
    texts.join(", ")
}

fn at_cause(state: PartState, place: &str) -> String {
    let preposition = match state {
        PartState::Running => "in",
        PartState::Ready => "behind",
        PartState::Waiting => "at",
        PartState::Late => "while no worker looked for timers and I/O, behind",
    };
    format!("{preposition} {}", clean(place))
}

fn whole_percent(ns: u64, all_ns: u64) -> String {
    share(ns, all_ns).map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0))
}
