//! The style sheet of the picture: for a light screen, and the differences on others.

use std::fmt::Write;

use super::colour;
use super::rows::{DrawnRows, label_size};
use crate::analysis::picture::{Picture, SectionKind};
use crate::render::palette::{self, Screen};

/// The rules, one per line, with the colours of the palette as variables.
pub(super) const STYLE: &str = include_str!("style.css");

/// Returns the whole style sheet. It contains colours rather than variables, because not every viewer of SVG
/// knows those. A browser that shows it in an `<img>` applies the media queries too.
pub(super) fn style_sheet(picture: &Picture<'_>, rows: &DrawnRows) -> String {
    let mut sheet = palette::fill(STYLE, Screen::Light);
    for (index, &height) in rows.heights.iter().enumerate() {
        let _ = writeln!(sheet, "#labels .c{index}{{font-size:{}px}}", label_size(height));
    }
    sheet.push_str(&states(picture, Screen::Light, None));
    for (query, screen) in
        [("prefers-color-scheme:dark", Screen::Dark), ("forced-colors:active", Screen::Forced)]
    {
        let _ = writeln!(
            sheet,
            "@media ({query}){{{}{}}}",
            palette::fill_again(STYLE, screen),
            states(picture, screen, Some(Screen::Light)),
        );
    }
    sheet
}

/// Returns a rule for each state that differs from its rule on `other`.
fn states(picture: &Picture<'_>, screen: Screen, other: Option<Screen>) -> String {
    let mut rules = String::new();
    for (index, section) in picture.sections.iter().enumerate() {
        if section.kind == SectionKind::Workers {
            // A worker is held by a poll.
            let fill = palette::RUNNING.on(screen);
            let _ = writeln!(rules, ".c{index} .l,.c{index} .w{{fill:{fill}}}");
        }
        for (number, state) in section.states.iter().enumerate() {
            let fill = colour::fill(state, number, screen);
            if other.is_none_or(|other| colour::fill(state, number, other) != fill) {
                let _ = writeln!(rules, ".c{index} .s{number}{{{fill}}}");
            }
        }
    }
    rules
}
