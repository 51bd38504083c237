//! The comparison as JSON.

use crate::analysis::compare::{
    Change, Comparison, Factor, Figures, LineChange, NewLongPolls, RequestChange, RequestFigures,
    Side,
};
use crate::trace::timeline::StackFrame;
use crate::util::json::{Json, Raw, array, object};
use crate::util::source_path::shown;

/// A finite number with six digits; `null` otherwise.
struct Decimal(f64);

impl Json for Decimal {
    fn write(&self, to: &mut String) {
        let rounded = (self.0 * 1e6).round() / 1e6;
        match rounded.is_finite() {
            true => to.push_str(&rounded.to_string()),
            false => to.push_str("null"),
        }
    }
}

/// A number that may be negative.
struct Signed(i64);

impl Json for Signed {
    fn write(&self, to: &mut String) {
        to.push_str(&self.0.to_string());
    }
}

/// Returns the comparison as a JSON object, without a final newline. Times are in ns.
pub fn json(comparison: &Comparison) -> String {
    let lines = array(&comparison.lines, line);
    let long_polls = array(&comparison.long_polls, new_polls);
    let quantiles = array(&comparison.quantiles, |&percent| u32::from(percent));
    object(&[
        ("verdict", &comparison.verdict()),
        ("hasChanges", &comparison.has_changes()),
        ("before", &side(&comparison.before)),
        ("after", &side(&comparison.after)),
        ("commonFactor", &comparison.common_factor.map(Decimal)),
        ("commonReadyFactor", &comparison.common_ready_factor.map(Decimal)),
        ("isOfWholeRuns", &comparison.is_of_whole_runs),
        ("quantiles", &quantiles),
        ("remarks", &comparison.remarks()),
        ("lines", &lines),
        ("longPolls", &long_polls),
        ("requests", &array(&comparison.requests, request)),
    ])
    .into_string()
}

fn side(side: &Side) -> Raw {
    object(&[
        ("runs", &side.runs),
        ("recordedNs", &side.recorded_ns),
        ("detailNs", &side.detail_ns),
        ("tasks", &side.tasks),
        ("polls", &side.polls),
        ("busyShare", &side.busy_share.map(Decimal)),
        ("takenNs", &side.taken_ns),
    ])
}

fn line(line: &LineChange) -> Raw {
    object(&[
        ("spawnedAt", &line.line.place.to_string()),
        ("spawnedAtAfter", &line.line.place_after.map(|place| place.to_string())),
        ("blamed", &line.line.frame.as_ref().map(frame)),
        ("blockingCause", &line.line.blocking_cause),
        ("isOfFunction", &line.line.is_of_function),
        ("polls", &change(line.polls)),
        ("ready", &change(line.ready)),
        ("extraNs", &Signed(line.extra_ns)),
        ("before", &line.before.as_ref().map(figures)),
        ("after", &line.after.as_ref().map(figures)),
    ])
}

fn frame(frame: &StackFrame) -> Raw {
    object(&[
        ("function", &&*frame.function),
        ("file", &frame.file.as_deref().map(shown).as_deref()),
        ("line", &frame.line),
    ])
}

fn change(change: Change) -> Raw {
    let name = match change {
        Change::Longer(_) => "longer",
        Change::Shorter(_) => "shorter",
        Change::Same(_) => "same",
        Change::TooFew => "too few",
        Change::Unknown => "unknown",
    };
    let Some(Factor { percent, factor, low, high }) = change.factor() else {
        return object(&[("change", &name)]);
    };
    object(&[
        ("change", &name),
        ("percent", &u32::from(percent)),
        ("factor", &Decimal(factor)),
        ("low", &Decimal(low)),
        ("high", &Decimal(high)),
    ])
}

fn figures(of: &Figures) -> Raw {
    object(&[
        ("polls", &of.polls),
        ("heldNs", &of.held_ns),
        ("longestNs", &of.longest_ns),
        ("p50Ns", &of.p50_ns),
        ("p99Ns", &of.p99_ns),
        ("p50SpreadNs", &of.p50_spread_ns),
        ("readyP50Ns", &of.ready_p50_ns),
        ("longestReadyNs", &of.longest_ready_ns),
    ])
}

fn new_polls(polls: &NewLongPolls) -> Raw {
    object(&[
        ("blamed", &frame(&polls.frame)),
        ("blockingCause", &polls.blocking_cause),
        ("spawnedAt", &polls.place.to_string()),
        ("isAfter", &polls.is_after),
        ("polls", &polls.polls),
        ("ownNs", &polls.own_ns),
        ("longestNs", &polls.longest_ns),
        ("isMoreThanChance", &polls.is_more_than_chance),
    ])
}

fn request(request: &RequestChange) -> Raw {
    object(&[
        ("name", &request.name),
        ("target", &request.target),
        ("before", &request.before.as_ref().map(request_figures)),
        ("after", &request.after.as_ref().map(request_figures)),
    ])
}

fn request_figures(of: &RequestFigures) -> Raw {
    object(&[
        ("count", &of.count),
        ("p50Ns", &of.p50_ns),
        ("p99Ns", &of.p99_ns),
        ("longestNs", &of.longest_ns),
        ("totalNs", &of.total_ns),
    ])
}
