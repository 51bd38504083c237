//! The issues of a run, as JSON.

use crate::analysis::picture::ListedIssue;
use crate::util::json::{Raw, array, list, object};

/// `rows` maps rows of the source to those of the picture.
pub(super) fn issues(issues: &[ListedIssue], rows: &[u32], whole: &dyn Fn(u64) -> u64) -> Raw {
    array(issues, |told| issue(told, rows, whole))
}

fn issue(told: &ListedIssue, rows: &[u32], whole: &dyn Fn(u64) -> u64) -> Raw {
    let spots = array(&told.spots, |&(row, start, length)| {
        list(&[&rows[row as usize], &whole(start), &length])
    });
    let lengths = told.lengths.as_ref();
    object(&[
        ("advice", &told.explanation.advice),
        ("culprit", &told.culprit),
        ("group", &told.group),
        ("kind", &told.explanation.name),
        ("label", &told.label),
        ("lengths", &lengths.map(|of| (of.p50_ns, of.p99_ns, &of.steps))),
        ("meaning", &told.explanation.meaning),
        ("noun", &told.explanation.noun),
        ("number", &told.number),
        ("source", &told.source),
        ("spots", &spots),
        ("text", &told.text),
        ("total", &told.total_ns),
    ])
}
