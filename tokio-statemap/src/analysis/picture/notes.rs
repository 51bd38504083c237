//! Sentences on what a picture lacks.

use crate::analysis::Report;
use crate::recorder::lost::Lost;
use crate::util::quantity::{human, moment};

/// Returns the first note of a picture that shows only a part of the run, without sums of the rest, as it looks like
/// the whole run.
pub(super) fn cut(report: &Report, is_summed: bool) -> Option<String> {
    if report.recording.lost.refused_events > 0 {
        let kept = human(report.recording.end_ns - report.recording.begin_ns);
        return Some(format!(
            "Only the first {kept} of the run are here: max_events was reached then."
        ));
    }
    let is_cut = report.recording.lost.dropped_events > 0 && !is_summed;
    // If moments before are kept, another note says since when everything is kept.
    (is_cut && report.recording.recent_ns <= report.recording.begin_ns).then(|| {
        let begin = moment(report.recording.begin_ns);
        format!("Only what happened from {begin} on is here: max_events was reached before.")
    })
}

/// Returns what the picture lacks, a short sentence each. `is_summed` is `true` if the sums of the run say what is
/// kept.
pub(super) fn notes(report: &Report, is_summed: bool) -> Vec<String> {
    let mut notes: Vec<String> = report.limitations();
    let lost = Lost { dropped_events: 0, ..report.recording.lost };
    if lost.total() > 0 {
        notes.push(format!("{lost}."));
    }
    match report.recording.lost.dropped_events {
        0 => {}
        1 => notes.push("Flight recorder: one older event was dropped by design.".to_owned()),
        n => notes.push(format!("Flight recorder: {n} older events were dropped by design.")),
    }
    let counted = |n: u64, one: &str, many: &str| match n {
        1 => format!("One {one}."),
        n => format!("{n} {many}."),
    };
    if report.recording.recent_ns > report.recording.begin_ns && !is_summed {
        let (n, recent) = (report.recording.stretches_before as u64, report.recording.recent_ns);
        notes.push(format!(
            "Before {}, only what happened around the longest polls is kept: {}.",
            moment(recent),
            match n {
                1 => "one moment".to_owned(),
                n => format!("{n} moments"),
            },
        ));
    }
    if report.recording.gaps > 0 {
        let n = report.recording.gaps as u64;
        notes.push(counted(n, "gap in the recording", "gaps in the recording"));
    }
    if report.counts.cut_polls > 0 {
        notes.push(counted(
            report.counts.cut_polls,
            "poll began before or ended after what was recorded",
            "polls began before or ended after what was recorded",
        ));
    }
    if report.counts.running_polls > 0 {
        let (one, many) = ("poll still ran at the end", "polls still ran at the end");
        notes.push(counted(report.counts.running_polls, one, many));
    }
    if report.counts.live_tasks > 0 {
        let (one, many) = ("task still lived at the end", "tasks still lived at the end");
        notes.push(counted(report.counts.live_tasks, one, many));
    }
    notes
}
