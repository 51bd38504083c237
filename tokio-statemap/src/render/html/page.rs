//! The parts of the page that are the same for all data.

use std::fmt::Write;

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("page/", $name)))),*]
    };
}

/// The modules of the page's script and their names, in the order in which they are joined: each
/// after those that it imports.
pub(super) const MODULES: &[(&str, &str)] = modules![
    "time.js",
    "palette.js",
    "inflate.js",
    "base64.js",
    "varint.js",
    "section.js",
    "decode.js",
    "lanes.js",
    "columns.js",
    "coarse.js",
    "bins.js",
    "polls.js",
    "worker_polls.js",
    "waits.js",
    "locations.js",
    "issues.js",
    "search.js",
    "hash.js",
    "text.js",
    "layout.js",
    "colours.js",
    "axis.js",
    "pixels.js",
    "marks.js",
    "worker_lane.js",
    "stack.js",
    "torn.js",
    "gutter.js",
    "describe.js",
    "hits.js",
    "paint.js",
    "overlay.js",
    "minimap.js",
    "tooltip.js",
    "view.js",
    "legend.js",
    "totals.js",
    "tabs.js",
    "search_box.js",
    "issues_tab.js",
    "locations_tab.js",
    "selection_tab.js",
    "help.js",
    "actions.js",
    "head.js",
    "address.js",
    "input.js",
    "surface.js",
    "main.js",
];

pub(super) const STYLE: &str = include_str!("page/style.css");
const BODY: &str = include_str!("page/body.html");
/// The SHA-256 of [`script`] and of [`STYLE`] in base64, a line each. A test holds them.
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
