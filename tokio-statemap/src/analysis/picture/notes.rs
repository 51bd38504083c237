//! What a picture lacks, said in it.

use crate::analysis::Report;
use crate::recorder::lost::Lost;
use crate::util::quantity::{human, moment};

/// What is said first where the picture is of a part of the run, and there are no sums of the rest: it looks like all of it.
pub(super) fn cut(report: &Report, is_summed: bool) -> Option<String> {
    if report.lost.refused_events > 0 {
        let kept = human(report.end_ns - report.begin_ns);
        return Some(format!(
            "Only the first {kept} of the run are here: max_events was reached then."
        ));
    }
    let is_cut = report.lost.dropped_events > 0 && !is_summed;
    // Where moments before are kept, the notes say from when on all is there.
    (is_cut && report.recent_ns <= report.begin_ns).then(|| {
        let begin = moment(report.begin_ns);
        format!("Only what happened from {begin} on is here: max_events was reached before.")
    })
}

/// What the picture lacks: a short sentence each. Where the run is there in sums, these say what is kept.
pub(super) fn of(report: &Report, is_summed: bool) -> Vec<String> {
    let mut notes: Vec<String> = report.unknown();
    let lost = Lost { dropped_events: 0, ..report.lost };
    if lost.total() > 0 {
        notes.push(format!("{lost}."));
    }
    match report.lost.dropped_events {
        0 => {}
        1 => notes.push("Flight recorder: one older event was dropped by design.".to_owned()),
        n => notes.push(format!("Flight recorder: {n} older events were dropped by design.")),
    }
    let n_of = |n: u64, one: &str, many: &str| match n {
        1 => format!("One {one}."),
        n => format!("{n} {many}."),
    };
    if report.recent_ns > report.begin_ns && !is_summed {
        let (n, recent) = (report.stretches_before as u64, report.recent_ns);
        notes.push(format!(
            "Before {} only what was around the longest polls is kept: {}.",
            moment(recent),
            match n {
                1 => "one moment".to_owned(),
                n => format!("{n} moments"),
            },
        ));
    }
    if report.gaps > 0 {
        let n = report.gaps as u64;
        notes.push(n_of(n, "gap in the recording", "gaps in the recording"));
    }
    if report.cut_polls > 0 {
        notes.push(n_of(
            report.cut_polls,
            "poll began before or ended after what was recorded",
            "polls began before or ended after what was recorded",
        ));
    }
    if report.running_polls > 0 {
        let (one, many) = ("poll still ran at the end", "polls still ran at the end");
        notes.push(n_of(report.running_polls, one, many));
    }
    if report.live_tasks > 0 {
        let (one, many) = ("task still lived at the end", "tasks still lived at the end");
        notes.push(n_of(report.live_tasks, one, many));
    }
    notes
}
