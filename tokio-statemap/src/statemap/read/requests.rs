//! Reads the table of requests.

use super::part::{Part, RequestSpanEntry, SpanPartsEntry};
use crate::trace::profile::PerCall;
use crate::trace::requests::{Cause, LONGEST, PartState, Parts, Request, RequestSpan};

/// The most rows: a recording tells as many apart, and has one for all others.
const MOST: usize = 1001;
/// The most places of one kind of spans.
const MOST_CAUSES: usize = 8;

/// Adds a part.
pub(super) fn add(rows: &mut Vec<Request>, part: &mut Part) -> Result<(), String> {
    if rows.len() + part.requests.len() > MOST {
        return Err(format!("`requests` has over {MOST} rows, which is the limit"));
    }
    for entry in part.requests.drain(..) {
        let (name, target, fields, count, times, total, running, own, all, slowest) = entry;
        let (all, slowest) = (parts(all)?, parts(slowest)?);
        if all.spans > count.0 || slowest.spans > all.spans {
            return Err("`requests` has a row with parts of more spans than it has".to_owned());
        }
        rows.push(Request {
            name,
            target,
            fields,
            count: count.0,
            times: PerCall::new(times.map(|ns| ns.0)),
            total_ns: total.0,
            running_ns: running.0,
            own_ns: own.0,
            parts: all,
            slowest,
            longest: Vec::new(),
        });
    }
    for entry in part.request_spans.drain(..) {
        add_span(rows, entry)?;
    }
    Ok(())
}

fn add_span(rows: &mut [Request], entry: RequestSpanEntry) -> Result<(), String> {
    let (index, task, opened, entry) = entry;
    let Some(row) = rows.get_mut(index) else {
        return Err(format!("`requestSpans` has a span of request {index}, which isn't there yet"));
    };
    let (task, opened_ns, parts) = (task.map(|task| task.0), opened.0, parts(entry)?);
    if parts.spans != 1 || opened_ns.checked_add(parts.length_ns).is_none() {
        return Err("`requestSpans` has an entry that isn't one span".to_owned());
    }
    if row.longest.last().is_some_and(|last| last.parts.length_ns < parts.length_ns) {
        return Err("`requestSpans` must have the longest span of a request first".to_owned());
    }
    if row.longest.len() as u64 == row.parts.spans.min(LONGEST as u64) {
        return Err(format!(
            "`requestSpans` has more spans of a request than it has, or over {LONGEST}"
        ));
    }
    row.longest.push(RequestSpan { task, opened_ns, parts });
    Ok(())
}

fn parts(entry: SpanPartsEntry) -> Result<Parts, String> {
    let (spans, length, running, ready, waiting, elsewhere, unknown, causes) = entry;
    let all = [running.0, ready.0, waiting.0, elsewhere.0, unknown.0];
    let sum = all.iter().try_fold(0, |sum: u64, &ns| sum.checked_add(ns));
    if sum != Some(length.0) {
        return Err("`requests` has parts that don't add up to their length".to_owned());
    }
    if causes.len() > MOST_CAUSES {
        return Err(format!("`requests` has a row with over {MOST_CAUSES} places"));
    }
    let mut places = Vec::new();
    for (state, place, length) in causes {
        let state = PartState::ALL.into_iter().find(|one| one.name() == state);
        let Some(state) = state else {
            return Err("`requests` has a place of an unknown state".to_owned());
        };
        places.push(Cause { state, place, length_ns: length.0 });
    }
    let [running_ns, ready_ns, waiting_ns, elsewhere_ns, unknown_ns] = all;
    Ok(Parts {
        spans: spans.0,
        length_ns: length.0,
        running_ns,
        ready_ns,
        waiting_ns,
        elsewhere_ns,
        unknown_ns,
        causes: places,
    })
}
