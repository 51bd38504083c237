//! The head of the picture, which stays in place: title, verdict, axis.

use std::fmt::Write;

use super::axis;
use super::columns::Scale;
use super::plan::{MAP_LEFT, MAP_WIDTH, MARGIN, WIDTH};
use super::strip;
use super::text::{display, escape, fit, utc, width, wrap};
use crate::analysis::picture::Picture;
use crate::util::quantity::human;

/// Returns the head and its height.
pub(super) fn head(picture: &Picture<'_>, scale: Scale) -> (String, u32) {
    let mut about = Vec::new();
    if let Some(host) = &picture.host {
        about.push(format!("host {}", display(host, 60)));
    }
    if let Some(runtime) = &picture.runtime {
        about.push(format!("runtime {}", display(runtime, 60)));
    }
    if picture.start.as_secs() > 0 {
        about.push(utc(picture.start.as_secs()));
    }
    about.push(format!("span = {}", human(picture.length_ns)));
    let middle = WIDTH / 2;
    let title = escape(&fit(&picture.title, 16.0, f64::from(WIDTH - 2 * MARGIN)));
    let mut inner = format!(
        "<text id=\"name\" x=\"{middle}\" y=\"26\">{title}</text>\n\
         <text id=\"where\" x=\"{middle}\" y=\"45\">{}</text>\n<g id=\"verdict\">",
        escape(&about.join(" · ")),
    );
    let mut y = 50;
    // The report and the page begin in the same way.
    let verdict = picture.verdict.as_ref();
    let (headline, rest) = verdict.map_or(("", ""), |said| (&*said.headline, &*said.details));
    for (class, text, size, height, lines) in
        [("headline", headline, 15.0, 20, 3), ("rest", rest, 12.0, 16, 3)]
    {
        for line in wrap(text, size, f64::from(WIDTH - 2 * MARGIN), lines) {
            y += height;
            let line = escape(&line);
            let _ = write!(inner, "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\">{line}</text>");
        }
    }
    inner.push_str("</g>\n");
    if let Some(run) = &picture.whole_run {
        y = strip::write(picture, run, scale, y + 4, &mut inner);
    }
    // Room for the label of a bar.
    let axis_y = y + 50;
    let _ = write!(inner, "<g id=\"axis\" transform=\"translate({MAP_LEFT} {axis_y})\">");
    let _ = write!(inner, "<path d=\"M0 0h{MAP_WIDTH}\"/>");
    let step = axis::step(picture.length_ns, 10);
    let mut at = 0_u64;
    while at <= picture.length_ns {
        let x = at as f64 / picture.length_ns.max(1) as f64 * f64::from(MAP_WIDTH);
        let text = axis::label(at, picture.length_ns, step);
        // The first and last labels stay within the picture.
        let (half, room) = (width(&text, 11.0) / 2.0, f64::from(MAP_WIDTH + MARGIN));
        let text_x = x.min(room - half);
        let _ = write!(
            inner,
            "<path d=\"M{x:.1} 0v-5\"/><text x=\"{text_x:.1}\" y=\"-9\">{text}</text>"
        );
        at = at.saturating_add(step);
        if at == u64::MAX {
            break;
        }
    }
    inner.push_str("</g>\n");
    let height = axis_y + 2;
    let text = format!(
        "<g id=\"head\"><rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n{inner}</g>\n"
    );
    (text, height)
}
