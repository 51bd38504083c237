//! The whole run as sums, above the axis: the share of the workers' time in polls, and where detail is kept.

use std::fmt::Write;

use super::columns::Scale;
use super::plan::{MAP_LEFT, MAP_WIDTH, MARGIN, WIDTH};
use super::text::{escape, wrap};
use crate::analysis::picture::{Picture, WholeRun};

/// The height of the bars in pixels, and of the line below them.
const BARS: u32 = 24;
const FOOT: u32 = 4;

/// The number of steps of the strip: one per two pixels.
const STEPS: usize = MAP_WIDTH as usize / 2;

/// Writes the text and the strip below `y`. Returns the baseline for what follows.
pub(super) fn write(
    picture: &Picture<'_>,
    run: &WholeRun,
    scale: Scale,
    mut y: u32,
    to: &mut String,
) -> u32 {
    to.push_str("<g id=\"detail\">");
    for line in wrap(&run.detail.join(" "), 12.0, f64::from(WIDTH - 2 * MARGIN), 2) {
        y += 16;
        let _ = write!(to, "<text x=\"{MARGIN}\" y=\"{y}\">{}</text>", escape(&line));
    }
    y += 8;
    let _ = write!(
        to,
        "</g>\n<text id=\"strip-label\" x=\"{MARGIN}\" y=\"{}\">time in polls</text>\
         <svg id=\"strip\" x=\"{MAP_LEFT}\" y=\"{y}\" width=\"{MAP_WIDTH}\" height=\"{}\" \
         viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\"><title>How much of the workers' time was \
         in polls, in the whole run</title><rect class=\"summed\" width=\"{}\" height=\"{}\"/>",
        y + 17,
        BARS + FOOT,
        scale.columns,
        BARS + FOOT,
        scale.columns,
        BARS + FOOT,
    );
    let _ = write!(to, "<path class=\"held\" d=\"M0 {BARS}{}z\"/>", steps(picture, run, scale));
    let mut kept_ns = 0;
    for &(gap_ns, end_ns) in picture.gaps.iter().chain([&(picture.length_ns, u64::MAX)]) {
        if kept_ns < gap_ns {
            let (from, end) = scale.touched(kept_ns, gap_ns);
            let _ = write!(
                to,
                "<rect class=\"kept\" x=\"{from}\" y=\"{BARS}\" width=\"{}\" height=\"{FOOT}\"/>",
                end - from
            );
        }
        kept_ns = end_ns;
    }
    to.push_str("</svg>\n");
    y + BARS + FOOT + 4
}

/// Returns the outline of the bars.
fn steps(picture: &Picture<'_>, run: &WholeRun, scale: Scale) -> String {
    let mut path = String::new();
    let bars = f64::from(BARS);
    for (step, share) in run.shares(STEPS, picture.length_ns).into_iter().enumerate() {
        let x = (step + 1) as f64 * f64::from(scale.columns) / STEPS as f64;
        // Any activity is visible, however little.
        let height =
            share.filter(|share| *share > 0.0).map_or(0.0, |share| (share * bars).max(1.0));
        let _ = write!(path, "V{:.1}H{x:.0}", bars - height);
    }
    let _ = write!(path, "V{BARS}");
    path
}
