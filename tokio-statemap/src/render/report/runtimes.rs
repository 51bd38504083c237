//! The report of several runtimes.

use std::time::Duration;

use crate::analysis::Report;
use crate::trace::timeline::Timeline;
use crate::util::clean::clean;
use crate::util::quantity::{count, moment};

/// The number of runtimes whose reports are shown completely. Of further ones only the verdict is shown.
const WHOLE: usize = 8;
/// Starts that are closer than this count as one.
const EQUAL: Duration = Duration::from_millis(1);
/// The number of runtimes for which only the first sentence of the verdict is shown.
const SENTENCES: usize = 40;

/// Returns the reports of several runtimes, the worst of which comes first. `forgotten` has the sentences on runtimes
/// that ended earlier and are not shown; `text` returns the text of one report.
pub(crate) fn of_runtimes(
    ranked: &[(&Timeline, &Report)],
    forgotten: &[String],
    text: &dyn Fn(&Report) -> String,
) -> String {
    let mut all = String::new();
    let of_all = ranked.len();
    let with_data = ranked.iter().filter(|(timeline, _)| timeline.events > 0);
    let starts = with_data.map(|(timeline, _)| timeline.utc_at_zero);
    let first = starts.min().unwrap_or_default();
    for (at, (timeline, report)) in ranked.iter().enumerate() {
        let name = clean(timeline.runtime.as_deref().unwrap_or("runtime")).into_owned();
        if at < WHOLE {
            let order = if at == 0 && of_all > 1 { ", the worst first" } else { "" };
            // The page has one axis for all.
            let late = timeline.utc_at_zero.saturating_sub(first);
            let since = match late < EQUAL {
                true => String::new(),
                false => format!(", whose times count from {} on", moment_of(late)),
            };
            all += &format!(
                "Runtime {name} ({} of {of_all}{order}){since}:\n{}\n\n",
                at + 1,
                text(report).trim_end()
            );
        } else if at < WHOLE + SENTENCES {
            all += &format!("Runtime {name}: {}\n", report.verdict.headline());
        }
    }
    if let Some(rest) = of_all.checked_sub(WHOLE + SENTENCES).filter(|rest| *rest > 0) {
        all += &format!(
            "{} with less severe verdicts are not listed.\n",
            count(rest as u64, "other runtime")
        );
    }
    all += &forgotten.join("\n");
    all
}

fn moment_of(time: Duration) -> String {
    moment(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
