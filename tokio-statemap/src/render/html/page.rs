//! The parts of the page that are the same for all data.

use std::fmt::Write;

use crate::render::palette;

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("page/", $name)))),*]
    };
}

/// The modules of the page's script and their names, in the order in which they are joined: each
/// after those that it imports. A folder imports only from those before it.
pub(super) const MODULES: &[(&str, &str)] = modules![
    "format/numbers.js",
    "format/clusters.js",
    "format/place.js",
    "format/text.js",
    "data/inflate.js",
    "data/base64.js",
    "data/section.js",
    "data/varint.js",
    "data/decode.js",
    "model/polls.js",
    "model/lanes.js",
    "model/sums.js",
    "model/waits.js",
    "model/locations.js",
    "model/worker_polls.js",
    "model/frames.js",
    "model/why.js",
    "model/excerpts.js",
    "model/blamed.js",
    "model/lengths.js",
    "model/told.js",
    "model/flame.js",
    "model/names.js",
    "model/issues.js",
    "model/opening.js",
    "model/search.js",
    "model/awaits.js",
    "model/by_line.js",
    "model/totals.js",
    "model/stable_sort.js",
    "model/task_table.js",
    "model/task_list.js",
    "model/spawn_tree.js",
    "model/histogram.js",
    "model/distributions.js",
    "draw/fit.js",
    "draw/axis.js",
    "draw/sums.js",
    "draw/bins.js",
    "draw/columns.js",
    "draw/coarse.js",
    "draw/palette.js",
    "draw/colours.js",
    "draw/describe.js",
    "draw/stack.js",
    "draw/charts/charts.js",
    "draw/layout.js",
    "draw/unblamed.js",
    "draw/marks.js",
    "draw/worker_lane.js",
    "draw/charts/series.js",
    "draw/charts/scale.js",
    "draw/charts/data.js",
    "draw/charts/draw.js",
    "draw/overlay.js",
    "draw/pixels.js",
    "draw/taken.js",
    "draw/torn.js",
    "draw/paint.js",
    "draw/view.js",
    "ui/dom.js",
    "ui/label.js",
    "ui/help.js",
    "ui/detail_hint.js",
    "ui/actions.js",
    "ui/hash.js",
    "ui/tabs.js",
    "ui/address.js",
    "ui/controls.js",
    "ui/head.js",
    "ui/load.js",
    "ui/slices.js",
    "ui/histogram.js",
    "ui/distributions.js",
    "ui/findings.js",
    "ui/chart_labels.js",
    "ui/lane_label.js",
    "ui/state_counts.js",
    "ui/gutter.js",
    "ui/legend.js",
    "ui/tooltip.js",
    "ui/minimap.js",
    "ui/frame.js",
    "ui/hits.js",
    "ui/measure.js",
    "ui/input.js",
    "ui/issue_parts.js",
    "ui/issues_tab.js",
    "ui/sorted_table.js",
    "ui/whole_locations.js",
    "ui/locations_tab.js",
    "ui/grid.js",
    "ui/task_rows.js",
    "ui/tasks_tab.js",
    "ui/waits_tab.js",
    "ui/search_box.js",
    "ui/totals_table.js",
    "ui/cause_bar.js",
    "ui/excerpt.js",
    "ui/flame.js",
    "ui/why_part.js",
    "ui/chain.js",
    "ui/calls_table.js",
    "ui/profile_tab.js",
    "ui/selection_tab.js",
    "ui/print.js",
    "ui/surface.js",
    "main.js",
];

const STYLE: &str = include_str!("page/style.css");
const BODY: &str = include_str!("page/body.html");
/// The SHA-256 of [`script`] and of [`style`] in base64, a line each. A test holds them.
const HASHES: &str = include_str!("page/hashes.txt");

/// The page's script: the modules in one, without the imports and exports that tie them together
/// where they are files.
pub(super) fn script() -> String {
    let mut script = String::from("\"use strict\";\n");
    for line in MODULES.iter().flat_map(|(_, module)| module.lines()) {
        if line.starts_with("import ") {
            continue;
        }
        // Writing to a string does not fail.
        let _ = writeln!(script, "{}", line.strip_prefix("export ").unwrap_or(line));
    }
    script
}

/// The page's style: the palette's colours, and what uses them.
pub(super) fn style() -> String {
    format!("{}{STYLE}", palette::properties())
}

/// The body, up to the data.
pub(super) fn body(title: &str, answer: &str) -> String {
    // One pass: what is filled in is never looked at again.
    let mut body = String::with_capacity(BODY.len() + title.len() + answer.len());
    let mut rest = BODY;
    while let Some(at) = rest.find("{{") {
        body.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{{title}}") {
            body.push_str(title);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("{{answer}}") {
            body.push_str(answer);
            rest = after;
        } else {
            body.push_str("{{");
            rest = &rest[2..];
        }
    }
    body.push_str(rest);
    body
}

/// What the browser is told to allow: this script and this style, and nothing from anywhere.
pub(super) fn policy() -> String {
    let mut hashes = HASHES.lines();
    let script = hashes.next().unwrap_or_default();
    let style = hashes.next().unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    )
}
