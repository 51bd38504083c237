//! The whole file, assembled from its parts.

use std::fmt::Write;

use super::layout::Layout;
use super::plan::{MARGIN, WIDTH};
use super::rows::DrawnRows;
use super::survey::Survey;
use super::text::{display, escape, fit};
use super::{body, data, head, legend, sheet};
use crate::analysis::picture::Picture;

/// The script, in the order in which its files build on each other.
pub(super) const SCRIPT: &str = concat!(
    // The script runs only if the SVG is a document of its own. Within another document it stays a still
    // picture.
    "(()=>{'use strict';if(document.documentElement.localName!=='svg')return;\n",
    include_str!("script/format.js"),
    include_str!("script/dom.js"),
    include_str!("script/rows.js"),
    include_str!("script/view.js"),
    include_str!("script/axis.js"),
    include_str!("script/bars.js"),
    include_str!("script/panel.js"),
    include_str!("script/legend.js"),
    include_str!("script/input.js"),
    include_str!("script/main.js"),
    "})();\n",
);

/// The amount of detail in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything.
    Full,
    /// Without the script and what only the script needs.
    Still,
    /// Only the title.
    Title,
}

/// Assembles the whole picture as a file.
pub(super) fn assemble(
    picture: &Picture<'_>,
    survey: &Survey,
    rows: &DrawnRows,
    detail: Detail,
) -> String {
    let title = escape(&display(&picture.title, 200));
    if detail == Detail::Title {
        // A `title` element alone isn't visible.
        let shown = escape(&fit(&picture.title, 16.0, f64::from(WIDTH - 2 * MARGIN)));
        return format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} 40\">\
             <title>{title}</title><text x=\"{MARGIN}\" y=\"26\">{shown}</text></svg>\n"
        );
    }
    let layout = Layout::new(picture, rows);
    let (head, head_height) = head::head(picture, rows.scale);
    let (notes, notes_height) = legend::notes(picture);
    let (legend, legend_height) = legend::legend(picture, survey);
    let bottom = head_height + layout.height;
    let height = bottom + notes_height + legend_height;
    let rows_size: usize =
        rows.drawn.iter().map(|row| row.body.len() + row.label.len() + 120).sum();
    let mut svg = String::with_capacity(rows_size + 80_000);
    let verdict = picture.verdict.as_ref();
    let mut description = verdict.map_or_else(String::new, ToString::to_string);
    let kept = picture.whole_run.as_ref().map(|run| run.detail.join(" "));
    for note in kept.into_iter().chain(picture.notes_with_edge()) {
        let _ = write!(description, " {note}");
    }
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" aria-labelledby=\"title about\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"about\">{}</desc>\n<style>{}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
        escape(&display(description.trim(), 1200)),
        sheet::style_sheet(picture, rows),
    );
    let worst_bottom = body::write(picture, rows, &layout, head_height, &notes, &mut svg);
    // The head follows the body so that rows scroll beneath it.
    svg.push_str(&head);
    if let (Some(worst), Some(worst_bottom)) = (&survey.worst, worst_bottom) {
        body::worst_bar(picture, worst, head_height, worst_bottom, &mut svg);
    }
    let _ = writeln!(
        svg,
        "<g id=\"legend\" transform=\"translate(0 {})\">{legend}</g>",
        bottom + notes_height
    );
    if detail == Detail::Full {
        let data = escape(&data::script_data(picture, survey, rows));
        let _ = write!(
            svg,
            "<metadata id=\"data\">{data}</metadata>\n<script>//<![CDATA[\n{SCRIPT}//]]></script>\n"
        );
    }
    svg.push_str("</svg>\n");
    svg
}
