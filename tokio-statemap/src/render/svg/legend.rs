//! The area below the rows: notes on missing data, and the legend of colours.

use std::fmt::Write;

use super::plan::{LABELS, MAP_LEFT, MARGIN, WIDTH};
use super::survey::Survey;
use super::text::{display, escape, fit, percent, width, wrap};
use crate::analysis::picture::{Picture, SectionKind};
use crate::util::quantity::human_setting;

/// Returns the notes on missing data and their height.
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

/// An entry of the legend.
struct Key<'a> {
    class: &'a str,
    name: &'a str,
    share: &'a str,
}

impl Key<'_> {
    /// Writes the entry at (`x`, `y`) or at the beginning of the next line, and moves the position behind it.
    /// Only the entry of a state can be selected.
    fn write(&self, state: Option<usize>, x: &mut f64, y: &mut u32, to: &mut String) {
        let (name, share) = (display(self.name, 40), escape(self.share));
        let wide = 34.0 + 8.0 + width(&name, 12.0) + 6.0 + width(&share, 12.0) + 22.0;
        if *x + wide > f64::from(WIDTH - MARGIN) && *x > f64::from(MAP_LEFT) {
            *x = f64::from(MAP_LEFT);
            *y += 26;
        }
        let state = state.map(|number| format!(" data-s=\"{number}\"")).unwrap_or_default();
        let _ = write!(
            to,
            "<g class=\"k\"{state} transform=\"translate({x:.0} {y})\"><rect class=\"{}\" width=\"34\" \
             height=\"18\"/><text x=\"42\" y=\"14\">{}<tspan class=\"more\" dx=\"6\">{share}</tspan></text></g>",
            self.class,
            escape(&name),
        );
        *x += wide;
    }
}

/// Returns the legend and its height: the states of each section with their shares of the rows' lifetimes,
/// and the mark of long polls on workers.
pub(super) fn legend(picture: &Picture<'_>, survey: &Survey) -> (String, u32) {
    let mut text = String::new();
    let mut y = 8;
    let is_held = !survey.held.is_empty();
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
            let share = match state.role.is_end() {
                true => String::new(),
                false => percent(survey.total(number), whole),
            };
            let key = Key { class: &format!("s{number}"), name: &state.name, share: &share };
            key.write(Some(number), &mut x, &mut y, &mut text);
        }
        if section.kind == SectionKind::Workers && is_held {
            let name = format!("in a poll over {}", human_setting(picture.long_poll_ns));
            Key { class: "l", name: &name, share: "" }.write(None, &mut x, &mut y, &mut text);
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
