//! The limit for the length of spans.

use std::time::Duration;

use super::{Exceeded, Judgement, Unknown};
use crate::trace::timeline::Timeline;

/// Judges the spans with this name.
pub(super) fn judge(timeline: &Timeline, name: &str, limit: Duration, judgement: &mut Judgement) {
    let mut over = Vec::new();
    let mut is_known = false;
    for row in &timeline.requests().rows {
        if row.is_named(name) {
            is_known = true;
            if u128::from(row.times.longest_ns) > limit.as_nanos() {
                over.push(row);
            }
        }
    }
    if !is_known {
        judgement.unknown.push(Unknown::NoSpan { name: name.to_owned() });
    }
    let others = over.len().saturating_sub(1);
    if let Some(row) = over.into_iter().max_by_key(|row| row.times.longest_ns) {
        judgement.exceeded.push(Exceeded::Span { limit, request: Box::new(row.clone()), others });
    }
}
