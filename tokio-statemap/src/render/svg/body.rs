//! The rows and their labels.

use std::fmt::Write;

use super::layout::{Item, Layout};
use super::plan::{GAPS, MAP_LEFT, MAP_WIDTH, MARGIN};
use super::rows::{DrawnRows, label_size};
use super::survey::LongPoll;
use super::text::{display, escape, fit};
use crate::analysis::picture::{Picture, PointsAt, Section};
use crate::analysis::source_line;
use crate::util::quantity::{human, own_and_wall};

/// Writes labels and rows. Returns the bottom of the row that has the worst poll.
pub(super) fn write(
    picture: &Picture<'_>,
    rows: &DrawnRows,
    layout: &Layout,
    top: u32,
    notes: &str,
    to: &mut String,
) -> Option<u32> {
    let _ = writeln!(to, "<g id=\"body\" transform=\"translate(0 {top})\">");
    let height = layout.height.max(1);
    let worst_bottom = map(picture, rows, layout, to);
    labels(picture, rows, layout, to);
    let _ = writeln!(to, "<g id=\"notes\" transform=\"translate(0 {height})\">{notes}</g>\n</g>");
    worst_bottom.map(|bottom| top + bottom)
}

/// Writes the rows. Returns the bottom of the row that has the worst poll.
fn map(picture: &Picture<'_>, rows: &DrawnRows, layout: &Layout, to: &mut String) -> Option<u32> {
    let (columns, height) = (rows.scale.columns, layout.height.max(1));
    let _ = writeln!(
        to,
        "<svg id=\"map\" x=\"{MAP_LEFT}\" y=\"0\" width=\"{MAP_WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {columns} {height}\" preserveAspectRatio=\"none\">"
    );
    let mut worst_bottom = None;
    let mut open = false;
    for &(y, ref item) in &layout.items {
        match item {
            Item::Section { index, .. } => {
                if std::mem::replace(&mut open, true) {
                    to.push_str("</g>\n");
                }
                let _ = writeln!(to, "<g class=\"c{index}\" data-h=\"{}\">", rows.heights[*index]);
            }
            Item::Group { .. } => {}
            Item::Row(row) => {
                let drawn = &rows.drawn[*row];
                let _ =
                    writeln!(to, "<g class=\"r\" transform=\"translate(0 {y})\"{}</g>", drawn.body);
                if drawn.is_worst {
                    worst_bottom = Some(y + rows.heights[drawn.section]);
                }
            }
        }
    }
    if open {
        to.push_str("</g>\n");
    }
    for &(from, end) in picture.gaps.iter().take(GAPS) {
        // Sums are left of dropped records, and nothing of the time in which recording was stopped.
        let dropped = picture.whole_run.iter().flat_map(|run| &run.dropped);
        let is_summed = dropped.clone().any(|part| part.0 < end && part.1 > from);
        let (class, title) = match is_summed {
            true => ("summed", "no detail is kept here, only the sums above"),
            false => ("gap", "nothing is kept"),
        };
        let (from, end) = rows.scale.touched(from, end);
        let _ = writeln!(
            to,
            "<rect class=\"{class}\" x=\"{from}\" width=\"{}\" height=\"{height}\"><title>{title}\
             </title></rect>",
            end - from
        );
    }
    to.push_str("</svg>\n");
    worst_bottom
}

/// Writes the headings and the names of the rows, which lie on top of the map.
fn labels(picture: &Picture<'_>, rows: &DrawnRows, layout: &Layout, to: &mut String) {
    to.push_str("<g id=\"labels\">");
    let right = MAP_LEFT - 6;
    let mut open = false;
    for &(y, ref item) in &layout.items {
        match item {
            Item::Section { index, text, more } => {
                if std::mem::replace(&mut open, true) {
                    to.push_str("</g>\n");
                }
                let title = escape(&fit(text, 13.0, 600.0));
                let _ = write!(
                    to,
                    "<g class=\"c{index}\"><text class=\"section\" x=\"{MARGIN}\" y=\"{}\">{title}\
                     <tspan class=\"more\" dx=\"8\">{}</tspan></text>",
                    y + 18,
                    escape(more),
                );
            }
            Item::Group { section, group, more } => {
                let label = &picture.sections[*section].groups[*group as usize].label;
                let _ = write!(
                    to,
                    "<text class=\"group\" x=\"{MARGIN}\" y=\"{}\">{}<tspan class=\"more\" dx=\"8\">\
                     {}</tspan></text>",
                    y + 13,
                    escape(&fit(label, 11.0, 900.0)),
                    escape(more),
                );
            }
            Item::Row(row) => {
                let drawn = &rows.drawn[*row];
                let height = rows.heights[drawn.section];
                if height >= 9 {
                    let baseline = f64::from(y)
                        + f64::from(height) / 2.0
                        + f64::from(label_size(height)) * 0.36;
                    let _ = write!(
                        to,
                        "<text x=\"{right}\" y=\"{baseline:.1}\">{}</text>",
                        drawn.label
                    );
                }
            }
        }
    }
    if open {
        to.push_str("</g>");
    }
    to.push_str("</g>\n");
}

/// Returns the sentence about the worst poll.
pub(super) fn worst_text(picture: &Picture<'_>, worst: &LongPoll) -> String {
    let section = &picture.sections[worst.section];
    let mut name = String::new();
    section.source.name(worst.row, &mut name);
    let on = worst.worker.map_or_else(String::new, |worker| format!(" on worker-{worker}"));
    if worst.is_wait {
        let PointsAt::First(seen) = picture.points_at() else { return String::new() };
        let (name, length) = (display(&name, 40), human(worst.held_ns));
        return format!(
            "{}: {name} waited for {length}, from {}",
            seen.issue,
            human(worst.start_ns)
        );
    }
    format!(
        "longest poll{}: {}{on}, {}, at {}",
        blamed(section, worst),
        own_and_wall(worst.own_ns, worst.held_ns),
        display(&name, 40),
        human(worst.start_ns)
    )
}

/// Returns ` of render_invoice, src/shop.rs:21` if the blamed function is known.
fn blamed(section: &Section<'_>, worst: &LongPoll) -> String {
    let found = section.why.as_ref().and_then(|why| {
        let poll = why.poll_at(worst.row, worst.start_ns)?;
        why.blamed(poll)
    });
    let Some(frame) = found else { return String::new() };
    let place = source_line(frame).map(|place| format!(", {}", display(&place, 50)));
    let place = place.unwrap_or_default();
    format!(" of {}{place}", display(&frame.short(), 40))
}

/// Draws a bar at the worst poll, as a click on it would.
pub(super) fn worst_bar(
    picture: &Picture<'_>,
    worst: &LongPoll,
    top: u32,
    bottom: u32,
    to: &mut String,
) {
    let share = worst.start_ns as f64 / picture.length_ns.max(1) as f64;
    let x = f64::from(MAP_LEFT) + share * f64::from(MAP_WIDTH);
    let (anchor, nudge) = if share < 0.5 { ("start", 4.0) } else { ("end", -4.0) };
    let _ = writeln!(
        to,
        "<g id=\"worst\"><path d=\"M{x:.1} {}V{bottom}\"/><text x=\"{:.1}\" y=\"{}\" \
         text-anchor=\"{anchor}\">{}</text></g>",
        top - 40,
        x + nudge,
        top - 31,
        escape(&worst_text(picture, worst)),
    );
}
