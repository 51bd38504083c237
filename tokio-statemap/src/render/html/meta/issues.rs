//! The issues of a run, as JSON.

use crate::analysis::picture::Told;
use crate::util::json::{Raw, array, object};

/// `rows` of the picture by those of the source.
pub(super) fn issues(issues: &[Told], rows: &[u32], whole: impl Fn(u64) -> u64) -> Raw {
    array(issues.iter().map(|told| issue(told, rows, &whole)))
}

fn issue(told: &Told, rows: &[u32], whole: &impl Fn(u64) -> u64) -> Raw {
    let spots = told.spots.iter();
    let spots = spots.map(|&(row, start, length)| (rows[row as usize], whole(start), length));
    let lengths = told.lengths.as_ref();
    object([
        ("advice", &told.kind.advice()),
        ("culprit", &told.culprit),
        ("group", &told.group),
        ("kind", &told.kind.name()),
        ("label", &told.label),
        ("lengths", &lengths.map(|of| (of.p50_ns, of.p99_ns, &of.steps))),
        ("meaning", &told.kind.meaning()),
        ("noun", &told.kind.noun()),
        ("number", &told.number),
        ("source", &told.source),
        ("spots", &array(spots)),
        ("text", &told.text),
        ("total", &told.total_ns),
    ])
}
