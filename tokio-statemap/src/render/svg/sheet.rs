//! The picture's style sheet: for a light screen, and what is different on others.

use std::fmt::Write;

use super::colour;
use super::rows::{DrawnRows, label_size};
use crate::analysis::picture::{Picture, SectionKind};
use crate::render::palette::{self, Screen};

/// The rules, one in a line, with the palette's colours as variables.
pub(super) const STYLE: &str = include_str!("style.css");

/// The whole style sheet. It has colours rather than variables, as not all that shows an SVG knows those; and a browser
/// that shows it in an `<img>` tells it whether the screen is dark, too.
pub(super) fn of(picture: &Picture<'_>, rows: &DrawnRows) -> String {
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

/// A rule for each state; none for what is as on the other screen.
fn states(picture: &Picture<'_>, screen: Screen, other: Option<Screen>) -> String {
    let mut rules = String::new();
    for (index, section) in picture.sections.iter().enumerate() {
        if section.kind == SectionKind::Workers {
            // What held a worker was a poll.
            let fill = palette::RUNNING.on(screen);
            let _ = writeln!(rules, ".c{index} .l,.c{index} .w{{fill:{fill}}}");
        }
        for (number, state) in section.states.iter().enumerate() {
            let fill = colour::fill(state, number, screen);
            if other.is_none_or(|other| colour::fill(state, number, other) != fill) {
                // Writing to a string does not fail.
                let _ = writeln!(rules, ".c{index} .s{number}{{{fill}}}");
            }
        }
    }
    rules
}
