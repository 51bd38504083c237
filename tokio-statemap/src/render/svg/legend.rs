//! What stands below the rows: what the picture lacks, and what its colours mean.

use std::fmt::Write;

use super::frame::{MAP_LEFT, MARGIN, WIDTH};
use super::rows::LABELS;
use super::survey::Survey;
use super::text::{display, escape, fit, percent, width, wrap};
use crate::analysis::picture::Picture;

/// What the picture lacks.
pub(super) fn notes(picture: &Picture<'_>) -> (String, u32) {
    let mut text = String::new();
    let mut y = 4;
    for note in picture.notes_with_edge().take(12) {
        for line in wrap(&note, 12.0, f64::from(WIDTH - 2 * MARGIN), 2) {
            y += 16;
            let _ = write!(text, "<text x=\"{MARGIN}\" y=\"{y}\">{}</text>", escape(&line));
        }
    }
    (text, y + 8)
}

/// The states of each section, with their shares of the time in which its rows were there.
pub(super) fn legend(picture: &Picture<'_>, survey: &Survey) -> (String, u32) {
    let mut text = String::new();
    let mut y = 8;
    for (index, (section, survey)) in picture.sections.iter().zip(&survey.sections).enumerate() {
        let title = fit(&section.title, 12.0, f64::from(LABELS - 8));
        let _ = write!(
            text,
            "<g class=\"c{index}\"><text class=\"of\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
            y + 14,
            escape(&title)
        );
        let mut x = f64::from(MAP_LEFT);
        let whole = survey.whole(section);
        for (number, state) in section.states.iter().enumerate().take(64) {
            let name = display(&state.name, 40);
            let share = match state.role.is_end() {
                true => String::new(),
                false => escape(&percent(survey.total(number), whole)),
            };
            let wide = 34.0 + 8.0 + width(&name, 12.0) + 6.0 + width(&share, 12.0) + 22.0;
            if x + wide > f64::from(WIDTH - MARGIN) && x > f64::from(MAP_LEFT) {
                x = f64::from(MAP_LEFT);
                y += 26;
            }
            let _ = write!(
                text,
                "<g class=\"k\" data-s=\"{number}\" transform=\"translate({x:.0} {y})\"><rect \
                 class=\"s{number}\" width=\"34\" height=\"18\"/><text x=\"42\" y=\"14\">{}<tspan \
                 class=\"more\" dx=\"6\">{share}</tspan></text></g>",
                escape(&name),
            );
            x += wide;
        }
        if section.states.len() > 64 {
            let _ = write!(
                text,
                "<text x=\"{x:.0}\" y=\"{}\">{} more</text>",
                y + 14,
                section.states.len() - 64
            );
        }
        text.push_str("</g>\n");
        y += 28;
    }
    (text, y + 6)
}
